"""The two ranked lists made into one: the same way for every store, every language and across languages (R13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rag.coverage import covered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.coverage import Word
    from rag.types import Candidate

_COVERED_BY = 5  # so many of the best lexical matches tell how much of the question its words can find


class Searched(NamedTuple):
    """What was searched for in a base, and what was found there. `foreign` says that the base does not hold its language."""

    base: str
    words: Sequence[Word]
    candidates: Sequence[Candidate]
    foreign: bool = False


class Ranked(NamedTuple):
    """A candidate with the base it is in, its fused score, and how much of what was asked stands in it."""

    base: str
    candidate: Candidate
    score: float
    coverage: float


class Fused(NamedTuple):
    """All candidates, the best first; `trust` (0 to 1) is how much of the question's words was found at all.

    `foreign` names the bases that do not hold the question's language.
    """

    ranked: list[Ranked]
    trust: float
    foreign: frozenset[str] = frozenset()


def fuse(found: Sequence[Searched], alpha: float, coverage: float) -> Fused:
    """Fuse the candidates of several bases.

    Both raw scores of every candidate count, each min-max normalised over all of them. The lexical weight is `alpha` where
    the best lexical matches hold at least the share `coverage` of the words, and falls to nothing with that share.
    """
    flat = [(each, *both) for each in found for both in zip(each.candidates, covered(each.words, each.candidates), strict=True)]
    lexical = sorted(((one.bm25, held.words) for _, one, held in flat if one.lexical_rank), reverse=True)[:_COVERED_BY]
    most = max((words for _, words in lexical), default=0.0)
    trust = min(1.0, most / coverage) if coverage else float(bool(lexical))
    weight = alpha * trust if any(one.dense_rank for _, one, _ in flat) else 1.0
    words = normalised([one.bm25 for _, one, _ in flat])
    sense = normalised([one.cosine for _, one, _ in flat])
    ranked = [
        Ranked(each.base, one, weight * word + (1 - weight) * near, held.asked)
        for (each, one, held), word, near in zip(flat, words, sense, strict=True)
    ]
    ranked.sort(key=lambda each: -each.score)
    return Fused(ranked, trust, frozenset(each.base for each in found if each.foreign))


def normalised(scores: Sequence[float]) -> list[float]:
    """Each score's place between the least (0) and the greatest (1); all 1 where they are equal."""
    if not scores:
        return []
    least, greatest = min(scores), max(scores)
    if greatest <= least:
        return [1.0] * len(scores)
    span = greatest - least
    return [(score - least) / span for score in scores]
