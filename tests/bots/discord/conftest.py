"""Footnote in a strict Discord, its answers scripted: everything between is real, discord.py and the database too."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import discord
import pytest

from bots.access import AskingLimits, LimitSettings, Rules
from bots.administering import Administration
from bots.desk import Desk, DeskSettings
from bots.discord.app import App, DiscordPlatform, logged_in
from bots.discord.heard import Hearing
from bots.discord.listening import Listener, ListenSettings
from bots.discord.surface import DiscordSurface, Threads
from rag.types import Place
from storage.catalog import DatabaseCatalog
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from storage.local_index import LocalIndex
from tests.bots.test_administering import ScriptedRuns
from tests.fakes.discord import FakeDiscord
from tests.fakes.surfaces import ScriptedCore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from bots.access import Choosable
    from rag.ports import Catalog, Memory, PassageIndex
    from tests.fakes.discord.state import Channel

QUICK = DeskSettings(lease_seconds=1.0, sweep_seconds=0.1, drain_seconds=2.0, patience_seconds=1.0)


class Bot:
    """One process of Footnote, started as often as a test likes, always on the same database."""

    def __init__(self, fake: FakeDiscord, database: Database, index: PassageIndex) -> None:
        self.fake = fake
        self.inbox = DatabaseInbox(database)
        self.memory: Memory = DatabaseMemory(database)
        self.catalog: Catalog = DatabaseCatalog(database)
        self.core = ScriptedCore(self.memory)
        self.rules = Rules()
        self.hearing = Hearing()
        self.limits = LimitSettings()
        self.bases: Sequence[str] = ["handbook"]
        self.choosable: Choosable = lambda _place, _roles: self.bases
        self.threads: Threads = "offer"
        self.named: dict[str, tuple[str, ...]] = {}
        self.pace = 0.05
        self.index: PassageIndex = index
        self.runs: Any = ScriptedRuns()
        self.app: App | None = None

    @property
    def names(self) -> Sequence[str]:
        return self.bases

    @asynccontextmanager
    async def running(self, **options: Any) -> AsyncIterator[Desk]:
        app = App(
            self.catalog,
            self.bases,
            self.choosable,
            content=self.hearing.content,
            direct=self.hearing.direct,
            guild_ready_timeout=0.05,
            **options,
        )
        surface = DiscordSurface(app, threads=self.threads)
        surface.pace = self.pace
        platform = DiscordPlatform(app, surface, self.listener, self.named)
        desk = Desk(
            inbox=self.inbox,
            memory=self.memory,
            conversation=self.core,
            surfaces={"discord": surface},
            limits=AskingLimits(self.limits),
            settings=QUICK,
        )
        self.app = app
        async with logged_in(app, self.fake.token, self.fake.api_url), desk, platform.listening(desk):
            yield desk

    @staticmethod
    def place(channel: Channel) -> Place:
        return Place("discord", channel.guild, channel.parent if channel.is_thread else channel.id)

    def dies(self) -> None:
        """As far as what is heard goes: what was claimed is taken up as by the next process."""
        assert self.app is not None
        self.app.listen(None)

    def listener(self, desk: Desk) -> Listener:
        settings = ListenSettings(self.rules, self.hearing, longest=self.limits.question_characters)
        return Listener(desk, self.inbox, settings, Administration(self), self.choosable)


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    """Ends with nothing sent that Discord's description forbids, no link that unfurls and nobody called."""
    monkeypatch.setattr(discord.http.Route, "BASE", discord.http.Route.BASE)  # put back what the app changes
    monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY)
    async with FakeDiscord() as fake:
        yield fake
    assert (fake.offences, fake.previews) == ([], [])
    assert [message.pinged for channel in fake.channels.values() for message in channel.messages if message.pinged] == []


@pytest.fixture
async def bot(fake: FakeDiscord, tmp_path: Path, sqlite_url: str) -> AsyncIterator[Bot]:
    async with Database(sqlite_url) as database, LocalIndex(tmp_path / "index") as index:
        yield Bot(fake, database, index)
