"""A follow-up that only puts another name into the question before (R9)."""

import pytest

from rag.expanding import expanded
from rag.types import Lookup, Turn

ANSWER = "Open the Slack page and set SLACK_APP_TOKEN to the value."


def followed(before: str, question: str) -> Lookup:
    return expanded(question, [Turn("user", before), Turn("assistant", ANSWER)])


@pytest.mark.parametrize(
    ("before", "question", "left"),
    [
        ("How do I rotate my Slack token?", "and in Discord?", "rotate, token"),
        ("如何轮换 Slack 令牌？", "那 Discord 呢？", "轮换, 令牌"),
        ("Como troco o token do Slack?", "e no Discord?", "troco, token"),
        ("¿Cómo cambio el token de Slack?", "¿y en Discord?", "cambio, token"),
        ("How do I set up Slack?", "And what about Discord or Teams?", "set"),
    ],
)
def test_the_name_in_whose_place_a_follow_up_puts_another_is_no_longer_searched_for(before: str, question: str, left: str) -> None:
    lookup = followed(before, question)

    assert lookup.question == f"{question} ({left})"
    assert "slack" not in str(lookup).casefold()


@pytest.mark.parametrize(
    ("before", "question", "left"),
    [
        ("What does the Super Bowl cost in Denver?", "And in New York?", "Super, Bowl, cost"),
        ("What did the Super Bowl cost in 2014?", "And in 2015?", "Super, Bowl, cost"),
        ("How do I set max_connections in PostgreSQL?", "and shared_buffers?", "set, PostgreSQL"),
    ],
)
def test_only_a_name_of_the_same_kind_is_replaced_and_of_several_the_one_after_the_same_word(
    before: str, question: str, left: str
) -> None:
    assert followed(before, question).question == f"{question} ({left})"


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("How do I rotate my Slack token?", "and on staging?"),  # no name
        ("How do I rotate my Slack token?", "and in Slack?"),  # the same one
        ("How do I rotate my Slack token?", "Is Discord safe for it?"),  # a question of its own
        ("Who is James Webb?", "And who was Hubble?"),  # likewise
        ("Does Slack work in Denver or Boston?", "and Chicago?"),  # which one is not clear
    ],
)
def test_where_it_is_not_clear_what_is_replaced_all_of_the_question_before_is_kept(before: str, question: str) -> None:
    assert before in [text for text, _ in followed(before, question).lexical]
