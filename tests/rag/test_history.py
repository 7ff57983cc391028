from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.abstaining import LANGUAGES, wording
from rag.errors import BadHistory
from rag.history import allowed, as_turns, bounded, language_of
from rag.text import estimated_tokens
from rag.types import Turn

ANSWERED = [Turn("user", "How do I roll back?"), Turn("assistant", "Run deploy rollback.")]


@pytest.mark.parametrize("nothing", [None, [], (), "", "  \n", [("", "")], [{"role": "user", "content": " "}]])
def test_nothing_said_is_no_history(nothing: object) -> None:
    assert as_turns(nothing) == []


@pytest.mark.parametrize(
    "history",
    [
        [("How do I roll back?", "Run deploy rollback.")],
        [["How do I roll back?", "Run deploy rollback."]],
        [{"role": "user", "content": "How do I roll back?"}, {"role": "assistant", "content": "Run deploy rollback."}],
        [{"role": "Human", "content": "How do I roll back?"}, {"role": "ai", "content": "Run deploy rollback."}],
        [{"role": "user", "content": "How do I roll back?"}, {"role": "bot", "content": "Run deploy rollback."}],
        ANSWERED,
        tuple(ANSWERED),
    ],
)
def test_pairs_messages_and_turns_give_the_same_turns(history: object) -> None:
    assert as_turns(history) == ANSWERED


def test_a_blank_part_of_a_pair_is_left_out() -> None:
    assert as_turns([("How do I roll back?", ""), ("", "Run deploy rollback.")]) == ANSWERED


def test_a_message_may_name_its_speaker() -> None:
    assert as_turns([{"role": "user", "name": "Ann", "content": "Hello"}]) == [Turn("user", "Hello", speaker="Ann")]


@pytest.mark.parametrize(
    ("history", "named"),
    [
        ("How do I roll back?", "type str"),
        (7, "type int"),
        ({"role": "user", "content": "x"}, "type dict"),
        ([("q", "a"), "text"], "Item 2 of the history is of the type str"),
        ([("q", "a", "more")], "Item 1 of the history is a tuple of 3"),
        ([("q", None)], "Item 1"),
        ([("q", "a"), {"role": "user", "content": "x"}], "Item 2"),
        ([Turn("user", "x"), ("q", "a")], "Item 2"),
        ([{"role": "user", "content": "x"}, {"role": "system", "content": "obey"}], "Item 2 of the history has the role 'system'"),
        ([{"content": "x"}], "role None"),
        ([{"role": "user", "content": ["x"]}], "a list of 1: str as its content"),
        ([None], "Item 1"),
    ],
)
def test_anything_else_is_refused_naming_the_place_and_the_accepted_forms(history: object, named: str) -> None:
    with pytest.raises(BadHistory) as refusal:
        as_turns(history)

    assert named in str(refusal.value)
    assert "(question, answer) pairs" in str(refusal.value)
    assert '"role"' in str(refusal.value)


def said(*texts: str) -> list[Turn]:
    return [Turn("user", text) for text in texts]


def test_the_newest_turns_are_kept_oldest_first() -> None:
    assert bounded(said("one", "two", "three"), 2) == said("two", "three")


@pytest.mark.parametrize("none", [0, -1])
def test_no_turns_means_no_history(none: int) -> None:
    assert bounded(said("one", "two"), none) == []


def test_blank_turns_take_no_room() -> None:
    assert bounded(said("one", " ", "two", ""), 2) == said("one", "two")


def test_the_token_budget_drops_the_oldest_first() -> None:
    turns = said("a" * 300, "b" * 30, "c" * 30)

    assert bounded(turns, 10, 40) == turns[1:]


def test_an_older_turn_never_jumps_over_one_that_did_not_fit() -> None:
    turns = said("short", "b" * 300, "c" * 30)

    assert bounded(turns, 10, 40) == turns[2:]


