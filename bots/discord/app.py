"""Footnote in Discord: logs in, listens, and ends in good order."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from logging import getLogger
from typing import TYPE_CHECKING, Any

import aiohttp
import discord
import yarl

from bots.discord.buttons import GoOn, Verdict
from bots.discord.commands import Tree, add_administering, add_asking, synchronise
from rag.errors import BadSetting, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from bots.discord.commands import Choosable
    from bots.discord.listening import Listener
    from rag.ports import Catalog

log = getLogger(__name__)

CONNECT_SECONDS = 60.0
NO_CONTENT = (
    "The Message Content intent is off (discord.message_content = false): follow-ups in threads need a mention or a command, "
    "and new forum posts are not answered."
)
INTENT_MISSING = (
    "Discord refuses the Message Content intent: switch it on in the developer portal (Bot, Privileged Gateway Intents), or "
    "set discord.message_content = false to do without."
)
LOGIN_REFUSED = "Discord refuses DISCORD_TOKEN. Reset the token in the developer portal (Bot, Token), and set it anew."


class App(discord.Client):
    """The client. `listener` is given before it connects."""

    listener: Listener

    def __init__(
        self, catalog: Catalog, bases: Sequence[str], choosable: Choosable, *, content: bool, direct: bool, **options: Any
    ) -> None:
        intents = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=content)
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none(), **options)
        self.tree = Tree(self)
        self._catalog = catalog
        self._open = True
        add_asking(self.tree, choosable, several=len(bases) > 1, direct=direct)
        add_administering(self.tree, bases)

    def stop_listening(self) -> None:
        """From now on what happens is left to the next process."""
        self._open = False

    async def setup_hook(self) -> None:
        self.tree.listener = self.listener
        self.add_dynamic_items(Verdict, GoOn)
        assert self.application_id is not None  # noqa: S101 - logged in
        if await synchronise(self.tree, self._catalog, self.application_id):
            log.info("Discord was told of the commands")

    # --- events: each is a boundary, an error in one ends nothing

    async def on_message(self, message: discord.Message) -> None:
        if self._open and (me := self.user) is not None:
            await self._safely(lambda: self.listener.message(message, me))

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        if self._open and (me := self.user) is not None and payload.message.edited_at is not None:
            await self._safely(lambda: self.listener.edited(payload.message, me))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        room = self.get_channel(payload.channel_id)
        if self._open and isinstance(room, discord.abc.Messageable):
            await self._safely(lambda: self.listener.deleted(room, payload.message_id))

    async def _safely(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except StoreUnavailable as error:
            log.error("what was said in Discord could not be taken in: %s", error)  # noqa: TRY400 - the sentence says it all
        except Exception:
            log.exception("an error that should not be")


@asynccontextmanager
async def connected(app: App, token: str, api_url: str = "") -> AsyncIterator[asyncio.Task[None]]:
    """Logged in and listening inside; the task ends only with an error. Raises BadSetting where Discord says no."""
    if api_url:
        await point_at(api_url, token)
    async with app:
        try:
            await app.login(token)
        except discord.LoginFailure as error:
            raise BadSetting(LOGIN_REFUSED) from error
        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
            raise BadSetting(f"Discord cannot be reached ({type(error).__name__}). Is the network there?") from error
        task = asyncio.create_task(app.connect())
        try:
            await _ready(app, task)
            if not app.intents.message_content:
                log.warning(NO_CONTENT)
            yield task
        finally:
            app.stop_listening()
            await app.close()
            await asyncio.gather(task, return_exceptions=True)


async def _ready(app: App, task: asyncio.Task[None]) -> None:
    waiting = asyncio.create_task(app.wait_until_ready())
    await asyncio.wait({task, waiting}, timeout=CONNECT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        waiting.cancel()
    if task.done():
        try:
            task.result()
        except discord.PrivilegedIntentsRequired as error:
            raise BadSetting(INTENT_MISSING) from error
        except discord.ConnectionClosed as error:
            raise BadSetting(f"Discord closed the connection with code {error.code}.") from error


async def point_at(api_url: str, token: str) -> None:
    """Another server in Discord's place: a proxy, or one for tests. Its gateway's address is asked of it."""
    discord.http.Route.BASE = api_url.rstrip("/")
    asked = f"{discord.http.Route.BASE}/gateway/bot"
    try:
        async with aiohttp.ClientSession(headers={"Authorization": f"Bot {token}"}) as session, session.get(asked) as got:
            said = await got.json()
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise BadSetting(f"DISCORD_API_URL is {api_url}, and it cannot be reached there ({type(error).__name__}).") from error
    if "url" not in said:
        raise BadSetting(LOGIN_REFUSED)
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(said["url"])
