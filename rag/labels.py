"""Titles and places as a reader sees them: on one line, bounded, without anything that could break the footer (R30)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from rag.text import without_escapes
from rag.types import Source, SourcePlace

if TYPE_CHECKING:
    from rag.types import Match, Passage

_LONGEST_TITLE = 120
_LONGEST_LABEL = 80
_HEADINGS = 2  # the last ones name a place well enough
_ALIKE = str.maketrans({"[": "(", "]": ")", "【": "(", "】": ")", "`": "'", "<": "‹", ">": "›", "|": "¦", "*": "∗", "\\": "/"})
_MENTION = re.compile(r"@(?=everyone|here|channel)", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://|\bwww\.|\b(?:mailto|javascript|vbscript|data):(?=\S)", re.IGNORECASE)


def plain_title(text: str, longest: int = _LONGEST_TITLE) -> str:
    """On one line, without control and direction characters, brackets, backticks or mentions that a platform would read, and
    without what would make a link of an address: only what is cited is one (X1).
    """
    kept = without_escapes(text[: 4 * longest])
    if not kept.isprintable():
        kept = "".join(
            " " if c.isspace() else c for c in kept if c.isspace() or unicodedata.category(c) not in ("Cf", "Cc", "Cs", "Co")
        )
    while ":" in kept or "www." in kept.lower():  # what is left of one may be another
        kept, found = _ADDRESS.subn("", kept)
        if not found:
            break
    shown = " ".join(kept.split()).translate(_ALIKE)
    if "@" in shown:
        shown = _MENTION.sub("@\N{ZERO WIDTH SPACE}", shown)
    return shown if len(shown) <= longest else f"{shown[: longest - 1].rstrip()}…"


def place_of(passage: Passage) -> SourcePlace:
    """The section, or the page where there is none."""
    headings = [heading for heading in passage.headings if heading.strip() and heading != passage.title][-_HEADINGS:]
    label = " › ".join([plain_title(heading, _LONGEST_LABEL) for heading in headings])
    page = f"p. {passage.page}" if passage.page else ""
    return SourcePlace(", ".join(filter(None, (label, page))), passage.link)


def source_of(n: int, match: Match) -> Source:
    """A document that was found, as one entry: for suggestions."""
    passage = match.passage
    return Source(n, passage.base, passage.document, passage.title or passage.document, (place_of(passage),))
