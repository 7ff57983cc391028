from __future__ import annotations

import pytest

from rag.content import between_blanks, says_words, surely_told
from rag.lexical import content_words, words

SAID = [
    "The cache and the index of the cache",
    "It is NOt",
    "a a a the",
    "Café cafe CAFÉ",
    "Il est là, et il y reste avec lui, parce que la pluie et le vent ne cessent pas dehors",
    "Ich bin der, der das sagt, und nicht du, und so ist es auch jetzt noch immer bei uns allen hier: Regen",
    "数据库的",
    "这是什么",
    "max_connections",
    "v1.2 of C++",
    "- - -",
    "",
]


@pytest.mark.parametrize("text", SAID)
def test_whether_a_text_says_so_many_words_is_what_its_content_words_tell(text: str) -> None:
    many = len(content_words(text))
    assert [least for least in range(1, 9) if says_words(text, least)] == list(range(1, min(many, 8) + 1))


@pytest.mark.parametrize("text", SAID)
def test_the_content_words_are_among_the_words_between_blanks_of_a_text_that_has_such(text: str) -> None:
    found = {word.strip() for word in between_blanks(text)}
    assert found in (set(), set(words(text)))
    assert not found or found.issuperset(content_words(text))


def test_a_text_without_spaces_has_no_words_between_blanks() -> None:
    assert between_blanks("数据库的 index") == between_blanks("ｲﾝﾃﾞｯｸｽ") == ()
    assert set(between_blanks("the index of the")) == {" the ", " index ", " of "}


@pytest.mark.parametrize("text", SAID)
def test_what_is_surely_told_is_told(text: str) -> None:
    assert set(surely_told(text)) <= set(content_words(text))


def test_most_words_are_surely_told_and_small_words_of_any_language_are_not() -> None:
    assert list(surely_told("The index of a café in max_connections, die Datenbank, 数据库 index")) == [
        "index",
        "cafe",
        "max_connections",
        "datenbank",
    ]
