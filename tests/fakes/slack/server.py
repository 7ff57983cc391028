"""A strict Slack on the loopback: the Web API, Socket Mode and the Events API over real HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import math
from collections import defaultdict, deque
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import aiohttp
from aiohttp import WSCloseCode, WSMsgType, web

from bots.slack.manifest import manifest
from tests.fakes.clock import Clock
from tests.fakes.slack.delivery import Courier, Delivery, Socket
from tests.fakes.slack.faults import Fault, Faults
from tests.fakes.slack.limits import TIER_3, TIERS, Refused
from tests.fakes.slack.methods import METHODS, Call
from tests.fakes.slack.responses import Responses
from tests.fakes.slack.state import JSON, App, Channel, Message, User, new_id
from tests.fakes.slack.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

_QUIET = 0.25  # seconds without anything happening
_LOOK_AGAIN = 0.1  # seconds: what is waited for may not be of our doing


@dataclass
class File:
    workspace: Workspace
    about: JSON
    content: bytes


@dataclass(eq=False)
class FakeSlack:
    """`async with FakeSlack() as slack:` and the bot is started with `SLACK_API_URL=slack.api_url`.

    `minute` is how long a minute lasts where calls are counted and events are delivered again.
    """

    app: App = field(default_factory=App)
    minute: float = 60.0
    limits: bool = True  # whether calls are counted
    unfurls: bool = True  # whether a link in a person's message is followed by a preview
    replies_change_roots: bool = True
    clock: Clock = field(default_factory=Clock)
    faults: Faults = field(default_factory=Faults)
    calls: list[Call] = field(default_factory=list)
    statuses: list[tuple[str, str, str, float]] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    codes: dict[str, Workspace] = field(default_factory=dict)
    workspaces: dict[str, Workspace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.courier = Courier(self)
        self.responses = Responses(self)
        self._stack = AsyncExitStack()
        self._changed = asyncio.Event()
        self._last_change = 0.0
        self._under_way = 0
        self._called: dict[tuple[str, str], deque[float]] = defaultdict(deque)
        self._tickets: set[str] = set()
        self._triggers: dict[str, float] = {}
        self._numbers = itertools.count(1)

    async def __aenter__(self) -> Self:
        self.http = await self._stack.enter_async_context(aiohttp.ClientSession())
        server = web.Application(client_max_size=10_000_000)
        server.router.add_route("*", "/api/{method}", self._api)
        server.router.add_get("/link", self._socket)
        server.router.add_get("/files/{id}/{name}", self._download)
        server.router.add_post("/respond/{id}", self.responses.take)
        runner = web.AppRunner(server, shutdown_timeout=0.1)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = int(runner.addresses[0][1])
        self._stack.push_async_callback(self._hang_up)
        self.workspace = self.add_workspace("Acme")
        self.install(manifest("socket"))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def _hang_up(self) -> None:
        await self.courier.stop()
        for socket in list(self.courier.sockets):
            await socket.ws.close(code=WSCloseCode.GOING_AWAY)

    # --- setting up

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def api_url(self) -> str:
        return f"{self.base}/api/"

    @property
    def variables(self) -> dict[str, str]:
        """The environment that a bot is started with."""
        return {"SLACK_API_URL": self.api_url, "SLACK_BOT_TOKEN": self.workspace.token, "SLACK_APP_TOKEN": self.app.app_token}

    def add_workspace(self, name: str, **more: Any) -> Workspace:
        """One more workspace; its scopes are those of the app so far."""
        workspace = Workspace(self, name, **more)
        self.workspaces[workspace.id] = workspace
        return workspace

    def install(self, given: JSON) -> None:
        """Set the app up as its manifest says, and grant what it asks for in every workspace."""
        features, settings = given["features"], given["settings"]
        self.app.scopes = frozenset(given["oauth_config"]["scopes"]["bot"])
        self.app.events = frozenset(settings["event_subscriptions"]["bot_events"])
        self.app.commands = frozenset(one["command"] for one in features.get("slash_commands", []))
        self.app.shortcuts = frozenset(one["callback_id"] for one in features.get("shortcuts", []))
        self.app.socket_mode = settings["socket_mode_enabled"]
        for workspace in self.workspaces.values():
            workspace.scopes = self.app.scopes

    def authorize(self, workspace: Workspace) -> str:
        """What the installing page of Slack hands back: a code, good once."""
        code = new_id("code")
        self.codes[code] = workspace
        return code

    def keep_file(self, workspace: Workspace, name: str, content: bytes, mimetype: str) -> JSON:
        id = new_id("F")  # noqa: A001 - the word for it
        address = f"{self.base}/files/{id}/{name}"
        about = {
            "id": id,
            "name": name,
            "title": name,
            "mimetype": mimetype,
            "filetype": name.rpartition(".")[2],
            "size": len(content),
            "url_private": address,
            "url_private_download": address,
        }
        self.files[id] = File(workspace, about, content)
        return about

    # --- making trouble

    def fails(self, method: str, times: int = 1, error: str = "", **more: Any) -> Fault:
        """The next calls of a method go wrong; keywords are fields of Fault."""
        fault = Fault(method, times, error=error, **more)
        self.faults.planned.append(fault)
        return fault

    async def drops_sockets(self, *, politely: bool = False) -> None:
        """Cut the connections; politely: ask to connect anew first, as Slack does before it restarts a server."""
        for socket in list(self.courier.sockets):
            if politely:
                await socket.ws.send_str(json.dumps({"type": "disconnect", "reason": "refresh_requested"}))
            else:
                transport = socket.ws._req and socket.ws._req.transport
                if transport:
                    transport.abort()

    # --- telling the app

    def deliver(self, kind: str, body: JSON, *, retried: bool = True) -> Delivery:
        self.changed()
        return self.courier.deliver(Delivery(kind, body), retried=retried)

    def acknowledged(self, delivery: Delivery) -> None:
        if (delivery.kind == "slash_commands" and delivery.response.get("text")) or delivery.response.get("blocks"):
            self.responses.shown(delivery.body.get("response_url", ""), delivery.response)

    def trigger(self, workspace: Workspace) -> str:
        trigger = f"{next(self._numbers)}.{workspace.id}"
        self._triggers[trigger] = self.clock.now()
        return trigger

    def use_trigger(self, trigger: str) -> None:
        at = self._triggers.pop(trigger, None)
        if at is None:
            raise Refused("invalid_trigger_id")
        if self.clock.now() - at > 3:
            raise Refused("expired_trigger_id")

    def response_url(self, workspace: Workspace, channel: Channel, user: User, message: Message | None) -> str:
        return self.responses.address(workspace, channel, user, message)

    def ticket(self) -> str:
        ticket = new_id("ticket")
        self._tickets.add(ticket)
        return f"ws://127.0.0.1:{self.port}/link?ticket={ticket}&app_id={self.app.id}"

    async def connected(self, sockets: int = 1) -> None:
        await self.until(lambda: len(self.courier.sockets) >= sockets, what="a socket")

    # --- waiting and looking

    def changed(self) -> None:
        self._last_change = asyncio.get_running_loop().time()
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, happened: Callable[[], bool], *, seconds: float = 20.0, what: str = "it") -> None:
        try:
            async with asyncio.timeout(seconds):
                while not happened():
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_LOOK_AGAIN):
                            await self._changed.wait()
        except TimeoutError:
            shown = "\n".join(
                workspace.transcript(one) for workspace in self.workspaces.values() for one in workspace.channels.values()
            )
            raise AssertionError(f"Waited {seconds} s for {what}. What can be seen:\n{shown}") from None

    async def settled_calls(self) -> None:
        """Until no call of the Web API is under way."""
        await self.until(lambda: not self._under_way, what="the end of a call")

    async def settles(self, *, seconds: float = 30.0, quiet: float = _QUIET) -> None:
        """Until every event is acknowledged, nothing is being written, and nothing has happened for a moment."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                while self._busy() or loop.time() - self._last_change < quiet:  # noqa: ASYNC110 - that nothing happens
                    await asyncio.sleep(quiet / 5)
        except TimeoutError:
            raise AssertionError(f"After {seconds} s there is still something going on: {self._busy()}.") from None

    def _busy(self) -> str:
        if self._under_way:
            return f"{self._under_way} calls"
        if any(not one.done and one.attempts <= 1 for one in self.courier.deliveries):
            return "an event is not acknowledged"
        for workspace in self.workspaces.values():
            for channel in workspace.channels.values():
                if any(one.stream and one.stream.open(self.clock) for one in channel.messages):
                    return "a stream is open"
                if any(status.visible(self.clock) for status in channel.statuses.values()):
                    return "a status is shown"
        return ""

    def calls_of(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    @property
    def refused(self) -> Sequence[tuple[str, str]]:
        """What the app asked for and did not get, but for what failed on purpose."""
        return [(one.method, one.result["error"]) for one in self.calls if one.result and not one.result.get("ok")]

    # --- the Web API

    async def _api(self, request: web.Request) -> web.StreamResponse:
        call = Call(request.match_info["method"], await _arguments(request), self, self.clock.now(), _token(request))
        call.token = call.token or str(call.arguments.pop("token", ""))
        self._under_way += 1
        try:
            return await self._answer(call, request)
        finally:
            self._under_way -= 1
            self.changed()

    async def _answer(self, call: Call, request: web.Request) -> web.StreamResponse:
        fault = self.faults.take(call.method)
        if fault is not None:
            await self.clock.sleep(fault.seconds)
            if fault.performed:
                self._perform(call)
            if fault.hang_up:
                if request.transport:
                    request.transport.abort()
                raise web.HTTPInternalServerError
            if fault.status != 200 or fault.error:
                headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after else {}
                status = 429 if fault.error == "ratelimited" else fault.status
                return web.json_response({"ok": False, "error": fault.error or "internal_error"}, status=status, headers=headers)
        headers = self._perform(call)
        status = 429 if call.result.get("error") == "ratelimited" else 200
        return web.json_response(call.result, status=status, headers=headers)

    def _perform(self, call: Call) -> dict[str, str]:
        self.calls.append(call)
        headers: dict[str, str] = {}
        try:
            method = METHODS.get(call.method)
            if method is None:
                raise Refused("unknown_method", req_method=call.method)  # noqa: TRY301 - as any other
            if method.caller != "none":
                self._admit(call, method.caller)
            if method.caller == "bot":
                headers["x-oauth-scopes"] = ",".join(sorted(call.workspace.scopes))
            self._count(call, headers)
            if method.scopes:
                call.need(*method.scopes)
            call.result = {"ok": True, **method.handler(call)}
        except Refused as refused:
            call.result = {"ok": False, "error": refused.error, **refused.more}
        return headers

    def _admit(self, call: Call, kind: str) -> None:
        if not call.token:
            raise Refused("not_authed")
        workspace = next((one for one in self.workspaces.values() if one.token == call.token), None)
        is_app = call.token == self.app.app_token
        if workspace is None and not is_app:
            raise Refused("invalid_auth")
        if is_app != (kind == "app"):
            raise Refused("not_allowed_token_type")
        if workspace is not None:
            if workspace.token_error:
                raise Refused(workspace.token_error)
            call.workspace = workspace

    def _count(self, call: Call, headers: dict[str, str]) -> None:
        if not self.limits:
            return
        limit, key = TIERS.get(call.method, TIER_3), call.token
        if call.method == "chat.postMessage":
            key += call.text("channel")
        if call.method in ("conversations.replies", "conversations.history") and not self.app.marketplace:
            limit = 1
        times, now = self._called[call.method, key], self.clock.now()
        while times and times[0] <= now - self.minute:
            times.popleft()
        if len(times) >= limit:
            headers["Retry-After"] = str(max(1, math.ceil(times[0] + self.minute - now)))
            raise Refused("ratelimited")
        times.append(now)

    # --- sockets and files

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if (fault := self.faults.take("/link")) is not None:
            return web.Response(status=fault.status)
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden
        self._tickets.remove(ticket)
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        socket = Socket(ws)
        self.courier.sockets.append(socket)
        hello = {
            "type": "hello",
            "num_connections": len(self.courier.sockets),
            "debug_info": {"host": "fake", "approximate_connection_time": 18060},
            "connection_info": {"app_id": self.app.id},
        }
        await ws.send_str(json.dumps(hello))
        self.changed()
        try:
            async for frame in ws:
                if frame.type is WSMsgType.TEXT:
                    socket.acknowledge(json.loads(frame.data))
        finally:
            self.courier.sockets.remove(socket)
            socket.lose()
            self.changed()
        return ws

    async def _download(self, request: web.Request) -> web.Response:
        file = self.files.get(request.match_info["id"])
        allowed = file and _token(request) == file.workspace.token and "files:read" in file.workspace.scopes
        if not file or not allowed:
            return web.Response(text="<!DOCTYPE html><html><title>Sign in</title></html>", content_type="text/html")
        return web.Response(body=file.content, content_type=file.about["mimetype"])


async def _arguments(request: web.Request) -> JSON:
    """Slack takes them from the address, a form and JSON alike."""
    found: JSON = dict(request.query)
    kind, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if kind == "Basic":
        found["client_id"], _, found["client_secret"] = base64.b64decode(encoded).decode().partition(":")
    if request.content_type == "application/json":
        found |= await request.json() if request.can_read_body else {}
    elif request.method == "POST":
        found |= dict(await request.post())
    return found


def _token(request: web.Request) -> str:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if kind == "Bearer" else ""
