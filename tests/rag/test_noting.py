"""What a run notes of passages: columns that can be read again."""

from __future__ import annotations

from rag.fusion import Ranked
from rag.noting import candidates_noted, decimals, matches_noted, scores_of
from rag.types import Candidate, Match, Passage


def match(name: str, **scores: float) -> Match:
    passage = Passage(name, "base", "doc", 0, "text", "Leave", headings=("Rules", "Annual"))
    return Match(passage, 0.51239, 0.25, scores, (name,))


def test_scores_are_read_as_they_were_written_to_four_places() -> None:
    assert scores_of(decimals([1.0, -0.00004, 58.16351, 0.5])) == [1.0, -0.0, 58.1635, 0.5]
    assert scores_of(decimals([])) == []


def test_a_passage_that_was_not_reranked_has_no_score_of_that() -> None:
    columns = matches_noted([match("a", rerank=0.81), match("b")], "rerank")

    assert columns["id"] == ["a", "b"]
    assert columns["title"] == ["Leave › Annual"] * 2
    assert scores_of(str(columns["rerank"])) == [0.81, None]
    assert scores_of(str(columns["score"])) == [0.5124, 0.5124]


def test_members_are_told_where_there_are_several() -> None:
    joined = match("b")._replace(members=("b", "c"))

    assert matches_noted([match("a"), joined])["members"] == [[], ["b", "c"]]


def test_of_no_passages_nothing_is_noted() -> None:
    assert matches_noted([]) == {}


def test_candidates_are_noted_with_both_scores_and_ranks() -> None:
    columns = candidates_noted([Ranked("base", Candidate("a", 3.25, 0.5, 1, 0), 0.75, 0.5)])

    assert columns == {
        "id": ["a"],
        "score": "0.7500",
        "bm25": "3.2500",
        "cosine": "0.5000",
        "coverage": "0.5000",
        "lexical_rank": [1],
        "dense_rank": [0],
    }