def test_the_newest_turn_is_cut_to_the_budget_and_never_dropped() -> None:
    (kept,) = bounded(said("old", "word " * 1000), 10, 50)

    assert kept.text.startswith("word word")
    assert kept.text.endswith("…")
    assert estimated_tokens(kept.text) <= 52


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(0, 9), st.integers(0, 60))
def test_what_is_kept_is_the_end_of_what_was_said(texts: list[str], turns: int, budget: int) -> None:
    spoken = [text for text in texts if text.strip()]
    kept = [turn.text for turn in bounded(said(*texts), turns, budget)]

    assert len(kept) <= turns
    assert kept[:-1] == spoken[len(spoken) - len(kept) : -1]
    assert bool(kept) == bool(spoken and turns)


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_an_answer_that_a_platform_hands_in_it_is_known_that_it_abstained(language: str) -> None:
    said = f"{wording(language).unknown}\n\n{wording(language).suggestions}\n- Leave"

    turns = as_turns([Turn("user", said), Turn("assistant", said), Turn("assistant", "The documents say: five days [1].")])

    assert [turn.abstained for turn in turns] == [False, True, False]
    assert [turn.abstained for turn in as_turns([("How many?", said)])] == [False, True]


def test_an_answer_from_a_base_that_is_not_allowed_here_is_not_seen() -> None:
    turns = [
        Turn("user", "What does Ann earn?"),
        Turn("assistant", "A lot.", bases=("salaries",)),
        Turn("assistant", "Both.", bases=("handbook", "salaries")),
        Turn("assistant", "Open.", bases=("handbook",)),
        Turn("assistant", "Hello."),
    ]

    assert [turn.text for turn in allowed(turns, ("handbook",))] == ["What does Ann earn?", "Open.", "Hello."]
    assert allowed(turns, ("handbook", "salaries")) == turns


PORTUGUESE = "Quanto é o vale-refeição? Quantas vagas há?"
JAPANESE = "喫煙所はどこですか？"
DOCUMENTS = ("en", "pt", "zh", "ja")


@pytest.mark.parametrize(
    ("text", "said", "language"),
    [
        ("E o estacionamento?", PORTUGUESE, "pt"),
        ("e o seguro de vida?", PORTUGUESE, "pt"),
        ("E o helicóptero?", PORTUGUESE, "pt"),
        ("E de Marketing?", PORTUGUESE, "pt"),
        ("E o helicóptero?", "", "pt"),  # as Spanish as Portuguese: the documents are in that
        ("qual o horário?", "How long is annual leave?", "pt"),
        ("残業代", JAPANESE, "ja"),
        ("残業代", "", "zh"),
        ("lorem?", "", "en"),
        ("pension?", "", "en"),
        ("pension?", PORTUGUESE, "pt"),
        ("sabbatical", JAPANESE, "ja"),
        ("'; DROP TABLE turns; --", "", "en"),
        ("'; DROP TABLE turns; --", "lorem? pension?", "en"),  # of which nothing tells a language either
        ("why?", PORTUGUESE, "en"),
        ("¿y en Lisboa?", "How long is annual leave?", "es"),
        ("et à Paris ?", "Combien coûte le parking ?", "fr"),
        ("und in Rom?", "", "de"),  # clear enough, whatever the documents are in
        ("Wo wird die Kaffeemaschine entkalkt und von wem?", PORTUGUESE, "de"),
    ],
)
def test_few_words_are_in_the_language_of_the_thread_where_they_may_be_else_in_that_of_the_documents(
    text: str, said: str, language: str
) -> None:
    history = [Turn("user", said), Turn("assistant", "Quoted.")] if said else []

    assert language_of(text, history, DOCUMENTS) == language


@pytest.mark.parametrize(
    ("text", "said", "language"),
    [
        ("CEO", "", ""),
        ("CEO", "¿Cuánto dura el permiso anual de los empleados?", "es"),
        ("notice period", "Quantos dias de férias têm os funcionários?", "pt"),
        ("¿Cuánto cuesta?", "How long is annual leave?", "es"),
        ("发票", "How long is annual leave?", "zh"),
        ("Name the museum of Berlin", "¿Cuánto dura el permiso anual de los empleados?", "en"),
    ],
)
def test_a_word_or_two_are_in_the_language_of_the_talk_so_far(text: str, said: str, language: str) -> None:
    assert language_of(text, [Turn("user", said), Turn("assistant", "Quoted from a document in English.")]) == language
