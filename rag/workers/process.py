"""One spawned process, as its parent sees it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from contextlib import suppress

from rag.worker_side import DONE, HEADER, frame

# The child finds modules where the parent does, however that one was started, and imports nothing else of the product.
_BOOT = "import sys; sys.path[:] = sys.argv[3:]; from rag.worker_side import main; main()"
_ROOM = 1 << 20  # bytes of answers that were not read yet
_TAIL = 2_000  # bytes of standard error kept, to say why a process ended


class WorkerDied(Exception):
    """The process ended in the midst of the work; the message says how."""


class WorkFailed(Exception):
    """The function raised; the process lives. The message is that of its error, led by its type."""


class Worker:
    """Answers come in the order of the requests. `receive` alone notices that the process has ended."""

    def __init__(self, process: Process, answers: asyncio.StreamReader) -> None:
        self._process = process
        self._answers = answers
        self._errors: deque[bytes] = deque()
        self._listening = asyncio.create_task(self._listen())
        self._ending = ""

    @classmethod
    async def spawn(cls, target: str, niceness: int, *, bare: bool = False) -> Worker:
        arguments = ("-c", _BOOT, target, str(niceness), *sys.path)
        environment: dict[str, str] | None = {} if bare else None
        answers, theirs = await _wide_pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, *arguments, stdin=PIPE, stdout=theirs, stderr=PIPE, env=environment
            )
        finally:
            os.close(theirs)
        return cls(process, answers)

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, payload: bytes) -> None:
        if self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(frame(DONE, payload))

    async def receive(self) -> bytes:
        """The next answer. Raises WorkFailed, and WorkerDied once the process has ended."""
        try:
            status, size = HEADER.unpack(await self._answers.readexactly(HEADER.size))
            body = await self._answers.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise WorkerDied(await self._reason()) from None
        if status == DONE:
            return body
        raise WorkFailed(body.decode("utf-8"))

    def retire(self) -> None:
        """Let it end by itself, for want of work."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def kill(self, ending: str = "") -> None:
        """End it at once; `ending` says why, if there is more to say than that it was killed."""
        self._ending = ending or self._ending
        with suppress(ProcessLookupError):
            self._process.kill()

    async def ended(self) -> int:
        self.retire()
        await self._listening
        return await self._process.wait()

    async def _listen(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - it was asked for
        while piece := await self._process.stderr.read(_TAIL):
            self._errors.append(piece)
            while len(self._errors) > 1 and sum(map(len, self._errors)) > 2 * _TAIL:
                self._errors.popleft()

    async def _reason(self) -> str:
        status = await self.ended()
        if self._ending:
            return self._ending
        how = f"was killed by {_signal_name(-status)}" if status < 0 else f"ended with status {status}"
        last = b"".join(self._errors).decode("utf-8", "replace").strip().splitlines()
        return f"{how} ({last[-1]})" if last else how


async def _wide_pipe() -> tuple[asyncio.StreamReader, int]:
    """A pipe to read from, and its other end. Many answers find room in it: a process that has to wait until one of them is
    read, on a busy machine, waits for its turn again each time.
    """
    ours, theirs = os.pipe()
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # there may be too many of them already
            fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, _ROOM)
    reader = asyncio.StreamReader(limit=_ROOM)
    file = os.fdopen(ours, "rb", 0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return reader, theirs


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
