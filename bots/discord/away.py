"""What was said while nobody listened: after a session that could not be resumed, and between two processes (D10, P3).

Discord tells such events to nobody later, so rooms are read from when somebody last listened, and a little before: what was
taken in already ends at its claim. Commands cannot be read: of one that nobody acknowledged Discord has told that nothing comes,
of one that says "thinking", and that nobody claimed, we do.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from logging import getLogger
from typing import TYPE_CHECKING, TypeAlias

import discord

from bots.discord.failing import delivering
from rag.errors import DeliveryError, PostLater, StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag.ports import Catalog

log = getLogger(__name__)

REMEMBERED = "discord.heard"
LATER, TRIES = 2.0, 10  # seconds before another try, and how often it is tried to read a room
EVERY = 15.0  # seconds between two notes of when somebody listened
BEFORE = 60.0  # seconds that a dead connection may take to be noticed
LONGEST = 900.0  # seconds of absence that are made up for
ROOMS, MESSAGES = 50, 100  # that are read, the newest of them
DIRECT = 20

Room: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread


class Absence:
    """`hear` is told of what was missed, a room's messages in order, while nothing else of that room is."""

    def __init__(self, client: discord.Client, catalog: Catalog, hear: Callable[[Missed], Awaitable[None]]) -> None:
        self._client = client
        self._catalog = catalog
        self._hear = hear
        self._ready = asyncio.Event()
        self._listening = False
        self._direct: dict[str, None] = {}  # talks, the latest last

    def met(self, direct: int) -> None:
        """A direct talk: the library tells of none at the start."""
        self._direct.pop(str(direct), None)
        self._direct[str(direct)] = None

    def begins(self) -> None:
        """The connection is gone; a session that is resumed misses nothing."""
        self._listening = False

    def ends(self, *, resumed: bool) -> None:
        if resumed:
            self._listening = True
        else:
            self._ready.set()

    async def run(self) -> None:
        """As long as the process: while it listens it notes so, after a new session it makes up for what was missed."""
        later = LATER
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY):
                    await self._ready.wait()
            try:
                if self._ready.is_set():
                    self._ready.clear()
                    await self._catch_up()
                    self._listening = True
                if self._listening:
                    await self._note()
                later = LATER
            except StoreError as error:
                log.warning("what was said in Discord meanwhile is looked for later: %s", error)
                self._ready.set()
                await asyncio.sleep(later)
                later = min(2 * later, EVERY)
            except Exception:
                log.exception("an error that should not be")

    async def _catch_up(self) -> None:
        known = await self._catalog.remembered(REMEMBERED) or {}
        until, direct = known.get("until"), known.get("direct")
        if not isinstance(until, float) or not isinstance(direct, list):  # nobody ever listened
            return
        since = datetime.fromtimestamp(max(until - BEFORE, time.time() - LONGEST), UTC)
        self._direct = dict.fromkeys(direct) | self._direct
        for room in [*self._rooms(since), *await self._talks(direct)]:
            await _patiently(room.id, partial(self._hear, Missed(room, since)))

    async def _note(self) -> None:
        await self._catalog.remember(REMEMBERED, {"until": time.time(), "direct": list(self._direct)[-DIRECT:]})

    def _rooms(self, since: datetime) -> list[Room]:
        """Those of servers in which something was said since, the liveliest first."""
        after = discord.utils.time_snowflake(since)
        found = []
        for guild in self._client.guilds:
            rooms: list[Room] = [*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads]
            for room in rooms:
                held = room.permissions_for(guild.me)
                if held.view_channel and held.read_message_history and (room.last_message_id or 0) > after:
                    found.append(room)
        return sorted(found, key=lambda room: room.last_message_id or 0, reverse=True)[:ROOMS]

    async def _talks(self, direct: Sequence[str]) -> list[discord.DMChannel]:
        found: list[discord.DMChannel] = []
        for id_ in map(int, direct):
            room = self._client.get_channel(id_) or await _patiently(id_, partial(self._fetched, id_))
            if isinstance(room, discord.DMChannel):
                found.append(room)
        return found

    async def _fetched(self, room: int) -> object:
        with delivering():
            return await self._client.fetch_channel(room)


async def _patiently(room: int, work: Callable[[], Awaitable[object]]) -> object:
    """One room that cannot be read keeps no other from it. Raises StoreError."""
    for _ in range(TRIES):
        try:
            return await work()
        except PostLater as later:
            await asyncio.sleep(min(later.seconds, LATER))
        except DeliveryError as error:
            log.info("what was said in channel %s meanwhile cannot be read: %s", room, error)
            return None
    log.warning("what was said in channel %s meanwhile could not be read", room)
    return None


@dataclass(frozen=True, slots=True)
class Missed:
    room: Room | discord.DMChannel
    since: datetime

    async def messages(self) -> list[discord.Message]:
        """Oldest first. Raises DeliveryError."""
        with delivering():
            found = [message async for message in self.room.history(limit=MESSAGES, after=self.since, oldest_first=False)]
        return found[::-1]


async def with_roles(message: discord.Message) -> discord.Message:
    """What is read later does not tell which roles its author has. Raises DeliveryError."""
    if message.guild is not None and not isinstance(message.author, discord.Member):
        with delivering():
            message.author = message.guild.get_member(message.author.id) or await message.guild.fetch_member(message.author.id)
    return message
