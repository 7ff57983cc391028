"""Markdown cut into the messages that a platform takes. Each piece stands by itself: a block of code that has to be cut is
closed, and opened again in the next one (D4, S7)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"^([ \t]{0,12})(`{3,}(?=[^`\n]*$)|~{3,})([^\n]*)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]\n]{0,200}\]\(<?[^)\s>]{1,3000}>?\)|<https?://[^>\s]{1,3000}>|`[^`\n]{1,400}`")
_SENTENCE = re.compile(r"(?:[.!?](?=\s)|[。！？；])")  # the end of one, the blank behind it left out
_JOINERS = "\u200d\ufe0f"


def pieces(text: str, limit: int) -> list[str]:
    """At least one piece, none longer than `limit` characters (code points), none empty unless the text is."""
    found: list[str] = []
    rest, opening = text.strip("\n"), ""
    while True:
        rest, head = _without_hollow(rest, opening), reopened(opening, limit)
        if len(head) + len(rest) + len(closing(left_open(rest, opening))) <= limit:
            found.append(f"{head}{rest}{closing(left_open(rest, opening))}")
            return found
        room = limit - len(head) - _reserve(rest, opening)
        at = cut(rest, room, opening)
        part, rest = rest[:at].rstrip(), rest[at:]
        opening = left_open(part, opening)
        found.append(f"{head}{part}{closing(opening)}")


def _without_hollow(rest: str, opening: str) -> str:
    """What is left begins with something to read; inside of code its indentation stays."""
    return rest.removeprefix("\n") if opening else rest.lstrip("\n ")


def left_open(text: str, opening: str) -> str:
    """The line that opened the block of code which is still open at the end of the text; "" where none is."""
    for match in _FENCE.finditer(text):
        marker, rest = match[2], match[3].strip()
        if not opening:
            opening = match[0].strip()
        elif marker.startswith(_marker(opening)) and not rest:
            opening = ""
    return opening


def _marker(opening: str) -> str:
    return opening[: len(opening) - len(opening.lstrip(opening[0]))]


def closing(opening: str) -> str:
    """What ends that block of code."""
    return f"\n{_marker(opening)}" if opening else ""


def reopened(opening: str, limit: int) -> str:
    """The opening line once more, without what it says of the language where that takes too much room."""
    if not opening:
        return ""
    return f"{opening}\n" if len(opening) * 4 <= limit else f"{_marker(opening)}\n"


def _reserve(rest: str, opening: str) -> int:
    """Room to close whatever block may be open at a cut."""
    markers = [len(match[2]) for match in _FENCE.finditer(rest)]
    return max([len(_marker(opening)) if opening else 0, *markers]) + 1 if markers or opening else 0


def cut(rest: str, room: int, opening: str) -> int:
    """Where to cut a text that is longer than the room, the block of code `opening` being open at its start: before a block
    that fits whole into the next piece, else behind a paragraph, a line, a sentence, a word, in this order; somewhere in a
    word where it is all one."""
    block = _block_over(rest, room, opening)
    if block is not None and block > room // 4:
        return block
    for end, least in ((_ends(rest, "\n\n", room), room // 2), (_ends(rest, "\n", room), room // 3)):
        if end > least:
            return end
    if not left_open(rest[:room], opening):
        sentence = max(
            (match.end() for match in _SENTENCE.finditer(rest, 0, room) if not _within_link(rest, match.end())), default=0
        )
        if sentence > room // 3:
            return sentence
    return _word(rest, room)


def _block_over(rest: str, room: int, opening: str) -> int | None:
    """The start of the block of code that the room ends in, if the block is short enough for one piece."""
    for start, end in _blocks(rest, opening):
        if start < room < end:
            return start if end - start <= room else None
    return None


def _blocks(rest: str, opening: str) -> Iterator[tuple[int, int]]:
    start, opened = 0, opening
    for match in _FENCE.finditer(rest):
        if not opened:
            start, opened = match.start(), match[0].strip()
        elif match[2].startswith(_marker(opened)) and not match[3].strip():
            if start:  # the one that was open before cannot be kept whole
                yield start, match.end()
            opened = ""


def _ends(rest: str, what: str, room: int) -> int:
    at = rest.rfind(what, 0, room)
    return at + len(what) if at >= 0 else 0


def _word(rest: str, room: int) -> int:
    at = rest.rfind(" ", 0, room + 1)
    while at > room // 3:
        if not _within_link(rest, at):
            return at
        at = rest.rfind(" ", 0, at)
    at = room
    while at > room - 40 and (unicodedata.combining(rest[at]) or rest[at] in _JOINERS or rest[at - 1] in _JOINERS[0]):
        at -= 1
    return at


def _within_link(rest: str, at: int) -> bool:
    begin = rest.rfind("\n", 0, at) + 1
    return any(match.start() < at < match.end() for match in _LINK.finditer(rest, begin, min(len(rest), at + 3500)))
