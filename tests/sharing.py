"""What all processes that run tests have together: made by the first that needs it; a server ends with the last."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    import pytest

_ADDRESS = "address"


def common_folder(factory: pytest.TempPathFactory, worker: str, name: str) -> Path:
    """The same for every process of one run of tests."""
    own = factory.getbasetemp()
    folder = (own if worker == "master" else own.parent) / name
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def shared_server(folder: Path, start: Callable[[Path], str]) -> Iterator[str]:
    """Its address. `start` is given the file by which the server's process tells that it is used: `until_unused`."""
    users = folder / "users"
    with users.open("a", encoding="utf-8") as using:
        fcntl.flock(using, fcntl.LOCK_SH)  # until this process lets go, or ends, however it does
        address = folder / _ADDRESS
        with one_at_a_time(folder):
            if not address.exists():
                address.write_text(start(users), encoding="utf-8")
        yield address.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class OwnProcess:
    """A server that one test started, and orders about: see `serve`."""

    process: subprocess.Popen[str]

    def _say(self, order: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"


# --- the server's side, in a process of its own ---------------------------------------------------------------------


class Server(Protocol):
    def start(self) -> None: ...

    def stop(self) -> None:
        """At once, without tidying up."""
        ...


def serve(server: Server, folder: Path, users: str) -> None:
    """As long as any process uses it that holds the file `users`; without one, until standard input ends.

    Orders may come in there, each on a line of its own and answered with `done`: `stop`, `start`, and what else it can.
    When the tests end, however they end, nothing stays behind.
    """
    if users:
        go_on_alone()
        server.start()
        last = until_unused(Path(users))
    else:
        os.setsid()  # Ctrl-C ends the tests, and their end ends this
        server.start()
        last = sys.stdin
        for order in last:
            getattr(server, order.strip())()
            print("done", flush=True)  # noqa: T201 - whoever asked reads it
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)
    last.close()


def go_on_alone() -> None:
    """From here on in a process of its own, which nobody waits for: Ctrl-C ends the tests, and their end ends this."""
    if os.fork():
        os._exit(0)
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)


def until_unused(users: Path) -> IO[str]:
    """Wait until no process uses it. What is given back keeps others waiting that would, until it is gone."""
    last = users.open("a", encoding="utf-8")
    fcntl.flock(last, fcntl.LOCK_EX)
    users.with_name(_ADDRESS).unlink(missing_ok=True)
    return last
