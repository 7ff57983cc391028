"""The best candidates of a search, as matches whose copies are folded: only as many passages are read as can still matter."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rag.choosing import Choice, Choosing, Chosen, in_one_language, with_needed
from rag.coverage import Word
from rag.fusion import Searched, fuse
from rag.noting import candidates_noted
from rag.relevance import made, relevance_of
from rag.selection import Fold
from rag.types import Passage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rag.fusion import Fused, Ranked
    from rag.ports import AtHand
    from rag.types import Candidate, Match

_passage = partial(tuple.__new__, Passage)
_SPARE = 4  # passages fetched beyond those needed, to make up for copies


class Led(NamedTuple):
    """What leads the lists, the best first. `folded` are copies' ids, each with what it is a copy of; `noted` is for the trace.

    Where what the writer gets was chosen beside the passages, `chosen` holds all that there is.
    """

    matches: list[Match]
    folded: list[tuple[str, str]]
    trust: float
    foreign: frozenset[str]
    noted: dict[str, object]
    chosen: Chosen | None = None


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
    """What is to be made of the candidates of one base, which may be done beside its passages, in another process as well.

    Where nothing else comes between, what the writer gets is chosen there too.
    """

    base: str
    words: Sequence[Word]
    foreign: bool
    alpha: float
    coverage: float
    needed: int
    blind: bool
    choosing: Choosing | None = None

    def done(self, candidates: Sequence[Candidate], at_hand: AtHand) -> Led:
        fused = fuse([Searched(self.base, self.words, candidates, self.foreign)], self.alpha, self.coverage)
        gathering = Gathering(fused, self.needed, {self.base} if self.blind else ())
        while part := gathering.wanted():
            found = at_hand.passages([each.candidate.id for each in part])
            if len(found) == len(part):
                gathering.take(zip(part, found, strict=True))
            else:
                known = {passage.id: passage for passage in found}
                gathering.take((each, known[each.candidate.id]) for each in part if each.candidate.id in known)
        led = gathering.led()
        return led._replace(matches=[], folded=[], chosen=_chosen(led, self.choosing, at_hand)) if self.choosing else led

    def lighter(self) -> Leading:
        return self._replace(choosing=None)

    def order(self) -> tuple[str, tuple[object, ...]]:
        words, choosing = tuple(map(tuple, self.words)), self.choosing and tuple(self.choosing)
        return "rag.leading:ordered", (self.base, words, *self[2:-1], choosing)

    def packed(self, led: Led) -> tuple[object, ...]:
        pack, chosen = Packing(), led.chosen
        plain = chosen and (*map(pack.matches, (chosen.matches, chosen.nearest, chosen.ranked)), chosen.relevance, chosen.notes)
        return pack.matches(led.matches), led.folded, led.trust, led.noted, plain

    def unpacked(self, packed: Any) -> Led:
        matches, folded, trust, noted, chosen = packed
        if chosen:
            given, nearest, ranked, relevance, notes = chosen
            chosen = Chosen(_unpacked(given), _unpacked(nearest), _unpacked(ranked), relevance, notes)
        return Led(_unpacked(matches), folded, trust, frozenset([self.base] * self.foreign), noted, chosen)


def _chosen(led: Led, choosing: Choosing, at_hand: AtHand) -> Chosen:
    ranked, copies = in_one_language(led.matches, led.folded, choosing)
    choice = Choice(with_needed(ranked, choosing), copies, choosing)
    while wanted := choice.expansion.wanted():
        choice.expansion.take([passages for stretches in wanted.values() for passages in at_hand.neighbours(stretches)])
    return choice.made()


class Packing:
    """Matches as plain values, each passage once: then it is sent once."""

    def __init__(self) -> None:
        self._plain: dict[int, tuple[object, ...]] = {}

    def matches(self, matches: Sequence[Match]) -> list[tuple[object, ...]]:
        return [(self._passage(each[0]), *each[1:5], self._passages(each.copies), self._passages(each.parts)) for each in matches]

    def _passages(self, passages: Sequence[Passage]) -> tuple[tuple[object, ...], ...]:
        return tuple([self._passage(each) for each in passages])

    def _passage(self, passage: Passage) -> tuple[object, ...]:
        return self._plain.get(id(passage)) or self._plain.setdefault(id(passage), tuple(passage))


def _unpacked(matches: Any) -> list[Match]:
    return [
        made((_passage(passage), score, relevance, scores, members, tuple(map(_passage, copies)), tuple(map(_passage, parts))))
        for passage, score, relevance, scores, members, copies, parts in matches
    ]


def ordered(given: tuple[Any, ...]) -> Leading:
    leading = Leading._make(given)
    choosing = leading.choosing and Choosing(*leading.choosing)
    return leading._replace(words=list(map(Word._make, leading.words)), choosing=choosing)


def _match(ranked: Ranked, passage: Passage, trust: float, *, blind: bool) -> Match:
    _, one, score, coverage = ranked
    scores = {"bm25": one.bm25, "cosine": one.cosine, "coverage": coverage, "trust": trust, "fused": score}
    return made((passage, score, relevance_of(scores, blind=blind), scores, (passage.id,), (), ()))
