"""Messages and threads, by the bot's token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.fakes.discord import limits
from tests.fakes.discord.problems import Refused, as_json, field
from tests.fakes.discord.state import (
    ATTACH,
    DEFAULT,
    DIRECT,
    FORUM,
    HISTORY,
    LOADING,
    MANAGE_THREADS,
    PUBLIC_THREAD,
    PUBLIC_THREADS,
    REACT,
    REPLY,
    SEND,
    SUPPRESS_EMBEDS,
    TEXT,
    THREAD_CREATED,
    THREAD_SEND,
    VIEW,
    Channel,
    Message,
    at,
    snowflake,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiohttp import web

    from tests.fakes.discord.routes import Sent
    from tests.fakes.discord.server import FakeDiscord
    from tests.fakes.discord.state import JSON, User

_HIDDEN = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|<https?://[^>\s]*>", re.DOTALL)
CALLED = re.compile(r"<@!?(\d+)>")


def channel_for(discord: FakeDiscord, id: str, needed: int = VIEW) -> Channel:  # noqa: A002 - the word for it
    """The channel, if the bot may do what is needed there. Raises Refused."""
    channel = discord.channels.get(id)
    if channel is None:
        raise Refused(10003)
    held = discord.permissions(discord.bot, channel)
    if not held & VIEW:
        raise Refused(50001)
    if needed & ~held:
        raise Refused(50013)
    return channel


def _open(discord: FakeDiscord, channel: Channel) -> Channel:
    """A channel that may be written into. An archived thread comes back by that, unless it is locked."""
    if not channel.is_thread:
        if channel.type == FORUM:
            raise Refused(50024)
        return channel
    if channel.locked and not discord.permissions(discord.bot, channel) & MANAGE_THREADS:
        raise Refused(50083 if channel.archived else 160005)
    parent = discord.channels[channel.parent]
    if parent.type == FORUM and not channel.messages:
        raise Refused(40058)
    channel.archived = False
    return channel


async def create(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:
    channel = discord.channels.get(request.match_info["channel"])
    needed = (THREAD_SEND if channel and channel.is_thread else SEND) | (ATTACH if sent.files else 0)
    channel = _open(discord, channel_for(discord, request.match_info["channel"], needed))
    body = sent.body
    if limits.is_empty(body, sent.contents):
        raise Refused(50006)
    limits.check_message(body, sent.contents)
    if body.get("enforce_nonce") and (known := _with_nonce(channel, body.get("nonce"))):
        return as_json(known.as_json())
    message = Message(snowflake(discord.clock.now()), channel, discord.bot, nonce=body.get("nonce"), flags=body.get("flags") or 0)
    message.reference = _reference(channel, body.get("message_reference"))
    message.type = REPLY if message.reference else DEFAULT
    fill(discord, message, body, sent)
    await discord.post(message)
    return as_json(message.as_json())


def _with_nonce(channel: Channel, nonce: object) -> Message | None:
    return next((one for one in channel.messages if one.nonce is not None and one.nonce == nonce), None)


def _reference(channel: Channel, asked: JSON | None) -> JSON | None:
    if not asked:
        return None
    id_ = str(asked["message_id"])
    if channel.find(id_) is None:
        if asked.get("fail_if_not_exists", True):
            raise field("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return None
    return {"type": 0, "message_id": id_, "channel_id": channel.id, **({"guild_id": channel.guild} if channel.guild else {})}


def fill(discord: FakeDiscord, message: Message, body: JSON, sent: Sent) -> None:
    """What a request says into a message: its text, components, files, and who hears of it."""
    message.flags |= (body.get("flags") or 0) & SUPPRESS_EMBEDS
    if "content" in body:
        message.content = body["content"] or ""
    message.embeds = body.get("embeds", message.embeds) or []
    message.components = body.get("components", message.components) or []
    kept = [
        one
        for one in message.attachments
        if body.get("attachments") is None or any(str(a.get("id")) == one["id"] for a in body["attachments"])
    ]
    message.attachments = kept + [discord.keep_file(name, content) for name, content in sent.files]
    message.pinged += _pinged(message, body.get("allowed_mentions"))
    if "://" in _HIDDEN.sub("", message.content) and not message.flags & SUPPRESS_EMBEDS:
        discord.previews.append(message.content)
    message.keep_version(discord.clock.now())


def _pinged(message: Message, allowed: JSON | None) -> Iterable[str]:
    """Everybody that Discord would call: without `allowed_mentions`, all that is named."""
    parse = ["users", "roles", "everyone"] if allowed is None else allowed.get("parse") or []
    named = CALLED.findall(message.content) if "users" in parse else []
    return named + (["everyone"] if "everyone" in parse and re.search(r"@(everyone|here)\b", message.content) else [])


async def fetch(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    return as_json(_message(discord, request, HISTORY).as_json())


def _message(discord: FakeDiscord, request: web.Request, needed: int = VIEW) -> Message:
    message = channel_for(discord, request.match_info["channel"], needed).find(request.match_info["message"])
    if message is None or message.seen_by:
        raise Refused(10008)
    return message


async def edit(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:
    message = _message(discord, request)
    if message.author is not discord.bot:
        raise Refused(50005)
    _open(discord, message.channel)
    limits.check_message(sent.body, sent.contents)
    old = discord.clock.now() - at(message.id) > limits.EDITABLE_SECONDS
    if old and len([when for when in message.edits if discord.clock.now() - when < limits.EDITABLE_SECONDS]) >= limits.OLD_EDITS:
        raise Refused(30046)
    message.flags &= ~LOADING
    await discord.change(message, sent.body, sent)
    return as_json(message.as_json())


async def delete(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    message = _message(discord, request)
    if message.author is not discord.bot:
        raise Refused(50013)
    await discord.remove(message)
    return as_json(None, status=204)


async def history(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    channel = channel_for(discord, request.match_info["channel"], HISTORY)
    limit = int(request.query.get("limit", 50))
    if not 1 <= limit <= 100:
        raise field("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
    before, after = int(request.query.get("before", 1 << 62)), int(request.query.get("after", 0))
    found = [one for one in channel.messages if after < int(one.id) < before and not one.deleted and not one.seen_by]
    found.sort(key=lambda one: int(one.id))
    page = found[:limit] if "after" in request.query else found[-limit:]
    return as_json([one.as_json() for one in reversed(page)])


async def start_thread(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:
    channel = channel_for(discord, request.match_info["channel"], PUBLIC_THREADS)
    message = _message(discord, request)
    if channel.type != TEXT:
        raise Refused(50024)
    if message.thread or message.id in discord.channels:
        raise Refused(160004)
    if discord.active_threads_full:
        raise Refused(160006)
    if not (sent.body.get("name") or "").strip():
        raise field("name", "BASE_TYPE_REQUIRED", "This field is required")
    thread = await discord.start_thread(channel, sent.body["name"], discord.bot, message)
    return as_json(thread.as_json(), status=201)


async def typing(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    channel = channel_for(discord, request.match_info["channel"], SEND if discord.is_plain(request.match_info["channel"]) else VIEW)
    channel.typing += 1
    return as_json(None, status=204)


async def react(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    message = _message(discord, request, REACT | HISTORY)
    discord.reactions.append((message.id, request.match_info["emoji"], request.method))
    return as_json(None, status=204)


def new_thread(discord: FakeDiscord, channel: Channel, name: str, owner: User, message: Message | None) -> Channel:
    id_ = message.id if message else snowflake(discord.clock.now())
    thread = Channel(id_, PUBLIC_THREAD, name, channel.guild, parent=channel.id, owner=owner.id)
    if message is not None:
        message.thread = thread
        starter = Message(snowflake(discord.clock.now()), thread, owner, type=21)
        starter.reference = {"type": 0, "message_id": message.id, "channel_id": channel.id, "guild_id": channel.guild}
        thread.messages.append(starter)
    return thread


__all__ = ["DIRECT", "THREAD_CREATED", "channel_for", "fill", "new_thread"]
