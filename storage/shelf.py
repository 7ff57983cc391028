"""The open generation of one base: what searches of this process read, until they notice that there is a newer one."""

from __future__ import annotations

import math
import sqlite3
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from rag.errors import StoreUnavailable
from rag.text import well_formed
from storage.generations import Generation, Torn, searched
from storage.index_folder import ROWS, IndexFolder, Stamp
from storage.local_writer import GRACE_SECONDS, mended
from storage.passage_rows import PassageRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from rag.ports import Work
    from rag.types import Passage, Search, Stretch

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
        """What this generation replaced as well, until it is purged."""
        found = self.generation.passages.named(ids)
        if found is None:
            with self.lock:
                return self.rows.passages(ids, self.number)
        return found

    def neighbours(self, stretches: Sequence[Stretch]) -> list[list[Passage]]:
        return [self.generation.passages.between(stretch) for stretch in stretches]

    def close(self) -> None:
        with self.lock:
            self.rows.close()


class Shelf:
    """The open generation of one base, changed for a newer one as soon as there is one."""

    def __init__(self, folder: IndexFolder) -> None:
        self._folder = folder
        self._lock = Lock()
        self._reader: Reader | None = None
        self._former: Reader | None = None  # of a build that is live no more: questions under way may ask for its passages
        self._forget_at = math.inf

    def current(self) -> Reader | None:
        """The open one if it is the newest: a look at the pointer is all, so that it may be asked on the event loop."""
        reader = self._reader
        return reader if reader and reader.stamp == self._folder.stamp() and time.monotonic() < self._forget_at else None

    def reader(self) -> Reader | None:
        if reader := self.current():
            return reader
        with self._lock:
            while (stamp := self._folder.stamp()) and not (self._reader and self._reader.stamp == stamp):
                self._take(self._opened(stamp) or self._reader)
            if stamp is None:
                self._take(None)
            if time.monotonic() >= self._forget_at:
                self._keep(None)
            return self._reader

    def read(self, action: Callable[[Reader], T], nothing: T) -> T:
        """What an action finds; once more when rows may have vanished under it, since there was a publish meanwhile."""
        while reader := self.reader():
            try:
                found = action(reader)
            except sqlite3.Error:
                if self._folder.stamp() == reader.stamp:
                    raise
            else:
                if self._folder.stamp() == reader.stamp:
                    return found
        return nothing

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        found: list[Passage] = self.read(lambda reader: reader.passages(ids), [])
        if len(found) < len(ids) and self._former:
            with self._lock:
                former = self._former.passages(ids) if self._former else []
            held = {each.id: each for each in (*former, *found)}
            return [held[name] for name in map(well_formed, ids) if name in held]
        return found

    def close(self) -> None:
        with self._lock:
            self._take(None)
            self._keep(None)

    def _take(self, reader: Reader | None) -> None:
        before, self._reader = self._reader, reader
        if before and reader and before.build != reader.build:
            self._keep(before)
        elif before and before is not reader:
            before.close()

    def _keep(self, former: Reader | None) -> None:
        if self._former:
            self._former.close()
        self._former = former
        self._forget_at = time.monotonic() + GRACE_SECONDS if former else math.inf

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
            with ExitStack() as held:
                try:
                    held.enter_context(self._folder.held())
                except StoreUnavailable:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)
                else:
                    mended(self._folder)
                    return


def worked(reader: Reader, base: str, search: Search, work: Work[T], aside: Executor | None = None) -> T:
    return work.done(searched(base, reader.generation, search, aside), reader)
