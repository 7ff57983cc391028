"""The two ranked lists made into one: the same way for every store, every language and across languages (R13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Candidate

_COVERED_BY = 5  # so many of the best lexical matches tell how much of the question its words can find


class Ranked(NamedTuple):
    """A candidate with the base it is in, its fused score, and the share of the question's terms that stand in it."""

    base: str
    candidate: Candidate
    score: float
    coverage: float


class Fused(NamedTuple):
    """All candidates, the best first, and the weight that the lexical list had."""

    ranked: list[Ranked]
    lexical_weight: float


def fuse(found: Sequence[tuple[str, int, Sequence[Candidate]]], alpha: float, coverage: float) -> Fused:
    """Fuse the candidates of several bases, each given as its name, how many distinct terms were searched, what was found.

    Both raw scores of every candidate count, each min-max normalised over all of them. The lexical weight is `alpha` where
    the best lexical matches hold at least the share `coverage` of the terms, and falls to nothing with that share.
    """
    flat = [(base, each, len(each.matched) / terms if terms else 0.0) for base, terms, candidates in found for each in candidates]
    lexical = sorted(((each.bm25, covered) for _, each, covered in flat if each.lexical_rank), reverse=True)[:_COVERED_BY]
    covered = max((covered for _, covered in lexical), default=0.0)
    weight = alpha * (min(1.0, covered / coverage) if coverage else 1.0)
    if lexical and not any(each.dense_rank for _, each, _ in flat):
        weight = 1.0
    words = normalised([each.bm25 for _, each, _ in flat])
    sense = normalised([each.cosine for _, each, _ in flat])
    ranked = [
        Ranked(base, each, weight * word + (1 - weight) * near, covered)
        for (base, each, covered), word, near in zip(flat, words, sense, strict=True)
    ]
    ranked.sort(key=lambda each: -each.score)
    return Fused(ranked, weight)


def normalised(scores: Sequence[float]) -> list[float]:
    """Each score's place between the least (0) and the greatest (1); all 1 where they are equal."""
    if not scores:
        return []
    least, greatest = min(scores), max(scores)
    if greatest <= least:
        return [1.0] * len(scores)
    span = greatest - least
    return [(score - least) / span for score in scores]
