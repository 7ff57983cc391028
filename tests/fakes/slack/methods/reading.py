"""Conversations and people."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from tests.fakes.slack.limits import Refused
from tests.fakes.slack.methods.registry import SCOPES_OF_KINDS, Call, method

if TYPE_CHECKING:
    from tests.fakes.slack.state import JSON, Channel, Message

_MOST, _MOST_LIMITED = 1000, 15


def _may_read(call: Call, channel: Channel) -> None:
    call.need(f"{SCOPES_OF_KINDS[channel.kind]}:history")


def _page(call: Call, found: list[Message]) -> JSON:
    most = _MOST if call.slack.app.marketplace else _MOST_LIMITED
    try:
        limit = int(call.get("limit", most if most == _MOST_LIMITED else 100))
        start = int(base64.b64decode(call.text("cursor")).decode().removeprefix("next:")) if call.text("cursor") else 0
    except ValueError:
        raise Refused("invalid_cursor" if call.text("cursor") else "invalid_limit") from None
    oldest, latest = float(call.get("oldest", 0)), float(call.get("latest", 0)) or float("inf")
    inclusive = call.flag("inclusive")
    within = [
        one
        for one in found
        if oldest < float(one.ts) < latest or (inclusive and float(one.ts) in (oldest, latest)) or one is found[0]
    ]
    stop = start + max(1, min(limit, most))
    more = stop < len(within)
    metadata = call.flag("include_all_metadata")
    cursor = base64.b64encode(f"next:{stop}".encode()).decode() if more else ""
    return {
        "messages": [one.as_json(metadata=metadata) for one in within[start:stop]],
        "has_more": more,
        "response_metadata": {"next_cursor": cursor},
    }


@method("conversations.replies")
def replies(call: Call) -> JSON:
    call.required("channel", "ts")
    channel = call.channel()
    _may_read(call, channel)
    message = channel.find(call.text("ts"))
    if message is None or not channel.thread(message.root):
        raise Refused("thread_not_found")
    return _page(call, channel.thread(message.root))


@method("conversations.history")
def history(call: Call) -> JSON:
    call.required("channel")
    channel = call.channel()
    _may_read(call, channel)
    found = [one for one in channel.messages if (not one.thread_ts or one.broadcast) and not one.ephemeral_to and not one.deleted]
    return _page(call, list(reversed(found))) if found else {"messages": [], "has_more": False}


@method("conversations.info")
def info(call: Call) -> JSON:
    call.required("channel")
    channel = call.channel(member=False)
    call.need(f"{SCOPES_OF_KINDS[channel.kind]}:read")
    return {"channel": {**channel.as_json(), "is_member": call.workspace.bot.id in channel.members}}


@method("conversations.members")
def members(call: Call) -> JSON:
    call.required("channel")
    channel = call.channel(member=False)
    call.need(f"{SCOPES_OF_KINDS[channel.kind]}:read")
    return {"members": channel.members, "response_metadata": {"next_cursor": ""}}


@method("conversations.list", "channels:read", "groups:read", "im:read", "mpim:read")
def channels(call: Call) -> JSON:
    bot = call.workspace.bot.id
    seen = [one for one in call.workspace.channels.values() if one.kind == "channel" or bot in one.members]
    return {
        "channels": [{**one.as_json(), "is_member": bot in one.members} for one in seen],
        "response_metadata": {"next_cursor": ""},
    }


@method("users.conversations", "channels:read", "groups:read", "im:read", "mpim:read")
def own_channels(call: Call) -> JSON:
    bot = call.workspace.bot.id
    return {
        "channels": [one.as_json() for one in call.workspace.channels.values() if bot in one.members],
        "response_metadata": {"next_cursor": ""},
    }


@method("conversations.open", "im:write", "mpim:write")
def open_(call: Call) -> JSON:
    names = call.get("users", "")
    ids = names if isinstance(names, list) else [one for one in str(names).split(",") if one]
    if len(ids) != 1 or ids[0] not in call.workspace.users:
        raise Refused("user_not_found" if ids else "invalid_arguments")
    return {"channel": {"id": call.workspace.direct(call.workspace.users[ids[0]]).id}}


@method("users.info", "users:read")
def user(call: Call) -> JSON:
    call.required("user")
    found = call.user().as_json()
    if "users:read.email" not in call.workspace.scopes:
        found["profile"].pop("email", None)
    if call.flag("include_locale"):
        found["locale"] = call.user().locale
    return {"user": found}


@method("users.list", "users:read")
def users(call: Call) -> JSON:
    return {"members": [one.as_json() for one in call.workspace.users.values()], "response_metadata": {"next_cursor": ""}}


@method("bots.info", "users:read")
def bot(call: Call) -> JSON:
    found = next((one for one in call.workspace.users.values() if one.bot_id == call.text("bot") and one.bot_id), None)
    if found is None:
        raise Refused("bot_not_found")
    return {"bot": {"id": found.bot_id, "name": found.name, "app_id": found.app_id, "user_id": found.id, "deleted": False}}


@method("team.info", "team:read")
def team(call: Call) -> JSON:
    return {"team": {"id": call.workspace.id, "name": call.workspace.name, "domain": call.workspace.name.lower()}}


@method("files.info", "files:read")
def file(call: Call) -> JSON:
    found = call.slack.files.get(call.text("file"))
    if found is None or found.workspace is not call.workspace:
        raise Refused("file_not_found")
    return {"file": found.about}
