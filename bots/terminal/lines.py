"""Lines that somebody types or pipes in, awaited without holding up anything else, nor the end of the program."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from codecs import getincrementaldecoder, lookup
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

LONGEST = 1_000_000  # characters of one line: what is longer comes in parts


class Lines:
    """Standard input, line by line. With a `prompt`, lines are typed, and can be edited.

    A thread of its own waits for them, since neither a pipe, a file nor a terminal can be awaited in one way; it is a
    daemon, so that a program that ends does not wait for a line that never comes.
    """

    def __init__(self, prompt: str | None = None) -> None:
        self._prompt = prompt
        self._wanted: SimpleQueue[Callable[[str | None], None]] = SimpleQueue()
        self._terminal: tuple[int, list[object]] | None = None

    def __enter__(self) -> Self:
        if self._prompt is not None:
            self._terminal = _terminal_state()
            with suppress(ImportError):
                import readline  # noqa: F401, PLC0415 - it makes `input` edit and recall lines
        threading.Thread(target=self._read, daemon=True, name="footnote-lines").start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._terminal is not None:
            import termios  # noqa: PLC0415 - not on every platform

            descriptor, state = self._terminal
            termios.tcsetattr(descriptor, termios.TCSADRAIN, state)  # type: ignore[arg-type] # as it was given
            if kind is not None:
                print()  # noqa: T201 - the shell's prompt begins a line of its own

    async def next(self) -> str | None:
        """The next line, without its end; None when there are no more."""
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str | None] = loop.create_future()

        def give(text: str | None) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(lambda: None if line.done() else line.set_result(text))

        self._wanted.put(give)
        return await line

    def _read(self) -> None:
        source = _typed(self._prompt) if self._prompt is not None else _piped()
        while True:
            give = self._wanted.get()  # first: a prompt is shown once the answer before it is
            give(next(source, None))


def _typed(prompt: str) -> Iterator[str]:
    while True:
        try:
            yield input(prompt)
        except EOFError:
            print()  # noqa: T201 - Ctrl-D leaves the cursor behind the prompt
            return


def _piped() -> Iterator[str]:
    """Read without Python's own buffer, which could not be closed at the end while a thread waits in it."""
    decoder = getincrementaldecoder(_encoding())(errors="replace")
    held = ""
    while part := _some_bytes():
        held += decoder.decode(part)
        *lines, held = held.replace("\r\n", "\n").split("\n")
        yield from lines
        if len(held) > LONGEST:
            yield held
            held = ""
    if held := held + decoder.decode(b"", final=True):
        yield held


def _encoding() -> str:
    """As the locale says, except where it knows no more than ASCII, or may leave out that a file begins with a mark."""
    named = lookup(sys.stdin.encoding if sys.stdin is not None else "utf-8").name
    return "utf-8-sig" if named in {"ascii", "utf-8"} else named


def _some_bytes() -> bytes:
    try:
        return os.read(0, 65536)
    except OSError:  # standard input is closed, or a folder
        return b""


def _terminal_state() -> tuple[int, list[object]] | None:
    try:
        import termios  # noqa: PLC0415 - not on every platform

        return sys.stdin.fileno(), termios.tcgetattr(sys.stdin.fileno())
    except (ImportError, OSError, ValueError):
        return None
