"""Which pieces stand together in one passage: the cheapest way, by a table of costs over all of them."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.splitting.blocks import Piece
    from rag.splitting.settings import SplitSettings

EACH = 0.05  # so that fewer passages are better than more
WITHIN = 0.6  # going on into a neighbouring section: a footnote leads to the first one, so only one of a line or two is worth it
ACROSS = 3.0  # going on under another heading
_FURTHEST = 32  # pieces in one passage


def packed(text: str, pieces: Sequence[Piece], crossings: Sequence[float], settings: SplitSettings) -> list[tuple[int, int]]:
    """The passages, as first and last piece. `crossings[i]` is what it costs to have piece i behind piece i - 1."""
    packing = _Packing(text, pieces, crossings, settings)
    firsts = [packing.best_first(last) for last in range(len(pieces))]
    passages = []
    last = len(pieces) - 1
    while last >= 0:
        passages.append((firsts[last], last))
        last = firsts[last] - 1
    return passages[::-1]


class _Packing:
    def __init__(self, text: str, pieces: Sequence[Piece], crossings: Sequence[float], settings: SplitSettings) -> None:
        self._pieces = pieces
        self._settings = settings
        self._room = settings.size_max - settings.overlap
        self._starts, self._ends = _sizes(text, pieces, settings)
        self._heads = [settings.size(piece.head) if piece.head else 0 for piece in pieces]
        self._crossed = [*accumulate(crossings)]
        self._best = [0.0]  # what the pieces before each one cost

    def best_first(self, last: int) -> int:
        """The piece with which a passage that ends with this one best begins; asked for one piece after the other."""
        pieces, starts, crossed, best = self._pieces, self._starts, self._crossed, self._best
        size_min, behind = self._settings.size_min, self._ends[last]
        if pieces[last].tail:
            behind += self._settings.size(pieces[last].tail)
        cheapest, chosen = float("inf"), last
        for first in range(last, max(last - _FURTHEST, -1), -1):
            size = behind - starts[first] + self._heads[first]
            if first < last and (size > self._room or pieces[first].tail):
                break
            lacking = 1 - size / size_min if size < size_min else 0.0
            cost = best[first] + lacking * lacking + crossed[last] - crossed[first]
            if cost < cheapest:
                cheapest, chosen = cost, first
            if pieces[first].head:
                break
        best.append(cheapest + EACH + pieces[last].after)
        return chosen


def _sizes(text: str, pieces: Sequence[Piece], settings: SplitSettings) -> tuple[Sequence[int], Sequence[int]]:
    """How much text there is up to the start, and up to the end, of each piece."""
    if settings.unit == "characters":
        return [piece.start for piece in pieces], [piece.end for piece in pieces]
    totals = [0, *accumulate(settings.size(text[piece.start : piece.end]) for piece in pieces)]
    return totals[:-1], totals[1:]
