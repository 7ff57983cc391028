"""What a run notes of the passages that were found, by column: as rows it would be half of what a turn keeps.

The scores of a column are one text of decimals parted by blanks, "-" where there is none: rounding each, and writing it as a
number, takes six times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag.fusion import Ranked
    from rag.types import Match

_NONE = "-"


def decimals(values: Sequence[float]) -> str:
    return " ".join(("%.4f",) * len(values)) % tuple(values)


def candidates_noted(ranked: Sequence[Ranked]) -> dict[str, object]:
    found = [each.candidate for each in ranked]
    return {
        "id": [each.id for each in found],
        "score": decimals([each.score for each in ranked]),
        "bm25": decimals([each.bm25 for each in found]),
        "cosine": decimals([each.cosine for each in found]),
        "coverage": decimals([each.coverage for each in ranked]),
        "lexical_rank": [each.lexical_rank for each in found],
        "dense_rank": [each.dense_rank for each in found],
    }


def matches_noted(matches: Sequence[Match], *scores: str) -> dict[str, object]:
    """With these of their scores. Members are told where there are several."""
    if not matches:
        return {}
    return {
        "id": [match.passage.id for match in matches],
        "title": [_title(match) for match in matches],
        "members": [list(match.members) if len(match.members) > 1 else [] for match in matches],
        "score": decimals([match.score for match in matches]),
        "relevance": decimals([match.relevance for match in matches]),
        **{name: _named([match.scores for match in matches], name) for name in scores},
    }


def _named(scores: Sequence[Mapping[str, float]], name: str) -> str:
    if all(name in each for each in scores):
        return decimals([each[name] for each in scores])
    return " ".join([f"{each[name]:.4f}" if name in each else _NONE for each in scores])


def scores_of(column: str) -> list[float | None]:
    """A column of scores, read again."""
    return [None if text == _NONE else float(text) for text in column.split()]


def _title(match: Match) -> str:
    title, headings = match.passage.title, match.passage.headings
    last = headings[-1] if headings else ""
    return f"{title} › {last}" if title and last else title or last
