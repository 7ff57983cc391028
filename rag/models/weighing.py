"""What each sentence is worth as an answer, by the words it shares with the question."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from rag.letters import HYPHENATED
from rag.lexical import is_stop, question_terms, terms, words
from rag.models.neighbouring import dangles, number_of
from rag.questions import HOW_TOLD, asks_how, comparing, goes_on
from rag.text import width

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from rag.models.extracting import Sentence
    from rag.types import Prompt

_UNDER_HEADING = 0.6  # what a term is worth that stands in the heading above the sentence
_UNDER_TITLE = 0.3
_THE_SAME = 0.9  # of the question in a heading: what stands below answers it, in whatever words
_SAME = 0.15  # more than a rank: a mention in the passage before is no answer beside it
_OTHERS = 1.0  # as many words more than the question may a heading have that asks the same, and always one: what "it" stands for
_STEPS = 0.25  # what the steps under such a heading are worth to who asks how
_ADDED = 0.6  # of what a follow-up says itself: what all the words together are worth that the conversation adds to it
_RANK = 0.1  # what each rank of the passage costs
_PASSAGE = 0.3  # what the whole passage's coverage adds
_FRAGMENT = 0.15  # what a line without an end costs that is no sentence: a caption, a row of a flattened table
_ENDLESS = 0.15  # and what each further such length costs of a sentence that is too long
_ASKS = 0.3  # a question is no answer
_ELSEWHERE = 0.4  # nor is the advice to read on elsewhere
_ASIDE = 0.15  # what all stands in brackets is said by the way
_DANGLES = 0.1  # nor does one begin well with what points back to another paragraph
_UNINTRODUCED = 0.3  # code with no word before it
_MARKS = ("?", "？", "؟")
_LONG = 400  # columns of a sentence that is still read with ease


class Scored(NamedTuple):
    """A sentence with the share of the question that it holds itself, with its headings, and that its passage holds."""

    sentence: Sentence
    own: float
    with_headings: float
    passage: float
    score: float = 0.0
    cosine: float = 0.0
    same: bool = False  # whether a heading above it asks the same
    about: str = ""  # the weightiest term of the question in what it stands under

    def speaks_of(self, term: str) -> bool:
        return term in self.sentence.terms or term in self.sentence.heading_terms


@dataclass(frozen=True)
class _Asked:
    """The question's terms in one language with what each is worth, which weigh the more the fewer sentences have them."""

    terms: dict[str, float]
    sentences: Sequence[Sentence]
    counts: Counter[str]

    @cached_property
    def weights(self) -> dict[str, float]:
        many = len(self.sentences)
        weights = {term: worth * math.log(1 + many / (self.counts[term] + 0.5)) for term, worth in self.terms.items()}
        if asked_for := self._asked_for():
            weights |= dict.fromkeys(asked_for, 0.0)
        added = [term for term, worth in self.terms.items() if worth < 1 and weights[term]]
        if added:
            most = _ADDED * sum(weight for term, weight in weights.items() if self.terms[term] == 1 and self._is_told(term))
            less = min(1.0, most / sum(weights[term] for term in added)) if most else 1.0
            weights |= {term: less * weights[term] for term in added}
        return weights

    def _asked_for(self) -> list[str]:
        """The terms that say what kind of answer is wanted, where others say of what."""
        found = [term for term in self.terms if term in comparing()]
        return found if len(found) < len(self.terms) else []

    def _is_told(self, term: str) -> bool:
        """Whether any sentence is about it: where none is, what the conversation was about is all there is to go by."""
        return self.counts[term] > 0 or any(term in each.heading_terms for each in self.sentences)

    @cached_property
    def total(self) -> float:
        return sum(self.weights.values()) or 1.0

    def about(self, heading_terms: frozenset[str]) -> str:
        """The weightiest term that stands in a sentence's headings; "" where none does."""
        return max((term for term in self.weights if term in heading_terms), key=self.weights.__getitem__, default="")

    def is_the_same(self, sentence: Sentence) -> bool:
        """Whether a heading asks what the question does, and little else: a signature holds words of many questions."""
        if self.share(sentence.heading_terms) < _THE_SAME:
            return False
        forms = {word: frozenset(terms(word, sentence.language)) for word in words(sentence.heading)}
        parts = [word for word in forms if any(word in other and word != other for other in forms)]  # SQL of PostgreSQL
        others = {forms[word] for word in forms if word not in parts}
        others |= {frozenset((term,)) for term in sentence.heading_terms.difference(forms, *forms.values())}
        return sum(self._is_another(each, sentence.language) for each in others) <= max(1, _OTHERS * len(self.terms))

    def _is_another(self, forms: frozenset[str], language: str) -> bool:
        return forms.isdisjoint(self.terms) and forms.isdisjoint(HOW_TOLD) and not any(is_stop(form, language) for form in forms)

    def share(self, own: AbstractSet[str], heading: frozenset[str] = frozenset(), title: frozenset[str] = frozenset()) -> float:
        found = 0.0
        for term, weight in self.weights.items():
            worth = 1.0 if term in own else _UNDER_HEADING if term in heading else _UNDER_TITLE if term in title else 0.0
            found += weight * worth
        return found / self.total


