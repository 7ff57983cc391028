"""The two ranked lists made into one: the same way for every store, every language and across languages (R13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Candidate

_FEWEST_OWN = 2  # one word says too little by itself
_COVERED_BY = 5  # so many of the best lexical matches tell how much of the question its words can find


class Word(NamedTuple):
    """A word that is searched for: the terms that stand for it, any of which will do, and how much it weighs."""

    forms: tuple[str, ...]
    weight: int


class Searched(NamedTuple):
    """What was searched for in a base, and what was found there."""

    base: str
    words: Sequence[Word]
    candidates: Sequence[Candidate]

    def coverages(self) -> list[tuple[float, float]]:
        """Of each candidate: the share of the words that stand in it, and how much of what was asked that is.

        The first tells best how far to trust the lexical list, the second how relevant a passage is. For that, the question's
        own words count as much as all words by their weight do: words of the conversation are found wherever its subject is.
        """
        total, most = sum(word.weight for word in self.words), max((word.weight for word in self.words), default=0)
        own = {at for at, word in enumerate(self.words) if word.weight == most}
        if len(own) < _FEWEST_OWN:
            own = set(range(len(self.words)))
        standing: dict[str, list[int]] = {}  # which words a term stands for
        for at, word in enumerate(self.words):
            for form in word.forms:
                standing.setdefault(form, []).append(at)
        weighed: dict[frozenset[str], tuple[float, float]] = {frozenset(): (0.0, 0.0)}  # many candidates match the same terms
        for matched in {one.matched for one in self.candidates} - weighed.keys():
            held = {at for term in matched for at in standing.get(term, ())}
            told = len(held & own) / len(own) + sum(self.words[at].weight for at in held) / total if held else 0.0
            weighed[matched] = len(held) / len(self.words) if held else 0.0, told / 2
        return [weighed[one.matched] for one in self.candidates]


class Ranked(NamedTuple):
    """A candidate with the base it is in, its fused score, and its share of the question's own words."""

    base: str
    candidate: Candidate
    score: float
    coverage: float


class Fused(NamedTuple):
    """All candidates, the best first; `trust` (0 to 1) is how much of the question's words was found at all."""

    ranked: list[Ranked]
    trust: float


def fuse(found: Sequence[Searched], alpha: float, coverage: float) -> Fused:
    """Fuse the candidates of several bases.

    Both raw scores of every candidate count, each min-max normalised over all of them. The lexical weight is `alpha` where
    the best lexical matches hold at least the share `coverage` of the words, and falls to nothing with that share.
    """
    flat = [(each, one, covered) for each in found for one, covered in zip(each.candidates, each.coverages(), strict=True)]
    lexical = sorted(((one.bm25, counted) for _, one, (counted, _) in flat if one.lexical_rank), reverse=True)[:_COVERED_BY]
    covered = max((counted for _, counted in lexical), default=0.0)
    trust = min(1.0, covered / coverage) if coverage else float(bool(lexical))
    weight = alpha * trust if any(one.dense_rank for _, one, _ in flat) else 1.0
    words = normalised([one.bm25 for _, one, _ in flat])
    sense = normalised([one.cosine for _, one, _ in flat])
    ranked = [
        Ranked(each.base, one, weight * word + (1 - weight) * near, weighed)
        for (each, one, (_, weighed)), word, near in zip(flat, words, sense, strict=True)
    ]
    ranked.sort(key=lambda each: -each.score)
    return Fused(ranked, trust)


def normalised(scores: Sequence[float]) -> list[float]:
    """Each score's place between the least (0) and the greatest (1); all 1 where they are equal."""
    if not scores:
        return []
    least, greatest = min(scores), max(scores)
    if greatest <= least:
        return [1.0] * len(scores)
    span = greatest - least
    return [(score - least) / span for score in scores]
