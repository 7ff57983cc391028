"""The two ranked lists made into one: the same way for every store, every language and across languages (R13)."""

from __future__ import annotations

from heapq import nlargest
from itertools import chain
from operator import itemgetter
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
    bases = [each.base for each in found for _ in each.candidates]
    candidates = [one for each in found for one in each.candidates]
    held = [covered(each.words, each.candidates) for each in found]
    shares = chain.from_iterable([each.words for each in held])
    lexical = nlargest(_COVERED_BY, [(one.bm25, share) for one, share in zip(candidates, shares, strict=True) if one.lexical_rank])
    most = max((share for _, share in lexical), default=0.0)
    trust = min(1.0, most / coverage) if coverage else float(bool(lexical))
    weight = alpha * trust if any(one.dense_rank for one in candidates) else 1.0
    words, sense = normalised([one.bm25 for one in candidates]), normalised([one.cosine for one in candidates])
    scores = [weight * word + (1 - weight) * near for word, near in zip(words, sense, strict=True)]
    asked = chain.from_iterable([each.asked for each in held])
    ranked = list(map(Ranked._make, zip(bases, candidates, scores, asked, strict=True)))
    ranked.sort(key=itemgetter(2), reverse=True)  # the score
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
