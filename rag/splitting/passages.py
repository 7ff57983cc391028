"""The passages of a document, each with its place and the link that leads there."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from rag.splitting.blocks import Piece, pieces_of
from rag.splitting.overlapping import overlapped
from rag.splitting.packing import ACROSS, WITHIN, packed
from rag.types import Passage, Section
from rag.within import Begin, Lines, noted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.splitting.settings import SplitSettings
    from rag.types import Document

_A_BIT, _MOST = 0.2, 0.6  # shares of a passage
_TOP = Section(0, ())
_LINE_HOSTS = re.compile(r"(^|\.)(github|gitlab|codeberg|gitea|forgejo|bitbucket)\.")


def split(document: Document, base: str, settings: SplitSettings) -> list[Passage]:
    """Every character that is not blank is in a passage. `text[start:end]` is the passage's text, but for two cases:
    a table or a fence that had to be cut is given its header row, or its fence, again.
    """
    pieces, crossings = _pieces(document, settings)
    if not pieces:
        return []
    if _stays_whole(document, pieces, settings):
        pieces, crossings = [Piece(pieces[0].start, pieces[-1].end)], [0.0]
    places = _Places(document)
    passages: list[Passage] = []
    for first, last in packed(document.text, pieces, crossings, settings):
        start = pieces[first].start
        if settings.overlap and first and not crossings[first] and not pieces[first].head:
            size = settings.size(document.text[start : pieces[last].end] + pieces[last].tail)
            start = overlapped(document.text, pieces, first, min(settings.overlap, settings.size_max - size), settings)
        stretch = Piece(start, pieces[last].end, head=pieces[first].head, tail=pieces[last].tail)
        passages.append(places.passage(base, len(passages), pieces[first].start, stretch))
    return passages


def _pieces(document: Document, settings: SplitSettings) -> tuple[list[Piece], list[float]]:
    text, markdown = document.text, document.format == "markdown"
    sections = [_TOP, *document.sections]
    starts = [section.start for section in document.sections]
    pieces: list[Piece] = []
    crossings: list[float] = []
    before = _TOP
    for section, start, end in zip(sections, [0, *starts], [*starts, len(text)], strict=True):
        found = pieces_of(text, start, end, settings, markdown=markdown)
        if found:
            pieces.extend(found)
            crossings.extend((_crossing(before, section), *(0.0 for _ in found[1:])))
            before = section
    return pieces, crossings


def _crossing(before: Section, section: Section) -> float:
    """The cost of one passage for both: low between neighbours under one heading, and from a heading to those below."""
    parent = section.headings[:-1]
    related = parent in (before.headings[:-1], before.headings[: len(parent)]) and len(section.headings) >= len(before.headings)
    return WITHIN if related else ACROSS


def _stays_whole(document: Document, pieces: Sequence[Piece], settings: SplitSettings) -> bool:
    if len(document.sections) > 1 or document.pages[1:]:
        return False
    return settings.size(document.text[pieces[0].start : pieces[-1].end]) <= settings.whole * settings.size_max


class _Places:
    """Where offsets of one document lie: in which section, on which page, on which line."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._sections = [_TOP, *document.sections]
        self._starts = [section.start for section in self._sections]
        self._counted = (0, 1)  # an offset and its line: the next one lies further on

    def passage(self, base: str, ordinal: int, start: int, stretch: Piece) -> Passage:
        document = self._document
        section = self._section(start, stretch.end)
        page = self._page(start)
        line = self._line(start)
        place = Begin(0, _under_title(section.headings, document.title), page, _link(document, section.anchor, page, line))
        lines = self._lines(_link_form(document, section.anchor, page), line, start, stretch)
        return Passage(
            id=f"{document.id}#{ordinal}",
            base=base,
            document=document.id,
            ordinal=ordinal,
            text=stretch.head + document.text[stretch.start : stretch.end] + stretch.tail,
            title=document.title,
            link=place.link,
            headings=place.headings,
            anchor=section.anchor,
            page=page,
            line=line,
            start=stretch.start,
            end=stretch.end,
            language=document.language,
            expandable=document.expandable,
            within=noted(self._begins(place, stretch, start, line), lines),
        )

    def _lines(self, link: str, line: int, start: int, stretch: Piece) -> Lines | None:
        """Where links lead to lines: what a sentence's own line takes. An overlap and a head given again stand above `start`."""
        if not line or "{line}" not in link:
            return None
        return Lines(link, line - self._document.text.count("\n", stretch.start, start) - stretch.head.count("\n"))

    def _begins(self, place: Begin, stretch: Piece, start: int, line: int) -> list[Begin]:
        """What begins in a passage besides its own place. An overlap stands in the place before."""
        document, text = self._document, self._document.text
        offsets = [stretch.start]
        for starts in (self._starts, document.pages):
            offsets += starts[bisect_right(starts, stretch.start) : bisect_left(starts, stretch.end)]
        found: list[Begin] = []
        for offset in sorted(set(offsets)):
            section = self._sections[bisect_right(self._starts, offset) - 1]
            page = self._page(offset)
            here = line + text.count("\n", start, offset) if line else 0
            begin = Begin(
                offset - stretch.start + (len(stretch.head) if offset > stretch.start else 0),
                _under_title(section.headings, document.title),
                page,
                _link(document, section.anchor, page, here),
            )
            if begin[1:] != (found[-1] if found else place)[1:]:
                found.append(begin)
        return found

    def _page(self, offset: int) -> int:
        return bisect_right(self._document.pages, offset) if self._document.pages else 0

    def _section(self, start: int, end: int) -> Section:
        """The section that a passage is about: that in which it begins, unless nearly all of it is in a later one."""
        index = bisect_right(self._starts, start) - 1
        while index + 1 < len(self._starts) and self._starts[index + 1] < end and self._is_bare(index):
            index += 1
        parts = [(self._length(at, start, end), at) for at in range(index, bisect_left(self._starts, end))]
        longest, at = max(parts, key=lambda part: part[0])
        return self._sections[at if parts[0][0] < _A_BIT * (end - start) and longest > _MOST * (end - start) else index]

    def _length(self, index: int, start: int, end: int) -> int:
        below = self._starts[index + 1] if index + 1 < len(self._starts) else end
        return min(below, end) - max(self._starts[index], start)

    def _is_bare(self, index: int) -> bool:
        section, below = self._sections[index], self._sections[index + 1]
        if below.headings[: len(section.headings)] != section.headings:
            return False
        return "\n" not in self._document.text[section.start : below.start].strip()

    def _line(self, start: int) -> int:
        if not self._document.lines:
            return 0
        offset, line = self._counted
        line += self._document.text.count("\n", offset, start)
        self._counted = (start, line)
        return line


def _under_title(headings: tuple[str, ...], title: str) -> tuple[str, ...]:
    return headings[1:] if headings and headings[0] == title else headings


def _link(document: Document, anchor: str, page: int, line: int) -> str:
    """The document's link, led on to the place (R31)."""
    link = _link_form(document, anchor, page)
    if line <= 1 and "{line}" not in document.link:
        return link.removesuffix(_LINE)
    return link.replace("{line}", str(max(line, 1)))


def _link_form(document: Document, anchor: str, page: int) -> str:
    """With `{line}` in it where it leads to a line."""
    link = document.link
    if not link or "#" in link or "{line}" in link:
        return link
    if page and not urlsplit(link).path.lower().endswith(_SLIDES):
        return f"{link}#page={page}"
    if anchor:
        return f"{link}#{quote(anchor, safe=_FRAGMENT)}"
    return f"{link}{_LINE}" if _LINE_HOSTS.search(urlsplit(link).netloc) else link


_LINE = "#L{line}"
_SLIDES = (".pptx", ".ppt")  # no viewer takes a slide's number in the address
_FRAGMENT = "!$&'()*+,;=:@/?-._~"
