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
    return ("%.4f " * len(values))[:-1] % tuple(values)


def candidates_noted(ranked: Sequence[Ranked]) -> dict[str, object]:
    _, found, score, coverage = zip(*ranked, strict=True) if ranked else [()] * 4
    ids, bm25, cosine, lexical, dense, *_ = zip(*found, strict=True) if found else [()] * 5
    return {
        "id": list(ids),
        "score": decimals(score),
        "bm25": decimals(bm25),
        "cosine": decimals(cosine),
        "coverage": decimals(coverage),
        "lexical_rank": list(lexical),
        "dense_rank": list(dense),
    }


def matches_noted(matches: Sequence[Match], *scores: str) -> dict[str, object]:
    """With these of their scores. Members are told where some passage has several."""
    if not matches:
        return {}
    passages, score, relevance, named, members, *_ = zip(*matches, strict=True)
    return {
        "id": [passage.id for passage in passages],
        "title": [_title(passage.title, passage.headings) for passage in passages],
        "score": decimals(score),
        "relevance": decimals(relevance),
        **{name: _named(named, name) for name in scores},
        **_joined(members),
    }


def _joined(members: Sequence[Sequence[str]]) -> dict[str, list[list[str]]]:
    return {"members": [list(ids) if len(ids) > 1 else [] for ids in members]} if max(map(len, members)) > 1 else {}


def _named(scores: Sequence[Mapping[str, float]], name: str) -> str:
    found = [each[name] for each in scores if name in each]
    if len(found) == len(scores):
        return decimals(found)
    return " ".join([f"{each[name]:.4f}" if name in each else _NONE for each in scores])


def scores_of(column: str) -> list[float | None]:
    """A column of scores, read again."""
    return [None if text == _NONE else float(text) for text in column.split()]


def _title(title: str, headings: Sequence[str]) -> str:
    last = headings[-1] if headings else ""
    return f"{title} › {last}" if title and last else title or last
