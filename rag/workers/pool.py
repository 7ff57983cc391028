"""A pool of spawned processes, started when there is work and ended when there is none for a while."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self

from rag.workers.process import Worker, WorkerDied, WorkFailed

if TYPE_CHECKING:
    from asyncio import Future, Task, TimerHandle

_FAILED_STARTS = 2  # in a row: then whoever waits is told
_CLOSED = "is not there: the pool is closed"


@dataclass(eq=False, slots=True)
class _Job:
    payload: bytes
    seconds: float | None
    answer: Future[bytes]
    deaths: int = 0


@dataclass(eq=False, slots=True)
class _Seat:
    """A process, or one that is about to be, and the work it was given: the first of it is under way."""

    worker: Worker | None = None
    state: Literal["starting", "ready", "leaving"] = "starting"
    jobs: deque[_Job] = field(default_factory=deque)
    timer: TimerHandle | None = None


class Workers:
    """`target` names a function, "module:function", that a worker calls once: it gives back the one that does the work.

    `ahead` is how many calls a process is given at once, so that it never waits for this one. The call under way when a
    process dies is tried again `retries` times; what stood behind it is simply given to another. `bare` processes get an
    empty environment: what reads hostile files need not see our keys.
    """

    def __init__(  # noqa: PLR0913 - each has its meaning, by name only
        self,
        target: str,
        *,
        processes: int,
        niceness: int = 10,
        ahead: int = 2,
        retries: int = 1,
        idle_seconds: float = 30.0,
        bare: bool = False,
    ) -> None:
        self.processes = processes
        self._bare = bare
        self._target = target
        self._niceness = niceness
        self._ahead = ahead
        self._retries = retries
        self._idle_seconds = idle_seconds
        self._waiting: deque[_Job] = deque()
        self._seats: dict[_Seat, Task[None]] = {}
        self._failed_starts = 0
        self._open = False

    async def __aenter__(self) -> Self:
        self._open = True
        return self

    async def __aexit__(self, *_: object) -> None:
        """Processes hold nothing that could be lost: they are ended at once."""
        self._open = False
        self._fail_waiting(_CLOSED)
        for seat in self._seats:
            if seat.worker is not None:
                seat.worker.kill()
        await asyncio.gather(*self._seats.values())

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(seat.worker.pid for seat in self._seats if seat.worker is not None)

    @property
    def asked(self) -> int:
        """How many calls were not answered yet."""
        return len(self._waiting) + sum(len(seat.jobs) for seat in self._seats)

    async def call(self, payload: bytes, *, seconds: float | None = None) -> bytes:
        """Raises WorkFailed and WorkerDied; a call that works longer than `seconds` has its process ended."""
        if not self._open:
            raise WorkerDied(_CLOSED)
        job = _Job(payload, seconds, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._hand_out()
        return await job.answer

    def _hand_out(self) -> None:
        ready = [seat for seat in self._seats if seat.state == "ready"]
        while self._waiting and ready:
            seat = min(ready, key=lambda seat: len(seat.jobs))
            if len(seat.jobs) >= self._ahead:
                break
            job = self._waiting.popleft()
            if not job.answer.done():
                self._give(seat, job)
        starting = sum(seat.state == "starting" for seat in self._seats)
        wanted = min(len(self._waiting) - starting, self.processes - len(self._seats))
        for _ in range(wanted if self._open else 0):
            seat = _Seat()
            self._seats[seat] = asyncio.create_task(self._run(seat))

    def _give(self, seat: _Seat, job: _Job) -> None:
        assert seat.worker is not None  # noqa: S101 - it is ready
        seat.jobs.append(job)
        seat.worker.send(job.payload)
        if len(seat.jobs) == 1:
            self._watch(seat)

    def _watch(self, seat: _Seat) -> None:
        """Set the one timer of a seat: for the work under way, or for the want of it."""
        worker, loop = seat.worker, asyncio.get_running_loop()
        assert worker is not None  # noqa: S101 - it is ready
        if seat.timer is not None:
            seat.timer.cancel()
        seat.timer = None
        if not seat.jobs:
            seat.timer = loop.call_later(self._idle_seconds, self._retire, seat)
        elif (seconds := seat.jobs[0].seconds) is not None:
            seat.timer = loop.call_later(seconds, worker.kill, f"took longer than {seconds:g} s")

    def _retire(self, seat: _Seat) -> None:
        seat.state = "leaving"
        if seat.worker is not None:
            seat.worker.retire()

    async def _run(self, seat: _Seat) -> None:
        """The life of one process."""
        try:
            await self._start(seat)
            while True:
                await self._take_answer(seat)
        except WorkerDied as death:
            del self._seats[seat]
            self._mourn(seat, death)
        finally:
            if seat.timer is not None:
                seat.timer.cancel()

    async def _start(self, seat: _Seat) -> None:
        try:
            seat.worker = await Worker.spawn(self._target, self._niceness, bare=self._bare)
        except OSError as error:
            raise WorkerDied(f"could not be started ({error})") from error
        if not self._open:
            seat.worker.kill()
        try:
            await seat.worker.receive()
        except WorkFailed as failure:
            await seat.worker.ended()
            raise WorkerDied(f"could not be started ({failure})") from failure
        self._failed_starts = 0
        seat.state = "ready"
        self._watch(seat)
        self._hand_out()

    async def _take_answer(self, seat: _Seat) -> None:
        assert seat.worker is not None  # noqa: S101 - it has started
        body, failure = b"", None
        try:
            body = await seat.worker.receive()
        except WorkFailed as error:
            failure = error
        job = seat.jobs.popleft()
        if not job.answer.done():
            job.answer.set_exception(failure) if failure else job.answer.set_result(body)
        self._watch(seat)
        self._hand_out()

    def _mourn(self, seat: _Seat, death: WorkerDied) -> None:
        """See to the work that a dead process leaves behind."""
        if seat.state == "starting":
            self._failed_starts += 1
            if self._failed_starts >= _FAILED_STARTS and not any(other.state == "ready" for other in self._seats):
                self._failed_starts = 0
                self._fail_waiting(str(death))
        if seat.jobs:
            seat.jobs[0].deaths += 1
        for job in reversed(seat.jobs):
            if self._open and job.deaths <= self._retries:
                self._waiting.appendleft(job)
            elif not job.answer.done():
                job.answer.set_exception(WorkerDied(str(death) if self._open else _CLOSED))
        self._hand_out()

    def _fail_waiting(self, reason: str) -> None:
        for job in self._waiting:
            if not job.answer.done():
                job.answer.set_exception(WorkerDied(reason))
        self._waiting.clear()
