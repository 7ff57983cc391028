"""What became of each passage that was found: read from the notes of a run, for one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.noting import scores_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Notes = Mapping[str, object]
SCORES = ("score", "relevance", "bm25", "cosine", "coverage", "rerank")


@dataclass(frozen=True, slots=True)
class Fate:
    """One passage: its scores by name, where it stood in the two lists (0: not in it), and what became of it, in words.

    `n` is the number by which the writer could cite it; 0 where it was not given.
    """

    id: str
    title: str
    scores: Mapping[str, float]
    lexical_rank: int
    dense_rank: int
    outcome: str
    n: int = 0


def fates(search: Notes, rerank: Notes, select: Notes) -> list[Fate]:
    """Those that were given to the writer first, in order; then the others, the best first."""
    candidates = {str(row["id"]): row for row in rows(search.get("candidates"))}
    reranked = {str(row["id"]): row for row in rows(rerank.get("scores"))}
    kept = {str(row["id"]): row for row in rows(select.get("kept"))}
    outcomes = dict(outcomes_of(select))
    found = []
    for name in dict.fromkeys([*kept, *reranked, *candidates]):
        known = {**candidates.get(name, {}), **reranked.get(name, {}), **kept.get(name, {})}
        outcome = outcomes.get(name, "not among the first" if select else "")
        scores = {score: value for score in SCORES if isinstance(value := known.get(score), int | float)}
        n = list(kept).index(name) + 1 if name in kept else 0
        ranks = (whole(known.get("lexical_rank")), whole(known.get("dense_rank")))
        found.append(Fate(name, str(known.get("title", "")), scores, *ranks, outcome, n))
    return found


def outcomes_of(select: Notes) -> Iterator[tuple[str, str]]:
    """Why a passage was dropped, or that it was given. What is told last holds; of the others nothing is noted."""
    thresholds = select.get("thresholds")
    for row in rows(select.get("below_threshold")):
        limits = (
            sorted({value for value in thresholds.values() if isinstance(value, float)}) if isinstance(thresholds, Mapping) else []
        )
        yield str(row["id"]), f"below {'/'.join(f'{limit:.2f}' for limit in limits)}".strip()
    for name in texts(select.get("over_budget")):
        yield name, "over the budget"
    for row in rows(select.get("copies")):
        yield str(row["id"]), f"a copy of {row['of']}"
    for n, row in enumerate(rows(select.get("kept")), start=1):
        members = texts(row.get("members"))
        for member in members:
            yield member, f"joined to [{n}]"
        wider = f" with {len(members) - 1} more" if len(members) > 1 else ""
        yield str(row["id"]), f"given: [{n}]{wider}{', cut' if select.get('cut') else ''}"


def rows(value: object) -> list[Notes]:
    """Rows, kept as such or as columns of equal length, by name; a column that is one text holds scores."""
    if isinstance(value, Mapping):
        columns = [scores_of(column) if isinstance(column, str) else column for column in value.values()]
        return [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, Sequence) and not isinstance(value, str) else []


def texts(value: object) -> list[str]:
    return [str(part) for part in value] if isinstance(value, Sequence) and not isinstance(value, str) else []


def whole(value: object) -> int:
    return value if isinstance(value, int) else 0
