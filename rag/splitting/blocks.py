"""Text as pieces that are kept whole: paragraphs, list items, code, tables. A piece is never longer than a passage may be."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag.splitting.settings import text_splitter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag.splitting.settings import SplitSettings

# What it costs to end a passage after a piece: after a paragraph nothing.
AFTER_HEADING = 5.0
AFTER_COLON = 0.5
AFTER_WORD = 0.6
AFTER_SENTENCE = 0.25
AFTER_LINE = 0.1

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^`]*)$")
_DELIMITER_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_HEADING = re.compile(r" {0,3}#{1,6}([ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_ITEM_START = re.compile(r"\n(?=[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t])")
_WRAP = re.compile(r"\n(?=[^\s\-*+•|>#\d])")
_ENDS_SENTENCE = re.compile(r"""[.!?…。！？．؟।][")\]'”’»」』）]*$""")
_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
_WINDOW = 8_000  # characters that the splitter sees at once
_WRAPPED = 40  # characters: where lines are longer on average, their ends mean nothing


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters `start` to `end` of the text. `head` and `tail` are added where a cut table or fence needs them:
    such a piece begins or ends its passage.
    """

    start: int
    end: int
    after: float = 0.0
    head: str = ""
    tail: str = ""


def pieces_of(text: str, start: int, end: int, settings: SplitSettings, *, markdown: bool) -> list[Piece]:
    """The pieces between two offsets, in order; what lies between them is blank."""
    found = _markdown_pieces(text, start, end, settings) if markdown else _plain_pieces(text, start, end, settings)
    return list(_joined(found, settings))


def _plain_pieces(text: str, start: int, end: int, settings: SplitSettings) -> Iterator[Piece]:
    for paragraph in _PARAGRAPH.finditer(text, start, end):
        yield from _prose(text, *_stripped(text, paragraph.start(), paragraph.end()), settings)


def _markdown_pieces(text: str, start: int, end: int, settings: SplitSettings) -> Iterator[Piece]:
    lines = _Lines(text, start, end)
    opened = -1  # where the paragraph at hand starts
    while lines.more():
        line = lines.line()
        blank, heading = not line.strip(), "#" in line and _HEADING.match(line) is not None
        block_end = lines.fence_end(line) or lines.table_end(line)
        if (block_end or blank or heading) and opened >= 0:
            yield from _paragraph(text, opened, lines.at, settings)
            opened = -1
        if block_end:
            cut = _cut_fence if _FENCE.match(line) else _cut_table
            yield from cut(text, *_stripped(text, lines.at, block_end), settings)
            lines.skip_to(block_end)
            continue
        behind = min(lines.at + len(line) + 1, end)
        if heading:
            yield from _as_heading(_prose(text, *_stripped(text, lines.at, behind), settings))
        elif opened < 0 and not blank:
            opened = lines.at
        lines.skip_to(behind)
    if opened >= 0:
        yield from _paragraph(text, opened, end, settings)


class _Lines:
    """Walks through the lines between two offsets."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.at = start
        self.end = end

    def more(self) -> bool:
        return self.at < self.end

    def end_of_line(self, at: int = -1) -> int:
        """Behind the line end, if there is one."""
        found = self.text.find("\n", self.at if at < 0 else at, self.end)
        return self.end if found < 0 else found + 1

    def line(self, at: int = -1) -> str:
        start = self.at if at < 0 else at
        found = self.text.find("\n", start, self.end)
        return self.text[start : self.end if found < 0 else found]

    def skip_to(self, at: int) -> None:
        self.at = at

    def fence_end(self, line: str) -> int:
        """Where the code that this line opens ends; 0 if it opens none."""
        opening = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if not opening:
            return 0
        mark = opening[1]
        closing = re.compile(rf"^[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
        found = closing.search(self.text, self.end_of_line(), self.end)
        return self.end_of_line(found.start()) if found else self.end

    def table_end(self, line: str) -> int:
        """Where the table whose header this line is ends; 0 if it is none."""
        if "|" not in line:
            return 0
        at = self.end_of_line()
        below = self.line(at) if at < self.end else ""
        if "|" not in below or not _DELIMITER_ROW.match(below):
            return 0
        while at < self.end and "|" in self.line(at):
            at = self.end_of_line(at)
        return at


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """Without blank lines before, nor blanks behind; the indent of the first line stays."""
    stretch = text[start:end]
    end = start + len(stretch.rstrip())
    blank = len(stretch) - len(stretch.lstrip())
    first = stretch.rfind("\n", 0, blank) + 1
    return start + first, end


def _paragraph(text: str, start: int, end: int, settings: SplitSettings) -> Iterator[Piece]:
    start, end = _stripped(text, start, end)
    underlined = _UNDERLINE.match(text[text.rfind("\n", start, end) + 1 : end]) and "\n" in text[start:end]
    found = _prose(text, start, end, settings)
    yield from _as_heading(found) if underlined else found


def _as_heading(pieces: Iterator[Piece]) -> Iterator[Piece]:
    return (replace(piece, after=AFTER_HEADING) for piece in pieces)


def _prose(text: str, start: int, end: int, settings: SplitSettings) -> Iterator[Piece]:
    if end - start <= settings.size_max or settings.size(text[start:end]) <= settings.size_max:
        colon = text[end - 1] in ":："
        yield Piece(start, end, AFTER_COLON if colon else 0.0)
        return
    for first, last in _items(text, start, end):
        behind = 0.0 if last == end else AFTER_LINE
        if (first, last) != (start, end) and settings.size(text[first:last]) <= settings.size_max:
            yield Piece(first, last, behind)
            continue
        parts = list(_sentences(text, first, last, settings))
        for number, (at, until) in enumerate(parts, 1):
            yield Piece(at, until, behind if number == len(parts) else _after(text[at:until]))


def _items(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The items of a list, or the whole where there is none."""
    starts = [start, *(found.end() for found in _ITEM_START.finditer(text, start, end))]
    for first, following in zip(starts, [*starts[1:], end], strict=True):
        stretch = text[first:following].rstrip()
        if stretch.strip():
            yield first, first + len(stretch)


def _after(stretch: str) -> float:
    return AFTER_SENTENCE if _ENDS_SENTENCE.search(stretch[-8:]) else AFTER_WORD


def _sentences(text: str, start: int, end: int, settings: SplitSettings) -> Iterator[tuple[int, int]]:
    """Stretches of at most a quarter of a passage, ending where a sentence does if one ends there."""
    splitter = text_splitter(settings.unit, max(settings.size_max // 4, 1))
    while start < end:
        until = _window_end(text, start, end)
        stretch = text[start:until]
        if len(stretch) > _WRAPPED * (stretch.count("\n") + 1):
            stretch = _WRAP.sub(" ", stretch)  # as long as before: offsets stay right
        for offset, part in splitter.chunk_indices(stretch):
            if part.strip():
                yield start + offset, start + offset + len(part)
        start = until


def _window_end(text: str, start: int, end: int) -> int:
    """Where the splitter's view ends: its time grows with the square of that."""
    furthest = start + _WINDOW
    if furthest >= end:
        return end
    marks = ("\n", ". ", "。", " ")
    ends = (at + len(mark) for mark in marks if (at := text.rfind(mark, furthest - _WINDOW // 8, furthest)) >= 0)
    return next(ends, furthest)


def _cut_fence(text: str, start: int, end: int, settings: SplitSettings) -> Iterator[Piece]:
    """Code whole where it fits, else by lines, each part closed and opened again."""
    if settings.size(text[start:end]) <= settings.size_max:
        yield Piece(start, end)
        return
    opening_end = text.find("\n", start, end)
    opening = text[start : opening_end if opening_end >= 0 else end]
    mark = _FENCE.match(opening)
    closing = text.rfind("\n", start, end)
    closed = opening_end >= 0 and closing > opening_end and mark is not None and text[closing + 1 : end].strip().startswith(mark[1])
    head, tail = f"{opening}\n", f"\n{mark[1] if mark else '```'}"
    spare = settings.size_max - settings.size(head) - settings.size(tail)
    if opening_end < 0 or spare < settings.size_max // 2:
        yield from _prose(text, start, end, settings)
        return
    body_end = closing if closed else end
    parts = list(_lines_within(text, opening_end + 1, body_end, spare, settings))
    for number, (first, last) in enumerate(parts):
        begins, ends = number == 0, number == len(parts) - 1
        yield Piece(
            start if begins else first,
            end if ends else last,
            AFTER_LINE,
            "" if begins else head,
            "" if ends and closed else tail,
        )


def _cut_table(text: str, start: int, end: int, settings: SplitSettings) -> Iterator[Piece]:
    """A table whole where it fits, else by rows, each part under the header row."""
    if settings.size(text[start:end]) <= settings.size_max:
        yield Piece(start, end)
        return
    header_end = text.find("\n", text.find("\n", start, end) + 1, end)
    if header_end < 0:
        header_end = end
    head = text[start:header_end] + "\n"
    spare = settings.size_max - settings.size(head)
    if header_end == end or spare < settings.size_max // 3:
        yield from _prose(text, start, end, settings)
        return
    for number, (first, last) in enumerate(_lines_within(text, header_end + 1, end, spare, settings)):
        yield Piece(start if number == 0 else first, last, AFTER_LINE if last < end else 0.0, "" if number == 0 else head)


def _lines_within(text: str, start: int, end: int, spare: int, settings: SplitSettings) -> Iterator[tuple[int, int]]:
    """Whole lines together, as many as fit; a line that alone does not fit is cut."""
    first, size, at = -1, 0, start
    while at < end:
        behind = text.find("\n", at, end)
        behind = end if behind < 0 else behind
        length = settings.size(text[at:behind]) + 1
        if first >= 0 and size + length > spare:
            yield first, at - 1
            first, size = -1, 0
        if length > spare:
            splitter = text_splitter(settings.unit, spare)
            parts = splitter.chunk_indices(text[at:behind])
            yield from ((at + offset, at + offset + len(part)) for offset, part in parts if part.strip())
        elif text[at:behind].strip() or first >= 0:
            first, size = (at if first < 0 else first), size + length
        at = behind + 1
    if first >= 0:
        yield _trimmed(text, first, end)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    return start, start + len(text[start:end].rstrip())


def _joined(pieces: Iterator[Piece], settings: SplitSettings) -> Iterator[Piece]:
    """Very short pieces with what follows them, so that a page of one-word lines has not thousands of pieces."""
    short = max(settings.size_max // 16, 1)
    held: Piece | None = None
    for piece in pieces:
        if held is None:
            held = piece
        elif (
            held.after in (0.0, AFTER_COLON)
            and not (held.tail or piece.head or piece.tail or piece.after == AFTER_HEADING)
            and (piece.end - held.start <= short)
        ):
            held = replace(piece, start=held.start, head=held.head)
        else:
            yield held
            held = piece
    if held is not None:
        yield held
