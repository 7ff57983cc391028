"""The two ways a message goes to Discord: by an interaction's token while it lives, and into the channel (D5)."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

import discord
from discord.webhook.async_ import async_context

from bots.discord.failing import BROKEN, TokenDead, delivering
from rag.errors import PostImpossible, PostLater

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import aiohttp

    from bots.discord.places import ReplyTo

TOKEN_SECONDS = 15 * 60.0
FIRST_WORD = 4.0  # seconds after which an interaction can no longer be acknowledged, and a little more
SPARE = 20.0  # seconds before a token's end at which it is no longer relied on


class _Original:
    """The message that an interaction was first answered with. The library wants a number there, and would quote a text."""

    def __str__(self) -> str:
        return "@original"


ORIGINAL: Any = _Original()


class _Once:
    """Where Discord breaks after it was asked to post, the message may be there. The library would post it again, and by a token
    nothing tells one from the other: so the thread is looked at first, as after an answer that was lost.
    """

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    @asynccontextmanager
    async def request(self, method: str, url: str, **sent: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        async with self._session.request(method, url, **sent) as response:
            if method == "POST" and response.status >= BROKEN:
                raise discord.DiscordServerError(response, await response.text())
            yield response


class Way(Protocol):
    async def send(self, nonce: str, asked: int, **sent: Any) -> int: ...

    async def edit(self, message: int, **changed: Any) -> None: ...

    async def delete(self, message: int) -> None: ...


class ByToken:
    """Raises DeliveryErrors, and TokenDead."""

    def __init__(self, client: discord.Client, reply_to: ReplyTo) -> None:
        assert client.application_id is not None  # noqa: S101 - known since the login
        self._client = client
        self._webhook = discord.Webhook.partial(client.application_id, reply_to.token, client=client)
        self._webhook.session = _Once(self._webhook.session)  # type: ignore[assignment] # all that the webhook asks of it
        self._reply_to = reply_to

    async def send(self, nonce: str, asked: int, **sent: Any) -> int:
        """What follows the first message, which is there since it says "thinking"."""
        del nonce, asked
        with delivering(by_token=True):
            message = await self._webhook.send(wait=True, ephemeral=self._reply_to.private, **sent)
        return message.id

    async def first(self) -> int:
        """The message that says "thinking". Raises PostImpossible where nobody acknowledged the interaction, and TokenDead."""
        try:
            with delivering(by_token=True):
                return (await self._webhook.fetch_message(ORIGINAL)).id
        except TokenDead as error:
            if error.over:
                raise
            left = self._reply_to.expires - TOKEN_SECONDS + FIRST_WORD - discord.utils.utcnow().timestamp()
            if left > 0:  # who took it in may be about to
                raise PostLater("The interaction is not acknowledged yet.", seconds=min(left, 1.0)) from error
            raise PostImpossible("The interaction was not acknowledged, and Discord has told so.") from error

    async def edit(self, message: int, **changed: Any) -> None:
        """Without previews, as what is sent: Discord takes that flag here, the library's own method has no word for it."""
        quiet = discord.MessageFlags(suppress_embeds=True)
        with (
            delivering(by_token=True),
            discord.http.handle_message_parameters(
                **changed, flags=quiet, previous_allowed_mentions=self._client.allowed_mentions
            ) as sent,
        ):
            await async_context.get().edit_webhook_message(
                self._webhook.id,
                self._reply_to.token,
                self._named(message),
                session=self._webhook.session,
                proxy=self._webhook.proxy,
                proxy_auth=self._webhook.proxy_auth,
                payload=sent.payload,
                multipart=sent.multipart,
                files=sent.files,
                with_components=bool(changed.get("view")),
            )

    async def delete(self, message: int) -> None:
        with delivering(by_token=True):
            await self._webhook.delete_message(self._named(message))

    def _named(self, message: int) -> Any:
        return ORIGINAL if message == self._reply_to.response else message


class ByChannel:
    """With the bot's own token. A nonce keeps a message from being posted twice within a few minutes."""

    def __init__(self, client: discord.Client, room: int) -> None:
        self._client = client
        self._id = room

    async def send(self, nonce: str, asked: int, **sent: Any) -> int:
        if asked:
            sent["reference"] = discord.MessageReference(message_id=asked, channel_id=self._id)
        room = await self.room()
        with delivering():
            message = await room.send(nonce=nonce, **sent)
        return message.id

    async def look_at(self, message: int) -> None:
        """Raises PostGone where it is not there any more."""
        room = await self.room()
        with delivering():
            await room.fetch_message(message)

    async def edit(self, message: int, **changed: Any) -> None:
        room = await self.room()
        with delivering():
            await room.get_partial_message(message).edit(**changed)

    async def delete(self, message: int) -> None:
        room = await self.room()
        with delivering():
            await room.get_partial_message(message).delete()

    async def room(self) -> discord.TextChannel | discord.Thread | discord.DMChannel | discord.VoiceChannel | discord.StageChannel:
        """An archived thread is in no cache. Raises DeliveryError."""
        room: object = self._client.get_channel(self._id)
        if room is None:
            with delivering():
                room = await self._client.fetch_channel(self._id)
        if isinstance(room, discord.TextChannel | discord.Thread | discord.DMChannel | discord.VoiceChannel | discord.StageChannel):
            return room
        raise PostImpossible("Nothing can be written in this kind of channel.")


def ways(client: discord.Client, reply_to: ReplyTo) -> list[Way]:
    """In the order in which they are tried; none where an answer only one may see came too late."""
    found: list[Way] = []
    if reply_to.token and discord.utils.utcnow().timestamp() < reply_to.expires - SPARE:
        found.append(ByToken(client, reply_to))
    if not reply_to.private:
        found.append(ByChannel(client, reply_to.room))
    return found
