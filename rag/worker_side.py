"""A worker process, from its own side: loads one function, then answers frame by frame until its parent is gone.

Apart from `rag.workers`, so that a process does not load what only its parent needs.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
import threading
import time
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable


HEADER = struct.Struct("<BI")  # a status and a length, then that many bytes
DONE = 0
FAILED = 1  # the function raised; the bytes say what
_READ = 1 << 16  # bytes of requests at once: all that wait, as a rule
_LOOK_SECONDS = 0.2  # between two looks for the parent


def frame(status: int, body: bytes) -> bytes:
    return HEADER.pack(status, len(body)) + body


def main() -> None:
    target, niceness = sys.argv[1], int(sys.argv[2])
    # Ctrl-C goes to the whole process group: the parent decides when the work is over. (A session of its own would
    # keep it away too, but Linux then weighs niceness within that session only.)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    requests, replies = _take_pipes()
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    _answer(target, requests, replies)


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for ourselves: whatever a library prints goes to standard error instead."""
    requests, replies = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return os.fdopen(requests, "rb", _READ), os.fdopen(replies, "wb")


def _watch(parent: int) -> None:
    """In a thread, so that the end of the parent ends this process, in the midst of any work."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(0)


def _answer(target: str, requests: BinaryIO, replies: BinaryIO) -> None:
    """The first frame says that the function is loaded, or why it cannot be."""
    module, _, name = target.partition(":")
    try:
        work: Callable[[bytes], bytes] = getattr(import_module(module), name)()
    except BaseException as error:  # noqa: BLE001 - outermost boundary of the process
        _reply(replies, frame(FAILED, _words(error)))
        return
    _reply(replies, frame(DONE, b""))
    while len(head := requests.read(HEADER.size)) == HEADER.size:
        payload = requests.read(HEADER.unpack(head)[1])
        try:
            reply = frame(DONE, work(payload))
        except BaseException as error:  # noqa: BLE001 - outermost boundary; native parsers raise BaseException when they panic
            reply = frame(FAILED, _words(error))
        _reply(replies, reply)


def _reply(replies: BinaryIO, reply: bytes) -> None:
    try:
        replies.write(reply)
        replies.flush()
    except OSError:
        os._exit(0)  # the parent is gone


def _words(error: BaseException) -> bytes:
    return f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace")
