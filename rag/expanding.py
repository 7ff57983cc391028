"""A follow-up made searchable without a model: its own words, and around them some of what was said before (R9)."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from rag.languages import detect, script
from rag.lexical import content_words, is_stop, words
from rag.naming import JOINTS, is_unspaced, named, names, telling_words
from rag.questions import POINTERS, asks_in_words, goes_on, names_back, only_goes_back, only_points, points_back, unspaced_core
from rag.types import Lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rag.naming import Name
    from rag.types import Turn

PUT_WEIGHT: Final = 3  # of a question that the follow-up asks again, of another name
MEANT_WEIGHT: Final = 3
OWN_WEIGHT: Final = 3  # measured: the last turn three times, two user turns before it and five words of the answer once
USER_TURNS: Final = 2
LEXICAL_ANSWER_WORDS: Final = 5
DENSE_HISTORY_WORDS: Final = 4
DENSE_ANSWER_WORDS: Final = 2
_CHAIN: Final = 6  # questions before
_KIND: Final = 2  # characters at the end of a name in Chinese or Japanese, which say what it names: 公司
_ENOUGH: Final = 4  # content words
_FEWEST: Final = 2
_TELL_LANGUAGE: Final = 2  # small words
_TURN_READ: Final = 1000  # characters of an earlier question
_ANSWER_READ: Final = 4000
_LONGEST_TOLD: Final = 12  # letters: a longer word is no rarer
_LETTERS_OF_ONE: Final = 2.5  # what one character of theirs is worth


def expanded(question: str, history: Sequence[Turn]) -> Lookup:
    """The follow-up with words of the conversation. Its own weigh most, so that a change of topic is not dragged back; as much
    weighs what it points back to by a word of its own ("its", "there"), and a question into which it only puts another name.
    """
    earlier, named_last = _earlier(history)
    last = next((turn for turn in reversed(history) if turn.role == "assistant"), None)
    answer = last.text[:_ANSWER_READ] if last and not last.abstained else ""
    meant = _meant(question, earlier, named_last)
    if put := _put(question, earlier):
        earlier, answer = [_with(text, put.old, " ") for text in earlier], ""
    told = salient(answer)
    lexical = [(question, OWN_WEIGHT), *((text, PUT_WEIGHT if put else 1) for text in earlier)]
    if earlier and only_goes_back(question):
        lexical = [(earlier[0], OWN_WEIGHT), *lexical[2:]]
    if meant:
        lexical.insert(1, (" ".join(meant), MEANT_WEIGHT))
    if told:
        lexical.append((" ".join(told[:LEXICAL_ANSWER_WORDS]), 1))
    known = set(words(question))
    asked = _new(chain(meant, *map(telling_words, earlier)), known, DENSE_HISTORY_WORDS)
    added = asked + _new(told, known.union(*map(words, asked)), DENSE_ANSWER_WORDS)
    remark = f" ({', '.join(added)})" if added else ""
    # An encoder takes words in brackets for a remark, and the question said twice for the matter: nDCG@10 on follow-ups
    # .784 -> .793 -> .801, after a change of topic .697 -> .749 -> .814. Six words instead of nine: .802 and .841.
    dense = f"{question} {question}{remark}" if added else question
    unknown = frozenset(words(" ".join(meant))) if last and last.abstained else frozenset()  # to the documents, as it was said
    return Lookup(question + remark, tuple(lexical), dense, "expanded", unknown, {"added": added})


def _earlier(history: Sequence[Turn]) -> tuple[list[str], str]:
    """What was asked before about the same matter, the newest first, made complete where it only put another name in; that name."""
    at = [n for n, turn in enumerate(history) if turn.role == "user"][-_CHAIN:]
    complete: list[str] = []
    change = None
    for n in at:
        text = history[n].text[:_TURN_READ]
        change = _put(text, complete[: -USER_TURNS - 1 : -1])
        complete.append(change.complete if change else _with_meant(text, complete))
    if change or len(at) < USER_TURNS or stands_alone(history[at[-1]].text, history[: at[-1]]):
        return complete[-1:], change.new if change else ""
    return complete[: -USER_TURNS - 1 : -1], ""


def _with_meant(text: str, earlier: Sequence[str]) -> str:
    """A question before that only points back, with what it points to, so that the next one may point to that as well."""
    return " ".join([text, *names(earlier[-1])]) if earlier and _only_leans(text) else text


@lru_cache(maxsize=256)
def _only_leans(text: str) -> bool:
    return (names_back(text) or only_goes_back(text)) and not names(text)


def _meant(question: str, earlier: Sequence[str], named_last: str) -> list[str]:
    """The names in what was asked before that a word of the follow-up stands for."""
    if not names_back(question):
        return []
    for text in earlier:
        if found := telling_words(text) if goes_on(text) else names(text):
            return list(found)
    return [named_last] if named_last else []


class _Put(NamedTuple):
    """A name in a question before, in whose place a follow-up puts a new one, and that question with it."""

    old: str
    new: str
    complete: str


def _put(question: str, earlier: Sequence[str]) -> _Put | None:
    """What the follow-up replaces: of Slack nothing is asked any more once "How do I rotate the token in Slack?" is followed by
    "and in Discord?". Of several names, the one after the same word; None where that is not clear.
    """
    if not earlier or not goes_on(question):
        return None
    if core := unspaced_core(question):
        return _put_unspaced(core, earlier)
    new = named(question)
    own = [word for word in telling_words(question) if not all(map(only_points, words(word)))]
    if not new or not _is_all(own, new, earlier):
        return None
    for text in earlier:
        old = [name for name in named(text) if name.shape == new[0].shape]
        if len(old) > 1:
            old = [name for name in old if name.after == new[0].after]
        if old:
            told = len(old) == 1 and old[0].text not in own
            return _Put(old[0].text, new[0].text, _with(text, old[0].text, new[0].text)) if told else None
    return None


def _with(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text) if old.isascii() else text.replace(old, new)


def _put_unspaced(core: str, earlier: Sequence[str]) -> _Put | None:
    """Where words are not spaced, what ends as the new name does and is as long: 海风公司 for 山河公司."""
    kind = core[-_KIND:]
    for text in earlier:
        end = text.find(kind) + _KIND
        old = text[end - len(core) : end] if kind in text and end >= len(core) > _KIND else ""
        if old:
            return None if old == core else _Put(old, core, text.replace(old, core))
    return None


def _is_all(own: Sequence[str], new: Sequence[Name], earlier: Sequence[str]) -> bool:
    """Whether the follow-up says nothing but the name, and the word before it that the question before has too: "of station 17"."""
    named_words = {word for name in new for word in name.text.split()} - JOINTS
    beside = {word.casefold() for word in own if word not in named_words}
    return named_words <= set(own) and (not beside or beside <= {name.after for name in new} & set(words(" ".join(earlier))))


def stands_alone(question: str, history: Sequence[Turn]) -> bool:
    """Whether a question is complete by itself (R10): nothing in it points back, and it is in another language than the one
    before it, asks in words none of which was said before, names something new, or says enough and its subject is a new one.

    Measured: leaving the latter alone costs .001 on follow-ups and gains .02 after a change of topic.
    """
    if points_back(question):
        return False
    folded = {word: words(word) for word in _distinct(telling_words(question))}
    own = [word for word, forms in folded.items() if not POINTERS.issuperset(forms)]
    if _changes_language(question, history):
        return len(content_words(question, detect(question))) >= _FEWEST
    new = _unsaid(own, folded, [turn.text[:_ANSWER_READ] for turn in history if not turn.abstained])
    if own and asks_in_words(question) and (len(new) == len(own) or _is_of_its_own(question, own, new)):
        return True
    if len(own) >= _FEWEST and not set(new).isdisjoint(names(question)):
        return True
    return len(own) >= _ENOUGH and len(own) - len(new) <= 1


def _is_of_its_own(question: str, own: Sequence[str], new: Sequence[str]) -> bool:
    """Whether a question that asks in words is about something new, though one of its words was said before, or its names were:
    what it is about stands at its end. Measured: this costs nothing on follow-ups; with a said word anywhere it cost .003.
    """
    if len(new) < _FEWEST:
        return False
    return set(own).issubset((*new, *names(question))) or (len(own) - len(new) <= 1 and set(own[-_FEWEST:]).issubset(new))


def _unsaid(own: Sequence[str], folded: Mapping[str, Sequence[str]], said: Sequence[str]) -> list[str]:
    """Those of the words that none of the texts say: where no letters of theirs stand, which is seen at once, none do.

    Of numbers that is not known, as 10,000 says 10000.
    """
    forms = [form for word in own for form in folded[word]]
    if not any(map(str.isdigit, forms)):
        said = [text for text in said if not text.isascii() or any(map(text.lower().__contains__, forms))]
    known = frozenset[str]().union(*map(_words_of, said))
    return [word for word in own if known.isdisjoint(folded[word])]


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
    """The words of a text that say most about its subject, best first: the long ones, which are rare in any language. Addresses
    and paths are long, and say nothing.
    """
    found = list(_distinct(telling_words(text)))
    if "/" in text:
        found = [word for word in found if "/" not in word]
    if not text.isascii():
        return sorted(found, key=lambda word: -min(_letters(word), _LONGEST_TOLD))
    long = [word for word in found if len(word) >= _LONGEST_TOLD]
    return long + sorted([word for word in found if len(word) < _LONGEST_TOLD], key=len, reverse=True)


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
