"""Writes without a language model: the best supported sentences of the best passages, each with its mark.

Measured with the right passage first among five: the gold answer stands in the text for 88 % of XQuAD (English; Chinese 87 %) and
90 % of FaQuAD, in about 300 characters (100 Chinese ones); across languages 85 to 91 % with an embedder. Without a look at the
names it is a point more; but then of thirty questions on names that no document holds, or of which it says something else, 25
were answered, and ten with it.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING

from rag.lexical import is_stop, question_terms, words
from rag.models.extracting import Sentence, continuation, is_near_copy, needs_the_one_before, sentences_of
from rag.models.quoting import quoted
from rag.models.speaking import Spoken
from rag.text import width
from rag.types import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rag.ports import Embedder
    from rag.types import Piece, Prompt, Turn

_UNDER_HEADING = 0.6  # what a term is worth that stands in the heading above the sentence
_UNDER_TITLE = 0.3
_THE_SAME = 0.9  # of the question in a heading: what stands below answers it, in whatever words
_OTHERS = 0.5  # as many words more than the question may a heading have that asks the same
_ADDED = 0.6  # of what a follow-up says itself: what all the words together are worth that the conversation adds to it
_RANK = 0.1  # what each rank of the passage costs
_PASSAGE = 0.3  # what the whole passage's coverage adds
_RELATIVE = 0.6  # further sentences score at least this much of the best one
_COVERED = 0.4  # below this share of the question in any sentence its meaning is asked for: another language, other words
_MEANING = 0.6
_FRAGMENT = 0.15  # what a line without an end costs that is no sentence: a caption, a row of a flattened table
_ENDLESS = 0.15  # and what each further such length costs of a sentence that is too long
_ASKS = 0.2  # a question is no answer
_ELSEWHERE = 0.4  # nor is the advice to read on elsewhere
_UNINTRODUCED = 0.3  # code with no word before it
_ANOTHER = 0.75  # the same for a sentence of another passage than the first one's
_STILL = 0.6  # of the best sentence's share of the question, where that one speaks of another name
_MOST_ITEMS = 6
_LONG = 400  # columns of a sentence that is still read with ease


@dataclass(frozen=True, slots=True)
class ExtractiveSettings:
    """`covered` is the share of the question that a passage must hold, `cosine` what is enough instead, by meaning.

    Both are low: whether the passages are about the question at all is decided by retrieval, with a calibrated threshold.
    """

    sentences: int = 3
    characters: int = 560
    longest: int = 480
    covered: float = 0.15
    cosine: float = 0.1


@dataclass(frozen=True, slots=True)
class _Scored:
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


class ExtractiveWriter:
    """Says nothing at all when nothing fits; `embedder` finds what is said in other words or in another language."""

    name = "extractive"
    is_model = False
    context_tokens = 1_000_000

    def __init__(self, embedder: Embedder | None = None, settings: ExtractiveSettings | None = None) -> None:
        self._embedder = embedder
        self._settings = settings or ExtractiveSettings()

    async def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Nothing of the history is said again. Consume under `contextlib.aclosing`. Raises ModelError where the embedder does."""
        scored = _not_said(_speaking(prompt, await self._scored(prompt)), prompt.history)
        for piece in quoted(self._chosen(scored), min(self._settings.longest, self._settings.characters)):
            yield piece
        yield Usage(self.name, finish="stop")

    async def _scored(self, prompt: Prompt) -> list[_Scored]:
        sentences = [sentence for rank, excerpt in enumerate(prompt.excerpts) for sentence in sentences_of(excerpt, rank)]
        scored = _by_words(prompt, sentences)
        if self._embedder is not None and scored and max(one.own for one in scored) < _COVERED:
            scored = await self._by_meaning(_own(prompt) or prompt.question, scored, self._embedder)
        return sorted(scored, key=lambda one: (-one.score, one.sentence.rank, one.sentence.index))

    async def _by_meaning(self, question: str, scored: Sequence[_Scored], embedder: Embedder) -> list[_Scored]:
        asked = array("f", await embedder.embed_question(question))
        vectors = await embedder.embed_passages([one.sentence.text for one in scored])
        cosines = [sum(map(mul, asked, array("f", vector)), 0.0) for vector in vectors]
        return [
            replace(one, score=one.score + _MEANING * cosine, cosine=cosine) for one, cosine in zip(scored, cosines, strict=True)
        ]

    def _chosen(self, ranked: Sequence[_Scored]) -> list[Sentence]:
        """The best sentence, and those nearly as good, as long as there is room."""
        fitting = [one for one in ranked if one.passage >= self._settings.covered or one.cosine >= self._settings.cosine]
        read = _by_excerpt(ranked)
        chosen: list[Sentence] = []
        first: _Scored | None = None
        for one in fitting:
            if len(chosen) >= self._settings.sentences or (first and one.score < _RELATIVE * first.score):
                break
            if one.sentence in chosen or (first and not _adds(one, first)):
                continue
            taken = [sentence for sentence in self._whole(one.sentence, read[one.sentence.n], chosen) if sentence not in chosen]
            if taken and not (chosen and any(is_near_copy(one.sentence, other) for other in chosen)):
                first = first or one
                chosen.extend(taken)
        return chosen or [one.sentence for one in fitting[:1]]

    def _whole(self, sentence: Sentence, read: Sequence[Sentence], chosen: Sequence[Sentence]) -> list[Sentence]:
        """A sentence with all that it needs; nothing where that cannot be had, or where there is no room for it."""
        following = continuation(sentence, read)
        context = _with_context(sentence)
        if _room_taken(context) > self._settings.characters and sentence.kind != "code":
            context = [sentence]
        if _room_taken([*context, *following]) > self._settings.characters or len(following) > _MOST_ITEMS:
            following = []
        if (sentence.is_open and not following) or (chosen and not self._has_room(chosen, [*context, *following[:1]])):
            return []
        return [*context, *following]

    def _has_room(self, chosen: Sequence[Sentence], further: Sequence[Sentence]) -> bool:
        """One block of code is enough. A sentence more than the limit is let in where the last one needs it."""
        together = list(dict.fromkeys((*chosen, *further)))
        return (
            sum(one.kind == "code" for one in together) <= 1
            and sum(one.kind in ("prose", "item") for one in (*chosen, *further[:-1])) <= self._settings.sentences
            and _room_taken(together) <= self._settings.characters
        )


