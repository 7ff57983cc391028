"""The REST routes: who may, within which limits, held against Discord's own description."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from aiohttp import BodyPartReader, web

from tests.fakes.discord import interactions, messages, schema
from tests.fakes.discord.problems import Refused, as_json, field
from tests.fakes.discord.state import DIRECT, Channel, snowflake

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.fakes.discord.server import FakeDiscord
    from tests.fakes.discord.state import JSON


Handler: TypeAlias = "Callable[[FakeDiscord, web.Request, Sent], Awaitable[web.StreamResponse]]"


class Sent:
    """A request's body: JSON, and files beside it."""

    def __init__(self, body: Any, files: list[tuple[str, bytes]]) -> None:
        self.body = body
        self.files = files

    @property
    def contents(self) -> list[bytes]:
        return [content for _, content in self.files]


async def read(request: web.Request) -> Sent:
    if request.content_type != "multipart/form-data":
        raw = await request.read()
        return Sent(json.loads(raw) if raw else {}, [])
    body: Any = {}
    files = []
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        content = bytes(await part.read(decode=False))
        if part.name == "payload_json":
            body = json.loads(content)
        else:
            files.append((part.filename or "", content))
    return Sent(body, files)


async def me(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    return as_json({**discord.bot.as_json(), "verified": True, "flags": 0})


async def application(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    return as_json(
        {
            "id": discord.bot.id,
            "name": discord.bot.name,
            "icon": None,
            "description": "",
            "bot_public": discord.public,
            "bot_require_code_grant": False,
            "verify_key": "0" * 64,
            "flags": discord.application_flags,
            "owner": discord.owner.as_json(),
            "team": None,
            "install_params": None,
            "approximate_guild_count": len(discord.guilds),
        }
    )


async def gateway(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    limit = {"total": 1000, "remaining": 1000 - discord.gateway.identified, "reset_after": 86_400_000, "max_concurrency": 1}
    return as_json({"url": discord.gateway_url, "shards": 1, "session_start_limit": limit})


async def put_commands(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:
    scope = request.match_info.get("guild", "")
    discord.syncs.append(scope)
    known = {(command["name"], command.get("type", 1)): command for command in discord.commands.get(scope, [])}
    discord.commands[scope] = [
        {
            "description": "",
            **command,
            "default_member_permissions": _text(command.get("default_member_permissions")),
            "id": known.get((command["name"], command.get("type", 1)), {}).get("id") or snowflake(),
            "application_id": discord.bot.id,
            "version": snowflake(),
            **({"guild_id": scope} if scope else {}),
        }
        for command in sent.body
    ]
    return as_json(discord.commands[scope])


def _text(number: object) -> str | None:
    return None if number is None else str(number)


async def get_commands(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    return as_json(discord.commands.get(request.match_info.get("guild", ""), []))


async def open_direct(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    user = discord.users.get(str(sent.body["recipient_id"]))
    if user is None:
        raise field("recipient_id", "NUMBER_TYPE_COERCE", "Unknown user.")
    return as_json(discord.direct(user).as_json())


async def get_channel(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    return as_json(visible(discord, request).as_json())


async def patch_channel(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:
    channel = visible(discord, request)
    if not channel.is_thread or channel.owner != discord.bot.id:
        raise Refused(50013)
    channel.archived = sent.body.get("archived", channel.archived)
    channel.name = sent.body.get("name", channel.name)
    return as_json(channel.as_json())


async def get_guild(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    guild = discord.guilds.get(request.match_info["guild"])
    if guild is None:
        raise Refused(10004)
    return as_json(guild.as_json())


async def own_guilds(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    found = sorted(discord.guilds.values(), key=lambda guild: int(guild.id))
    return as_json(
        [
            {
                "id": one.id,
                "name": one.name,
                "icon": None,
                "owner": False,
                "features": [],
                "permissions": str(one.permissions(discord.bot)),
            }
            for one in found
        ]
    )


async def get_member(discord: FakeDiscord, request: web.Request, sent: Sent) -> web.Response:  # noqa: ARG001
    guild = discord.guilds.get(request.match_info["guild"])
    member = guild.members.get(request.match_info["user"]) if guild else None
    if member is None:
        raise Refused(10004)
    return as_json(member.as_json())


def visible(discord: FakeDiscord, request: web.Request) -> Channel:
    from tests.fakes.discord.messages import channel_for  # noqa: PLC0415 - they know each other

    return channel_for(discord, request.match_info["channel"])


class Route(NamedTuple):
    """`kind` is the word for it in limits and faults; `token` says that the bot's own is asked for."""

    method: str
    path: str
    kind: str
    handler: Handler
    token: bool = True


ROUTES = (
    Route("GET", "/users/@me", "me", me),
    Route("GET", "/oauth2/applications/@me", "application", application),
    Route("GET", "/applications/@me", "application", application),
    Route("GET", "/gateway/bot", "gateway", gateway),
    Route("GET", "/gateway", "gateway", gateway, token=False),
    Route("PUT", "/applications/{application}/commands", "commands", put_commands),
    Route("GET", "/applications/{application}/commands", "commands", get_commands),
    Route("PUT", "/applications/{application}/guilds/{guild}/commands", "commands", put_commands),
    Route("GET", "/applications/{application}/guilds/{guild}/commands", "commands", get_commands),
    Route("GET", "/users/@me/guilds", "guild", own_guilds),
    Route("POST", "/users/@me/channels", "direct", open_direct),
    Route("GET", "/guilds/{guild}", "guild", get_guild),
    Route("GET", "/guilds/{guild}/members/{user}", "guild", get_member),
    Route("GET", "/channels/{channel}", "channel", get_channel),
    Route("PATCH", "/channels/{channel}", "channel", patch_channel),
    Route("GET", "/channels/{channel}/messages", "history", messages.history),
    Route("POST", "/channels/{channel}/messages", "create", messages.create),
    Route("GET", "/channels/{channel}/messages/{message}", "fetch", messages.fetch),
    Route("PATCH", "/channels/{channel}/messages/{message}", "edit", messages.edit),
    Route("DELETE", "/channels/{channel}/messages/{message}", "delete", messages.delete),
    Route("POST", "/channels/{channel}/messages/{message}/threads", "thread", messages.start_thread),
    Route("POST", "/channels/{channel}/typing", "typing", messages.typing),
    Route("PUT", "/channels/{channel}/messages/{message}/reactions/{emoji}/@me", "react", messages.react),
    Route("DELETE", "/channels/{channel}/messages/{message}/reactions/{emoji}/@me", "react", messages.react),
    Route("POST", "/interactions/{interaction}/{token}/callback", "callback", interactions.callback, token=False),
    Route("GET", "/webhooks/{webhook}/{token}/messages/@original", "webhook", interactions.get_original, token=False),
    Route("PATCH", "/webhooks/{webhook}/{token}/messages/@original", "webhook", interactions.edit_original, token=False),
    Route("DELETE", "/webhooks/{webhook}/{token}/messages/@original", "webhook", interactions.delete_original, token=False),
    Route("POST", "/webhooks/{webhook}/{token}", "webhook", interactions.follow_up, token=False),
    Route("GET", "/webhooks/{webhook}/{token}/messages/{message}", "webhook", interactions.get_followup, token=False),
    Route("PATCH", "/webhooks/{webhook}/{token}/messages/{message}", "webhook", interactions.edit_followup, token=False),
    Route("DELETE", "/webhooks/{webhook}/{token}/messages/{message}", "webhook", interactions.delete_followup, token=False),
)
KINDS = sorted({route.kind for route in ROUTES})


def handler_of(discord: FakeDiscord, route: Route) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        major = request.match_info.get("token") or request.match_info.get("channel") or ""
        bucket, room = discord.buckets.take(route.kind, major)
        headers = discord.buckets.headers(route.kind, major, bucket) if bucket else {}
        if bucket and not room:
            discord.too_fast.append(f"{route.method} {route.path}")
            return _limited(bucket.left, headers)
        try:
            response = await _answer(discord, request, route)
        except Refused as refused:
            discord.refusals.append((route.kind, refused.code))
            response = refused.response()
        response.headers.update(headers)
        return response

    return handle


async def _answer(discord: FakeDiscord, request: web.Request, route: Route) -> web.StreamResponse:
    fault = discord.faults.take(route.kind)
    if fault and not fault.performed:
        return _failed(request, fault)
    if route.token and request.headers.get("Authorization") != f"Bot {discord.token}":
        raise Refused(0)
    sent = await read(request)
    path = request.path.removeprefix("/api/v10")
    discord.requests.append((request.method, path, sent.body))
    if sent.body and (found := schema.problems(request.method, path, sent.body)):
        discord.offences.append(f"{request.method} {route.path}: {found[0]}")
        raise field("body", "SCHEMA", found[0])
    response = await route.handler(discord, request, sent)
    discord.changed()
    return _failed(request, fault) if fault else response


def _failed(request: web.Request, fault: Any) -> web.Response:
    if fault.hang_up:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()  # which goes nowhere
    if fault.retry_after:
        return _limited(fault.retry_after, {})
    if fault.code:
        return Refused(fault.code, status=fault.status or None).response()
    return as_json({"message": "fault", "code": 0}, status=fault.status)


def _limited(seconds: float, headers: JSON) -> web.Response:
    body = {"message": "You are being rate limited.", "retry_after": seconds, "global": False}
    return as_json(body, status=429, headers={**headers, "Retry-After": f"{seconds:.3f}", "X-RateLimit-Scope": "user"})


__all__ = ["DIRECT", "KINDS", "ROUTES", "Sent", "handler_of", "read", "visible"]
