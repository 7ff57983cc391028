"""How relevant a passage is, on a scale that means the same for every question (R17), and the order that reranking makes (R16)."""

from __future__ import annotations

import math
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rag.fusion import normalised
from rag.types import Match

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

LEAST = 0.3  # relevance below which no base of those measured should answer: what is known of one that was not measured itself
_RERANKED = 0.6  # measured: better than half in every language, and by .01 across them
_WORDS_TELL = 0.65  # of a passage's relevance, where the question's words are found
_STANDING = 0.25  # the power of a passage's score beside the best one's: what ranks far below it seldom answers

made: Callable[[Iterable[Any]], Match] = partial(tuple.__new__, Match)  # in a third of the time of calling it


def blended(head: Sequence[Match], scores: Sequence[float | None], *, floor: float = 0.0, absolute: bool = False) -> list[Match]:
    """The reranker's score and the one so far, each min-max normalised; a passage without a new score keeps its place so far.

    The scores lie between `floor` and the best score so far, so that what was not reranked still comes after. An absolute
    score is the passage's relevance from then on.
    """
    prior = normalised([match.score for match in head])
    new = iter(normalised([score for score in scores if score is not None]))
    top = max([match.score for match in head])
    reranked = []
    for (passage, _, relevance, named, *rest), before, score in zip(head, prior, scores, strict=True):
        mixed = before
        if score is not None:
            mixed = _RERANKED * next(new) + (1 - _RERANKED) * before
            named = {**named, "rerank": score}  # noqa: PLW2901 - with one more
            relevance = min(1.0, max(0.0, score)) if absolute else relevance  # noqa: PLW2901
        reranked.append(made((passage, floor + (top - floor) * mixed, relevance, named, *rest)))
    return sorted(reranked, key=attrgetter("score"), reverse=True)


def by_standing(best: Sequence[Match]) -> list[Match]:
    """The relevance of each the smaller the further it ranks below the first."""
    top = best[0].score if best else 0.0
    if top <= 0:
        return list(best)
    return [
        made((passage, score, relevance * (max(0.0, score) / top) ** _STANDING, *rest)) for passage, score, relevance, *rest in best
    ]


def relevance_of(scores: Mapping[str, float], *, blind: bool = False) -> float:
    """How likely a passage answers, by scores that mean the same for every question: never a fused one.

    Where the question's words are found at all, how many of them stand in the passage tells most; where none is, as in
    a question in another language, nearness in sense alone does. `blind`: the embedder is away, and sense is taken to be as
    near as the words are, since the threshold counts on it.
    """
    words = _WORDS_TELL * math.sqrt(scores["trust"])
    near = scores["coverage"] if blind else scores["cosine"]
    relevance = words * scores["coverage"] + (1 - words) * near
    return relevance if 0.0 <= relevance <= 1.0 else float(relevance > 0.0)
