"""One search of one build: both ranked lists at once, then the scores that candidates of one list lack of the other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
from weaviate.classes.query import MetadataQuery

from rag.text import well_formed
from rag.types import Candidate
from storage.weaviate_index.rows import LEXICAL, escaped, plain, visible, with_uuids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from weaviate.collections import CollectionAsync
    from weaviate.collections.classes.filters import _Filters
    from weaviate.collections.classes.internal import Object

    from rag.types import Search
    from storage.weaviate_index.server import Server
    from storage.weaviate_index.states import State

_SHOWN = ["passage", LEXICAL]


class Lists:
    """The two ranked lists of one search, as the server gave them; not `filtered` where every row there is can be found."""

    def __init__(self, server: Server, state: State, search: Search, *, filtered: bool) -> None:
        self._server = server
        self._rows: CollectionAsync[Any, Any] = server.build(state.build)
        self._visible = visible(state.generation) if filtered else None
        self._limit = search.limit
        self._terms = [escaped(term) for term in map(well_formed, search.terms) if term]
        given = search.vector if state.signature.dimension else None
        self._vector = None if given is None else np.frombuffer(given, "<f4").tolist()
        self._lexical: Sequence[Object[Any, Any]] = ()
        self._dense: Sequence[Object[Any, Any]] = ()
        self._matched: dict[UUID, frozenset[str]] = {}

    async def read(self) -> None:
        if self._limit > 0:
            await asyncio.gather(self._read_dense(), self._read_lexical())

    async def _read_dense(self) -> None:
        self._dense = await self._by_vector(self._visible, self._limit, _SHOWN)
        await self._match(self._dense)

    async def _read_lexical(self) -> None:
        self._lexical = await self._by_terms(self._visible, self._limit, _SHOWN)
        await self._match(self._lexical)

    async def _match(self, found: Sequence[Object[Any, Any]]) -> None:
        """Which terms stand in each: worked out while the server is busy."""
        terms = frozenset(self._terms)
        for each in found:
            if each.uuid not in self._matched:
                self._matched[each.uuid] = terms.intersection(str(each.properties[LEXICAL]).split(" "))

    async def candidates(self) -> list[Candidate]:
        """Each once, with both raw scores. Only the server knows what a passage scores that its list does not hold."""
        bm25, cosine = _scores(self._lexical), _cosines(self._dense)
        held = {each.uuid: each for each in (*self._lexical, *self._dense)}
        more = await asyncio.gather(
            self._scored([uuid for uuid in held if uuid not in bm25 and self._matched[uuid]]),
            self._compared([uuid for uuid in held if uuid not in cosine]),
        )
        lexical_rank, dense_rank = _ranks(bm25, held), _ranks(cosine, held)
        bm25, cosine = bm25 | _scores(more[0]), cosine | _cosines(more[1])
        return [
            Candidate(
                str(each.properties["passage"]),
                bm25.get(uuid, 0.0),
                cosine.get(uuid, 0.0),
                lexical_rank.get(uuid, 0),
                dense_rank.get(uuid, 0),
                frozenset(map(plain, self._matched[uuid])),
            )
            for uuid, each in held.items()
        ]

    async def _scored(self, lacking: Sequence[UUID]) -> Sequence[Object[Any, Any]]:
        return await self._by_terms(with_uuids(lacking), len(lacking), []) if lacking else ()

    async def _compared(self, lacking: Sequence[UUID]) -> Sequence[Object[Any, Any]]:
        return await self._by_vector(with_uuids(lacking), len(lacking), []) if lacking else ()

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


def _scores(found: Sequence[Object[Any, Any]]) -> dict[UUID, float]:
    return {each.uuid: each.metadata.score or 0.0 for each in found}


def _cosines(found: Sequence[Object[Any, Any]]) -> dict[UUID, float]:
    return {each.uuid: 1.0 - (each.metadata.distance or 0.0) for each in found}


def _ranks(scores: Mapping[UUID, float], held: Mapping[UUID, Object[Any, Any]]) -> dict[UUID, int]:
    """Equal scores in an order that does not change from search to search."""
    ordered = sorted(scores, key=lambda uuid: (-scores[uuid], str(held[uuid].properties["passage"])))
    return {uuid: rank for rank, uuid in enumerate(ordered, 1)}
