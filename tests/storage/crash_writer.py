"""Processes that write an index and are killed, or that search one while it is written."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag.types import Search
from storage.local_index import LocalIndex
from tests.storage.passages import SIGNATURE, direction, indexed

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from types import FrameType

    from rag.ports import IndexWriter
    from rag.types import Indexed, Signature

BASE = "handbook"
OTHER = replace(SIGNATURE, embedder="another")
STORAGE = str(Path(__file__).parents[2] / "storage")
# a server that has everything imported already and forks itself: a process costs milliseconds
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


def document(number: int, state: int) -> list[Indexed]:
    """Each passage says in which state it was written; how many there are depends on the state too."""
    return indexed(f"d{number:02}", *(f"all state{state} part{part}" for part in range(1 + (number + state) % 3)))


async def write_state(writer: IndexWriter, state: int, *, documents: int = 12) -> None:
    """Every document anew, published on the way; each state leaves out another one."""
    for number in range(documents):
        if number == state:
            continue
        await writer.put(f"d{number:02}", document(number, state))
        if number % 4 == 3 and not writer.rebuilding:
            await writer.publish()
    await writer.remove([f"d{state:02}"])
    await writer.publish(switch=writer.rebuilding)


def expected(state: int, *, documents: int = 12) -> dict[str, str]:
    """Terms by passage id, when a state is complete."""
    held = [each.passage for number in range(documents) if number != state for each in document(number, state)]
    return {each.id: each.terms for each in held}


async def run(folder: Path, state: int, signature: Signature = SIGNATURE) -> None:
    async with LocalIndex(folder) as index, index.write(BASE, signature) as writer:
        await write_state(writer, state)


def write_and_die(folder: Path, signature: Signature, fuse: int, told: Connection) -> None:
    """Write state 1, but kill this process at one of the calls that the storage makes; tell how many there were, if none did."""
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        if event == "c_call" and frame.f_code.co_filename.startswith(STORAGE):
            calls += 1
            if calls == fuse:
                os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(count)
    sys.setprofile(count)
    asyncio.run(run(folder, 1, signature))
    sys.setprofile(None)
    told.send(calls)


def killed_at(folder: Path, signature: Signature, fuse: int) -> int | None:
    """How many calls a run makes; None when it died of its fuse."""
    ours, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=write_and_die, args=(folder, signature, fuse, theirs))
    process.start()
    theirs.close()
    try:
        return int(ours.recv())
    except EOFError:
        return None
    finally:
        process.join()
        ours.close()


def search_until_told(folder: Path, told: Connection) -> None:
    """Search and read passages without a pause; tell how often, and what was wrong."""
    told.send(asyncio.run(_searching(folder, told)))


async def _searching(folder: Path, told: Connection) -> tuple[int, list[str]]:
    wrong: list[str] = []
    searches = 0
    chance = random.Random(1)
    async with LocalIndex(folder) as index:
        told.send("ready")
        while not told.poll():
            candidates = await index.search(BASE, Search(("all",), direction(chance.random()), limit=10))
            passages = await index.passages(BASE, [each.id for each in candidates])
            if not candidates or not passages:
                wrong.append(f"{len(candidates)} candidates, {len(passages)} passages")
            searches += 1
    return searches, wrong