class _Around(NamedTuple):
    """What all sentences of a section share: the share of the question in their passage, and how far their headings ask it."""

    passage: float
    same: bool
    about: str


def by_words(prompt: Prompt, sentences: Sequence[Sentence]) -> list[Scored]:
    asked = _asked(prompt, sentences)
    said: dict[int, set[str]] = {}
    for sentence in sentences:
        said.setdefault(sentence.n, set(sentence.title_terms)).update(sentence.heading_terms, sentence.terms)
    around: dict[tuple[int, frozenset[str]], _Around] = {}
    scored = []
    for sentence in sentences:
        section = sentence.n, sentence.heading_terms
        if section not in around:
            around[section] = _around(asked[sentence.language], sentence, said[sentence.n])
        scored.append(_score(asked[sentence.language], sentence, around[section]))
    return steps_first(scored) if wants_steps(prompt) else scored


def wants_steps(prompt: Prompt) -> bool:
    """Whether it asks how to do something, or puts another name into a question that did."""
    asked = [text for text, _ in prompt.weights] or [prompt.question]
    return asks_how(asked[0]) or (goes_on(asked[0]) and any(map(asks_how, asked)))


def steps_first(scored: Sequence[Scored]) -> list[Scored]:
    """Of what stands under headings that ask the same, the steps, and what leads to them."""
    stepped = {one.sentence.section for one in scored if one.same and number_of(one.sentence) is not None}
    return [one._replace(score=one.score + _STEPS) if _is_step(one.sentence, stepped) else one for one in scored]


def _is_step(sentence: Sentence, stepped: AbstractSet[tuple[int, str]]) -> bool:
    return sentence.section in stepped and (sentence.kind in ("item", "code") or sentence.is_open)


def _around(asked: _Asked, sentence: Sentence, said: AbstractSet[str]) -> _Around:
    headings = sentence.heading_terms
    return _Around(asked.share(said), asked.is_the_same(sentence), asked.about(headings))


def _asked(prompt: Prompt, sentences: Sequence[Sentence]) -> dict[str, _Asked]:
    counts = Counter(chain.from_iterable(sentence.terms for sentence in sentences))
    languages = {sentence.language for sentence in sentences}
    return {language: _Asked(_worth(prompt, language), sentences, counts) for language in languages}


def _worth(prompt: Prompt, language: str) -> dict[str, float]:
    """1 for each term of the question, less for what was only added to it."""
    languages = [language] if language else []
    weights = {term: weight for text, weight in reversed(prompt.weights) for term in question_terms(text, languages)}
    least, most = min(weights.values(), default=1), max(weights.values(), default=1)
    return {_in_one_piece(term): weights.get(term, least) / most for term in question_terms(prompt.question, languages)}


def _in_one_piece(term: str) -> str:
    """As a sentence is asked for it, too: wifi of Wi-Fi."""
    joined = term.replace("-", "")
    return joined if joined in HYPHENATED else term


def _score(asked: _Asked, sentence: Sentence, around: _Around) -> Scored:
    own = asked.share(sentence.terms)
    with_headings = 1.0 if around.same else asked.share(sentence.terms, sentence.heading_terms, sentence.title_terms)
    score = with_headings + _SAME * around.same + _PASSAGE * around.passage - _RANK * sentence.rank - _flaw(sentence)
    return Scored(sentence, own, with_headings, around.passage, score, same=around.same, about=around.about)


def _asks(sentence: Sentence) -> bool:
    """Also a row, in one of its cells."""
    return sentence.text.endswith(_MARKS) or (sentence.kind == "row" and any(f"{mark} |" in sentence.text for mark in _MARKS))


def _flaw(sentence: Sentence) -> float:
    """What makes a sentence hard to read, whatever it says."""
    if sentence.kind == "code":
        return 0.0 if sentence.before is not None or sentence.is_first else _UNINTRODUCED
    longer = width(sentence.text) / _LONG - 1
    asks = _ASKS if _asks(sentence) else 0.0
    elsewhere = _ELSEWHERE if sentence.points_elsewhere else _DANGLES if dangles(sentence) else 0.0
    elsewhere += _ASIDE if sentence.text.startswith("(") and sentence.text.endswith(")") else 0.0
    return (
        asks + elsewhere + (0.0 if sentence.is_complete or sentence.is_open else _FRAGMENT) + _ENDLESS * min(2.0, max(0.0, longer))
    )
