"""Footnote in Discord: logs in, listens, and ends in good order."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from logging import getLogger
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import discord

from bots.beside import Beside
from bots.discord.away import Absence, with_roles
from bots.discord.beginning import begin
from bots.discord.buttons import GoOn, Verdict
from bots.discord.commands import LONGEST, Tree, add_administering, add_asking, synchronise
from bots.discord.heard import is_thinking
from bots.discord.places import PLATFORM, unseen
from rag.errors import BadSetting, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence

    from bots.access import Choosable
    from bots.desk import Desk
    from bots.discord.away import Missed
    from bots.discord.listening import Listener
    from bots.discord.surface import DiscordSurface
    from rag.ports import Catalog

log = getLogger(__name__)

CONNECT_SECONDS = 60.0
RECONNECT_SECONDS = 1.0
CLAIMED_SECONDS = 10.0  # after which a command that nobody claimed is taken for lost
NO_CONTENT = (
    "The Message Content intent is off (discord.message_content = false): follow-ups in threads need a mention or a command, "
    "and new forum posts are not answered."
)
INTENT_MISSING = (
    "Discord refuses the Message Content intent: switch it on in the developer portal (Bot, Privileged Gateway Intents), or "
    "set discord.message_content = false to do without."
)


class App(discord.Client):
    """The client. What happens is told to its listener; while it has none it is left to the next process."""

    def __init__(  # noqa: PLR0913 - all by name but what it is made of
        self,
        catalog: Catalog,
        bases: Sequence[str],
        choosable: Choosable,
        *,
        content: bool,
        direct: bool,
        longest: int = LONGEST,
        **options: Any,
    ) -> None:
        """`longest` is how many characters a question may have."""
        without_voice()
        intents = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=content)
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none(), **options)
        self.tree = Tree(self)
        self._catalog = catalog
        self.listener: Listener | None = None
        self._rooms: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._beside = Beside()
        self._link: asyncio.Task[None] | None = None
        self.absence = Absence(self, catalog, self._hear)
        add_asking(self.tree, choosable, several=len(bases) > 1, direct=direct, longest=longest)
        add_administering(self.tree, bases)

    def listen(self, listener: Listener | None) -> None:
        self.listener = listener
        self.tree.listener = listener

    def stay_connected(self) -> asyncio.Task[None]:
        """Until it is closed, or Discord says no."""
        self._link = asyncio.create_task(_connect(self))
        return self._link

    async def close(self) -> None:
        """The connection ends first: it would be made anew while its session goes away."""
        while self._link is not None and not self._link.done() and self._link is not asyncio.current_task():
            self._link.cancel()  # which the library's wait_for may swallow, before Python 3.12
            await asyncio.wait({self._link}, timeout=0.1)
        await self._beside.end()
        await super().close()

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Nothing once it is closed: the library forgets its event loop first, and then cannot begin what it has made."""
        if not self.is_closed():
            super().dispatch(event, *args, **kwargs)

    async def setup_hook(self) -> None:
        self.add_dynamic_items(Verdict, GoOn)
        assert self.application_id is not None  # noqa: S101 - logged in
        if await synchronise(self.tree, self._catalog, self.application_id):
            log.info("Discord was told of the commands")

    # --- events: each is a boundary, an error in one ends nothing; those of one room come one after the other

    async def on_message(self, message: discord.Message) -> None:
        if (listener := self.listener) is not None and (me := self.user) is not None:
            if message.guild is None:
                self.absence.met(message.channel.id)
            await self._safely(message.channel.id, lambda: listener.message(message, me))

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        if (listener := self.listener) is not None and (me := self.user) is not None:
            await self._safely(payload.channel_id, lambda: listener.edited(payload.message, me))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        room = self.get_channel(payload.channel_id)
        if (listener := self.listener) is not None and isinstance(room, discord.abc.Messageable):
            await self._safely(payload.channel_id, lambda: listener.deleted(room, payload.message_id))

    async def on_ready(self) -> None:
        self.absence.ends(resumed=False)

    async def on_resumed(self) -> None:
        self.absence.ends(resumed=True)

    async def on_disconnect(self) -> None:
        self.absence.begins()

    async def _hear(self, missed: Missed) -> None:
        """Raises DeliveryError and StoreError: then it is done again."""
        listener, me = self.listener, self.user
        if listener is None or me is None:
            return
        async with self._lock(missed.room.id):
            for message in await missed.messages():
                if listener.is_meant(message, me):
                    await listener.message(await with_roles(message), me)
                elif is_thinking(message, me):
                    self._beside.do(self._left(message))

    async def _left(self, message: discord.Message) -> None:
        """Whoever acknowledged it may be alive, and about to claim it."""
        await asyncio.sleep(CLAIMED_SECONDS - (discord.utils.utcnow() - message.created_at).total_seconds())
        if (listener := self.listener) is not None:
            await listener.left_thinking(message)

    def _lock(self, room: int) -> asyncio.Lock:
        return self._rooms.setdefault(room, asyncio.Lock())

    async def _safely(self, room: int, work: Callable[[], Awaitable[None]]) -> None:
        try:
            async with self._lock(room):
                await work()
        except StoreUnavailable as error:
            log.error("what was said in Discord is read again once the database answers: %s", error)  # noqa: TRY400 - it says it all
            self.absence.ends(resumed=False)
        except Exception:
            log.exception("an error that should not be")


