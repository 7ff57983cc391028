"""The best candidates of a search, as matches whose copies are folded: only as many passages are read as can still matter."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rag.coverage import Word
from rag.fusion import Searched, fuse
from rag.noting import candidates_noted
from rag.relevance import made, relevance_of
from rag.selection import Fold
from rag.types import Passage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from rag.fusion import Fused, Ranked
    from rag.types import Candidate, Match

_passage = partial(tuple.__new__, Passage)
_SPARE = 4  # passages fetched beyond those needed, to make up for copies


class Led(NamedTuple):
    """What leads the lists, the best first. `folded` are copies' ids, each with what it is a copy of; `noted` is for the trace."""

    matches: list[Match]
    folded: list[tuple[str, str]]
    trust: float
    foreign: frozenset[str]
    noted: dict[str, object]


class Gathering:
    """Takes passages, the best first, until there are as many matches as are needed.

    `blind` are the bases that were searched without the vector they have a list for.
    """

    def __init__(self, fused: Fused, needed: int, blind: Collection[str]) -> None:
        self._fused = fused
        self._needed = needed
        self._blind = blind
        self._fold = Fold()
        self._first = fused.ranked(0, 2 * needed)
        self._read = 0

    def wanted(self) -> list[Ranked]:
        """Those whose passages are to be read next; none where there are enough."""
        missing, start = self._needed - len(self._fold.kept), self._read
        if missing <= 0:
            return []
        self._read = start + missing + _SPARE
        return self._first[start : self._read] if self._read <= len(self._first) else self._fused.ranked(start, self._read)

    def take(self, found: Iterable[tuple[Ranked, Passage]]) -> None:
        trust, blind = self._fused.trust, self._blind
        for each, passage in found:
            self._fold.add(_match(each, passage, trust, blind=each.base in blind), each.candidate)

    def led(self) -> Led:
        fused = self._fused
        noted = candidates_noted(self._first)
        return Led(self._fold.kept[: self._needed], self._fold.folded, fused.trust, fused.foreign, noted)


class Leading(NamedTuple):
    """What is to be made of the candidates of one base, which may be done beside its passages, in another process as well."""

    base: str
    words: Sequence[Word]
    foreign: bool
    alpha: float
    coverage: float
    needed: int
    blind: bool

    def done(self, candidates: Sequence[Candidate], read: Callable[[Sequence[str]], Sequence[Passage]]) -> Led:
        fused = fuse([Searched(self.base, self.words, candidates, self.foreign)], self.alpha, self.coverage)
        gathering = Gathering(fused, self.needed, {self.base} if self.blind else ())
        while part := gathering.wanted():
            found = read([each.candidate.id for each in part])
            if len(found) == len(part):
                gathering.take(zip(part, found, strict=True))
            else:
                known = {passage.id: passage for passage in found}
                gathering.take((each, known[each.candidate.id]) for each in part if each.candidate.id in known)
        return gathering.led()

    def order(self) -> tuple[str, tuple[object, ...]]:
        return "rag.leading:ordered", (self.base, tuple(map(tuple, self.words)), *self[2:])

    def packed(self, led: Led) -> tuple[object, ...]:
        matches = [(tuple(match.passage), *match[1:5], tuple(map(tuple, match.copies))) for match in led.matches]
        return matches, led.folded, led.trust, led.noted

    def unpacked(self, packed: Any) -> Led:
        led, folded, trust, noted = packed
        matches = []
        for passage, score, relevance, scores, members, copies in led:
            matches.append(made((_passage(passage), score, relevance, scores, members, tuple(map(_passage, copies)), ())))
        return Led(matches, folded, trust, frozenset([self.base]) if self.foreign else frozenset(), noted)


def ordered(given: tuple[Any, ...]) -> Leading:
    base, words, *rest = given
    return Leading(base, list(map(Word._make, words)), *rest)


def _match(ranked: Ranked, passage: Passage, trust: float, *, blind: bool) -> Match:
    _, one, score, coverage = ranked
    scores = {"bm25": one.bm25, "cosine": one.cosine, "coverage": coverage, "trust": trust, "fused": score}
    return made((passage, score, relevance_of(scores, blind=blind), scores, (passage.id,), (), ()))
