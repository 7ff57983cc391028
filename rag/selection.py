"""What of the ranked passages the writer gets: copies folded together, the irrelevant cut, the rest within a budget."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rag.sketches import read, unlike
from rag.text import estimated_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag.types import Candidate, Match, Passage

NEAR_COPY = 0.85  # share of their terms that two near-copies have in common
_NEAR_BM25 = 0.8
_NEAR_COSINE = 0.1
_VARIANTS = 3  # passages of one make that say different numbers are all shown, up to so many
_FEWEST_TERMS = 20  # shorter passages of one make differ by a word or a number, and that is what they are about


class Fold:
    """Takes matches, the best first; one that says the same as an earlier one becomes its copy (R20).

    What differs in a number says something else. Where there are many of that kind, they are one manual in many versions.
    """

    def __init__(self) -> None:
        self.kept: list[Match] = []
        self.folded: list[tuple[str, str]] = []  # a copy's id, and what it is a copy of
        self._matched: dict[frozenset[str], list[int]] = {}
        self._long: dict[int, list[int]] = {}  # those kept, by the length of their text
        self._sketches: list[bytes] = []  # of those kept
        self._terms: dict[tuple[str, str], frozenset[str]] = {}
        self._variants: Counter[int] = Counter()  # how many are kept beside the first of their make

    def add(self, match: Match, candidate: Candidate) -> None:
        original = self._original(match, candidate)
        if original is None:
            place = len(self.kept)
            self._long.setdefault(len(match.passage.text), []).append(place)
            self._matched.setdefault(candidate.matched, []).append(place)
            self.kept.append(match)
            self._sketches.append(candidate.sketch)
            return
        better = self.kept[original]
        self.kept[original] = better._replace(copies=(*better.copies, match.passage))
        self.folded.append((match.passage.id, better.passage.id))

    def _original(self, match: Match, candidate: Candidate) -> int | None:
        text, kept = match.passage.text, self.kept
        for place in self._long.get(len(text), ()):
            if kept[place].passage.text == text:
                return place
        first: int | None = None  # of its make, with another number
        for place in self._matched.get(candidate.matched, ()):  # those that differ in a word of the question are no copies for it
            if _may_be_alike(match, kept[place]) and not unlike(read(candidate.sketch), read(self._sketches[place]), NEAR_COPY):
                terms, known = self._terms_of(match.passage), self._terms_of(self.kept[place].passage)
                if _alike(known, terms):
                    if not _differ_in_a_number(known, terms):
                        return place
                    first = place if first is None else first
        if first is None or self._variants[first] + 1 >= _VARIANTS:
            return first
        self._variants[first] += 1
        return None

    def _terms_of(self, passage: Passage) -> frozenset[str]:
        known = self._terms.get((passage.base, passage.id))
        if known is None:
            self._terms[passage.base, passage.id] = known = frozenset(passage.terms.split())
        return known


def _may_be_alike(one: Match, other: Match) -> bool:
    """Much cheaper than comparing all terms: near-copies are about as long, and score about the same on any question."""
    here, there = one.scores, other.scores
    if abs(here["cosine"] - there["cosine"]) > _NEAR_COSINE:
        return False
    words, length = here["bm25"], len(one.passage.text)
    if not _NEAR_BM25 * words <= there["bm25"] <= words / _NEAR_BM25:
        return False
    return NEAR_COPY * length <= len(other.passage.text) <= length / NEAR_COPY


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if min(len(one), len(other)) < _FEWEST_TERMS:
        return False
    shared = len(one & other)
    return shared >= NEAR_COPY * (len(one) + len(other) - shared)


def _differ_in_a_number(one: frozenset[str], other: frozenset[str]) -> bool:
    return any(not term.isalpha() and any(map(str.isdigit, term)) for term in one ^ other)


def within_budget(matches: Sequence[Match], budget: int, hits: Mapping[str, Match]) -> tuple[list[Match], list[str], bool]:
    """The first matches that fit into so many tokens, the ids of those dropped, and whether the first had to be cut (R19).

    A first match that is too long by itself gives up its neighbours before its own text is cut: `hits` holds it without them.
    """
    kept: list[Match] = []
    left = budget
    for match in matches:
        left -= estimated_tokens(match.passage.text)
        if left < 0:
            break
        kept.append(match)
    if kept or not matches:
        return kept, [match.passage.id for match in matches[len(kept) :]], False
    first = hits.get(matches[0].passage.id, matches[0])
    text = cut(first.passage.text, budget)
    dropped = [match.passage.id for match in matches[1:]]
    return [first._replace(passage=first.passage._replace(text=text, terms=""))], dropped, True


def cut(text: str, budget: int) -> str:
    """The longest beginning, to a tenth, of at most so many tokens; at least one character."""
    while (tokens := estimated_tokens(text)) > budget and len(text) > 1:
        text = text[: max(1, min(len(text) - 1, len(text) * budget // tokens))]
    return text
