"""Text as the lexical list sees it: normalised words, stems and, where a script has no spaces, pairs of characters.

Whatever changes the terms of a text must change SIGNATURE as well: an index made with other terms cannot be searched.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from operator import add
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

import Stemmer

from rag.languages import detect, script, spoken_and_shared, tells
from rag.letters import DENSE, HAN_KANA, HANGUL, HYPHENATED, IS_DENSE, MARKS, SPACELESS, VOWELS, fold, is_spelled
from rag.stopwords import STOP_PHRASES, STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "SIGNATURE",
    "content_words",
    "detect",
    "distinct_terms",
    "is_foreign",
    "is_stop",
    "question_terms",
    "question_words",
    "script",
    "terms",
    "tokens_of",
    "words",
]

T = TypeVar("T")
SIGNATURE: Final = "words+stems+pairs/1"

_STEMMERS: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip

_LETTERS: Final = rf"[^\W{DENSE}]+(?:[{MARKS}]+[^\W{DENSE}]*)*"
_TOKEN: Final = re.compile(
    rf"[CcFf](?:\+\+|\#)(?![\w+\#])|{_LETTERS}(?:(?:[.\-]|(?<=\d),(?=\d)){_LETTERS})*|[{HAN_KANA}]+|[{HANGUL}]+|[{SPACELESS}]+"
)
_PLAIN_TOKEN: Final = re.compile(r"[CcFf](?:\+\+|\#)(?![\w+\#])|\w++(?:(?:[.\-]|,(?<=\d,)(?=\d))\w++)*+")
_ASCII_TOKEN: Final = re.compile(_PLAIN_TOKEN.pattern, re.ASCII)
_NOT_PLAIN: Final = re.compile(f"[{DENSE}{MARKS}]")
_ODD: Final = re.compile("[\u00ad\u200b-\u200f\u2010-\u2012\u2060\ufeff]")  # seen by nobody, or a hyphen
_HYPHENS: Final = "\u2010\u2011\u2012"
_PARTS: Final = re.compile(r"[^\W_]+(?:[" + MARKS + r"]+[^\W_]*)*")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_CLUSTER: Final = re.compile(rf"[{SPACELESS}]")
_SHORTEST_STEM = 3
_SHORT_PART = 2  # letters: by itself the "wi" of Wi-Fi is no word
_TELL_LANGUAGE = 3  # words
_MOST_KNOWN = 60_000  # tokens of a language
_NONE: Final[frozenset[str]] = frozenset()

_stemming = Lock()  # a stemmer holds state while it works


def words(text: str) -> list[str]:
    """The normalised words of a text, in order; of a compound (`max_connections`, `3.11`) the whole and its parts."""
    return terms(text)


def terms(text: str, language: str = "") -> list[str]:
    """What a passage is indexed by: its words as they stand and their stems."""
    known = _known(language)
    return list(known.get(text) or chain.from_iterable(map(known.__getitem__, tokens_of(text))))


def distinct_terms(text: str, language: str = "") -> frozenset[str]:
    """The same without order and number: half the work."""
    return frozenset(_terms(set(tokens_of(text)), language))


def question_terms(text: str, languages: Sequence[str]) -> list[str]:
    """What is searched for: words without stop words, and stems in that of the base's `languages` the question is in."""
    found = _question_words(text, tuple(languages))
    return [term for forms in found for term in forms if term is forms[0] or not _is_spelled_otherwise(term, forms[0])]


