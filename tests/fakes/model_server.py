"""What the fake model servers share: a server on a free port, a record of what it was asked, and faults of the wire."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeAlias, TypeVar

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = "test-key-7f3a9c"

Fault: TypeAlias = Literal["", "cut", "stall", "malformed", "shapeless", "no end", "left open"]
Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, as it came in; `connection` is the same for those that came over one."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    connection: object = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is none: a status with what the body says. `plain` is a body that is no JSON, as proxies send it."""

    status: int
    message: str = "something is wrong"
    headers: Mapping[str, str] = field(default_factory=dict)
    plain: str = ""


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer at all: the connection stays open (`stall`) or is cut."""

    how: Literal["stall", "cut"] = "stall"


class Wrong(Exception):
    """A request that the real server would refuse."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class ModelServer(Generic[Reply]):
    """`asked` holds every request. `script(path, …)` says what comes next, before the answers by rule."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.url = ""
        self.away: Refusal | Silence | None = None
        self._scripts: dict[str, deque[Reply | Refusal | Silence]] = {}
        self._leaving = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=32 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._take)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """From now on nobody listens at the address."""
        self._leaving.set()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def script(self, path: str, *replies: Reply | Refusal | Silence) -> None:
        self._scripts.setdefault(path, deque()).extend(replies)

    def bodies(self, path: str) -> list[Mapping[str, Any]]:
        return [one.body for one in self.asked if one.path == path]

    async def answer(self, request: web.Request, path: str, body: Mapping[str, Any], reply: Reply | None) -> web.StreamResponse:
        """By the script where there is a reply, else by rule. Raises Wrong."""
        raise NotImplementedError

    def failure(self, status: int, message: str, headers: Mapping[str, str]) -> web.Response:
        raise NotImplementedError

    async def _take(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        body = await request.json() if request.can_read_body else {}
        connection = request.transport and request.transport.get_extra_info("peername")
        self.asked.append(Asked(path, body, dict(request.headers), connection))
        queue = self._scripts.get(path)
        reply = self.away or (queue.popleft() if queue else None)
        if isinstance(reply, Silence):
            return await self._say_nothing(request, reply)
        if isinstance(reply, Refusal):
            if reply.plain:
                return web.Response(status=reply.status, text=reply.plain, headers=reply.headers, content_type="text/html")
            return self.failure(reply.status, reply.message, reply.headers)
        try:
            return await self.answer(request, path, body, reply)
        except Wrong as wrong:
            return self.failure(wrong.status, wrong.message, {})

    async def _say_nothing(self, request: web.Request, silence: Silence) -> web.StreamResponse:
        if silence.how == "stall":
            await self._leaving.wait()
        self.cut(request)
        return web.Response()

    async def stall(self) -> None:
        await self._leaving.wait()

    @staticmethod
    def cut(request: web.Request) -> None:
        if request.transport is not None:
            request.transport.close()


async def stream_of(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    return response


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def vector_of(text: str, dimension: int) -> list[float]:
    """Nearer the more words two texts share; not of unit length, since that is nothing a server promises."""
    vector = [0.0] * dimension
    for word in text.lower().split():
        digest = hashlib.blake2b(word.strip(".,;:?!").encode(), digest_size=8).digest()
        vector[int.from_bytes(digest[:4], "big") % dimension] += (1.0 if digest[4] % 2 else -1.0) * (1 + digest[5] / 1024)
    vector[0] += 0.1
    return [3.0 * number for number in vector]


def likeness(one: str, other: str) -> float:
    """Between 0 and 1."""
    left, right = vector_of(one, 256), vector_of(other, 256)
    product = sum(a * b for a, b in zip(left, right, strict=True))
    return max(0.0, product / (math.hypot(*left) * math.hypot(*right)))
