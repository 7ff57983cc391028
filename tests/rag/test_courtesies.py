"""What is said back to a thank-you and to a greeting, and what is neither."""

import pytest

from rag.abstaining import LANGUAGES
from rag.courtesies import _MANNERS, besides_courtesies, courtesy, courtesy_after
from rag.types import Turn


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("thanks", "en"),
        ("Thank you very much!", "en"),
        ("ok great, thanks 🙏", "en"),
        ("Hi, thanks a lot", "en"),
        ("Vielen Dank", "de"),
        ("Muchas gracias por la ayuda", "es"),
        ("Obrigado!", "pt"),
        ("谢谢你", "zh"),
        ("どうもありがとうございます", "ja"),
        ("감사합니다", "ko"),
        ("شكرا جزيلا", "ar"),
        ("ขอบคุณมากครับ", "th"),
    ],
)
def test_thanks_are_taken_kindly_in_their_language(text: str, language: str) -> None:
    assert courtesy(text) == (_MANNERS[language].welcome, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [("hola", "es"), ("Hi there!", "en"), ("您好啊", "zh"), ("Hej", "sv"), ("Bom dia a todos", "pt"), ("Hallo", "de")],
)
def test_a_greeting_is_returned_in_its_language(text: str, language: str) -> None:
    assert courtesy(text) == (_MANNERS[language].hello, language)


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, and how do I reset it",
        "thanks?",
        "how do I say thanks",
        "Hi, what is alpha",
        "thank you letter template",
        "you",
        "ok Zurich",
        "ok?",
        "ok 42",
        "42",
        "谢谢，怎么退货",
        "你好吗？",
        "…",
        "thanks " * 20,
    ],
)
def test_whatever_else_is_said_is_a_question(text: str) -> None:
    assert courtesy(text) is None


@pytest.mark.parametrize(
    ("text", "said", "language"),
    [
        ("ok", "", "en"),
        ("OK!", "When is the Hamburg office open?", "en"),
        ("ok", "Quantos dias de férias eu tenho?", "pt"),
        ("Got it.", "Wann öffnet das Büro in Hamburg?", "de"),
        ("entendi", "Quantos dias de férias eu tenho?", "pt"),
        ("好的", "年假有几天？", "zh"),
        ("了解しました。", "喫煙所はどこですか？", "ja"),
    ],
)
def test_an_ok_is_no_question_and_is_answered_in_the_language_of_the_thread(text: str, said: str, language: str) -> None:
    history = [Turn("user", said), Turn("assistant", "Quoted [1].")] if said else []

    assert courtesy_after(text, [*history, Turn("user", "ok"), Turn("assistant", "You're welcome.")]) == (
        _MANNERS[language].welcome,
        language,
    )
    assert besides_courtesies([*history, Turn("user", text), Turn("assistant", "You're welcome.")]) == history


def test_there_are_manners_in_every_language_that_abstains() -> None:
    assert set(_MANNERS) == set(LANGUAGES)
    for language, manners in _MANNERS.items():
        for phrase in (*manners.thanks.split(","), *manners.greetings.split(",")):
            assert courtesy(phrase), (language, phrase)


def test_a_follow_up_does_not_rest_on_thanks_and_what_was_said_to_them() -> None:
    asked, answered = Turn("user", "How long is leave?"), Turn("assistant", "25 days.")
    said = [
        Turn("user", "hello"),
        Turn("assistant", "Hello!"),
        asked,
        answered,
        Turn("user", "thanks"),
        Turn("assistant", "Welcome."),
    ]

    assert besides_courtesies(said) == [asked, answered]
    assert besides_courtesies([*said, Turn("user", "and sick leave?")])[2:] == [Turn("user", "and sick leave?")]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Who are you?", "en"),
        ("help", "en"),
        ("Help!!", "en"),
        ("what can you do", "en"),
        ("Was kannst du?", "de"),
        ("À l’aide !", "fr"),
        ("¿Quién eres?", "es"),
        ("Quem é você?", "pt"),
        ("你是谁？", "zh"),
        ("何ができますか？", "ja"),
    ],
)
def test_who_asks_what_it_is_is_told(text: str, language: str) -> None:
    told = courtesy(text)

    assert told is not None
    assert told.language == language
    assert "Footnote" in told.text


@pytest.mark.parametrize(
    "text", ["Who are you allowed to call at night?", "help desk hours?", "What can you do with a broken badge?"]
)
def test_a_question_that_only_begins_so_is_looked_up(text: str) -> None:
    assert courtesy(text) is None