def question_words(text: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """The same terms by the word they stand for: a passage that holds one form of a word holds the word."""
    return list(_question_words(text, tuple(languages)))


@lru_cache(maxsize=64)  # a follow-up is searched for with what was asked before it
def _question_words(text: str, languages: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    tokens, language = _searched(text, languages)
    return tuple(dict.fromkeys(chain.from_iterable(map(_asked(language).__getitem__, tokens))))


def _searched(text: str, languages: Sequence[str]) -> tuple[list[str], str]:
    spoken, shared = spoken_and_shared(text, languages)
    tokens = tokens_of(text)
    kept = _without_stops(tokens, spoken, text)
    return [token for token in kept if token not in VOWELS] or kept or tokens, shared


def is_foreign(text: str, languages: Sequence[str]) -> bool:
    """Whether a question is clearly in none of these languages; of a word or two that is seldom known."""
    spoken, shared = spoken_and_shared(text, languages)
    many = len(words(text))
    return bool(languages and spoken and not shared) and (many >= _TELL_LANGUAGE or (many > 1 and tells(text)))


def content_words(text: str, language: str = "") -> list[str]:
    """The distinct words of a text without its stop words, in order."""
    return list(_content_words(text, language))


@lru_cache(maxsize=256)  # one turn asks several times for those of its question and of each sentence of its answer
def _content_words(text: str, language: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(map(_telling(language or detect(text)).__getitem__, tokens_of(text)))))


def is_stop(word: str, language: str) -> bool:
    stops = STOPWORDS.get(language, _NONE)
    return word in stops or word.casefold() in stops or (language in STOP_PHRASES and word in STOP_PHRASES[language])


def tokens_of(text: str) -> list[str]:
    """What words are made of, as it is written: of scripts without spaces whole runs."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    if _ODD.search(text):
        text = _ODD.sub(lambda odd: "-" if odd[0] in _HYPHENS else "", text)
    return (_TOKEN if _NOT_PLAIN.search(text) else _PLAIN_TOKEN).findall(text)


def _terms(tokens: Iterable[str], language: str) -> Iterable[str]:
    return chain.from_iterable(map(_known(language).__getitem__, tokens))


class _Met(dict[str, T]):
    """What is made of the tokens met so far, so that Python is not called for each: texts say the same words again and again."""

    def __init__(self, make: Callable[[str, str], T], language: str) -> None:
        super().__init__()
        self._make = make
        self._language = language

    def __missing__(self, token: str) -> T:
        found = self._make(token, self._language)
        if not IS_DENSE[token[0]]:  # else whole sentences, seldom met again
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[token] = found
        return found


@lru_cache(maxsize=8)
def _known(language: str) -> _Met[tuple[str, ...]]:
    """The terms of each token."""
    return _Met(_terms_of, language)


@lru_cache(maxsize=8)
def _asked(language: str) -> _Met[tuple[tuple[str, ...], ...]]:
    """The terms of each token of a question, by the word that they stand for."""
    return _Met(_asked_of, language)


@lru_cache(maxsize=len(STOPWORDS) + 1)  # short sentences are taken for many languages
def _telling(language: str) -> _Met[tuple[str, ...]]:
    """The words of each token as they stand; none of one that tells nothing in this language."""
    return _Met(_told_by, language)


def _terms_of(token: str, language: str) -> tuple[str, ...]:
    return _pairs(token) if IS_DENSE[token[0]] else tuple(dict.fromkeys(chain.from_iterable(_forms_of_word(token, language))))


def _asked_of(token: str, language: str) -> tuple[tuple[str, ...], ...]:
    """A name in one piece is one word: with its parts PostgreSQL would weigh as much as all that is asked about it, and GitHub
    would be looked for in hubs. Passages are indexed by the parts as well, so that who asks for these finds the name. WiFi and
    Wi-Fi find each other.
    """
    if IS_DENSE[token[0]]:
        return tuple(zip(_pairs(token)))
    whole, *parts = _forms_of_word(token, language)
    if token.isalpha():
        written = HYPHENATED.get(whole[0], "-".join([part[0] for part in parts if part[0] != whole[0]]))
        return ((*whole, written),) if written else (whole,)
    joined = whole[0].replace("-", "")
    if joined in HYPHENATED:
        return ((*whole, joined), *[part for part in parts if len(part[0]) > _SHORT_PART])
    return ((*whole, joined), *parts) if token.replace("-", "").isalpha() else (whole, *parts)


def _is_spelled_otherwise(term: str, word: str) -> bool:
    return term.replace("-", "") == word.replace("-", "")


def _told_by(token: str, language: str) -> tuple[str, ...]:
    return tuple(_terms(_without_stops((token,), language), ""))


def _pairs(run: str) -> tuple[str, ...]:
    units = _clusters(run) if _CLUSTER.match(run) else run
    return tuple(map(add, units, units[1:])) if len(units) > 1 else (run,)


def _clusters(run: str) -> list[str]:
    """Characters with the vowel signs and tone marks that belong to them."""
    clusters: list[str] = []
    for character in run:
        if clusters and unicodedata.category(character).startswith("M"):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def _forms_of_word(token: str, language: str) -> tuple[tuple[str, ...], ...]:
    """A token and its parts, each as the word that it is and the stem of that."""
    if token.isalpha() and token.islower():
        folded, stem = fold(token), _stem(token, language)
        return ((folded, stem) if stem and stem != folded else (folded,),)
    spelled = [token, *_parts(token)]
    if _THOUSANDS.fullmatch(token):
        spelled.append(token.replace(",", "").replace(".", ""))
    return tuple(tuple(filter(None, dict.fromkeys((fold(word), _stem(word, language))))) for word in spelled)


def _parts(token: str) -> list[str]:
    if token.isalpha() and (token.islower() or token[1:].islower() or token.isupper()):
        return []
    parts = [piece for part in _PARTS.findall(token) for piece in (part, *(_CAMEL.split(part) if _CAMEL.search(part) else ()))]
    return parts if parts != [token] else []


def _stem(word: str, language: str) -> str:
    name = _STEMMERS.get(language)
    if name is None or len(word) < _SHORTEST_STEM or not word.replace("-", "").isalpha():
        return ""
    with _stemming:
        return fold(_stemmer(name).stemWord(word.casefold()))


@lru_cache(maxsize=len(_STEMMERS))
def _stemmer(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name, 0)  # without its own memory, which costs more than it saves here


def _without_stops(tokens: Iterable[str], language: str, text: str = "") -> list[str]:
    """`text` is what they stand in, where that is known."""
    stops = STOPWORDS.get(language, _NONE)
    kept: list[str] = []
    for token in tokens:
        if IS_DENSE[token[0]]:
            kept += filter(None, _stop_phrases(language).split(token))
        elif token.casefold() not in stops or (text and is_spelled(token, text)):
            kept.append(token)
    return kept


@lru_cache(maxsize=len(STOP_PHRASES) + 1)
def _stop_phrases(language: str) -> re.Pattern[str]:
    phrases = STOP_PHRASES.get(language, ())
    return re.compile("|".join(map(re.escape, phrases)) or r"(?!)")
