"""Searches in a process of their own, while many are asked: here they would take turns with everything else that Python does.

Started when it is worth it, ended when it has nothing to do for a while, by the pool that holds it. It opens the index as any
other process would, and sees every publish by itself.
"""

from __future__ import annotations

import asyncio
import marshal
import math
import os
import time
from collections import deque
from functools import cache
from importlib import import_module
from logging import getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import ref

from rag.types import Search
from rag.workers import WorkerDied, Workers, WorkFailed
from storage.generations import candidates, searched
from storage.index_folder import IndexFolder
from storage.shelf import Shelf, worked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag.ports import Work
    from rag.types import Candidate, Passage, Stretch

T = TypeVar("T")
log = getLogger(__name__)

MANY = 20  # searches in a quarter of a second, for several who ask: then the process is worth its memory
IDLE_SECONDS = 60.0
_WINDOW = 0.25  # seconds
_FEWER = 4  # times fewer are enough for a process that is there already,
_KEPT_WINDOW = 0.5  # in this time: on a busy machine many who ask are not many searches a second
_EACH = 4  # searches of one who asks count at most, on the average
_AHEAD = 64  # given to the process at once, so that it never waits for this one
_BEHIND = 4  # searches that wait for it: then it has more to do than it can
_MOMENT = 0.01  # seconds
_BUSY = 0.95  # of its time
_TARGET = "storage.searcher:worker"
_SECONDS = 30.0  # for one search, however large the base
_RETRY_SECONDS = 60.0  # after a process that could not be started


class Searcher:
    """`many` searches within a moment, for several who ask, start the process; without it, searches are done elsewhere."""

    def __init__(self, root: Path, many: int = MANY) -> None:
        self._root = str(root.absolute())
        self._many = max(1, many)
        self._few = min(self._many, max(2, many // _FEWER))
        self._lately: deque[tuple[float, int]] = deque(maxlen=self._many)
        self._askers = 0  # so far; one who asks again after another counts again
        self._last: Callable[[], asyncio.Task[Any] | None] = _nobody
        self._workers = Workers(_TARGET, processes=1, niceness=0, ahead=_AHEAD, retries=0, idle_seconds=IDLE_SECONDS)
        self._starting: asyncio.Task[None] | None = None
        self._not_before = 0.0
        self._looked, self._used, self._waited = time.monotonic(), 0.0, False
        self._alone = cores() < 2  # noqa: PLR2004 - nothing would be done side by side

    async def __aenter__(self) -> Self:
        await self._workers.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._workers.__aexit__(None, None, None)
        if self._starting is not None:
            await asyncio.gather(self._starting)

    @property
    def pid(self) -> int | None:
        return next(iter(self._workers.pids), None)

    async def search(self, base: str, search: Search) -> list[Candidate] | None:
        """None where it has to be done elsewhere: few are asked, or the process is not there or could not do it."""
        found = await self._done(base, search, None) if self._is_called_for() else None
        return None if found is None else candidates(found)

    async def beside(self, base: str, search: Search, work: Work[T]) -> T | None:
        """The same, with work done there on what was found: less of it while much waits for the process."""
        if not self._is_called_for():
            return None
        part = work.lighter() if self._workers.asked > _BEHIND and self._has_time() else work
        found = await self._done(base, search, part.order())
        return None if found is None else part.unpacked(found)

    def _has_time(self) -> bool:
        """Whether this thread, the event loop's, waited for others of late: then what they can leave to it is done sooner here."""
        now = time.monotonic()
        if now - self._looked > _MOMENT:
            used = time.thread_time()
            self._waited = used - self._used < _BUSY * (now - self._looked)
            self._looked, self._used = now, used
        return self._waited

    async def _done(self, base: str, search: Search, order: tuple[str, Any] | None) -> Any:
        try:
            found = await self._workers.call(self._asked(base, search, order), seconds=_SECONDS)
        except WorkFailed:  # what is wrong with it is said by whoever does it now
            return None
        except WorkerDied as death:
            log.warning("the process that searches %s", death)
            return None
        return marshal.loads(found)  # noqa: S302 - from a process of ours

    def _is_called_for(self) -> bool:
        """Whether many are asked by several at once, and the process is there; it is started where it is not."""
        now, asking, lately = time.monotonic(), asyncio.current_task(), self._lately
        if asking is not None and asking is not self._last():
            self._last = ref(asking)
            self._askers += 1
        lately.append((now, self._askers))
        many, window = (self._many, _WINDOW) if self.pid is None else (self._few, _KEPT_WINDOW)
        since, askers = lately[-many] if len(lately) >= many else (-math.inf, 0)
        if self._alone or now - since > window or self._askers - askers < many // _EACH:
            return False
        if self._starting is None or (self._starting.done() and self.pid is None and now >= self._not_before):
            self._starting = asyncio.create_task(self._start())
        return self._starting.done() and self.pid is not None

    async def _start(self) -> None:
        try:
            await self._workers.call(self._asked("", Search(())))
        except WorkerDied as death:
            log.warning("the process that searches %s", death)
            self._not_before = time.monotonic() + _RETRY_SECONDS

    def _asked(self, base: str, search: Search, order: tuple[str, Any] | None = None) -> bytes:
        return marshal.dumps((self._root, base, order, search.terms, search.vector, search.limit))


def worker() -> Callable[[bytes], bytes]:
    """What the process does: a search in, the columns of its candidates out, or what is made of them by order."""
    shelves: dict[tuple[str, str], Shelf] = {}

    def work(payload: bytes) -> bytes:
        root, base, order, *given = marshal.loads(payload)  # noqa: S302 - from the process that started this one
        if not base:
            return b""
        shelf = shelves.get((root, base)) or shelves.setdefault((root, base), Shelf(IndexFolder(Path(root), base)))
        search = Search(*given)
        if order:
            return marshal.dumps(_packed(shelf, base, search, *order))
        nothing: Sequence[Candidate] = []
        found = shelf.read(lambda reader: searched(base, reader.generation, search), nothing)
        return marshal.dumps(tuple(zip(*found, strict=True)))

    return work


def _packed(shelf: Shelf, base: str, search: Search, name: str, given: object) -> Any:
    work: Work[object] = _function(name)(given)
    return work.packed(shelf.read(lambda reader: worked(reader, base, search, work), None) or work.done([], _Nothing()))


@cache
def _function(name: str) -> Callable[[object], Any]:
    """By name, so that only the process that needs it loads it."""
    module, _, function = name.partition(":")
    found: Callable[[object], Any] = getattr(import_module(module), function)
    return found


class _Nothing:
    """What is at hand where there is no index."""

    def passages(self, _: Sequence[str]) -> list[Passage]:
        return []

    def neighbours(self, stretches: Sequence[Stretch]) -> list[list[Passage]]:
        return [[] for _ in stretches]


def _nobody() -> None:
    return None


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
