"""Readers that misbehave, for the worker process to load."""

from __future__ import annotations

import os
import signal
import sys
import time

from rag.sources.reading import Raw, Reading, ReadLimits


def hang(raw: Raw, limits: ReadLimits) -> Reading:
    del raw, limits
    while True:
        time.sleep(1)


def crash(raw: Raw, limits: ReadLimits) -> Reading:
    del raw, limits
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


def devour(raw: Raw, limits: ReadLimits) -> Reading:
    del raw, limits
    return Reading(text=bytes(8_000_000_000).decode())


def panic(raw: Raw, limits: ReadLimits) -> Reading:
    del raw, limits

    class PanicException(BaseException):
        pass

    raise PanicException("index out of range")


def chatter(raw: Raw, limits: ReadLimits) -> Reading:
    """Prints, as native parsers do."""
    del limits
    print("warning: odd file", flush=True)  # noqa: T201 - that is the point
    os.write(1, b"more noise\n")
    return Reading(text=raw.content.decode())


def modules(raw: Raw, limits: ReadLimits) -> Reading:
    """Says which of our modules the process has imported, and its priority."""
    del raw, limits
    ours = sorted(name for name in sys.modules if name.split(".")[0] in {"bots", "config", "storage", "rag"})
    return Reading(text="\n".join(ours), title=str(os.nice(0)))
