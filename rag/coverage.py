"""How much of what was asked stands in a passage: the part of relevance that words can tell (R17).

Measured on XQuAD and FaQuAD with half of the documents left out, equal weights told answerable questions from others with an
AUROC of .963 (English), .942 (Chinese), .947 (Spanish) and .885 (Portuguese); this does with .965, .952, .953 and .890. Counted
over the whole base instead of around the question, frequencies would do no better, and not every store can tell them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from rag.letters import IS_DENSE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rag.types import Candidate

_UNKNOWN = 0.9  # what the words never say: a question of one word, or of common ones, is never wholly found
_CHARACTER = 0.5  # of a word
NAME = 1.25  # of another word: AUROC .965 -> .966 in English, .890 -> .891 in Portuguese; with 1.5 lower on follow-ups
_ANY = 0.3  # what a word tells however common it is: that the question is about the subject at all


class Word(NamedTuple):
    """A word that is searched for: the terms that stand for it, any of which will do, and how much it weighs.

    `own` says that the question itself holds it, not only the conversation, and that it is about something; `size` how much it
    tells beside another word as rare. Where words are not spaced, it is a character in either pair that holds it: pairs
    themselves reach over the ends of words, and tell nothing when they are missing.
    """

    forms: tuple[str, ...]
    weight: int
    own: bool = True
    size: float = 1.0


class Covered(NamedTuple):
    """Of each candidate the share of the words that stand in it, which tells best how far to trust the lexical list; and by
    the terms that a candidate matched how much of what was asked that is, which tells best how relevant its passage is.
    """

    words: list[float]
    asked: Mapping[frozenset[str], float]


def covered(words: Sequence[Word], candidates: Sequence[Candidate]) -> Covered:
    every = [one.matched for one in candidates]
    distinct = set(every)  # many match the same terms
    known = _held(words, distinct, len(every))
    many = len(words) or 1
    shares = {matched: held.bit_count() / many for matched, held in known.items()}
    parts = words
    if any(IS_DENSE[word.forms[0][0]] for word in words):
        parts = parts_of(words)
        known = _held(parts, distinct, len(every))
    near = [known[one.matched] for one in candidates if one.dense_rank] or [known[matched] for matched in every]
    return Covered(list(map(shares.__getitem__, every)), _asked(parts, _weights(parts, near, len(every)), known, len(every)))


def parts_of(words: Sequence[Word]) -> list[Word]:
    """Pairs taken apart into characters. A character by itself was searched for in vain: no passage is indexed by it."""
    parts: list[Word] = []
    before = ""  # the pair that ends in this one's first character
    for word in words:
        form, weight, own = word.forms[0], word.weight, word.own
        if not IS_DENSE[form[0]]:
            parts.append(word)
            before = ""
        elif len(form) > 1:
            if _goes_on(before, form):
                last = parts.pop()
                parts.append(last._replace(forms=(*last.forms, form)))
            else:
                parts.append(Word((form,), weight, own, _CHARACTER))
            parts.append(Word((form,), weight, own, _CHARACTER))
            before = form
    return parts or list(words)


def _goes_on(pair: str, following: str) -> bool:
    """Whether a pair ends with the character that the next one begins with; a character may have marks of its own."""
    return any(pair.endswith(following[:end]) for end in range(len(following) - 1, 0, -1))


def _held(words: Sequence[Word], found: Iterable[frozenset[str]], most: int) -> dict[frozenset[str], int]:
    """Which of the words each set of matched terms stands for: a number with a field for each word, which holds 1 or 0.

    Up to `most` of them can be added up: then each field says how many hold its word.
    """
    wide = most.bit_length()
    standing: dict[str, int] = {}
    for at, word in enumerate(words):
        for form in word.forms:
            standing[form] = standing.get(form, 0) | 1 << at * wide
    held: dict[frozenset[str], int] = {}
    for matched in found:
        fields = 0
        for term in matched:
            if term in standing:
                fields |= standing[term]
        held[matched] = fields
    return held


def _weights(parts: Sequence[Word], near: Sequence[int], most: int) -> list[float]:
    """The more the fewer passages hold it of those that are near in sense: the root of what BM25 makes of that."""
    wide, size, counts = most.bit_length(), len(near), sum(near)
    weights = []
    for at, part in enumerate(parts):
        n = counts >> at * wide & (1 << wide) - 1
        weights.append(part.size * (_ANY + math.sqrt(math.log1p((size - n + 0.5) / (n + 0.5)))))
    return weights


def _asked(
    parts: Sequence[Word], weights: Sequence[float], held: Mapping[frozenset[str], int], most: int
) -> Mapping[frozenset[str], float]:
    """The question's own words count as much as all words by their weight: those of the conversation are found wherever its
    subject is. Measured on follow-ups: AUROC .690 where one word alone did not count as the question's own, .728 where it does.
    """
    heaviest = max([part.weight for part in parts], default=1)
    own = [weight if part.own else 0.0 for part, weight in zip(parts, weights, strict=True)]
    if not any(own):
        own = list(weights)
    every = [weight * part.weight / heaviest for part, weight in zip(parts, weights, strict=True)]
    wanted_own, wanted = sum(own) + _UNKNOWN, sum(every) + _UNKNOWN
    worth = [(mine / wanted_own + all_in / wanted) / 2 for mine, all_in in zip(own, every, strict=True)]
    return _Asked(held, {1 << at * most.bit_length(): value for at, value in enumerate(worth)})


class _Asked(dict[frozenset[str], float]):
    """What the words are worth together that some matched terms stand for: worked out for those that are asked for."""

    def __init__(self, held: Mapping[frozenset[str], int], worth: Mapping[int, float]) -> None:
        super().__init__()
        self._held = held
        self._worth = worth

    def __missing__(self, matched: frozenset[str]) -> float:
        left, total, worth = self._held[matched], 0.0, self._worth
        while left:
            first = left & -left
            total += worth[first]
            left ^= first
        self[matched] = total
        return total
