"""One run's hold on one base of the embedded index. All of it happens on one thread, in the order it was asked for."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from rag.errors import IndexMismatch, StoreUnavailable
from storage.generations import Torn, check, make
from storage.index_folder import ROWS, IndexFolder, Pointer, store_errors
from storage.passage_rows import PassageRows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from rag.types import Indexed, Signature, Vector

T = TypeVar("T")
GRACE_SECONDS = 60.0  # so long a question that is under way may ask for passages of what was live before


class Session:
    """What the thread does. It holds the base's lock from `open` to `close`."""

    def __init__(self, folder: IndexFolder, signature: Signature, *, anew: bool) -> None:
        self._folder = folder
        self._signature = signature
        self._anew = anew
        self._open = ExitStack()
        self._relative: PassageRows | None = None  # the live build, where its vectors fit this one
        self.pointer: Pointer | None = None
        self.build = ""

    @property
    def live(self) -> str:
        return self.pointer.build if self.pointer else ""

    @property
    def rebuilding(self) -> bool:
        return bool(self.pointer) and self.build != self.live

    @property
    def generation(self) -> int:
        """The newest one that was published of this build; what is written now is found from the next one on."""
        if self.pointer and self.build == self.live:
            return self.pointer.generation
        return max(0, self._rows.written() - 1)

    def open(self) -> None:
        self._open.enter_context(self._folder.held())
        self._folder.path.mkdir(parents=True, exist_ok=True)
        self.pointer = replaced(self._folder) if self._anew else mended(self._folder)
        self.build = self._choose()
        self._rows = self._open.enter_context(closing(PassageRows(self._path(self.build), create=True)))
        if self._rows.signature() is None:
            self._rows.sign(self._signature)
        self._sweep()
        asked_for = self._folder.age() < GRACE_SECONDS
        self._rows.purge(self.generation - asked_for)

    def close(self) -> None:
        self._open.close()

    def vectors(self, digests: Collection[str]) -> Mapping[str, Vector]:
        found = self._rows.vectors(digests)
        missing = set(digests) - found.keys()
        return {**self._relative.vectors(missing), **found} if self._relative and missing else found

    def put(self, document: str, passages: Sequence[Indexed]) -> None:
        wanted = 4 * self._signature.dimension
        wrong = next((each.vector for each in passages if each.vector is not None and len(each.vector) != wanted), None)
        if wrong is not None:
            raise IndexMismatch(
                f"A vector of {len(wrong) // 4} dimensions cannot be put into the index of base {self._folder.base!r}, which was "
                f"made for {self._signature.dimension}. Make it again with `footnote index --rebuild`."
            )
        self._rows.put(document, passages, self.generation + 1)

    def remove(self, documents: Collection[str]) -> None:
        self._rows.remove(documents, self.generation + 1)

    def counts(self) -> Mapping[str, int]:
        return self._rows.counts()

    def publish(self, *, switch: bool) -> None:
        self._rows.harden()
        if self.rebuilding and not switch:
            return
        if self.build == self.live and self._rows.written() <= self.generation:
            return
        number = self.generation + 1
        name = make(self._rows, self._folder.build(self.build), number, self._signature)
        self.pointer = Pointer(self.build, number, name)
        self._folder.point(self.pointer)
        self._sweep()
        # what the generation before this one still showed stays until the next: a question that is under way may ask for it
        self._rows.purge(number - 1)

    def _path(self, build: str) -> Path:
        return self._folder.build(build) / ROWS

    def _choose(self) -> str:
        """The live build where its signature is equal, else one that was begun beside it, else a new one.

        One that is made anew takes nothing from the live build, which may be damaged.
        """
        found = {name: self._signature_of(name) for name in self._folder.builds() if self._path(name).exists()}
        if self.pointer and not self._anew and (live := found.get(self.live)):
            if live == self._signature:
                return self.live
            if (live.embedder, live.dimension) == (self._signature.embedder, self._signature.dimension):
                self._relative = self._open.enter_context(closing(PassageRows(self._path(self.live))))
        begun = [name for name, signature in found.items() if signature == self._signature and name != self.live]
        if begun:
            return begun[0]
        name = uuid4().hex
        self._folder.build(name).mkdir()
        return name

    def _signature_of(self, build: str) -> Signature | None:
        """None where there is none yet: its run was killed in its first moments, or it cannot be read."""
        try:
            with closing(PassageRows(self._path(build))) as rows:
                return rows.signature()
        except sqlite3.DatabaseError:
            if build == self.live and not self._anew:
                raise
            return None

    def _sweep(self) -> None:
        """Remove builds that are neither live nor written, generations that nothing points to, drafts of pointers."""
        for draft in self._folder.path.glob("current.*.tmp"):
            draft.unlink(missing_ok=True)
        for build in self._folder.builds():
            if build not in (self.live, self.build):
                self._folder.discard(build)
                continue
            for generation in self._folder.build(build).iterdir():
                if generation.is_dir() and (not self.pointer or generation.name != self.pointer.folder):
                    shutil.rmtree(generation, ignore_errors=True)


def mended(folder: IndexFolder) -> Pointer | None:
    """The pointer; a generation that is missing or torn is made again first. Needs the base's lock."""
    pointer = folder.pointer()
    if pointer is None:
        return None
    build = folder.build(pointer.build)
    try:
        check(build / pointer.folder)
    except Torn:
        with closing(PassageRows(build / ROWS)) as rows:
            name = make(rows, build, pointer.generation, rows.signature_there())
        torn, pointer = build / pointer.folder, Pointer(pointer.build, pointer.generation, name)
        folder.point(pointer)
        shutil.rmtree(torn, ignore_errors=True)
    return pointer


def replaced(folder: IndexFolder) -> Pointer | None:
    """The pointer as it is, to what is about to be replaced, whatever its state; None where even the pointer is damaged."""
    try:
        return folder.pointer()
    except StoreUnavailable:
        return None


class LocalWriter:
    """The same for the event loop."""

    def __init__(self, base: str, session: Session, thread: ThreadPoolExecutor) -> None:
        self._base = base
        self._session = session
        self._thread = thread
        self.build = session.build
        self.live = session.live
        self.rebuilding = session.rebuilding

    async def vectors(self, digests: Collection[str]) -> Mapping[str, Vector]:
        return await self._do(partial(self._session.vectors, digests))

    async def put(self, document: str, passages: Sequence[Indexed]) -> None:
        await self._do(partial(self._session.put, document, passages))

    async def remove(self, documents: Collection[str]) -> None:
        await self._do(partial(self._session.remove, documents))

    async def counts(self) -> Mapping[str, int]:
        return await self._do(self._session.counts)

    async def publish(self, *, switch: bool = False) -> None:
        await self._do(partial(self._session.publish, switch=switch))
        self.live, self.rebuilding = self._session.live, self._session.rebuilding

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, guarded, self._base, work)


@asynccontextmanager
async def writing(folder: IndexFolder, signature: Signature, *, anew: bool = False) -> AsyncIterator[LocalWriter]:
    loop = asyncio.get_running_loop()
    thread = ThreadPoolExecutor(1, thread_name_prefix="index-writer")
    session = Session(folder, signature, anew=anew)
    try:
        await loop.run_in_executor(thread, guarded, folder.base, session.open)
        yield LocalWriter(folder.base, session, thread)
    finally:
        # handed in before anything is awaited: it is done even when this task is cancelled again
        closed = loop.run_in_executor(thread, session.close)
        thread.shutdown(wait=False)
        await closed


def guarded(base: str, work: Callable[[], T]) -> T:
    with store_errors(base):
        return work()
