"""What is said besides answers is in the language of who asked, and never in one that was only guessed."""

from __future__ import annotations

import pytest

from bots.wording import Words, apology, in_language, words
from rag.errors import ModelTimeout

ENGLISH = in_language("en")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How many days of leave are there?", "en"),
        ("Wie viele Tage Urlaub habe ich?", "de"),
        ("¿Cuántos días de vacaciones tengo?", "es"),
        ("Quantos dias de férias eu tenho?", "pt"),
        ("Combien de jours de congé ai-je ?", "fr"),
        ("Quanti giorni di ferie mi spettano?", "it"),
        ("有多少天假期？", "zh"),
        ("休暇は何日ありますか？", "ja"),
    ],
)
def test_what_somebody_said_tells_the_language_whatever_their_platform_says(text: str, language: str) -> None:
    assert words(text, "sv-SE") is in_language(language)
    assert words(text) is in_language(language)


@pytest.mark.parametrize(
    "text",
    ["notice period?", "quota limits", "data center", "rollback staging", "pasta menu", "E42 error", "deploy", "", "@here", "?!"],
)
def test_a_word_or_two_tell_nothing(text: str) -> None:
    assert words(text) is ENGLISH
    assert words(text, "pt-BR") is in_language("pt")
    assert words(text, "xx") is ENGLISH


def test_there_is_every_sentence_in_every_language() -> None:
    for language in ("en", "de", "fr", "es", "pt", "it", "zh", "ja"):
        said = in_language(language)
        assert all(said)
        assert len(set(said)) == len(Words._fields)
        assert "{most}" in said.too_long
        assert language == "en" or not set(said) & set(ENGLISH)


def test_why_there_is_no_answer_is_told_in_english_and_in_general_words_elsewhere() -> None:
    error = ModelTimeout("61 s")

    assert apology(error, "timeout?", "en-GB") == ModelTimeout.user_message
    assert apology(error, "timeout?", "de-DE") == in_language("de").failed
    assert apology(None, "timeout?") == ENGLISH.failed
