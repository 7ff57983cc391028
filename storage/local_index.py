"""The embedded passage index: a folder on disk, SQLite and numpy; searches never wait for whoever writes."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Self, TypeVar

from rag.errors import IndexMismatch, StoreUnavailable
from storage.generations import Generation, Torn
from storage.index_folder import IndexFolder, Stamp, store_errors
from storage.local_writer import ROWS, guarded, mended, writing
from storage.passage_rows import PassageRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from rag.ports import IndexWriter
    from rag.types import Candidate, Passage, Search, Signature

T = TypeVar("T")
MENDING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Reader:
    """One generation and the rows it was made from, as the pointer named them at `stamp`."""

    stamp: Stamp
    build: str
    number: int
    generation: Generation
    rows: PassageRows
    lock: Lock = field(default_factory=Lock)

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        with self.lock:
            return self.rows.passages(ids, self.number)

    def neighbours(self, document: str, first: int, last: int) -> list[Passage]:
        with self.lock:
            return self.rows.neighbours(document, first, last, self.number)

    def close(self) -> None:
        with self.lock:
            self.rows.close()


class Shelf:
    """The open generation of one base, changed for a newer one as soon as there is one."""

    def __init__(self, folder: IndexFolder) -> None:
        self._folder = folder
        self._lock = Lock()
        self._reader: Reader | None = None

    def reader(self) -> Reader | None:
        reader, stamp = self._reader, self._folder.stamp()
        if reader and reader.stamp == stamp:
            return reader
        with self._lock:
            while (stamp := self._folder.stamp()) and not (self._reader and self._reader.stamp == stamp):
                self._take(self._opened(stamp) or self._reader)
            if stamp is None:
                self._take(None)
            return self._reader

    def read(self, action: Callable[[Reader], T], nothing: T) -> T:
        """What an action finds; when its rows vanished under it, since another process published, once more."""
        while reader := self.reader():
            try:
                return action(reader)
            except sqlite3.Error:
                if self._folder.stamp() == reader.stamp:
                    raise
        return nothing

    def close(self) -> None:
        with self._lock:
            self._take(None)

    def _take(self, reader: Reader | None) -> None:
        before, self._reader = self._reader, reader
        if before and before is not reader:
            before.close()

    def _opened(self, stamp: Stamp) -> Reader | None:
        """None when the pointer has moved on meanwhile."""
        pointer = self._folder.pointer()
        if pointer is None:
            return None
        build = self._folder.build(pointer.build)
        try:
            generation = Generation(build / pointer.folder)
            return Reader(stamp, pointer.build, pointer.generation, generation, PassageRows(build / ROWS))
        except (Torn, OSError, sqlite3.Error) as error:
            if self._folder.stamp() == stamp:
                if not isinstance(error, Torn):
                    raise
                self._mend(stamp)
        return None

    def _mend(self, stamp: Stamp) -> None:
        """Make a torn generation again, or wait until whoever writes has done so."""
        deadline = time.monotonic() + MENDING_SECONDS
        while self._folder.stamp() == stamp:
            try:
                with self._folder.held():
                    mended(self._folder)
                    return
            except StoreUnavailable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


class LocalIndex:
    """A PassageIndex in a folder. Any number of processes may search it while one writes."""

    def __init__(self, folder: Path) -> None:
        self._root = folder
        self._shelves: dict[str, Shelf] = {}
        self._threads = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="index")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._close)

    async def search(self, base: str, search: Search) -> list[Candidate]:
        return await self._read(base, lambda reader: _searched(base, reader.generation, search), [])

    async def passages(self, base: str, ids: Sequence[str]) -> list[Passage]:
        return await self._read(base, lambda reader: reader.passages(ids), [])

    async def neighbours(self, base: str, document: str, first: int, last: int) -> list[Passage]:
        return await self._read(base, lambda reader: reader.neighbours(document, first, last), [])

    async def signature(self, base: str) -> Signature | None:
        return await self._read(base, lambda reader: reader.generation.signature, None)

    async def size(self, base: str) -> int:
        return await self._read(base, lambda reader: reader.generation.size, 0)

    async def live(self, base: str) -> str:
        return await self._read(base, lambda reader: reader.build, "")

    async def languages(self, base: str) -> tuple[str, ...]:
        return await self._read(base, lambda reader: reader.generation.languages, ())

    def write(self, base: str, signature: Signature) -> AbstractAsyncContextManager[IndexWriter]:
        return writing(IndexFolder(self._root, base), signature)

    async def drop(self, base: str) -> None:
        await asyncio.get_running_loop().run_in_executor(self._threads, guarded, base, partial(self._drop, base))

    async def _read(self, base: str, action: Callable[[Reader], T], nothing: T) -> T:
        shelf = self._shelves.get(base)
        if shelf is None:
            shelf = self._shelves.setdefault(base, Shelf(IndexFolder(self._root, base)))
        return await asyncio.get_running_loop().run_in_executor(self._threads, _read, base, shelf, action, nothing)

    def _drop(self, base: str) -> None:
        folder = IndexFolder(self._root, base)
        with folder.held():
            folder.clear()

    def _close(self) -> None:
        self._threads.shutdown()
        for shelf in self._shelves.values():
            shelf.close()


def _read(base: str, shelf: Shelf, action: Callable[[Reader], T], nothing: T) -> T:
    with store_errors(base):
        return shelf.read(action, nothing)


def _searched(base: str, generation: Generation, search: Search) -> list[Candidate]:
    dimension = generation.signature.dimension
    if search.vector is not None and len(search.vector) != 4 * dimension:
        raise IndexMismatch(
            f"The index of base {base!r} was made with vectors of {dimension} dimensions, the question's has "
            f"{len(search.vector) // 4}. Make it again with `footnote index --rebuild`."
        )
    return generation.search(search)
