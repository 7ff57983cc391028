"""PassageIndex in Weaviate: an alias for each base, a collection for each of its builds, vectors and terms of our own."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Self, TypeVar

from weaviate.classes.query import Filter

from rag.errors import IndexMismatch
from rag.text import well_formed
from storage.weaviate_index.calls import CollectionGone
from storage.weaviate_index.naming import is_build_of
from storage.weaviate_index.rows import among, passage, visible, within
from storage.weaviate_index.searching import Lists
from storage.weaviate_index.server import connected
from storage.weaviate_index.states import States
from storage.weaviate_index.weighing import Weighing
from storage.weaviate_index.writer import writing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from weaviate.collections.classes.filters import _Filters

    from rag.ports import IndexWriter, Work
    from rag.types import Candidate, Passage, Search, Signature, Stretch
    from storage.weaviate_index.address import WeaviateSettings
    from storage.weaviate_index.server import Server
    from storage.weaviate_index.states import State

T = TypeVar("T")
_RECENT = 2.0  # seconds for which what is known of a base is taken as it was, where a search has just checked it
_LONG = 3600.0  # a search checks by itself what it took as known
_TRIES = 5  # of one search, while builds are published one after the other
_MOST = 10_000  # objects in one answer of the server


class WeaviateIndex:
    """Enter it before use. Any number of processes may search while one writes."""

    def __init__(self, settings: WeaviateSettings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._server: Server = await self._stack.enter_async_context(connected(self._settings))
        self._states = States(self._server)
        self._weighing: dict[str, tuple[State, Weighing]] = {}
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def search(self, base: str, search: Search) -> list[Candidate]:
        """What is published while a search is under way is seen by it: it is made again.

        The state is looked at while the lists are read. Rows that a run began to write meanwhile tell so by their birth, and
        those that it replaces stay as they are.
        """
        state = await self._states.known(base, seconds=_LONG)
        found: list[Candidate] = []
        for attempt in range(_TRIES):
            if state is None:
                return []
            build = await self._fitting(base, state, search)
            filtered = attempt > 0 or not build.settled
            lists = Lists(self._server, build, search, Weighing() if filtered else self._weighed(build), filtered=filtered)
            try:
                now, found = await asyncio.gather(self._states.read(base), lists.read())
            except CollectionGone:
                if (now := await self._states.read(base)) == state:
                    raise
            if now == state and not lists.torn:
                break
            state = now
        return found

    async def beside(self, base: str, search: Search, work: Work[T]) -> T | None:  # noqa: ARG002 - the server does no work of ours
        return None

    async def passages(self, base: str, ids: Sequence[str]) -> list[Passage]:
        """One that was replaced meanwhile is still given, from the build before as well."""
        wanted = [well_formed(each) for each in ids]

        async def read(state: State) -> list[Passage]:
            found = await self._versions(state.build, wanted, state.generation)
            if state.former and (missing := [each for each in wanted if each not in found]):
                found |= await self._former(state, missing)
            return [found[each] for each in wanted if each in found]

        return await self._at(base, read, []) if wanted else []

    async def neighbours(self, base: str, stretches: Sequence[Stretch]) -> list[list[Passage]]:
        wanted = [each._replace(document=well_formed(each.document)) for each in stretches]
        nothing: list[list[Passage]] = [[] for _ in wanted]
        return await self._at(base, lambda state: self._of_stretches(state, wanted), nothing) if wanted else []

    async def signature(self, base: str) -> Signature | None:
        state = await self._states.read(base)
        return state.signature if state else None

    async def size(self, base: str) -> int:
        state = await self._states.read(base)
        return state.size if state else 0

    async def live(self, base: str) -> str:
        state = await self._states.read(base)
        return state.build if state else ""

    async def languages(self, base: str) -> tuple[str, ...]:
        state = await self._states.known(base, seconds=_RECENT)
        return state.languages if state else ()

    def write(self, base: str, signature: Signature, *, anew: bool = False) -> AbstractAsyncContextManager[IndexWriter]:
        return writing(self._server, self._states, base, signature, anew=anew)

    async def drop(self, base: str) -> None:
        """The alias goes first: searches find nothing from then on."""
        alias, client, write = self._states.alias(base), self._server.client, self._server.write
        await write(lambda: client.alias.delete(alias_name=alias))
        await self._server.make_states()
        for build in await self._states.of_base(base):
            await self._states.delete(base, build)
        for name in await write(client.collections.list_all):
            if is_build_of(alias, name):
                await write(lambda name=name: client.collections.delete(name))  # type: ignore[misc] # bound now

    def _weighed(self, build: State) -> Weighing:
        """What was learned of how a build's scores are made, until it is written to: then words are counted anew."""
        state, weighing = self._weighing.get(build.build, (None, None))
        if weighing is None or state != build:
            weighing = Weighing()
            self._weighing[build.build] = build, weighing
        return weighing

    async def _fitting(self, base: str, state: State, search: Search) -> State:
        """The build to search: the one before, while it stands, where the question was embedded for that one.

        So a process that was started with the embedder of before goes on answering until it is started again.
        """
        dimension, given = state.signature.dimension, len(search.vector or b"") // 4
        if search.vector is None or given == dimension:
            return state
        if state.former_dimension == given and (former := await self._server.read(lambda: self._states.fetch(state.former))):
            return former
        raise IndexMismatch(
            f"The index of base {base!r} was made with vectors of {dimension} dimensions, the question's has {given}. "
            "Make it again with `footnote index --rebuild`."
        )

    # --- reading ----------------------------------------------------------------------------------------------------

    async def _at(self, base: str, read: Callable[[State], Awaitable[T]], nothing: T) -> T:
        """At the live build as a search has just seen it; once more where that is gone by now."""
        state = await self._states.known(base, seconds=_RECENT)
        if state is None:
            return nothing
        try:
            return await read(state)
        except CollectionGone:
            now = await self._states.read(base)
            if now == state:
                raise
            return await read(now) if now else nothing

    async def _versions(self, build: str, wanted: Sequence[str], generation: int) -> dict[str, Passage]:
        """By id: what is found in this generation, else what was found before."""
        born = Filter.by_property("born").less_or_equal(generation)
        rows = await self._rows(build, among("passage", wanted) & born)
        rows.sort(key=lambda held: (held["died"] > generation, held["died"]))
        return {held["passage"]: passage(held) for held in rows}

    async def _former(self, state: State, missing: Sequence[str]) -> dict[str, Passage]:
        try:
            former = await self._server.read(lambda: self._states.fetch(state.former))
            return await self._versions(state.former, missing, former.generation) if former else {}
        except CollectionGone:
            return {}

    async def _of_stretches(self, state: State, stretches: Sequence[Stretch]) -> list[list[Passage]]:
        wanted = Filter.any_of([within(each) for each in stretches])
        rows = await self._rows(state.build, wanted & visible(state.generation))
        rows.sort(key=lambda held: held["ordinal"])
        return [
            [passage(held) for held in rows if held["document"] == of.document and of.first <= held["ordinal"] <= of.last]
            for of in stretches
        ]

    async def _rows(self, build: str, wanted: _Filters) -> list[dict[str, Any]]:
        collection = self._server.build(build)
        found = await self._server.read(lambda: collection.query.fetch_objects(filters=wanted, limit=_MOST))
        return [dict(each.properties) for each in found.objects]
