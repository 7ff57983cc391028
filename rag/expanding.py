"""A follow-up made searchable without a model: its own words, and around them some of what was said before (R9)."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from rag.languages import detect, script
from rag.lexical import content_words, is_stop, words
from rag.naming import is_unspaced, named, names, telling_words
from rag.questions import POINTERS, asks_in_words, goes_on, only_points, points_back
from rag.types import Lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rag.types import Turn

OWN_WEIGHT: Final = 3  # measured: the last turn three times, two user turns before it and five words of the answer once
USER_TURNS: Final = 2
LEXICAL_ANSWER_WORDS: Final = 5
DENSE_HISTORY_WORDS: Final = 4
DENSE_ANSWER_WORDS: Final = 2
_ENOUGH: Final = 4  # content words
_FEWEST: Final = 2
_TELL_LANGUAGE: Final = 2  # small words
_TURN_READ: Final = 1000  # characters of an earlier question
_ANSWER_READ: Final = 4000
_LONGEST_TOLD: Final = 12  # letters: a longer word is no rarer
_LETTERS_OF_ONE: Final = 2.5  # what one character of theirs is worth


def expanded(question: str, history: Sequence[Turn]) -> Lookup:
    """The follow-up with words of the conversation. Its own weigh most, so that a change of topic is not dragged back."""
    earlier = [turn.text[:_TURN_READ] for turn in reversed(history) if turn.role == "user"][:USER_TURNS]
    last = next((turn for turn in reversed(history) if turn.role == "assistant"), None)
    answer = last.text[:_ANSWER_READ] if last and not last.abstained else ""
    if replaced := _replaced(question, earlier):
        earlier, answer = [text.replace(replaced, " ") for text in earlier], ""
    told = salient(answer)
    lexical = [(question, OWN_WEIGHT), *((text, 1) for text in earlier)]
    if told:
        lexical.append((" ".join(told[:LEXICAL_ANSWER_WORDS]), 1))
    known = set(words(question))
    asked = _new((word for text in earlier for word in telling_words(text)), known, DENSE_HISTORY_WORDS)
    added = asked + _new(told, known.union(*map(words, asked)), DENSE_ANSWER_WORDS)
    remark = f" ({', '.join(added)})" if added else ""
    # An encoder takes words in brackets for a remark, and the question said twice for the matter: nDCG@10 on follow-ups
    # .784 -> .793 -> .801, after a change of topic .697 -> .749 -> .814. Six words instead of nine: .802 and .841.
    dense = f"{question} {question}{remark}" if added else question
    return Lookup(question + remark, tuple(lexical), dense, "expanded", {"added": added})


def _replaced(question: str, earlier: Sequence[str]) -> str:
    """The name in the questions before in whose place the follow-up puts one of its own: of Slack nothing is asked any more once
    "How do I rotate the token in Slack?" is followed by "and in Discord?". Of several, the one after the same word; "" for none.
    """
    own = [word for word in telling_words(question) if not all(map(only_points, words(word)))]
    new = named(question) if goes_on(question) else []
    if not new or {word for name in new for word in name.text.split()} != set(own):
        return ""
    for text in earlier:
        old = [name for name in named(text) if name.shape == new[0].shape]
        if len(old) > 1:
            old = [name for name in old if name.after == new[0].after]
        if old:
            return "" if len(old) > 1 or old[0].text in own else old[0].text
    return ""


def stands_alone(question: str, history: Sequence[Turn]) -> bool:
    """Whether a question is complete by itself (R10): nothing in it points back, and it is in another language than the one
    before it, asks in words none of which was said before, names something new, or says enough and its subject is a new one.

    Measured: leaving the latter alone costs .001 on follow-ups and gains .02 after a change of topic.
    """
    if points_back(question):
        return False
    own = [word for word in _distinct(telling_words(question)) if not POINTERS.issuperset(words(word))]
    if _changes_language(question, history):
        return len(content_words(question, detect(question))) >= _FEWEST
    said = [_words_of(turn.text[:_ANSWER_READ]) for turn in history if not turn.abstained]
    new = [word for word in own if all(each.isdisjoint(words(word)) for each in said)]
    if own and len(new) == len(own) and asks_in_words(question):
        return True
    if len(own) >= _FEWEST and not set(new).isdisjoint(names(question)):
        return True
    return len(own) >= _ENOUGH and len(own) - len(new) <= 1


@lru_cache(maxsize=256)  # with every further turn of a thread all those before are looked at again
def _words_of(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _changes_language(question: str, history: Sequence[Turn]) -> bool:
    """Of a question in another language than the one before, the earlier words would be all that is found.

    By its script, or by small words that only its own language has: few words are often taken for another language.
    """
    before = next((turn.text[:_TURN_READ] for turn in reversed(history) if turn.role == "user"), question)
    written, wrote = script(question), script(before)
    if written != wrote:
        return bool(written and wrote)
    now, then = detect(question), detect(before)
    return now != then and _told(question, now, then) >= _TELL_LANGUAGE and _told(before, then, now) >= _TELL_LANGUAGE


def _told(text: str, language: str, other: str) -> int:
    """How many of its words are small ones of the one language and not of the other."""
    return sum(is_stop(word, language) and not is_stop(word, other) for word in words(text))


def salient(text: str) -> list[str]:
    """The words of a text that say most about its subject, best first: the long ones, which are rare in any language."""
    return sorted(_distinct(telling_words(text)), key=lambda word: -min(_letters(word), _LONGEST_TOLD))


def _new(found: Iterable[str], known: set[str], most: int) -> list[str]:
    return list(islice(_distinct(word for word in found if not known.issuperset(words(word))), most))


def _distinct(found: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for word in found:
        if (folded := word.casefold()) not in seen:
            seen.add(folded)
            yield word


def _letters(word: str) -> float:
    return len(word) * (_LETTERS_OF_ONE if is_unspaced(word) else 1)
