"""The words of a text that tell what it is about, and those among them that name one thing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from rag.languages import detect, script
from rag.letters import is_spelled
from rag.lexical import content_words, is_stop, words
from rag.stopwords import STOP_PHRASES, STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORD: Final = re.compile(r"[^\W_](?:[\w'’.\-/]*[^\W_])?")
_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9]++(?:['./_-]++[A-Za-z0-9]++)*+")  # the same in ASCII, in half the time
_CODE: Final = re.compile(r"[\d_.]")
_UNSPACED: Final = frozenset(("han", "kana", "thai", "lao", "khmer", "myanmar"))
_JAPANESE: Final = re.compile(
    "[\u30a1-\u30fa\u30fc]{2,}|[\u3005\u3400-\u4dbf\u4e00-\u9fff]{2,}"
)  # words stand in these, endings in the third
_WITHOUT_PHRASES: Final = STOPWORDS.keys() - STOP_PHRASES.keys()
JOINTS: Final = frozenset({"de", "do", "da", "dos", "das", "del", "di", "of", "van", "von", "am"})  # within a name: Rio de Janeiro
_SEGMENT: Final = 8  # characters of an unspaced text that count as one word, at most


@lru_cache(maxsize=64)  # a turn asks several times for those of its question, and the next one again
def telling_words(text: str) -> tuple[str, ...]:
    """The words of a text as it writes them, in order, without stop words; of Chinese and the like, what stands between those."""
    return tuple(_telling(text, detect(text)))


def _telling(text: str, language: str) -> Iterator[str]:
    if text.isascii() and language in _WITHOUT_PHRASES:  # as most are
        yield from _telling_plain(text, STOPWORDS[language])
        return
    for word in _WORD.findall(text):
        if is_unspaced(word):
            yield from _JAPANESE.findall(word) if language == "ja" else _segments(content_words(word, language))
        elif (len(word) > 1 or word.isdigit()) and (not is_stop(word, language) or is_spelled(word, text)):
            yield word


def _telling_plain(text: str, stops: frozenset[str]) -> list[str]:
    return [
        word
        for word in _PLAIN_WORD.findall(text)
        if word not in stops
        and (len(word) > 1 or word.isdigit())
        and (word.islower() or word.casefold() not in stops or is_spelled(word, text))
    ]


def _segments(pairs: Iterable[str]) -> Iterator[str]:
    """Overlapping pairs of characters, joined again."""
    segment = ""
    for pair in pairs:
        if segment and segment[-1] == pair[0] and len(segment) < _SEGMENT:
            segment += pair[1:]
        else:
            if segment:
                yield segment
            segment = pair
    if segment:
        yield segment


@lru_cache(maxsize=64)  # one turn asks for those of its question several times
def names(question: str) -> tuple[str, ...]:
    """Those of its words that name one thing: `max_connections`, PostgreSQL, Mongolia; in Chinese, what is written in Latin."""
    return tuple(_names(question))


def _names(question: str) -> Iterator[str]:
    unspaced, nouns_are_capital = script(question) in _UNSPACED, detect(question) == "de"
    for word in telling_words(question):
        if word.isalpha() and word.islower() and not unspaced:  # as most are
            continue
        inner = word[1:]
        is_code = word.isdigit() or any(c.isdigit() or c in "_." for c in inner) or any(c.isupper() for c in inner)
        is_capital = word[0].isupper() and not nouns_are_capital and not question.lstrip("¿¡\"'«“(").startswith(word)
        if is_code or is_capital or (unspaced and not is_unspaced(word)):
            yield word


class Name(NamedTuple):
    """Words that follow each other and name one thing, of what kind they look, and the word before them."""

    text: str
    shape: str
    after: str


@lru_cache(maxsize=64)
def named(text: str) -> tuple[Name, ...]:
    found: list[Name] = []
    for name in names(text):
        before = text[: text.find(name)].rstrip()
        shape = "number" if name.isdecimal() else "code" if _CODE.search(name) else "name"
        start = _without_joint(before)
        if found and found[-1].shape == shape and start.endswith(found[-1].text):
            found[-1] = found[-1]._replace(text=f"{found[-1].text}{before[len(start) :]} {name}")
        else:
            found.append(Name(name, shape, (words(before) or [""])[-1]))
    return tuple(found)


def _without_joint(before: str) -> str:
    head, _, last = before.rpartition(" ")
    return head.rstrip() if last in JOINTS else before


def is_unspaced(word: str) -> bool:
    return not word.isascii() and script(word) in _UNSPACED
