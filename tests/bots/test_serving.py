"""A process that is asked to end does so in good order, whenever it is asked (O6)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bots.desk import Desk, DeskSettings
from bots.serving import serve
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from tests.fakes.surfaces import ScriptedCore, ScriptedSurface

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

    from bots.surfaces import Surface

    Desks = Callable[[Mapping[str, Surface[Any]]], Desk]


class Line:
    """A platform that connects at once, or never."""

    name = "slack"

    def __init__(self, *, connects: bool) -> None:
        self.surface = ScriptedSurface()
        self.connects = connects
        self.said: list[str] = []

    @asynccontextmanager
    async def listening(self, desk: Desk) -> AsyncIterator[None]:
        self.said.append("opening")
        try:
            if not self.connects:
                await asyncio.Event().wait()
            self.said.append("open")
            yield
            self.said.append(f"closing with {desk.busy}")
        finally:
            self.said.append("closed")


@pytest.fixture
async def desks(tmp_path: Path, sqlite_with_tables: Path) -> AsyncIterator[Desks]:
    shutil.copyfile(sqlite_with_tables, tmp_path / "footnote.db")
    async with Database(f"sqlite:///{tmp_path / 'footnote.db'}") as database:
        inbox, memory = DatabaseInbox(database), DatabaseMemory(database)

        def desk(surfaces: Mapping[str, Surface[Any]]) -> Desk:
            settings = DeskSettings(drain_seconds=0.2)
            return Desk(inbox=inbox, memory=memory, conversation=ScriptedCore(memory), surfaces=surfaces, settings=settings)

        yield desk


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_and_every_platform_is_closed(desks: Desks, number: signal.Signals) -> None:
    platform = Line(connects=True)
    async with asyncio.timeout(5):
        await serve([platform], desks, ready=lambda: os.kill(os.getpid(), number))

    assert platform.said == ["opening", "open", "closing with 0", "closed"]


@pytest.mark.parametrize("times", [1, 2])
async def test_a_signal_ends_it_while_a_platform_cannot_be_reached_yet(desks: Desks, times: int) -> None:
    first, second = Line(connects=True), Line(connects=False)
    serving = asyncio.create_task(serve([first, second], desks))
    async with asyncio.timeout(5):
        while not second.said:  # noqa: ASYNC110 - a list
            await asyncio.sleep(0.01)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGTERM)
        await serving

    assert first.said[-1] == "closed"
    assert second.said == ["opening", "closed"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


async def test_who_cancels_it_sees_it_cancelled(desks: Desks) -> None:
    platform = Line(connects=False)
    serving = asyncio.create_task(serve([platform], desks))
    while not platform.said:  # noqa: ASYNC110 - a list
        await asyncio.sleep(0.01)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving

    assert platform.said == ["opening", "closed"]
