"""Threads of our own for what must not hold up the event loop. Half as long a way there and back as a pool of asyncio's."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")


class Job(NamedTuple):
    """A piece of work and who waits for it. What the work takes is up to the thread: a connection, or nothing.

    `single` says that the work is one statement of the database's.
    """

    work: Callable[..., Any]
    done: asyncio.Future[Any]
    single: bool = False


Outcomes: TypeAlias = "Sequence[tuple[Job, Any]]"  # what a job gave, or the Exception it raised


class Lane:
    """Work in a queue, and the threads that do it. A thread takes what waits, at most `most`, and wakes the loop once for it."""

    def __init__(self, name: str, most: int = 1) -> None:
        self._name = name
        self._most = most
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self, do: Callable[[Sequence[Job]], Outcomes]) -> None:
        """One more thread, which does jobs in this way."""
        name = f"{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._serve, args=(do,), name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    async def ask(self, work: Callable[..., T], *, single: bool = False) -> T:
        if not self._threads:
            raise RuntimeError(f"{self._name} was asked for something before it was open, or after it was closed")
        return await self.begin(work, single=single)

    def begin(self, work: Callable[..., T], *, single: bool = False) -> asyncio.Future[T]:
        """The same, to be waited for later or never."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(work, done, single))
        return done

    def take(self, jobs: Sequence[Job]) -> None:
        """What was to be done elsewhere."""
        for job in jobs:
            self._jobs.put(job)

    async def close(self) -> None:
        """What waits is done before."""
        threads, self._threads = self._threads, []
        for _ in threads:
            self._jobs.put(None)
        for thread in threads:
            await asyncio.to_thread(thread.join)

    def _serve(self, do: Callable[[Sequence[Job]], Outcomes]) -> None:
        while job := self._jobs.get():
            jobs, last = self._waiting(job)
            if jobs:
                _deliver(do(jobs))
            if last:
                return

    def _waiting(self, first: Job) -> tuple[list[Job], bool]:
        """What waits and is still waited for, and whether the end is among it."""
        jobs: list[Job | None] = [first]
        with suppress(Empty):
            while len(jobs) < self._most and jobs[-1]:
                jobs.append(self._jobs.get_nowait())
        return [job for job in jobs if job and not job.done.cancelled()], jobs[-1] is None


def outcome(job: Job, *given: object) -> Any:
    try:
        return job.work(*given)
    except Exception as error:  # noqa: BLE001 - the thread's boundary: it is raised where the work was asked for
        return error


def _deliver(outcomes: Outcomes) -> None:
    """Wake the tasks that wait, all those of one event loop at once."""
    for loop in {job.done.get_loop() for job, _ in outcomes}:
        mine = [(job.done, found) for job, found in outcomes if job.done.get_loop() is loop]
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, mine)


def settle(outcomes: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for done, found in outcomes:
        if done.done():
            continue
        if isinstance(found, Exception):
            done.set_exception(found)
        else:
            done.set_result(found)
