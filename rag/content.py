"""What a text says, told without its language wherever that makes no difference: most texts are only asked whether they say
anything at all, and to know a language takes longer than all else.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rag.letters import IS_DENSE, fold
from rag.lexical import content_words, distinct_terms, tokens_of
from rag.stopwords import STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

_STOPS_ANYWHERE: Final = frozenset[str]().union(*STOPWORDS.values())
_BEGINNING: Final = 60  # characters


def says_words(text: str, least: int) -> bool:
    """Whether it has so many content words. Most texts show it by their first ones, whatever language these are in."""
    told: set[str] = set()
    for word in surely_told(text if len(text) <= _BEGINNING else text[:_BEGINNING].rpartition(" ")[0]):
        told.add(word)
        if len(told) >= least:
            return True
    return len(content_words(text)) >= least


def surely_told(text: str) -> Iterator[str]:
    """Its words up to where they are not spaced, without what is a small word in any language: each is a content word."""
    for token in tokens_of(text):
        if IS_DENSE[token[0]]:
            return
        if token.casefold() not in _STOPS_ANYWHERE:
            yield fold(token)


@lru_cache(maxsize=64)  # asked for when a sentence is judged, and when its place is looked for
def between_blanks(text: str) -> tuple[str, ...]:
    """The distinct words of a text, each as " word "; none where words are not spaced: what is one goes by the language."""
    if not text.isascii() and any(IS_DENSE[token[0]] for token in tokens_of(text)):
        return ()
    return tuple([f" {word} " for word in distinct_terms(text)])
