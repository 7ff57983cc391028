from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.abstaining import LANGUAGES, abstention, calibrate, wording
from rag.types import Match, Passage


def match(n: int, document: str, heading: str = "") -> Match:
    headings = (heading,) if heading else ()
    return Match(
        Passage(str(n), "base", document, n, "Text.", title=document.title(), link=f"https://a.example/{n}", headings=headings), 1.0
    )


def test_the_documents_do_not_say_in_the_language_of_the_question() -> None:
    assert abstention("zh", []).text == "文档中没有提到这一点。"
    assert abstention("pt-BR", []).text == "Os documentos não dizem nada sobre isso."
    assert abstention("", []).text == abstention("xx", []).text == "The documents don't say anything about this."


@pytest.mark.parametrize(
    "language", ["en", "de", "fr", "es", "pt", "it", "nl", "ru", "zh", "ja", "ko", "pl", "tr", "sv", "da", "no", "fi", "ar"]
)
def test_each_language_has_its_own_words(language: str) -> None:
    assert language in LANGUAGES
    assert language == "en" or not set(wording(language)) & set(wording("en"))


def test_the_nearest_documents_are_offered_once_each_and_nothing_is_cited() -> None:
    answer = abstention("en", [match(1, "a.md", "Leave"), match(2, "a.md"), match(3, "b.md"), match(4, "c.md"), match(5, "d.md")])

    assert answer.abstained
    assert answer.sources == ()
    assert [(one.n, one.document, one.places[0].label, one.link) for one in answer.suggestions] == [
        (1, "a.md", "Leave", "https://a.example/1"),
        (2, "b.md", "", "https://a.example/3"),
        (3, "c.md", "", "https://a.example/4"),
    ]


def test_a_threshold_lets_through_the_share_of_false_answers_that_is_allowed() -> None:
    found = calibrate([0.5, 0.6, 0.7, 0.8], [n / 10 for n in range(10)], false_answers=0.2)

    assert 0.7 < found.threshold <= 0.8
    assert (found.false_answers, found.answered, found.answerable, found.unanswerable) == (0.2, 0.25, 4, 10)


def test_a_threshold_stands_half_way_to_the_next_score() -> None:
    assert calibrate([0.9, 0.8], [0.2, 0.1], false_answers=0.0).threshold == pytest.approx(0.5)


def test_off_topic_questions_alone_will_do() -> None:
    found = calibrate([], [0.1, 0.2, 0.3], false_answers=0.0)

    assert found.threshold > 0.3
    assert found.false_answers == 0
    assert math.isnan(found.answered)


def test_without_a_question_that_cannot_be_answered_there_is_no_calibration() -> None:
    with pytest.raises(ValueError, match="cannot answer"):
        calibrate([0.5], [])


SCORES = st.lists(st.floats(-1, 1, allow_nan=False), max_size=30)


@given(SCORES, SCORES.filter(bool), st.floats(0, 1))
@settings(max_examples=200, deadline=None)
def test_never_more_false_answers_than_allowed_and_no_lower_threshold_would_do(
    right: list[float], wrong: list[float], allowed: float
) -> None:
    found = calibrate(right, wrong, allowed)

    assert found.false_answers <= allowed + 1e-9
    assert found.false_answers == sum(score >= found.threshold for score in wrong) / len(wrong)
    lower = [score for score in wrong if score < found.threshold]
    if lower:
        assert sum(score >= max(lower) for score in wrong) / len(wrong) > allowed - 1e-9


def test_scores_that_are_neighbours_are_told_apart() -> None:
    assert calibrate([5e-324], [0.0], 0.0).false_answers == 0.0


def test_with_off_topic_scores_alone_all_of_them_may_be_allowed() -> None:
    assert calibrate([], [0.2, 0.1], 1.0).threshold == 0.1


def test_a_threshold_keeps_within_its_bounds_and_says_what_comes_of_it() -> None:
    assert calibrate([0.3], [0.1, 0.2], 0.0, (0.25, 0.4)).threshold == pytest.approx(0.25)
    high = calibrate([0.3], [0.5, 0.6], 0.0, (0.25, 0.4))
    assert (high.threshold, high.answered, high.false_answers) == (0.4, 0.0, 1.0)
    low = calibrate([0.2], [0.0, 0.1], 0.0, (0.25, 0.4))
    assert (low.threshold, low.answered, low.false_answers) == (0.25, 0.0, 0.0)
