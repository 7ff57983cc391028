"""Footnote in a strict Slack, its answers scripted: all between is real, slack-bolt, slack-sdk and the database too."""

from __future__ import annotations

import socket
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bots.access import AskingLimits, LimitSettings, Rules
from bots.administering import Administration
from bots.desk import Desk, DeskSettings
from bots.slack.app import PATH, Keys, Office, SlackSettings, connected
from bots.slack.intake import IntakeSettings
from bots.slack.manifest import manifest
from storage.catalog import DatabaseCatalog
from storage.conversations import DatabaseMemory
from storage.inbox import DatabaseInbox
from tests.bots.test_administering import BuiltIndex, ScriptedRuns
from tests.fakes.surfaces import ScriptedCore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from rag.ports import Catalog, Installations, Memory, PassageIndex
    from storage.database import Database
    from tests.fakes.slack import FakeSlack

QUICK = DeskSettings(lease_seconds=1.0, sweep_seconds=0.1, drain_seconds=2.0, patience_seconds=2.0)


class Bot:
    """One process of Footnote, started as often as a test likes, always on the same database."""

    def __init__(self, slack: FakeSlack, database: Database) -> None:
        self.slack = slack
        self.inbox = DatabaseInbox(database)
        self.memory: Memory = DatabaseMemory(database)
        self.catalog: Catalog = DatabaseCatalog(database)
        self.index: PassageIndex = BuiltIndex()
        self.runs: Any = ScriptedRuns()
        self.core = ScriptedCore(self.memory)
        self.limits = LimitSettings()
        self.intake = IntakeSettings(Rules())
        self.settings = SlackSettings(self.intake, api_url=slack.api_url, host="127.0.0.1")
        self.names: Sequence[str] = ["handbook"]
        self.database = database
        self.installations: Installations | None = None
        self.desk_settings = QUICK
        self.way = "socket"
        self.now: Callable[[], float] = time.monotonic  # the surface's clock

    @property
    def keys(self) -> Keys:
        return Keys(self.slack.workspace.token, self.slack.app.app_token)

    @asynccontextmanager
    async def running(self, keys: Keys | None = None, **more: Any) -> AsyncIterator[Desk]:
        """Over a socket, unless `port` is given, or `way` says so."""
        if self.way == "http" and not keys and "port" not in more:
            async with self.over_http(**more) as desk:
                yield desk
            return
        settings = replace(self.settings, intake=self.intake, **more)
        office = Office(self.inbox, Administration(self), lambda _place: self.names, self.installations)
        before = len(self.slack.courier.sockets)
        async with AsyncExitStack() as stack:
            app = await stack.enter_async_context(connected(keys or self.keys, settings, office))
            surface: Any = app.surface
            surface.now = self.now
            desk = Desk(
                inbox=self.inbox,
                memory=self.memory,
                conversation=self.core,
                surfaces={"slack": surface},
                limits=AskingLimits(self.limits),
                settings=self.desk_settings,
            )
            await stack.enter_async_context(desk)
            await stack.enter_async_context(app.listening(desk))
            if not settings.port:
                await self.slack.connected(before + 1)
            yield desk

    @asynccontextmanager
    async def over_http(self, **more: Any) -> AsyncIterator[Desk]:
        self.slack.install(manifest("http"))
        port = free_port()
        self.slack.app.request_url = f"http://127.0.0.1:{port}{PATH}"
        keys = Keys(self.slack.workspace.token, signing=self.slack.app.signing_secret)
        async with self.running(keys, port=port, **more) as desk:
            yield desk


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
