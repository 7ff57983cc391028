"""The two sides of a question that compares: each wants a sentence of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rag.letters import IS_DENSE
from rag.lexical import words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from rag.models.extracting import Sentence
    from rag.models.weighing import Scored

_LONGEST = 300  # characters of a question that compares two things
_END = r"\s*[?？!.。]*\s*$"
_SIDES = tuple(
    re.compile(pattern + _END, re.IGNORECASE)
    for pattern in (
        r"\bbetween\s+(.{1,80}?)\s+and\s+(.{1,80}?)",
        r"\bzwischen\s+(.{1,80}?)\s+und\s+(.{1,80}?)",
        r"\b(?:entre|tra|fra)\s+(.{1,80}?)\s+(?:y|e|et|ou)\s+(.{1,80}?)",
        r"\btussen\s+(.{1,80}?)\s+en\s+(.{1,80}?)",
        r"между\s+(.{1,80}?)\s+и\s+(.{1,80}?)",
        r"(\S{1,40})\s+(?:vs\.?|versus)\s+(.{1,80}?)",
        r"(.{1,12}?)(?:和|与|與|跟|同)(.{1,20}?)(?:之间|之間)?(?:有|的)*(?:什么|什麼|何|哪些)*(?:区别|差别|差异|不同|區別|差別|差異)",
        r"(.{1,12}?)と(.{1,20}?)の(?:違い|差異?)(?:は何ですか|は|を.*)?",
    )
)


class Side(NamedTuple):
    """What is said of it alone, and what is said of the other one."""

    own: frozenset[str]
    others: frozenset[str]

    def told(self, terms: AbstractSet[str]) -> int:
        """How much more of it than of the other stands there."""
        return len(self.own & terms) - len(self.others & terms)


def sides(question: str) -> tuple[Side, ...]:
    """None where it does not compare, or the two cannot be told apart. What stands behind the second is asked of both."""
    if len(question) > _LONGEST:
        return ()
    found = next((match for pattern in _SIDES if (match := pattern.search(question))), None)
    if found is None:
        return ()
    one, other = found[1].strip(), _as_long(found[2].strip(), found[1].strip())
    first, second = frozenset(words(one)), frozenset(words(other))
    if first <= second <= first:
        return ()
    return Side(first - second or first, second - first), Side(second - first or second, first - second)


def _as_long(text: str, like: str) -> str:
    """Its first words, or characters where these are words."""
    if IS_DENSE[like[0]]:
        return text[: len(like) + 1]
    return " ".join(text.split()[: len(like.split())])


def best_of_each(ranked: Sequence[Scored], of: Sequence[Side]) -> list[Scored]:
    """Of each side the best sentence that tells more of it than of the other; none unless there is one of each."""
    found = [next((one for one in ranked if _tells(side, one.sentence)), None) for side in of]
    pair = [one for one in found if one is not None]
    return pair if len({one.sentence for one in pair}) == len(of) else []


def _tells(side: Side, sentence: Sentence) -> bool:
    """By itself or its headings; where these speak of neither, by the title."""
    here = sentence.terms | sentence.heading_terms
    return side.told(here) > 0 or (side.own.union(side.others).isdisjoint(here) and side.told(sentence.title_terms) > 0)
