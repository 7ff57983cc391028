"""Names of attached files in what was said: they are told to who writes, and never searched for, as they say nothing (R9)."""

from __future__ import annotations

import re

_NAMED = re.compile(r"^(?:\(attached file [^\n]*\)|[^\s:/]+\.\w{1,8}:)$\n?", re.MULTILINE)
_UNREAD = re.compile(r"^\((?:not read: too large|could not be read)\)$\n?", re.MULTILINE)


def named(name: str, content: str) -> str:
    """A file's name on a line of its own, its content below."""
    return f"{name}:\n{content}"


def content_alone(text: str) -> str:
    """The content of the one file that is all there is of a question; else the text as it is."""
    first, _, content = text.partition("\n")
    is_alone = _NAMED.fullmatch(first) and not _NAMED.search(content) and not _UNREAD.fullmatch(content.strip())
    return content.strip() if is_alone and content.strip() else text


def without_names(text: str) -> str:
    """What is searched for; the text as it is where there is nothing else."""
    if ":" not in text and "(" not in text:
        return text.strip() or text
    return _UNREAD.sub("", _NAMED.sub("", text)).strip() or text
