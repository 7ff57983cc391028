"""A server that all processes of a run of tests share."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from tests.databases import ROOT
from tests.rag.workers.processes import gone
from tests.sharing import shared_server

if TYPE_CHECKING:
    from pathlib import Path

SERVER = """
import os, sys
from pathlib import Path
from tests.sharing import go_on_alone, until_unused
users, pids = map(Path, sys.argv[1:])
go_on_alone()
with pids.open("a") as file:
    file.write(f"{os.getpid()}\\n")
until_unused(users)
"""


def start(pids: Path, users: Path) -> str:
    subprocess.run([sys.executable, "-c", SERVER, users, pids], cwd=ROOT, check=True)  # noqa: S603 - our own
    return "somewhere"


def started(pids: Path, count: int) -> list[int]:
    """The processes of the servers so far; waits for that many."""
    while not pids.exists() or len(pids.read_text().split()) < count:
        time.sleep(0.01)
    return [int(pid) for pid in pids.read_text().split()]


def test_it_is_started_once_ends_with_the_last_that_uses_it_and_is_started_anew_for_a_later_one(tmp_path: Path) -> None:
    pids, folder = tmp_path / "pids", tmp_path / "server"
    folder.mkdir()
    share = partial(shared_server, folder, partial(start, pids))

    with share() as first:
        with share() as second:
            assert (first, second) == ("somewhere", "somewhere")
        with share() as third:
            assert third == "somewhere"
        (server,) = started(pids, 1)
        os.kill(server, 0)  # it lives
    assert asyncio.run(gone(server))

    with share():
        assert started(pids, 2)[0] == server
