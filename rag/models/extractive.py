"""Writes without a language model: the best supported sentences of the best passages, each with its mark.

Measured with the right passage first among five: the gold answer stands in the text for 88 % of XQuAD (English; Chinese 87 %) and
90 % of FaQuAD, in about 300 characters (100 Chinese ones); across languages 85 to 91 % with an embedder. Without a look at the
names it is a point more; but then of thirty questions on names that no document holds, or of which it says something else, 25
were answered, and ten with it.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from operator import attrgetter, mul
from typing import TYPE_CHECKING

from rag.lexical import words
from rag.models.comparing import best_of_each, sides
from rag.models.enumerating import completed
from rag.models.extracting import sentences_of, without_links
from rag.models.neighbouring import continuation, dangles, is_near_copy, needs_the_one_before, shares_a_word
from rag.models.quoting import quoted
from rag.models.speaking import Spoken
from rag.models.weighing import Scored, by_words, steps_first, wants_steps
from rag.questions import goes_on
from rag.types import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping, Sequence

    from rag.models.extracting import Sentence
    from rag.ports import Embedder
    from rag.types import Piece, Prompt, Turn

_RELATIVE = 0.6  # further sentences score at least this much of the best one
_COVERED = 0.4  # below this share of the question in any sentence its meaning is asked for: another language, other words
_MEANING = 0.6
_HEADING = 0.9  # of its heading's nearness is what a sentence has at least
_ALIKE = 0.7  # of what is nearest: such a heading may ask the same
_ANOTHER = 0.75  # the same for a sentence of another passage than the first one's
_STILL = 0.6  # of the best sentence's share of the question, where that one speaks of another name
_TOUCHES = 0.3  # of the question in the sentence behind one that is told: it goes on about the same
_LISTED = 2  # times as much room has an answer that holds a list, so that it is whole
_MOST_ITEMS = 6


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
        scored = await self._scored(prompt)
        pair = best_of_each(scored, sides(prompt.question))
        told = _not_said(scored if pair else _speaking(prompt, scored), prompt.history)
        chosen = self._chosen(told, pair, how=wants_steps(prompt))
        for piece in quoted(chosen, min(self._settings.longest, self._settings.characters)):
            yield piece
        yield Usage(self.name, finish="stop")

    async def _scored(self, prompt: Prompt) -> list[Scored]:
        sentences = [sentence for rank, excerpt in enumerate(prompt.excerpts) for sentence in sentences_of(excerpt, rank)]
        scored = by_words(prompt, sentences)
        if self._embedder is not None and scored and max(one.own for one in scored) < _COVERED:
            scored = await self._by_meaning(prompt, scored, self._embedder)
        return sorted(scored, key=lambda one: (-one.score, one.sentence.rank, one.sentence.index))

    async def _by_meaning(self, prompt: Prompt, scored: Sequence[Scored], embedder: Embedder) -> list[Scored]:
        """A sentence is as near as what it stands under: what follows "What does it cost?" seldom says so."""
        asked = array("f", await embedder.embed_question(_own(prompt) or prompt.question))
        headings = list(dict.fromkeys(one.sentence.heading for one in scored if one.sentence.heading_terms))
        vectors = await embedder.embed_passages([*headings, *(one.sentence.text for one in scored)])
        cosines = [sum(map(mul, asked, array("f", vector)), 0.0) for vector in vectors]
        above = dict(zip(headings, cosines, strict=False))
        near = []
        for one, own in zip(scored, cosines[len(headings) :], strict=True):
            heading = above[one.sentence.heading] if one.sentence.heading_terms else 0.0
            cosine = max(own, _HEADING * heading)
            alike = heading >= _ALIKE * max(cosines)
            near.append(one._replace(score=one.score + _MEANING * cosine, cosine=cosine, same=one.same or alike))
        return steps_first(near) if wants_steps(prompt) else near

    def _chosen(self, ranked: Sequence[Scored], pair: Sequence[Scored] = (), *, how: bool = False) -> list[Sentence]:
        """The best sentence, and those nearly as good, as long as there is room; of what is compared the `pair` before all."""
        fitting = [one for one in ranked if one.passage >= self._settings.covered or one.cosine >= self._settings.cosine]
        read = _by_excerpt(ranked)
        sides_told = [one for one in pair if one in ranked]
        chosen = [sentence for one in sides_told for sentence in _with_what_it_leads_to(one.sentence, read[one.sentence.n])]
        first = max(sides_told, key=attrgetter("score"), default=None)
        for one in fitting:
            if len(chosen) >= self._settings.sentences or (first and one.score < _RELATIVE * first.score):
                break
            if one.sentence in chosen or (first and not _adds(one, first)):
                continue
            taken = [sentence for sentence in self._whole(one.sentence, read[one.sentence.n], chosen) if sentence not in chosen]
            if taken and not (chosen and any(is_near_copy(one.sentence, other) for other in chosen)):
                first = first or one
                chosen.extend(taken)
        told = self._going_on(chosen, read, {one.sentence for one in ranked if one.own >= _TOUCHES}, how=how)
        return completed(told, read, _LISTED * self._settings.characters, how=how) or [one.sentence for one in fitting[:1]]

    def _going_on(
        self, chosen: Sequence[Sentence], read: Mapping[int, Sequence[Sentence]], touching: Collection[Sentence], *, how: bool
    ) -> list[Sentence]:
        """With the sentence behind each, while there is room, where that goes on about the same: it points back, or has a word
        of the question, or one of the sentence's for who asks `how`. What is asked for often stands there: "Set the port. The
        default is 5432."
        """
        found = list(chosen)
        for sentence in chosen:
            following = next((one for one in read[sentence.n] if one.index > sentence.index), None)
            if following is None or following in found or following.block != sentence.block or following.kind != "prose":
                continue
            goes_on = following in touching or needs_the_one_before(following) or (how and shares_a_word(following, sentence))
            more = _with_what_it_leads_to(following, read[sentence.n])
            if goes_on and _room_taken([*found, *more]) <= self._settings.characters:
                found += [one for one in more if one not in found]
        return found

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


def _speaking(prompt: Prompt, scored: list[Scored]) -> list[Scored]:
    """Those that stand where most of the question's names do. None where no name stands anywhere, nor where all do and what is
    asked is said of others alone.
    """
    asked = prompt.weights[0][0] if prompt.weights else prompt.question
    documents = {each.n: each.passage.document for each in prompt.excerpts if each.passage}
    spoken = Spoken(asked, [one.sentence for one in scored], documents)
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
    """Of a follow-up that points back, its words and what they stand for, or the question into which it puts another name; ""
    for any other question.
    """
    asked = [text for text, weight in prompt.weights if weight == prompt.weights[0][1]]
    told = len(asked) > 1 and (len(asked) < len(prompt.weights) or goes_on(asked[0]))
    return " ".join(asked) if told else ""


def _adds(further: Scored, first: Scored) -> bool:
    """Whether it is worth a place beside the first. Under another heading it must speak of what the first one's names; of another
    passage, or as a row beside a row, it must be nearly as good.
    """
    if (
        further.sentence.points_elsewhere
        or dangles(further.sentence)
        or first.same > further.same
        or (first.about and not further.speaks_of(first.about))
    ):
        return False
    if further.sentence.n == first.sentence.n and not further.sentence.kind == first.sentence.kind == "row":
        return True
    return further.score >= _ANOTHER * first.score


def _not_said(scored: list[Scored], history: Sequence[Turn]) -> list[Scored]:
    """Without the sentences that stand in it, whatever marks it bears."""
    said = f" {' '.join(word for turn in history for word in words(turn.text))} "
    return [one for one in scored if f" {' '.join(words(without_links(one.sentence.text)))} " not in said] if history else scored


def _by_excerpt(ranked: Sequence[Scored]) -> dict[int, list[Sentence]]:
    read: dict[int, list[Sentence]] = {}
    for sentence in sorted((one.sentence for one in ranked), key=lambda sentence: sentence.index):
        read.setdefault(sentence.n, []).append(sentence)
    return read


def _room_taken(sentences: Sequence[Sentence]) -> int:
    """In characters. Code is looked at, not read."""
    return sum(len(one.text) for one in sentences if one.kind != "code")


def _with_what_it_leads_to(sentence: Sentence, read: Sequence[Sentence]) -> list[Sentence]:
    return [sentence, *continuation(sentence, read)] if sentence.is_open else [sentence]


def _with_context(sentence: Sentence) -> list[Sentence]:
    """The one before it, where it begins with a word that points back."""
    before = sentence.before
    return [before, sentence] if before is not None and needs_the_one_before(sentence) else [sentence]
