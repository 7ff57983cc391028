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
    from weaviate.collections.classes.internal import Object

    from rag.types import Search, Vector
    from storage.weaviate_index.server import Server
    from storage.weaviate_index.states import State

_SHOWN = ["passage", "document", "ordinal", LEXICAL]


class Lists:
    """The two ranked lists of one search, as the server gave them."""

    def __init__(self, server: Server, state: State, search: Search) -> None:
        self._server = server
        self._rows: CollectionAsync[Any, Any] = server.build(state.build)
        self._visible = visible(state.generation)
        self._search = search
        self._terms = [term for term in map(well_formed, search.terms) if term]
        self._vector = search.vector if state.signature.dimension else None
        self._lexical: Sequence[Object[Any, Any]] = ()
        self._dense: Sequence[Object[Any, Any]] = ()

    async def read(self) -> None:
        self._lexical, self._dense = await asyncio.gather(self._by_terms(), self._by_vector())

    async def candidates(self) -> list[Candidate]:
        """Each once, with both raw scores."""
        bm25 = {each.uuid: each.metadata.score or 0.0 for each in self._lexical}
        cosine = {each.uuid: 1.0 - (each.metadata.distance or 0.0) for each in self._dense}
        held = {each.uuid: each for each in (*self._lexical, *self._dense)}
        terms = frozenset(self._terms)
        matched = {uuid: terms.intersection(plain(str(each.properties[LEXICAL])).split(" ")) for uuid, each in held.items()}
        cosine |= self._missing_cosines(cosine)
        bm25 |= await self._missing_scores([uuid for uuid in held if uuid not in bm25 and matched[uuid]])
        lexical_rank, dense_rank = _ranks(self._lexical, bm25), _ranks(self._dense, cosine)
        return [
            Candidate(
                str(each.properties["passage"]),
                bm25.get(uuid, 0.0),
                cosine.get(uuid, 0.0),
                lexical_rank.get(uuid, 0),
                dense_rank.get(uuid, 0),
                matched[uuid],
            )
            for uuid, each in held.items()
        ]

    async def _by_terms(self, among: Sequence[UUID] = ()) -> Sequence[Object[Any, Any]]:
        if not self._terms or self._search.limit <= 0:
            return ()
        found = await self._server.read(
            lambda: self._rows.query.bm25(
                escaped(" ".join(self._terms)),
                query_properties=[LEXICAL],
                filters=with_uuids(among) if among else self._visible,
                limit=len(among) or self._search.limit,
                include_vector=self._vector is not None and not among,
                return_metadata=MetadataQuery(score=True),
                return_properties=["passage"] if among else _SHOWN,
            )
        )
        return found.objects

    async def _by_vector(self) -> Sequence[Object[Any, Any]]:
        vector = self._vector
        if vector is None or self._search.limit <= 0:
            return ()
        found = await self._server.read(
            lambda: self._rows.query.near_vector(
                _floats(vector).tolist(),
                filters=self._visible,
                limit=self._search.limit,
                return_metadata=MetadataQuery(distance=True),
                return_properties=_SHOWN,
            )
        )
        return found.objects

    def _missing_cosines(self, known: Mapping[UUID, float]) -> dict[UUID, float]:
        """Of what the terms found: its vectors came with it."""
        lacking = [each for each in self._lexical if each.uuid not in known and each.vector.get("default")]
        if self._vector is None or not lacking:
            return {}
        products = np.array([each.vector["default"] for each in lacking], np.float32) @ _floats(self._vector)
        return dict(zip((each.uuid for each in lacking), products.tolist(), strict=True))

    async def _missing_scores(self, lacking: Sequence[UUID]) -> dict[UUID, float]:
        """Of what the vector found: only the server knows how often each term stands anywhere."""
        found = await self._by_terms(lacking) if lacking else ()
        return {each.uuid: each.metadata.score or 0.0 for each in found}


def _ranks(listed: Sequence[Object[Any, Any]], scores: Mapping[UUID, float]) -> dict[UUID, int]:
    """Equal scores in an order that does not change from search to search."""

    def order(each: Object[Any, Any]) -> tuple[float, str, int]:
        return -scores[each.uuid], str(each.properties["document"]), int(str(each.properties["ordinal"]))

    return {each.uuid: rank for rank, each in enumerate(sorted(listed, key=order), 1)}


def _floats(vector: Vector) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.frombuffer(vector, "<f4")
