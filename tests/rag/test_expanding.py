"""A follow-up that only puts another name into the question before (R9)."""

import re

import pytest

from rag.expanding import expanded, stands_alone
from rag.lexical import question_terms
from rag.naming import telling_words
from rag.questions import names_back, only_asks_for_more, points_back
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


def talk(*questions: str) -> list[Turn]:
    return [turn for text in questions for turn in (Turn("user", text), Turn("assistant", "Quoted.", abstained=True))]


@pytest.mark.parametrize(
    ("before", "question", "kept", "gone"),
    [
        (("Who manages the depot in Kassel?", "and in Trier?"), "and in Ulm?", "manages the depot", "Trier"),
        (
            ("Who manages the depot in Kassel?", "and in Trier?"),
            "how many trucks are there?",
            "manages the depot in Trier",
            "Kassel",
        ),
        (("What does K-40 mean?", "and K-41?", "and K-42?", "and K-43?"), "and K-44?", "mean", "K-4[0-3]"),
        (("What is the valve number of part 2 of station 399?",), "and of station 17?", "valve number of part 2", "399"),
        (
            ("What is the valve number of part 2 of station 399?", "and of station 17?"),
            "and of part 3?",
            "station 17",
            "part 2|399",
        ),
        (("Quanto custa o estacionamento no Rio de Janeiro?",), "E em São Paulo?", "Quanto custa o estacionamento", "Rio|Janeiro"),
        (("Quanto custa o estacionamento em Itu?",), "E no Rio de Janeiro?", "Quanto custa o estacionamento", "Itu"),
        (("海风公司的电话是多少？",), "那山河公司呢？", "的电话是多少", "海风"),
        (("海风公司的电话是多少？", "那山河公司呢？"), "明月公司呢？", "的电话是多少", "海风|山河"),
    ],
)
def test_what_several_follow_ups_put_in_one_after_the_other_is_asked_about_the_last(
    before: tuple[str, ...], question: str, kept: str, gone: str
) -> None:
    told = " ".join(text for text, _ in expanded(question, talk(*before)).lexical)

    assert kept in told
    assert not re.search(gone, told)


@pytest.mark.parametrize(
    ("before", "question", "meant"),
    [
        (("What about Jena?",), "How much diesel is kept there?", "Jena"),
        (("Who manages the depot in Bremen?", "and in Hamburg?"), "and its gate code?", "Hamburg"),
        (("How do I roll back Falcon?", "and Osprey?", "How long are its backups kept?", "why?"), "And its database?", "Osprey"),
        (("海风公司的电话是多少？", "明月公司呢？"), "它的折扣是多少？", "明月公司"),
        (("Was kostet ein Dübel S10?", "und eine Mutter M8?"), "und wo liegt sie?", "Mutter M8"),
    ],
)
def test_what_a_follow_up_points_back_to_weighs_as_much_as_its_own_words(
    before: tuple[str, ...], question: str, meant: str
) -> None:
    weights = dict(expanded(question, talk(*before)).lexical)

    assert weights[question] == weights[meant] == 3


def test_a_question_that_is_asked_again_of_another_name_weighs_as_much_as_that_name() -> None:
    before = "When is the Hamburg office open?"

    assert expanded("and in Munich?", talk(before)).lexical == (("and in Munich?", 3), ("When is the   office open?", 3))
    assert expanded("and parking?", talk(before)).lexical == (("and parking?", 3), (before, 1))


def test_a_follow_up_that_says_nothing_of_its_own_asks_again_what_was_asked_before() -> None:
    asked = "Which form do I fill in after an accident?"

    assert expanded("by when?", talk(asked)).lexical == ((asked, 3),)


@pytest.mark.parametrize("text", ["why?", "tell me more", "还有吗？", "and what else?", "who else?", "por quê?", "warum?"])
def test_who_only_asks_for_more_wants_what_was_not_said_yet(text: str) -> None:
    assert only_asks_for_more(text)


@pytest.mark.parametrize("text", ["by when?", "and where?", "How much diesel is there?", "什么时候？", "quando?", "wann denn?"])
def test_who_asks_for_one_thing_may_be_told_again_what_was_said(text: str) -> None:
    assert not only_asks_for_more(text)


def test_what_the_documents_did_not_say_a_word_of_is_needed_in_what_answers_the_next_question_about_it() -> None:
    known = [Turn("user", "Who manages the depot in Bremen?"), Turn("assistant", "Ann [1].")]
    unknown = [*known, Turn("user", "and in Hamburg?"), Turn("assistant", "The documents do not say.", abstained=True)]

    assert expanded("and its gate code?", unknown).needed == {"hamburg"}
    assert expanded("and its gate code?", known).needed == set()
    assert expanded("and in Trier?", unknown).needed == set()


def test_an_abbreviation_in_capitals_is_no_small_word() -> None:
    assert not points_back("Who is responsible for IT?")
    assert points_back("Who is responsible for it?")
    assert points_back("WHO IS RESPONSIBLE FOR IT?")


def test_there_is_and_are_there_point_to_no_place() -> None:
    assert not any(map(names_back, ("How many days of leave are there?", "Is there a gym?", "Say whether there are limits")))
    assert all(map(names_back, ("How much diesel is kept there?", "Who works there?", "Is it open there?")))
    assert telling_words("Who is responsible for IT?") == ("responsible", "IT")
    assert telling_words("Quem responde pela TI e pelo OU?")[-2:] == ("TI", "OU")
    assert question_terms("Who is responsible for IT?", ["en"])[-1] == "it"
    assert "it" not in question_terms("WHO IS RESPONSIBLE FOR IT?", ["en"])
    assert stands_alone("Who is responsible for IT?", talk("How many days is maternity leave?"))


@pytest.mark.parametrize(
    ("answer", "alone"),
    [
        ("It loads many rows.", True),
        ("It loads 10000 rows.", False),
        ("It loads 10,000 rows.", False),
        ("It loads 10.000 rows.", False),
        ("It loads 10,0000 rows.", True),
        ("It loads １００００ rows.", False),
    ],
)
def test_a_number_was_said_before_however_it_was_written(answer: str, *, alone: bool) -> None:
    history = [Turn("user", "How are rows loaded?"), Turn("assistant", answer)]
    assert stands_alone("Load 10000 rows", history) is alone