def _speaking(prompt: Prompt, scored: list[_Scored]) -> list[_Scored]:
    """Those that stand where most of the question's names do. None where no name stands anywhere, nor where all do and what is
    asked is said of others alone.
    """
    asked = prompt.weights[0][0] if prompt.weights else prompt.question
    spoken = Spoken(asked, [one.sentence for one in scored])
    missing = [spoken.missing(one.sentence, one.own) for one in scored]
    least = min(missing, default=0)
    if spoken.names and least == spoken.names:
        return []
    kept = [one for one, lacking in zip(scored, missing, strict=True) if lacking == least]
    best = max((one.with_headings for one in kept), default=0.0)
    if best >= _STILL * max((one.with_headings for one in scored), default=0.0):
        return kept
    return scored if least else []


def _own(prompt: Prompt) -> str:
    """Of a follow-up that points back, its words and what they stand for; "" for any other question."""
    asked = [text for text, weight in prompt.weights if weight == prompt.weights[0][1]]
    return " ".join(asked) if 1 < len(asked) < len(prompt.weights) else ""


def _adds(further: _Scored, first: _Scored) -> bool:
    """Whether it is worth a place beside the first. Under another heading it must speak of what the first one's names; of another
    passage it must be nearly as good.
    """
    if further.sentence.points_elsewhere or first.same > further.same or (first.about and not further.speaks_of(first.about)):
        return False
    return further.sentence.n == first.sentence.n or further.score >= _ANOTHER * first.score


def _not_said(scored: list[_Scored], history: Sequence[Turn]) -> list[_Scored]:
    """Without the sentences that stand in it, whatever marks it bears."""
    said = f" {' '.join(word for turn in history for word in words(turn.text))} "
    return [one for one in scored if f" {' '.join(words(one.sentence.text))} " not in said] if history else scored


def _by_excerpt(ranked: Sequence[_Scored]) -> dict[int, list[Sentence]]:
    read: dict[int, list[Sentence]] = {}
    for sentence in sorted((one.sentence for one in ranked), key=lambda sentence: sentence.index):
        read.setdefault(sentence.n, []).append(sentence)
    return read


def _room_taken(sentences: Sequence[Sentence]) -> int:
    """In characters. Code is looked at, not read."""
    return sum(len(one.text) for one in sentences if one.kind != "code")


