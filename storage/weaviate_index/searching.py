"""One search of one build: both ranked lists at once, then what each lacks of the other.

Cosines are asked for as soon as the lexical list is there. Lexical scores are worked out from those of the list (`weighing`);
only where that is not certain they are asked for, too.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from weaviate.classes.query import MetadataQuery

from rag.text import well_formed
from rag.types import Candidate
from storage.weaviate_index.rows import LEXICAL, escaped, plain, visible, with_uuids
from storage.weaviate_index.weighing import Counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from weaviate.collections import CollectionAsync
    from weaviate.collections.classes.filters import _Filters
    from weaviate.collections.classes.internal import Object

    from rag.types import Search
    from storage.weaviate_index.server import Server
    from storage.weaviate_index.states import State
    from storage.weaviate_index.weighing import Weighing

Scores: TypeAlias = dict[int, float]  # of rows, by their id as a number: a UUID takes ten times as long to look up
_SHOWN = ["passage", "born", LEXICAL]


class _Held(NamedTuple):
    """A row of either list."""

    uuid: UUID
    passage: str
    matched: frozenset[str]
    counted: Counted


class Lists:
    """The two ranked lists of one search; not `filtered` where every row there is can be found.

    `torn` says that they were not, after all: a row of the next state is in them, since a run has begun to write.
    """

    def __init__(self, server: Server, state: State, search: Search, weighing: Weighing, *, filtered: bool) -> None:
        self._server = server
        self._rows: CollectionAsync[Any, Any] = server.build(state.build)
        self._generation = state.generation
        self._visible = visible(state.generation) if filtered else None
        self._weighing = weighing
        self._limit = search.limit
        self._terms = [escaped(term) for term in map(well_formed, search.terms) if term]
        self._shown = {f" {term} ": plain(term) for term in self._terms}  # as it stands in a row, and as it was asked for
        given = search.vector if state.signature.dimension else None
        self._vector = None if given is None else np.frombuffer(given, "<f4").tolist()
        self._held: dict[int, _Held] = {}
        self.torn = False

    async def read(self) -> list[Candidate]:
        """The candidates, each once, with both raw scores."""
        if self._limit <= 0:
            return []
        lexical, dense = asyncio.ensure_future(self._read_lexical()), asyncio.ensure_future(self._read_dense())

        async def compared() -> Scores:
            found = await lexical
            return await self._compared([key for key in found if not dense.done() or key not in dense.result()])

        async def scored() -> Scores:
            return await self._scored(*await asyncio.gather(lexical, dense))

        cosine, bm25 = await asyncio.gather(compared(), scored())
        return self._candidates(lexical.result(), dense.result(), bm25, cosine)

    def _candidates(self, lexical: Scores, dense: Scores, bm25: Scores, cosine: Scores) -> list[Candidate]:
        lexical_rank, dense_rank = _ranks(lexical, self._held), _ranks(dense, self._held)
        bm25, cosine = {**bm25, **lexical}, {**cosine, **dense}
        return [
            Candidate(
                self._held[key].passage,
                bm25.get(key, 0.0),
                cosine.get(key, 0.0),
                lexical_rank.get(key, 0),
                dense_rank.get(key, 0),
                self._held[key].matched,
            )
            for key in dict.fromkeys((*lexical, *dense))
        ]

    async def _read_lexical(self) -> Scores:
        found = await self._by_terms(self._visible, self._limit, _SHOWN)
        self._hold(found)
        return _scores(found)

    async def _read_dense(self) -> Scores:
        found = await self._by_vector(self._visible, self._limit, _SHOWN)
        self._hold(found)
        return _cosines(found)

    def _hold(self, found: Sequence[Object[Any, Any]]) -> None:
        """With the terms that stand in each: worked out while the server is busy."""
        padded, terms = list(self._shown), list(self._shown.values())
        for each in found:
            if (key := each.uuid.int) not in self._held:
                held = each.properties
                text = f" {held[LEXICAL]} "
                counts = tuple([_count(text, term) if term in text else 0 for term in padded])
                matched = frozenset([term for term, count in zip(terms, counts, strict=True) if count])
                self.torn |= held["born"] > self._generation
                self._held[key] = _Held(each.uuid, held["passage"], matched, Counted(counts, text.count(" ") - 1))

    async def _compared(self, lacking: Sequence[int]) -> Scores:
        if not lacking:
            return {}
        return _cosines(await self._by_vector(with_uuids([self._held[key].uuid for key in lacking]), len(lacking), []))

    async def _scored(self, lexical: Scores, dense: Scores) -> Scores:
        lacking = [one for key in dense if key not in lexical and (one := self._held[key]).matched]
        listed = [self._held[key].counted for key in lexical]
        worked_out = self._weighing.scores(listed, list(lexical.values()), [one.counted for one in lacking])
        found = {one.uuid.int: score for one, score in zip(lacking, worked_out, strict=True) if score is not None}
        if unsure := [one.uuid for one in lacking if one.uuid.int not in found]:
            found |= _scores(await self._by_terms(with_uuids(unsure), len(unsure), []))
        return found

    async def _by_terms(self, which: _Filters | None, limit: int, shown: list[str]) -> Sequence[Object[Any, Any]]:
        if not self._terms:
            return ()
        found = await self._server.read(
            lambda: self._rows.query.bm25(
                " ".join(self._terms),
                query_properties=[LEXICAL],
                filters=which,
                limit=limit,
                return_metadata=MetadataQuery(score=True),
                return_properties=shown,
            )
        )
        return found.objects

    async def _by_vector(self, which: _Filters | None, limit: int, shown: list[str]) -> Sequence[Object[Any, Any]]:
        vector = self._vector
        if vector is None:
            return ()
        found = await self._server.read(
            lambda: self._rows.query.near_vector(
                vector,
                filters=which,
                limit=limit,
                return_metadata=MetadataQuery(distance=True),
                return_properties=shown,
            )
        )
        return found.objects


def _count(text: str, term: str) -> int:
    """How often it stands there: two may have one space between them, which `str.count` counts to the first alone."""
    count, at = 0, text.find(term)
    while at >= 0:
        count, at = count + 1, text.find(term, at + len(term) - 1)
    return count


def _scores(found: Sequence[Object[Any, Any]]) -> Scores:
    return {each.uuid.int: each.metadata.score or 0.0 for each in found}


def _cosines(found: Sequence[Object[Any, Any]]) -> Scores:
    return {each.uuid.int: 1.0 - (each.metadata.distance or 0.0) for each in found}


def _ranks(scores: Scores, held: Mapping[int, _Held]) -> dict[int, int]:
    """Equal scores in an order that does not change from search to search."""
    ordered = sorted(scores, key=lambda key: (-scores[key], held[key].passage))
    return {key: rank for rank, key in enumerate(ordered, 1)}
