"""The embedded passage index: a folder on disk, SQLite and numpy; searches never wait for whoever writes."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from rag.errors import IndexMismatch
from storage.index_folder import IndexFolder
from storage.lanes import Lane, outcome
from storage.local_writer import guarded, writing
from storage.shelf import Reader, Shelf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag.ports import IndexWriter
    from rag.types import Candidate, Passage, Search, Signature, Stretch
    from storage.generations import Generation
    from storage.lanes import Job, Outcomes

T = TypeVar("T")


class LocalIndex:
    """A PassageIndex in a folder. Any number of processes may search it while one writes."""

    def __init__(self, folder: Path) -> None:
        self._root = folder
        self._shelves: dict[str, Shelf] = {}
        self._lane = Lane("index")

    async def __aenter__(self) -> Self:
        for _ in range(max(2, os.cpu_count() or 1)):
            self._lane.start(_done)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._lane.close()
        for shelf in self._shelves.values():
            await asyncio.to_thread(shelf.close)

    async def search(self, base: str, search: Search) -> list[Candidate]:
        return await self._read(base, lambda reader: _searched(base, reader.generation, search), [])

    async def passages(self, base: str, ids: Sequence[str]) -> list[Passage]:
        """Read at once: it takes less time than the way to a thread, and touches mapped memory alone."""
        if (reader := self._current(base)) and (found := reader.generation.passages.named(ids)) is not None:
            return found
        return await self._run(base, partial(self._shelf(base).passages, ids))

    async def neighbours(self, base: str, stretches: Sequence[Stretch]) -> list[list[Passage]]:
        if reader := self._current(base):
            return _between(reader, stretches)
        return await self._read(base, lambda reader: _between(reader, stretches), [[] for _ in stretches])

    async def signature(self, base: str) -> Signature | None:
        if reader := self._current(base):
            return reader.generation.signature
        return await self._read(base, lambda reader: reader.generation.signature, None)

    async def size(self, base: str) -> int:
        return await self._read(base, lambda reader: reader.generation.size, 0)

    async def live(self, base: str) -> str:
        return await self._read(base, lambda reader: reader.build, "")

    async def languages(self, base: str) -> tuple[str, ...]:
        if reader := self._current(base):
            return reader.generation.languages
        return await self._read(base, lambda reader: reader.generation.languages, ())

    def write(self, base: str, signature: Signature, *, anew: bool = False) -> AbstractAsyncContextManager[IndexWriter]:
        return writing(IndexFolder(self._root, base), signature, anew=anew)

    async def drop(self, base: str) -> None:
        await self._run(base, IndexFolder(self._root, base).drop)

    def _current(self, base: str) -> Reader | None:
        """The open generation, if it is the newest; who asks on the event loop goes to a thread where there is none."""
        try:
            return self._shelf(base).current()
        except OSError:
            return None  # the thread finds it too, and says it in words

    async def _read(self, base: str, action: Callable[[Reader], T], nothing: T) -> T:
        return await self._run(base, partial(self._shelf(base).read, action, nothing))

    async def _run(self, base: str, work: Callable[[], T]) -> T:
        return await self._lane.ask(partial(guarded, base, work))

    def _shelf(self, base: str) -> Shelf:
        return self._shelves.get(base) or self._shelves.setdefault(base, Shelf(IndexFolder(self._root, base)))


def _done(jobs: Sequence[Job]) -> Outcomes:
    return [(job, outcome(job)) for job in jobs]


def _between(reader: Reader, stretches: Sequence[Stretch]) -> list[list[Passage]]:
    return [reader.generation.passages.between(stretch) for stretch in stretches]


def _searched(base: str, generation: Generation, search: Search) -> list[Candidate]:
    dimension = generation.signature.dimension
    if search.vector is not None and len(search.vector) != 4 * dimension:
        raise IndexMismatch(
            f"The index of base {base!r} was made with vectors of {dimension} dimensions, the question's has "
            f"{len(search.vector) // 4}. Make it again with `footnote index --rebuild`."
        )
    return generation.search(search)
