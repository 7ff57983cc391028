"""One run's hold on one base in Weaviate."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weaviate.classes.aggregate import GroupByAggregate
from weaviate.classes.query import Filter

from rag.errors import IndexMismatch, StoreError
from rag.text import well_formed
from storage.weaviate_index.batches import Batches
from storage.weaviate_index.choosing import chosen
from storage.weaviate_index.rows import NEVER, alive, among, dead_by, of_document, row, until, vector_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence
    from uuid import UUID

    from weaviate.collections import CollectionAsync
    from weaviate.collections.classes.filters import _Filters

    from rag.types import Indexed, Signature, Vector
    from storage.weaviate_index.server import Server
    from storage.weaviate_index.states import State, States

_MOST = 10_000  # objects in one answer of the server, and removed by one call
_DIGESTS = 500  # asked for at once
_KEPT = 50  # generations whose time of publishing is remembered


class WeaviateWriter:
    """What is written is born in, or dies with, the next generation; `publish` makes searches see that one."""

    def __init__(self, server: Server, states: States, base: str, state: State, live: str) -> None:
        self._server = server
        self._states = states
        self._base = base
        self._state = state
        self._rows: CollectionAsync[Any, Any] = server.surely(state.build)
        self._batches = Batches(server, state.build)
        self._relative: CollectionAsync[Any, Any] | None = None
        self._counts: dict[str, int] = {}
        self._written = False
        self._settling = asyncio.Lock()
        self.build = state.build
        self.live = live
        self.rebuilding = bool(live) and live != state.build

    async def open(self, relative: str) -> None:
        if relative:
            self._relative = self._server.surely(relative)
        await self._purge()
        await self._roll_back()
        self._counts = await self._counted(alive())
        if self._state.generation and not self._written and not self._state.settled:
            await self._note(settled=await self._total() == sum(self._counts.values()))

    async def close(self) -> None:
        await self._batches.close()

    async def vectors(self, digests: Collection[str]) -> Mapping[str, Vector]:
        found = await self._vectors(self._rows, list(digests))
        missing = [digest for digest in digests if digest not in found]
        return found | await self._vectors(self._relative, missing) if self._relative and missing else found

    async def put(self, document: str, passages: Sequence[Indexed]) -> None:
        """The new rows come first: a run that is killed in between is rolled back by the next one."""
        document = well_formed(document)
        self._check(passages)
        await self._begin()
        rows = [row(each, document, self._next) for each in passages]
        await self._batches.write(rows)
        if self._counts.get(document):
            await self._bury([document], {each.uuid for each in rows})
        self._counts[document] = len(rows)

    async def remove(self, documents: Collection[str]) -> None:
        held = [document for document in map(well_formed, documents) if self._counts.get(document)]
        if held:
            await self._begin()
            await self._bury(held, set())
            for document in held:
                del self._counts[document]

    async def counts(self) -> Mapping[str, int]:
        """As the server has them."""
        return await self._counted(alive())

    async def publish(self, *, switch: bool = False) -> None:
        if self.rebuilding and not switch:
            return
        if self.live == self.build and not self._written:
            return
        await self._indexed()
        size, languages = await self._total(alive()), await self._counted(alive(), "language")
        if size != (expected := sum(self._counts.values())):
            raise StoreError(
                f"The index of base {self._base!r} holds {size} passages in Weaviate where {expected} were written, so searches "
                "go on in the state of before. Run `footnote index` again."
            )
        await self._show(size, tuple(sorted(languages.keys() - {""}, key=lambda name: (-languages[name], name))))
        self._written = False
        await self._purge()

    # --- publishing -------------------------------------------------------------------------------------------------

    @property
    def _next(self) -> int:
        return self._state.generation + 1

    async def _show(self, size: int, languages: tuple[str, ...]) -> None:
        published = (*self._state.published, (self._next, time.time()))[-_KEPT:]
        settled = size == await self._total()
        state = replace(self._state, generation=self._next, settled=settled, size=size, languages=languages, published=published)
        former = await self._server.write(lambda: self._states.fetch(self.live)) if self.rebuilding else None
        if former:
            state = replace(state, former=former.build, former_dimension=former.signature.dimension)
        await self._states.put(self._base, state)
        self._state = state
        if self.live != self.build:
            await self._states.switch(self._base, self.build)
            self.live, self.rebuilding = self.build, False
        if former:
            await self._states.put(self._base, replace(former, retired=time.time()))

    async def _indexed(self) -> None:
        """A server may index vectors in the background: what it has not indexed yet is not found."""
        pause = 0.1
        until = time.monotonic() + self._server.settings.write_patience
        while await self._queued():
            if time.monotonic() > until:
                raise StoreError(
                    f"Weaviate has not indexed all vectors of base {self._base!r} in time. Run `footnote index` again later."
                )
            await asyncio.sleep(pause)
            pause = min(2 * pause, 2.0)

    async def _queued(self) -> int:
        cluster = self._server.client.cluster
        nodes = await self._server.write(lambda: cluster.nodes(self.build, output="verbose"))
        return sum(shard.vector_queue_length for node in nodes for shard in node.shards or [])

    async def _purge(self) -> None:
        bound = self._state.purgeable()
        while bound and (await self._server.write(lambda: self._rows.data.delete_many(dead_by(bound)))).matches >= _MOST:
            pass

    async def _begin(self) -> None:
        """From here on there are rows that searches must not find."""
        self._written = True
        if self._state.settled:
            async with self._settling:
                await self._note(settled=False)

    async def _note(self, *, settled: bool) -> None:
        if settled != self._state.settled:
            state = replace(self._state, settled=settled)
            await self._states.put(self._base, state)
            self._state = state

    # --- rows -------------------------------------------------------------------------------------------------------

    async def _bury(self, documents: Sequence[str], spared: Collection[UUID | str | None]) -> None:
        """Their rows are found no more from the next generation on, but for those just written."""
        held = Filter.any_of([of_document(each) for each in documents]) & alive()
        while True:
            found = await self._server.write(
                lambda: self._rows.query.fetch_objects(filters=held, limit=_MOST // 10, include_vector=True)
            )
            old = [each for each in found.objects if each.uuid not in spared]
            await self._batches.write([until(each, self._next) for each in old])
            if len(found.objects) < _MOST // 10 or not old:
                return

    async def _roll_back(self) -> None:
        """A run was killed between a document's new rows and the end of its old ones: the new ones go.

        The catalog does not know them yet, so the document is read again.
        """
        new = Filter.by_property("born").equal(self._next)
        begun = await self._counted(new & alive())
        self._written = bool(begun) or bool(await self._total(Filter.by_property("died").equal(self._next)))
        if not begun or not self._state.generation:
            return
        old = Filter.by_property("born").less_than(self._next) & alive()
        for document in begun:
            if await self._total(of_document(document) & old):
                await self._revive(document)
                await self._server.write(lambda name=document: self._rows.data.delete_many(of_document(name) & new))  # type: ignore[misc] # bound now

    async def _revive(self, document: str) -> None:
        dying = of_document(document) & Filter.by_property("died").equal(self._next)
        found = await self._server.write(lambda: self._rows.query.fetch_objects(filters=dying, limit=_MOST, include_vector=True))
        await self._batches.write([until(each, NEVER) for each in found.objects])

    async def _counted(self, which: _Filters, by: str = "document") -> dict[str, int]:
        found = await self._server.write(
            lambda: self._rows.aggregate.over_all(filters=which, group_by=GroupByAggregate(prop=by), total_count=True)
        )
        return {str(each.grouped_by.value): each.total_count or 0 for each in found.groups}

    async def _total(self, which: _Filters | None = None) -> int:
        """Of all rows, where none are named."""
        found = await self._server.write(lambda: self._rows.aggregate.over_all(filters=which, total_count=True))
        return found.total_count or 0

    async def _vectors(self, rows: CollectionAsync[Any, Any], digests: Sequence[str]) -> dict[str, Vector]:
        """Those of rows that are dead but not purged too: a renamed file keeps its vectors."""
        vectors: dict[str, Vector] = {}
        for start in range(0, len(digests), _DIGESTS):
            wanted = among("digest", digests[start : start + _DIGESTS])
            found = await self._server.write(
                lambda wanted=wanted: rows.query.fetch_objects(  # type: ignore[misc] # bound now
                    filters=wanted, limit=_MOST, include_vector=True, return_properties=["digest"]
                )
            )
            vectors |= {str(each.properties["digest"]): vector for each in found.objects if (vector := vector_of(each))}
        return vectors

    def _check(self, passages: Sequence[Indexed]) -> None:
        wanted = 4 * self._state.signature.dimension
        wrong = next((each.vector for each in passages if each.vector is not None and len(each.vector) != wanted), None)
        if wrong is not None:
            raise IndexMismatch(
                f"A vector of {len(wrong) // 4} dimensions cannot be put into the index of base {self._base!r}, which was made "
                f"for {wanted // 4}. Make it again with `footnote index --rebuild`."
            )


@asynccontextmanager
async def writing(server: Server, states: States, base: str, signature: Signature, *, anew: bool) -> AsyncIterator[WeaviateWriter]:
    choice = await chosen(server, states, base, signature, anew=anew)
    writer = WeaviateWriter(server, states, base, choice.state, choice.live)
    try:
        await writer.open(choice.relative)
        yield writer
    finally:
        await asyncio.shield(writer.close())
