"""What the workers of these tests do; loaded in their processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def obedient() -> Callable[[bytes], bytes]:
    return _obey


def broken() -> Callable[[bytes], bytes]:
    raise ImportError("no such model")


def _obey(payload: bytes) -> bytes:
    command, _, argument = payload.decode().partition(" ")
    if command == "die":
        os.kill(os.getpid(), getattr(signal, argument))
    if command == "die-once" and not Path(argument).exists():
        Path(argument).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if command == "raise":
        raise ValueError(argument)
    if command == "sleep":
        time.sleep(float(argument))
    if command == "print":
        print(argument, flush=True)  # noqa: T201 - that is the point
        os.write(1, argument.encode())
    if command == "environment":
        return ",".join(os.environ).encode()  # noqa: TID251 - what this process was given
    if command == "modules":
        return ",".join(
            name for name in sys.modules if name.split(".")[0] in {"rag", "storage", "config", "bots", "numpy"}
        ).encode()
    if command == "niceness":
        return str(os.nice(0)).encode()
    return argument.encode() if command == "say" else b"done"
