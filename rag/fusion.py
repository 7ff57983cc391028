"""The two ranked lists made into one: the same way for every store, every language and across languages (R13)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain, compress
from typing import TYPE_CHECKING, NamedTuple

from rag.coverage import covered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


_ranked = partial(tuple.__new__, Ranked)  # in a third of the time of calling it


@dataclass(frozen=True, slots=True)
class Fused:
    """All candidates, in the order of their `scores`; `trust` (0 to 1) is how much of the question's words was found at all.

    `foreign` names the bases that do not hold the question's language.
    """

    candidates: Sequence[Candidate]
    bases: Sequence[str]
    scores: Sequence[float]
    asked: Mapping[str, Mapping[frozenset[str], float]]
    order: Sequence[int]
    trust: float
    foreign: frozenset[str] = frozenset()

    def ranked(self, first: int = 0, after: int | None = None) -> list[Ranked]:
        """The best first, from a place up to another: seldom more than the best half of them matter."""
        bases, candidates, scores, asked = self.bases, self.candidates, self.scores, self.asked
        found = [(bases[at], candidates[at], scores[at]) for at in self.order[first:after]]
        return [_ranked((base, one, score, asked[base][one.matched])) for base, one, score in found]


def fuse(found: Sequence[Searched], alpha: float, coverage: float) -> Fused:
    """Fuse the candidates of several bases.

    Both raw scores of every candidate count, each min-max normalised over all of them. The lexical weight is `alpha` where
    the best lexical matches hold at least the share `coverage` of the words, and falls to nothing with that share.
    """
    candidates = [one for each in found for one in each.candidates]
    bases = [each.base for each in found for _ in each.candidates]
    _, bm25, cosine, in_lexical, in_dense, *_ = zip(*candidates, strict=True) if candidates else [()] * 5
    held = {each.base: covered(each.words, each.candidates) for each in found}
    shares = chain.from_iterable([each.words for each in held.values()])
    lexical = sorted(compress(zip(bm25, shares, strict=True), in_lexical), reverse=True)[:_COVERED_BY]
    most = max([share for _, share in lexical], default=0.0)
    trust = min(1.0, most / coverage) if coverage else float(bool(lexical))
    weight = alpha * trust if any(in_dense) else 1.0
    scores = [weight * word + (1 - weight) * near for word, near in zip(normalised(bm25), normalised(cosine), strict=True)]
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    asked = {base: each.asked for base, each in held.items()}
    return Fused(candidates, bases, scores, asked, order, trust, frozenset([each.base for each in found if each.foreign]))


def normalised(scores: Sequence[float]) -> list[float]:
    """Each score's place between the least (0) and the greatest (1); all 1 where they are equal."""
    if not scores:
        return []
    least, greatest = min(scores), max(scores)
    if greatest <= least:
        return [1.0] * len(scores)
    span = greatest - least
    return [(score - least) / span for score in scores]
