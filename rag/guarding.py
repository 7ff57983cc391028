"""A model's rewrite of a follow-up, looked at before it is trusted (R8). Nothing here raises: a bad rewrite has a reason."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from rag.languages import detect, script
from rag.lexical import content_words, is_stop, terms, words
from rag.marks import marks
from rag.prompting import NO_ANSWER
from rag.questions import POINTERS, POINTERS_UNSPACED, is_put_as_question, is_question, opens_like_an_answer
from rag.text import well_formed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Turn

_LONGEST: Final = 600  # characters of a rewrite of a short follow-up
_GROWTH: Final = 4
_ADDED: Final = 240
_LOST: Final = 1 / 3  # share of a follow-up's own content words that may be put in other words
_NOVEL: Final = 0.5  # share of a rewrite's content words that neither follow-up nor conversation holds
_NOVEL_WORDS: Final = 3
_ALIKE: Final = 0.8
_STEM: Final = 0.6  # share of the longer word that two inflections have in common
_SHORTEST_PREFIX: Final = 4

_UNSPACED: Final = frozenset(("han", "kana", "thai", "lao", "khmer", "myanmar"))
_KANA: Final = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")

_THOUGHT: Final = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"</?question>|^```\w*\s*|\s*```$", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"\A[*_#\s]*(?:[^\n:：?？]{0,60}(?:question|rewrit|rewritten|follow-?up|query|output|pergunta|pregunta|consulta|frage|domanda|vraag|"
    r"вопрос|问题|問題|改写|改寫|質問|질문|سؤال)[^\n:：?？]{0,30})[:：][*_\s]*",
    re.IGNORECASE,
)
_QUOTES: Final = ('""', "''", "“”", "‘’", "«»", "„“", "「」", "『』", "《》", "``", "**", "__")


def trimmed(reply: str, question: str) -> str:
    """The reply without what models put around a rewrite: thoughts, tags, labels, quotes."""
    text = _TAG.sub("", _THOUGHT.sub("", well_formed(reply))).strip()
    if not _LABEL.match(question):
        text = _LABEL.sub("", text, count=1).strip()
    while len(text) > 1 and text[0] + text[-1] in _QUOTES:
        if question.strip().startswith(text[0]):
            break
        text = text[1:-1].strip()
    return text


def objection(rewrite: str, question: str, history: Sequence[Turn]) -> str:
    """Why the rewrite cannot be trusted; "" where it can."""
    if not words(rewrite):
        return "it is empty"
    if len(rewrite.splitlines()) > 1:
        return "it has several lines"
    if len(rewrite) > max(1.5 * len(question), min(_LONGEST, _GROWTH * len(question) + _ADDED)):
        return f"it is too long: {len(rewrite)} characters for {len(question)}"
    said = [turn.text for turn in history if turn.role == "user"]
    if foreign := _foreign(rewrite, question, said):
        return foreign
    if reason := _answers(rewrite, question, history):
        return reason
    lost = lost_words(rewrite, question)
    return f"it lost the words {', '.join(lost)}" if lost else ""


def lost_words(rewrite: str, question: str) -> list[str]:
    """The follow-up's own content words that the rewrite put in no other form, where they are too many to be well lost."""
    language = detect(question)
    own = [word for word in content_words(question, language) if word not in POINTERS]
    unspaced = [word for word in own if script(word) in _UNSPACED and not POINTERS_UNSPACED & set(word)]
    spaced = [word for word in own if script(word) not in _UNSPACED]
    lost = _missing(spaced, rewrite, language) + [pair for pair in unspaced if not set(pair) <= set(rewrite)]
    return lost if len(lost) > _LOST * (len(spaced) + len(unspaced)) else []


def _missing(own: Sequence[str], text: str, language: str) -> list[str]:
    """The words that the text does not hold: as they stand, by their stem, in another inflection, or with spelling mended."""
    found = frozenset(terms(text, language))
    return [word for word in own if found.isdisjoint(terms(word, language)) and not any(_alike(word, other) for other in found)]


def _alike(word: str, other: str) -> bool:
    """Another inflection, a compound, a mended spelling."""
    if word.isdigit():
        return other.endswith(word)
    shorter, longer = sorted((len(word), len(other)))
    shared = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), shorter)
    if shorter < _SHORTEST_PREFIX or not shared:
        return False
    return shared == shorter or shared >= _STEM * longer or SequenceMatcher(None, word, other).ratio() >= _ALIKE


def _answers(rewrite: str, question: str, history: Sequence[Turn]) -> str:
    """Why it reads as an answer rather than as the question put in full; "" where it does not."""
    if NO_ANSWER in rewrite or (marks(rewrite) and not marks(question)):
        return "it is an answer: it cites"
    if opens_like_an_answer(rewrite) and not opens_like_an_answer(question):
        return "it is an answer: it opens like one"
    if is_question(question) and not is_put_as_question(rewrite):
        return "it is a statement, and the follow-up was a question"
    answers = [turn.text.casefold() for turn in history if turn.role == "assistant"]
    if not is_question(question) and any(rewrite.casefold() in answer for answer in answers):
        return "it repeats an answer"
    novel = _novel_words(rewrite, f"{question} {' '.join(turn.text for turn in history)}")
    return f"it brings in what nobody said: {', '.join(novel[:5])}" if novel else ""


def _novel_words(rewrite: str, said: str) -> list[str]:
    """The rewrite's content words that nothing in the conversation accounts for, where they are too many."""
    language = detect(rewrite)
    own = [word for word in content_words(rewrite, language) if word not in POINTERS and script(word) not in _UNSPACED]
    novel = _missing(own, said, language)
    return novel if len(novel) >= _NOVEL_WORDS and len(novel) > _NOVEL * len(own) else []


def _foreign(rewrite: str, question: str, said: Sequence[str]) -> str:
    """Why it is not in the follow-up's language; a follow-up of names alone is in that of the conversation."""
    if _in_script(rewrite) != _in_script(question) and script(question):
        told = any(is_stop(word, detect(question)) for word in words(question)) or _in_script(question) in _UNSPACED
        if told or _in_script(rewrite) not in {_in_script(text) for text in said}:
            return f"it is in another script: {script(rewrite)}"
    if _kana(question) and script(rewrite) == "han" and not _kana(rewrite):
        return "it is in another language: Chinese for Japanese"
    if _kana(rewrite) and not _kana(" ".join((*said, question))):
        return "it is in another script: kana"
    known = question if _telling(question, detect(question), "") else " ".join((*said, question))
    theirs, its = detect(known), detect(rewrite)
    if not theirs or not its or theirs == its or not _telling(known, theirs, its):
        return ""
    if its in {"zh", "ja"} or len(_telling(rewrite, its, theirs)) > len(_telling(rewrite, theirs, its)):
        return f"it is in another language: {its}"
    return ""


def _kana(text: str) -> bool:
    return _KANA.search(text) is not None


def _in_script(text: str) -> str:
    name = script(text)
    return "han" if name == "kana" else name


def _telling(text: str, language: str, other: str) -> list[str]:
    """The frequent words of one language in a text that the other language has not."""
    return [word for word in _LETTERS.findall(text.casefold()) if is_stop(word, language) and not is_stop(word, other)]