def _with_context(sentence: Sentence) -> list[Sentence]:
    """The one before it, where it begins with a word that points back."""
    before = sentence.before
    return [before, sentence] if before is not None and needs_the_one_before(sentence) else [sentence]


# --- scoring by words -----------------------------------------------------------------------------------------------


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
        added = [term for term, worth in self.terms.items() if worth < 1]
        if added:
            most = _ADDED * sum(weight for term, weight in weights.items() if self.terms[term] == 1 and self._is_told(term))
            less = min(1.0, most / sum(weights[term] for term in added)) if most else 1.0
            weights |= {term: less * weights[term] for term in added}
        return weights

    def _is_told(self, term: str) -> bool:
        """Whether any sentence is about it: where none is, what the conversation was about is all there is to go by."""
        return self.counts[term] > 0 or any(term in each.heading_terms for each in self.sentences)

    @cached_property
    def total(self) -> float:
        return sum(self.weights.values()) or 1.0

    def about(self, heading_terms: frozenset[str]) -> str:
        """The weightiest term that stands in a sentence's headings; "" where none does."""
        return max((term for term in self.weights if term in heading_terms), key=self.weights.__getitem__, default="")

    def is_the_same(self, heading_terms: frozenset[str], language: str) -> bool:
        """Whether a heading asks what the question does, and little else: a signature holds words of many questions."""
        if self.share(heading_terms) < _THE_SAME:
            return False
        others = sum(not is_stop(term, language) for term in heading_terms.difference(self.terms))
        return others <= _OTHERS * len(self.terms)

    def share(self, own: frozenset[str], heading: frozenset[str] = frozenset(), title: frozenset[str] = frozenset()) -> float:
        found = 0.0
        for term, weight in self.weights.items():
            worth = 1.0 if term in own else _UNDER_HEADING if term in heading else _UNDER_TITLE if term in title else 0.0
            found += weight * worth
        return found / self.total


def _by_words(prompt: Prompt, sentences: Sequence[Sentence]) -> list[_Scored]:
    asked = _asked(prompt, sentences)
    said: dict[int, frozenset[str]] = {}
    for sentence in sentences:
        said[sentence.n] = said.get(sentence.n, sentence.title_terms) | sentence.heading_terms | sentence.terms
    return [_score(asked[sentence.language], sentence, said[sentence.n]) for sentence in sentences]


def _asked(prompt: Prompt, sentences: Sequence[Sentence]) -> dict[str, _Asked]:
    counts = Counter(term for sentence in sentences for term in sentence.terms)
    languages = {sentence.language for sentence in sentences}
    return {language: _Asked(_worth(prompt, language), sentences, counts) for language in languages}


def _worth(prompt: Prompt, language: str) -> dict[str, float]:
    """1 for each term of the question, less for what was only added to it."""
    languages = [language] if language else []
    weights = {term: weight for text, weight in reversed(prompt.weights) for term in question_terms(text, languages)}
    least, most = min(weights.values(), default=1), max(weights.values(), default=1)
    return {term: weights.get(term, least) / most for term in question_terms(prompt.question, languages)}


def _score(asked: _Asked, sentence: Sentence, said: frozenset[str]) -> _Scored:
    own = asked.share(sentence.terms)
    same = asked.is_the_same(sentence.heading_terms, sentence.language)
    with_headings = 1.0 if same else asked.share(sentence.terms, sentence.heading_terms, sentence.title_terms)
    passage = asked.share(said)
    score = with_headings + _PASSAGE * passage - _RANK * sentence.rank - _flaw(sentence)
    return _Scored(sentence, own, with_headings, passage, score, same=same, about=asked.about(sentence.heading_terms))


def _flaw(sentence: Sentence) -> float:
    """What makes a sentence hard to read, whatever it says."""
    if sentence.kind == "code":
        return 0.0 if sentence.before is not None else _UNINTRODUCED
    longer = width(sentence.text) / _LONG - 1
    asks = _ASKS if sentence.text.endswith(("?", "？", "؟")) else 0.0
    elsewhere = _ELSEWHERE if sentence.points_elsewhere else 0.0
    return (
        asks + elsewhere + (0.0 if sentence.is_complete or sentence.is_open else _FRAGMENT) + _ENDLESS * min(2.0, max(0.0, longer))
    )
