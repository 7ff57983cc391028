"""The two ranked lists made into one: the same way for every store, every language and across languages (R13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Candidate

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
        """Of each candidate: the share of the words that stand in it, each counted once, and by their weight.

        The first tells best how far to trust the lexical list, the second how relevant a passage is (measured on follow-ups:
        recall@5 .796 against .791, AUROC of questions without an answer .723 against .697).
        """
        total = sum(word.weight for word in self.words)
        standing: dict[str, list[int]] = {}  # which words a term stands for
        for at, word in enumerate(self.words):
            for form in word.forms:
                standing.setdefault(form, []).append(at)
        held = ({at for term in one.matched for at in standing.get(term, ())} for one in self.candidates)
        return [
            (len(words) / len(self.words), sum(self.words[at].weight for at in words) / total) if words else (0.0, 0.0)
            for words in held
        ]


class Ranked(NamedTuple):
    """A candidate with the base it is in, its fused score, and its share of the question's words by their weight."""

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
