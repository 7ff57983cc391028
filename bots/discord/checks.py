"""`footnote doctor discord`: what may be wrong with the token, the intent, servers and channels, and the invite link (D11)."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import discord

from bots.discord.app import INTENT_MISSING, without_voice
from bots.discord.beginning import FAILURES, cannot_begin, log_in
from bots.discord.places import leads_nowhere
from bots.discord.tokens import refuse
from rag.checking import Check
from rag.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LEAST = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    read_message_history=True,
    embed_links=True,
    attach_files=True,
    add_reactions=True,
)
SCOPES = ("bot", "applications.commands")

_IN_POSTS = {
    "view_channel": "View Channel",
    "read_message_history": "Read Message History",
    "send_messages_in_threads": "Send Messages in Threads",
}
_IN_CHANNELS = {**_IN_POSTS, "send_messages": "Send Messages", "attach_files": "Attach Files"}
_FOR_THREADS = {"create_public_threads": "Create Public Threads"}
_ID = re.compile(r"\d{15,21}")


@dataclass(frozen=True, slots=True)
class Access:
    """What the settings give to reach Discord with."""

    token: str = ""
    api_url: str = ""
    message_content: bool = True
    channels: tuple[str, ...] = ()
    forums: tuple[str, ...] = ()
    admins: tuple[str, ...] = ()
    threads: bool = True


def checks(access: Access) -> list[Check]:
    """In the order in which they make sense."""
    found = _Examination(access)
    token, servers = "Discord token", "Discord servers"
    return [
        Check(token, found.logged_in),
        Check("Discord invite link", found.invite, needs=(token,)),
        Check("Discord intents", found.intents, needs=(token,)),
        Check(servers, found.servers, needs=(token,)),
        *([Check("Discord channels", found.channels, needs=(servers,))] if access.channels or access.forums else []),
        *([Check("Discord admins", found.admins)] if access.admins else []),
    ]


@dataclass(slots=True)
class _Examination:
    """What one check learns serves the next ones."""

    access: Access
    application: discord.AppInfo | None = None

    @property
    def known(self) -> discord.AppInfo:
        """Once the first check has passed, which the others need."""
        assert self.application is not None  # noqa: S101 - as said
        return self.application

    async def logged_in(self) -> str:
        refuse(self.access.token)
        async with self._client() as client:
            self.application = await client.application_info()
            return f"@{client.user.name}" if client.user else ""

    async def invite(self) -> str:
        return discord.utils.oauth_url(self.known.id, permissions=LEAST, scopes=SCOPES)

    async def intents(self) -> str:
        flags = self.known.flags
        switched_on = flags.gateway_message_content or flags.gateway_message_content_limited
        if self.access.message_content and not switched_on:
            raise BadSetting(f"Message Content is off in the portal. {INTENT_MISSING}")
        if self.access.message_content:
            return "Message Content is on"
        return "without Message Content: threads need a mention or a command, new forum posts are not answered"

    async def servers(self) -> str:
        async with self._client() as client:
            names = [guild.name async for guild in client.fetch_guilds(limit=200)]
        if not names:
            raise BadSetting(f"The bot is in no server. Invite it: open {await self.invite()}")
        return f"{', '.join(names[:5])}{' …' if len(names) > 5 else ''}"  # noqa: PLR2004 - the five that are shown

    async def channels(self) -> str:
        named = {"discord.channels": self.access.channels, "discord.forums": self.access.forums}
        for setting, ids in named.items():
            _ids(setting, ids)
        found, wrong = [], []
        async with self._client() as client:
            for setting, ids in named.items():
                for id_ in dict.fromkeys(ids):
                    try:
                        found.append(await self._channel(client, setting, id_))
                    except BadSetting as error:
                        wrong.append(str(error))
        if wrong:
            raise BadSetting(" ".join(wrong))
        return ", ".join(found)

    async def _channel(self, client: discord.Client, setting: str, id_: str) -> str:
        """Its name. Raises BadSetting with what keeps the bot from answering there."""
        try:
            seen = await client.fetch_channel(int(id_))
            if not isinstance(seen, discord.abc.GuildChannel):
                what = "a thread: name the channel that it is in" if isinstance(seen, discord.Thread) else "a direct message"
                raise BadSetting(f"{setting} names {id_}, which is {what}.")
            guild = await client.fetch_guild(seen.guild.id)
            channel = await guild.fetch_channel(seen.id)  # in the guild with its roles
            me = await guild.fetch_member(self.known.id if client.user is None else client.user.id)
        except (discord.NotFound, discord.Forbidden) as error:
            raise BadSetting(leads_nowhere(setting, id_)) from error
        if setting == "discord.forums" and not isinstance(channel, discord.ForumChannel):
            raise BadSetting(f"{setting} names #{channel.name} ({id_}), which is no forum. Name a forum, or leave it out.")
        missing = self._missing(channel.permissions_for(me), forum=isinstance(channel, discord.ForumChannel))
        if missing:
            raise BadSetting(
                f"In #{channel.name} the bot lacks {', '.join(missing)}. Allow it to the bot's role in the channel's permissions."
            )
        return f"#{channel.name}"

    def _missing(self, held: discord.Permissions, *, forum: bool) -> list[str]:
        wanted = _IN_POSTS if forum else {**_IN_CHANNELS, **(_FOR_THREADS if self.access.threads else {})}
        return [label for name, label in wanted.items() if not getattr(held, name)]

    async def admins(self) -> str:
        _ids("discord.admins", self.access.admins)
        return ""

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[discord.Client]:
        """Logged in, but not connected: what is asked here is not told of to anybody. Raises BadSetting."""
        without_voice()
        async with discord.Client(intents=discord.Intents(guilds=True)) as client:
            try:
                await log_in(client, self.access.token, self.access.api_url)
                yield client
            except FAILURES as error:
                raise cannot_begin(error) from error


def _ids(setting: str, ids: tuple[str, ...]) -> None:
    if wrong := [id_ for id_ in ids if not _ID.fullmatch(id_)]:
        raise BadSetting(
            f"{setting} names {', '.join(wrong)}, which is no id. Switch Developer Mode on in Discord (Settings, Advanced), and "
            "copy the id from the menu (Copy ID)."
        )
