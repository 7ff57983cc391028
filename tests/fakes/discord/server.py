"""The fake Discord as a whole: a loopback server with guilds, people, and one bot."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from tests.fakes.clock import Clock
from tests.fakes.discord import messages
from tests.fakes.discord.faults import Faults
from tests.fakes.discord.gateway import DIRECT_MESSAGES, GUILD_MESSAGES, GUILDS, Gateway
from tests.fakes.discord.limits import Buckets
from tests.fakes.discord.places import Place
from tests.fakes.discord.routes import ROUTES, Sent, handler_of
from tests.fakes.discord.state import ALL, DIRECT, EVERYBODY, Channel, Guild, Interaction, Member, Message, Role, User, snowflake

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.fakes.discord.state import JSON


class FakeDiscord:
    """`offences` holds requests that Discord's own description does not allow, `too_fast` those over a limit, `previews`
    texts whose links would unfurl: tests want all three empty.
    """

    def __init__(self) -> None:
        self.clock = Clock()
        self.faults = Faults()
        self.buckets = Buckets()
        self.gateway = Gateway(self)
        self.token = "fake-discord-token.A.B"  # noqa: S105 - of this fake
        self.users: dict[str, User] = {}
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.bot = self.user("Footnote", bot=True)
        self.owner = self.user("The Owner")
        self.public = True
        self.application_flags = 1 << 19  # message content, limited: switched on in the portal
        self.interactions: dict[str, Interaction] = {}
        self.commands: dict[str, list[JSON]] = {}
        self.syncs: list[str] = []
        self.requests: list[tuple[str, str, Any]] = []
        self.refusals: list[tuple[str, int]] = []
        self.offences: list[str] = []
        self.too_fast: list[str] = []
        self.previews: list[str] = []
        self.reactions: list[tuple[str, str, str]] = []
        self.active_threads_full = False
        self._files: dict[str, bytes] = {}
        self._changed = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._port = 0

    # --- the server

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=32 * 1024 * 1024)
        app.router.add_get("/gateway", self.gateway.connect)
        app.router.add_get("/gateway/", self.gateway.connect)
        app.router.add_get("/files/{id}/{name}", self._file)
        for route in ROUTES:
            app.router.add_route(route.method, f"/api/v10{route.path}", handler_of(self, route))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.gateway.close(1001)
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/api/v10"

    @property
    def gateway_url(self) -> str:
        return f"ws://127.0.0.1:{self._port}/gateway"

    @property
    def variables(self) -> dict[str, str]:
        """The environment that a bot is started with."""
        return {"DISCORD_API_URL": self.api_url, "DISCORD_TOKEN": self.token}

    def changed(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, done: Callable[[], bool], *, seconds: float = 20.0, what: str = "what was waited for") -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds  # not a timeout around another, which may be swallowed by the inner one
        while not done():
            if loop.time() > end:
                raise AssertionError(
                    f"{what} did not come within {seconds} s. Refused: {self.refusals}. So far:\n{self.transcript()}"
                )
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), 0.05)

    @asynccontextmanager
    async def within(self) -> AsyncIterator[FakeDiscord]:
        async with self:
            yield self

    # --- who and where

    def user(self, name: str, *, bot: bool = False) -> User:
        user = User(snowflake(self.clock.now()), name, bot)
        self.users[user.id] = user
        return user

    def guild(self, name: str = "Acme", *, bot_permissions: int = EVERYBODY, id: str = "") -> Place:  # noqa: A002 - the word for it
        """A guild with the bot in it, and a channel `general`."""
        guild = Guild(id or snowflake(self.clock.now()), name, self.owner)
        guild.roles[guild.id] = Role(guild.id, "@everyone", EVERYBODY)
        role = Role(snowflake(self.clock.now()), self.bot.name, bot_permissions)
        guild.roles[role.id] = role
        if bot_permissions != EVERYBODY:
            guild.roles[guild.id].permissions = 0
        guild.members[self.bot.id] = Member(self.bot, [role.id])
        guild.members[self.owner.id] = Member(self.owner)
        self.guilds[guild.id] = guild
        place = Place(self, guild)
        place.channel("general")
        return place

    def direct(self, user: User) -> Channel:
        for channel in self.channels.values():
            if channel.type == DIRECT and channel.recipients == [user]:
                return channel
        channel = Channel(snowflake(self.clock.now()), DIRECT, recipients=[user])
        self.channels[channel.id] = channel
        return channel

    def permissions(self, user: User, channel: Channel) -> int:
        if channel.type == DIRECT:
            return ALL
        return self.guilds[channel.guild].permissions(user, channel)

    def is_plain(self, channel: str) -> bool:
        return channel in self.channels and not self.channels[channel].is_thread and self.channels[channel].type != DIRECT

    # --- what happens

    def keep_file(self, name: str, content: bytes, content_type: str | None = None) -> JSON:
        id_ = snowflake(self.clock.now())
        self._files[id_] = content
        url = f"http://127.0.0.1:{self._port}/files/{id_}/{name}"
        body: JSON = {"id": id_, "filename": name, "size": len(content), "url": url, "proxy_url": url}
        return {**body, "content_type": content_type} if content_type else body

    async def _file(self, request: web.Request) -> web.Response:
        return web.Response(body=self._files[request.match_info["id"]])

    def file(self, attachment: JSON) -> bytes:
        return self._files[attachment["id"]]

    async def post(self, message: Message) -> None:
        message.channel.messages.append(message)
        if not message.versions:
            message.keep_version(self.clock.now())
        if not message.seen_by:
            await self._tell_of("MESSAGE_CREATE", message)
        self.changed()

    async def change(self, message: Message, body: JSON, sent: Sent) -> None:
        messages.fill(self, message, body, sent)
        now = self.clock.now()
        message.edited = now
        message.edits.append(now)
        if not message.seen_by:
            await self._tell_of("MESSAGE_UPDATE", message)
        self.changed()

    async def remove(self, message: Message) -> None:
        message.deleted = True
        body: JSON = {"id": message.id, "channel_id": message.channel.id}
        if message.channel.guild:
            body["guild_id"] = message.channel.guild
        await self.gateway.tell(
            "MESSAGE_DELETE", body, intent=DIRECT_MESSAGES if message.channel.type == DIRECT else GUILD_MESSAGES
        )
        self.changed()

    async def start_thread(self, channel: Channel, name: str, owner: User, message: Message | None) -> Channel:
        thread = messages.new_thread(self, channel, name, owner, message)
        self.channels[thread.id] = thread
        self.guilds[channel.guild].channels[thread.id] = thread
        await self.gateway.tell("THREAD_CREATE", {**thread.as_json(), "newly_created": True}, intent=GUILDS)
        self.changed()
        return thread

    async def update_thread(self, thread: Channel) -> None:
        await self.gateway.tell("THREAD_UPDATE", thread.as_json(), intent=GUILDS)

    async def _tell_of(self, event: str, message: Message) -> None:
        guild = self.guilds.get(message.channel.guild)
        member = guild.members.get(message.author.id) if guild else None
        intent = GUILD_MESSAGES if guild else DIRECT_MESSAGES
        await self.gateway.tell(event, message.as_json(member), intent=intent, about=message)

    def censored(self, body: JSON, message: Message) -> JSON:
        """A message as an app without the Message Content intent gets it."""
        own = message.author is self.bot
        mentioned = self.bot in message.mentions
        replied = message.channel.find(str((message.reference or {}).get("message_id")))
        # a reply to our normal message that pings; replies to the answers of commands are not among the exceptions
        pinged = replied is not None and replied.author is self.bot and not replied.application and mentioned
        if own or mentioned or pinged or message.channel.type == DIRECT:
            return body
        return {**body, "content": "", "embeds": [], "attachments": [], "components": []}

    # --- what can be seen

    def transcript(self, channel: Channel | None = None) -> str:
        """The talk as a person reads it."""
        channels = [channel] if channel else [one for one in self.channels.values() if one.messages]
        lines: list[str] = []
        for one in channels:
            lines.append(f"— #{one.name or 'direct'}{' (thread)' if one.is_thread else ''}")
            lines += [self._shown(message) for message in one.messages if not message.deleted and message.type != 21]
        return "\n".join(lines)

    @staticmethod
    def _shown(message: Message) -> str:
        thinking = " is thinking…" if message.flags & 128 and not message.content else ""
        private = " (only you can see this)" if message.seen_by else ""
        files = "".join(f"\n    [file {one['filename']}, {one['size']} bytes]" for one in message.attachments)
        buttons = [
            button.get("label") or (button.get("emoji") or {}).get("name", "")
            for row in message.components
            for button in row.get("components", [])
        ]
        text = message.content.replace("\n", "\n    ")
        return f"{message.author.name}{private}{thinking}: {text}{files}" + (f"\n    ({' | '.join(buttons)})" if buttons else "")