class DiscordPlatform:
    """Discord as it is served: logged in before the desk opens, and out after it is closed."""

    name = PLATFORM

    def __init__(
        self,
        app: App,
        surface: DiscordSurface,
        listener: Callable[[Desk], Listener],
        named: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """`named` are the ids of channels in the settings, by setting."""
        self._app = app
        self._named = named or {}
        self.surface = surface
        self._listener = listener

    @asynccontextmanager
    async def listening(self, desk: Desk) -> AsyncIterator[None]:
        """Raises BadSetting where Discord says no."""
        self._app.listen(self._listener(desk))
        task = self._app.stay_connected()
        await _ready(self._app, task)
        task.add_done_callback(_ended)
        catching_up = asyncio.create_task(self._app.absence.run())
        if not self._app.intents.message_content:
            log.warning(NO_CONTENT)
        for wrong in unseen(self._app, self._named):
            log.warning("%s", wrong)
        try:
            yield
        finally:
            self._app.listen(None)
            catching_up.cancel()
            await asyncio.wait({catching_up})


def without_voice() -> None:
    """Nothing is said aloud here: that the libraries for it are not installed is no warning."""
    discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


async def _connect(app: App) -> None:
    """Connected for good: an event that the library cannot read ends its loop, and must not end ours."""
    while not app.is_closed():
        try:
            await app.connect()
        except (discord.PrivilegedIntentsRequired, discord.ConnectionClosed):
            raise
        except Exception:
            log.exception("the connection to Discord broke; it is made anew")
            if app.ws is not None:  # its heartbeat would go on
                await app.ws.close()
            await asyncio.sleep(RECONNECT_SECONDS)


def _ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("the connection to Discord ended: %s", error)


@asynccontextmanager
async def logged_in(app: App, token: str, api_url: str = "") -> AsyncIterator[App]:
    """Raises BadSetting where Discord says no."""
    async with app:
        await begin(app, token, api_url)
        yield app


async def _ready(app: App, task: asyncio.Task[None]) -> None:
    waiting = asyncio.create_task(app.wait_until_ready())
    await asyncio.wait({task, waiting}, timeout=CONNECT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if not task.done():
        return
    try:
        task.result()
    except discord.PrivilegedIntentsRequired as error:
        raise BadSetting(INTENT_MISSING) from error
    except discord.ConnectionClosed as error:
        raise BadSetting(f"Discord closed the connection with code {error.code}.") from error
