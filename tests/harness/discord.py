"""All that the harness knows of Discord: a strict server with everything going wrong in it, and how a worker serves it."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bots.access import Rules
from bots.administering import Administration
from bots.discord.app import App, DiscordPlatform, logged_in
from bots.discord.heard import Hearing
from bots.discord.listening import Listener, ListenSettings
from bots.discord.surface import DiscordSurface
from storage.catalog import DatabaseCatalog
from storage.inbox import DatabaseInbox
from tests.fakes.discord import FakeDiscord
from tests.fakes.discord.faults import Fault
from tests.harness.judging import Seen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from bots.desk import Desk
    from storage.database import Database
    from tests.fakes.discord.places import Place
    from tests.fakes.discord.state import Channel, Message

OFTEN = 1_000_000
LONG = 4_500  # characters of an answer that takes more than one message
COMMANDS, FOLLOW_UPS = 0.5, 0.5  # how many questions of a thread
FIRST_WORD = 3.2  # seconds after which who used a command is told that nothing comes, and uses it again
LOST = 0.15  # how many cuts end a session for good
TAKEN = 20.0  # seconds for which nothing more is asked in a thread where a command is acknowledged, and not taken in yet
MISSING = 120.0  # seconds after which a message that nobody took in is given up: it is missing
DIES = 0.3  # how many tokens die before their time
BOTS = (0, 19, 20, 23)  # kinds of messages that say something


class World:
    long = LONG

    def __init__(self, discord: FakeDiscord, place: Place, threads: list[Channel]) -> None:
        self._discord = discord
        self._ann = place.person("Ann")
        self._threads = threads
        self._begun: set[int] = set()
        self._chances = random.Random(1)
        self._used: dict[str, str] = {}  # interaction -> question
        self._faults = self._again = self._dead = 0
        self._troubled = False
        self._processes = 0

    @property
    def told(self) -> dict[str, str]:
        return {"api_url": self._discord.api_url, "token": self._discord.token}

    @property
    def counts(self) -> dict[str, int]:
        gateway = self._discord.gateway
        return {
            "resumes": gateway.resumed,
            "logins": gateway.identified,
            "replayed_or_doubled": gateway.repeated,
            "commands": len(self._used),
            "commands_used_again": self._again,
            "tokens_that_died": self._dead,
            "faults": self._faults,
        }

    def trouble(self, seed: int, minute: float) -> None:
        """Events that come twice or are replayed, rate limits, errors after the work was done, answers that are lost."""
        discord = self._discord
        self._troubled, self._chances = True, random.Random(seed)
        discord.faults.chances = random.Random(seed)
        discord.faults.duplicates, discord.faults.replayed = 0.2, 8
        discord.buckets.each = {"create": (5, minute / 4), "edit": (5, minute / 4), "webhook": (5, minute / 10)}
        for kind in ("create", "edit", "webhook", "history"):
            discord.faults.planned += [
                Fault(kind, OFTEN, retry_after=0.5, chance=0.05),
                Fault(kind, OFTEN, status=500, performed=True, chance=0.03),
                Fault(kind, OFTEN, hang_up=True, performed=True, chance=0.04),
            ]
        discord.faults.planned.append(Fault("callback", OFTEN, hang_up=True, performed=True, chance=0.04))

    def calm(self) -> None:
        planned = self._discord.faults.planned
        self._faults += sum(OFTEN - fault.times for fault in planned)
        planned.clear()
        self._troubled = False

    async def connected(self, processes: int, seconds: float) -> None:
        gateway, self._processes = self._discord.gateway, processes
        await self._discord.until(
            lambda: len([one for one in gateway.live if one.begun]) >= processes, seconds=seconds, what="a login"
        )

    async def cut(self, *, politely: bool) -> None:
        """The session is resumed, with events that came before; or it is lost. Not while somebody is away: it takes seconds."""
        gateway = self._discord.gateway
        if len(gateway.live) < self._processes:
            return
        if self._chances.random() < LOST:
            await gateway.forget()
        elif politely:
            await gateway.ask_to_reconnect()
        else:
            await gateway.close(4000)

    async def ask(self, thread: int, name: str, claimed: Callable[[], Awaitable[bool]]) -> None:
        """Mentions, follow-ups and commands by turns. A command that Discord does not know to be taken in is used again."""
        room = self._threads[thread]
        if thread in self._begun and self._chances.random() < COMMANDS:
            await self._use(room, name)
            await _within(TAKEN, claimed)
            return
        called = "" if thread in self._begun and self._chances.random() < FOLLOW_UPS else f"@{self._discord.bot.name} "
        self._begun.add(thread)
        await self._ann.says(f"{called}{name}?", channel=room)
        await _within(MISSING, claimed)

    async def _use(self, room: Channel, name: str) -> None:
        while True:
            used = await self._ann.slash("ask", question=f"{name}?", channel=room)
            self._used[used.interaction.id] = name
            try:
                await used.acknowledged(seconds=FIRST_WORD)
            except AssertionError:
                self._again += 1
                continue
            if self._troubled and self._chances.random() < DIES:
                used.interaction.began -= 16 * 60
                self._dead += 1
            return

    def seen(self, names: Mapping[str, str]) -> list[list[Seen]]:
        """By thread, in the order in which messages began to say something."""
        return [[self._seen(message, names) for message in sorted(self._ours(room), key=_began)] for room in self._threads]

    def _ours(self, room: Channel) -> list[Message]:
        bot = self._discord.bot
        return [one for one in room.messages if one.author is bot and one.type in BOTS and not one.deleted]

    def _seen(self, message: Message, names: Mapping[str, str]) -> Seen:
        if message.interaction is not None:
            name = self._used.get(message.interaction["id"], "")
        else:
            name = names.get(str(message.nonce or "").partition(".")[0], "")
        text = message.content.removeprefix(f"> {name}?\n")  # what was asked with a command is repeated
        return Seen(name, text, not message.content)


async def _within(seconds: float, claimed: Callable[[], Awaitable[bool]]) -> None:
    until = time.monotonic() + seconds
    while not await claimed() and time.monotonic() < until:  # noqa: ASYNC110 - in the database
        await asyncio.sleep(0.1)


def _began(message: Message) -> float:
    """When it first said something: where a command was used, "thinking" stands there long before."""
    return next((at for at, text in zip(message.times, message.versions, strict=True) if text), time.time())


@asynccontextmanager
async def world(threads: int) -> AsyncIterator[World]:
    async with FakeDiscord() as discord:
        place = discord.guild()
        ann = place.person("Ann")
        rooms = [await ann.starts_thread(f"talk {n}", await ann.says(f"talk {n}")) for n in range(threads)]
        yield World(discord, place, rooms)


@asynccontextmanager
async def connected(told: Mapping[str, str], database: Database, pace: float = 0.3) -> AsyncIterator[DiscordPlatform]:
    """For a worker."""
    nothing: Any = None  # no commands are given
    inbox, catalog = DatabaseInbox(database), DatabaseCatalog(database)

    def listener(desk: Desk) -> Listener:
        return Listener(
            desk, inbox, ListenSettings(Rules(), Hearing()), Administration(nothing), lambda _place, _roles: ["handbook"]
        )

    app = App(catalog, ["handbook"], lambda _place, _roles: ["handbook"], content=True, direct=False, guild_ready_timeout=0.05)
    async with logged_in(app, told["token"], told["api_url"]):
        surface = DiscordSurface(app)
        surface.pace = pace
        yield DiscordPlatform(app, surface, listener)
