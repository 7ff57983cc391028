"""The embedded passage index: a folder on disk, SQLite and numpy; searches never wait for whoever writes."""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from storage.generations import searched
from storage.index_folder import IndexFolder
from storage.lanes import Lane, outcome
from storage.local_writer import guarded, writing
from storage.searcher import MANY, Searcher, cores
from storage.shelf import Reader, Shelf, worked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag.ports import IndexWriter, Work
    from rag.types import Candidate, Passage, Search, Signature, Stretch
    from storage.lanes import Job, Outcomes

T = TypeVar("T")
AT_ONCE = 150_000
_A_TURN = 0.005  # seconds: a few searches


class LocalIndex:
    """A PassageIndex in a folder. Any number of processes may search it while one writes.

    A base of up to `at_once` passages is searched where it is asked for, in less time than the same turn computes anyway: in a
    thread it would take longer, and wait for Python's lock at every step while others are answered.
    """

    def __init__(self, folder: Path, *, at_once: int = AT_ONCE, many: int = MANY) -> None:
        self._root = folder
        self.searcher = Searcher(folder, many)
        self._at_once = at_once
        self._shelves: dict[str, Shelf] = {}
        self._seen: dict[str, Reader] = {}  # to be the newest, since the event loop's last round: nobody could tell a later look
        self._lane = Lane("index")
        self.aside = ThreadPoolExecutor(1, "dense list") if cores() > 1 else None  # for who searches at once
        self._let_in = 0.0

    async def __aenter__(self) -> Self:
        await self.searcher.__aenter__()
        for _ in range(max(2, os.cpu_count() or 1)):
            self._lane.start(_done)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.searcher.__aexit__()
        await self._lane.close()
        if self.aside:
            self.aside.shutdown()
        for shelf in self._shelves.values():
            await asyncio.to_thread(shelf.close)

    async def search(self, base: str, search: Search) -> list[Candidate]:
        await self._let_others_in()
        if (found := await self.searcher.search(base, search)) is not None:
            return found
        if (reader := self._current(base)) and reader.generation.size <= self._at_once:
            return searched(base, reader.generation, search, self.aside)
        return await self._read(base, lambda reader: searched(base, reader.generation, search), [])

    async def beside(self, base: str, search: Search, work: Work[T]) -> T | None:
        await self._let_others_in()
        if (found := await self.searcher.beside(base, search, work)) is not None:
            return found
        if (reader := self._current(base)) and reader.generation.size <= self._at_once:
            return guarded(base, partial(worked, reader, base, search, work, self.aside))
        return await self._read(base, lambda reader: worked(reader, base, search, work), None)

    async def _let_others_in(self) -> None:
        """What is done at once waits for nothing: who searches again and again would keep everybody else from their turn."""
        now = time.monotonic()
        if now - self._let_in > _A_TURN:
            self._let_in = now
            await asyncio.sleep(0)

    async def passages(self, base: str, ids: Sequence[str]) -> list[Passage]:
        """Read at once: it takes less time than the way to a thread, and the system has most of it in memory."""
        if reader := self._current(base):
            found = guarded(base, partial(reader.generation.passages.named, ids))
            if found is not None:
                return found
        return await self._run(base, partial(self._shelf(base).passages, ids))

    async def neighbours(self, base: str, stretches: Sequence[Stretch]) -> list[list[Passage]]:
        if reader := self._current(base):
            return guarded(base, partial(reader.neighbours, stretches))
        return await self._read(base, lambda reader: reader.neighbours(stretches), [[] for _ in stretches])

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
        if seen := self._seen.get(base):
            return seen
        try:
            reader = self._shelf(base).current()
        except OSError:
            return None  # the thread finds it too, and says it in words
        if reader:
            if not self._seen:
                asyncio.get_running_loop().call_soon(self._seen.clear)
            self._seen[base] = reader
        return reader

    async def _read(self, base: str, action: Callable[[Reader], T], nothing: T) -> T:
        return await self._run(base, partial(self._shelf(base).read, action, nothing))

    async def _run(self, base: str, work: Callable[[], T]) -> T:
        return await self._lane.ask(partial(guarded, base, work))

    def _shelf(self, base: str) -> Shelf:
        return self._shelves.get(base) or self._shelves.setdefault(base, Shelf(IndexFolder(self._root, base)))


def _done(jobs: Sequence[Job]) -> Outcomes:
    return [(job, outcome(job)) for job in jobs]
