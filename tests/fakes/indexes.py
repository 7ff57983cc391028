"""A passage index in memory, exact and slow, for tests of what is built on one; it keeps a record of what was asked."""

from __future__ import annotations

import math
from collections import Counter
from struct import unpack
from typing import TYPE_CHECKING, TypeVar

from rag.types import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from rag.ports import IndexWriter, Work
    from rag.types import Indexed, Passage, Search, Signature, Stretch

T = TypeVar("T")


class MemoryIndex:
    def __init__(self, *indexed: Indexed, languages: Sequence[str] = ("en",)) -> None:
        self._indexed = indexed
        self._languages = tuple(languages)
        self.made_with: Signature | None = None
        self.searches: list[tuple[str, Search]] = []
        self.fetched: list[str] = []
        self.neighbour_calls: list[tuple[str, tuple[Stretch, ...]]] = []

    async def search(self, base: str, search: Search) -> list[Candidate]:
        self.searches.append((base, search))
        here = [each for each in self._indexed if each.passage.base == base]
        counts = [Counter(each.passage.terms.split()) for each in here]
        holding = {term: sum(term in count for count in counts) for term in search.terms}
        bm25 = [
            sum(math.log(1 + len(here) / holding[term]) * count[term] / (1 + count[term]) for term in search.terms if count[term])
            for count in counts
        ]
        cosine = [_cosine(each.vector, search.vector) for each in here]
        lexical = [at for at in sorted(range(len(here)), key=lambda at: -bm25[at]) if bm25[at] > 0][: search.limit]
        dense = [at for at in sorted(range(len(here)), key=lambda at: -cosine[at]) if here[at].vector and search.vector]
        dense = dense[: search.limit]
        return [
            Candidate(
                here[at].passage.id,
                bm25[at],
                cosine[at],
                lexical.index(at) + 1 if at in lexical else 0,
                dense.index(at) + 1 if at in dense else 0,
                frozenset(search.terms).intersection(counts[at]),
            )
            for at in sorted({*lexical, *dense})
        ]

    async def beside(self, base: str, search: Search, work: Work[T]) -> T | None:  # noqa: ARG002 - the port's signature
        return None

    async def passages(self, base: str, ids: Sequence[str]) -> list[Passage]:
        self.fetched += ids
        found = {each.passage.id: each.passage for each in self._indexed if each.passage.base == base}
        return [found[wanted] for wanted in ids if wanted in found]

    async def neighbours(self, base: str, stretches: Sequence[Stretch]) -> list[list[Passage]]:
        self.neighbour_calls.append((base, tuple(stretches)))
        return [self._between(base, stretch) for stretch in stretches]

    def _between(self, base: str, stretch: Stretch) -> list[Passage]:
        """All that may be left out is."""
        here = sorted(
            (each.passage for each in self._indexed if (each.passage.base, each.passage.document) == (base, stretch.document)),
            key=lambda each: each.ordinal,
        )
        within = [each for each in here if stretch.first <= each.ordinal <= stretch.last]
        return [each for each in within if not stretch.rooms or _fits(each, within, stretch.rooms)]

    async def live(self, base: str) -> str:
        raise NotImplementedError

    async def signature(self, base: str) -> Signature | None:  # noqa: ARG002 - the port's signature
        return self.made_with

    async def size(self, base: str) -> int:
        return sum(each.passage.base == base for each in self._indexed)

    async def languages(self, base: str) -> tuple[str, ...]:
        return self._languages if await self.size(base) else ()

    def write(self, base: str, signature: Signature, *, anew: bool = False) -> AbstractAsyncContextManager[IndexWriter]:
        raise NotImplementedError

    async def drop(self, base: str) -> None:
        raise NotImplementedError


def _cosine(one: bytes | None, other: bytes | None) -> float:
    if not one or not other:
        return 0.0
    count = len(one) // 4
    pairs: zip[tuple[float, float]] = zip(unpack(f"<{count}f", one), unpack(f"<{count}f", other), strict=True)
    return sum(a * b for a, b in pairs)


def _fits(passage: Passage, within: Sequence[Passage], rooms: Sequence[tuple[int, int]]) -> bool:
    """Whether it may be wanted: it grows some passage that has room for it and all that lies between."""
    if passage.ordinal in dict(rooms):
        return False
    for ordinal, room in rooms:
        low, high = sorted((ordinal, passage.ordinal))
        if sum(len(each.text) for each in within if low <= each.ordinal <= high and each.ordinal != ordinal) < room:
            return True
    return False
