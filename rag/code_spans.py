"""Which stretches of Markdown are code: fenced blocks and code within one line. Linear whatever the text holds."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FENCE = re.compile(r"^[ \t]{0,12}(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_TICKS = re.compile(r"`++|\n")


def code_spans(text: str) -> Sequence[tuple[int, int]]:
    """Where code starts and ends, in order. A fence that is never closed reaches to the end of the text."""
    return _spans(text) if "`" in text or "~~~" in text else ()


@lru_cache(maxsize=8)  # whoever reads an answer asks for that of its code
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    outside = 0
    for start, end in _fenced(text):
        spans.extend(_in_line(text, outside, start))
        spans.append((start, end))
        outside = end
    spans.extend(_in_line(text, outside, len(text)))
    return tuple(spans)


def pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """The whole text as stretches of code (True) and of prose, in order, empty ones left out."""
    outside = 0
    for start, end in code_spans(text):
        if outside < start:
            yield outside, start, False
        yield start, end, True
        outside = end
    if outside < len(text):
        yield outside, len(text), False


def with_fences_closed(text: str) -> str:
    """The text with an end put to a block of code that has none: chat platforms show such a block as prose."""
    opened = ""
    for match in _FENCE.finditer(text):
        if not opened:
            opened = match[1]
        elif _closes(text, match, opened):
            opened = ""
    return f"{text.rstrip()}\n{opened}" if opened else text


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    start, opened = 0, ""
    for match in _FENCE.finditer(text):
        if not opened:
            start, opened = match.start(), match[1]
        elif _closes(text, match, opened):
            yield start, match.end()
            opened = ""
    if opened:
        yield start, len(text)


def _closes(text: str, match: re.Match[str], opened: str) -> bool:
    line_end = text.find("\n", match.end())
    rest = text[match.end() : line_end if line_end >= 0 else len(text)]
    return match[1].startswith(opened) and not rest.strip()


def _in_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of backticks, each closed by the next run of the same length in its line."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(text, start, end)]
    places: defaultdict[int, list[int]] = defaultdict(list)
    for index, (first, last) in enumerate(runs):
        places[0 if text[first] == "\n" else last - first].append(index)
    index = 0
    while index < len(runs):
        first, last = runs[index]
        closing = None if text[first] == "\n" else _next_after(places[last - first], index)
        line_end = _next_after(places[0], index)
        if closing is not None and (line_end is None or closing < line_end):
            yield first, runs[closing][1]
            index = closing
        index += 1


def _next_after(indexes: list[int], index: int) -> int | None:
    at = bisect_left(indexes, index + 1)
    return indexes[at] if at < len(indexes) else None
