"""The gateway: identify, heartbeats, events in order, resume with what was missed, and forced ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

if TYPE_CHECKING:
    from tests.fakes.discord.server import FakeDiscord
    from tests.fakes.discord.state import JSON

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID, HELLO, ACKNOWLEDGED = 0, 1, 2, 6, 7, 9, 10, 11
GUILDS, GUILD_MEMBERS, PRESENCES, GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1, 1 << 1, 1 << 8, 1 << 9, 1 << 12, 1 << 15
BAD_TOKEN, DISALLOWED_INTENTS = 4004, 4014


@dataclass(eq=False)
class Session:
    """One login. Events that come while no socket is there wait to be resumed."""

    id: str
    intents: int
    socket: web.WebSocketResponse | None = None
    events: list[str] = field(default_factory=list)
    begun: bool = False

    def encode(self, name: str, body: JSON) -> str:
        event = json.dumps({"op": DISPATCH, "t": name, "s": len(self.events) + 1, "d": body})
        self.events.append(event)
        return event


class Gateway:
    """Sockets and sessions: as many as log in, each told of everything, as with two processes.

    `disallowed` are privileged intents that were not switched on in the portal."""

    def __init__(self, discord: FakeDiscord) -> None:
        self._discord = discord
        self.disallowed = GUILD_MEMBERS | PRESENCES
        self.sessions: dict[str, Session] = {}
        self.identified = 0
        self.resumed = 0
        self.repeated = 0  # events that were sent again
        self.heartbeat_milliseconds = 41_250
        self.pause = 0.0  # seconds until a login is answered
        self.reached = 0  # connections, answered or not
        self.answering = asyncio.Event()
        self.answering.set()
        self.heartbeats: list[float] = []  # when they came

    @property
    def live(self) -> list[Session]:
        return [session for session in self.sessions.values() if session.socket is not None and not session.socket.closed]

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        self.reached += 1
        self._discord.changed()
        await self.answering.wait()
        socket = web.WebSocketResponse(heartbeat=None)
        await socket.prepare(request)
        await self._send(socket, json.dumps({"op": HELLO, "d": {"heartbeat_interval": self.heartbeat_milliseconds}}))
        session: Session | None = None
        async for frame in socket:
            if frame.type is not WSMsgType.TEXT:
                continue
            told = json.loads(frame.data)
            if told["op"] == HEARTBEAT:
                self.heartbeats.append(time.monotonic())
                await self._send(socket, json.dumps({"op": ACKNOWLEDGED}))
            elif told["op"] == IDENTIFY:
                session = await self._identify(socket, told["d"])
            elif told["op"] == RESUME:
                session = await self._resume(socket, told["d"])
        if session is not None and session.socket is socket:
            session.socket = None
        return socket

    async def _identify(self, socket: web.WebSocketResponse, asked: JSON) -> Session | None:
        self.identified += 1
        await asyncio.sleep(self.pause)
        if asked["token"] != self._discord.token:
            await socket.close(code=BAD_TOKEN, message=b"Authentication failed.")
            return None
        if asked["intents"] & self.disallowed:
            await socket.close(code=DISALLOWED_INTENTS, message=b"Disallowed intent(s).")
            return None
        session = Session(uuid.uuid4().hex, asked["intents"], socket)
        self.sessions[session.id] = session
        shard: JSON = {"shard": asked["shard"]} if "shard" in asked else {}
        ready = {
            "v": 10,
            "user": {**self._discord.bot.as_json(), "verified": True, "flags": 0, "email": None, "mfa_enabled": True},
            "guilds": [{"id": guild.id, "unavailable": True} for guild in self._discord.guilds.values()],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": self._discord.gateway_url,
            "application": {"id": self._discord.bot.id, "flags": 0},
            "private_channels": [],
            "presences": [],
            **shard,
        }
        session.encode("READY", ready)
        for guild in self._discord.guilds.values():
            session.encode("GUILD_CREATE", guild.as_json())
        await self._catch_up(socket, session, 0)
        session.begun = True
        self._discord.changed()
        return session

    async def _resume(self, socket: web.WebSocketResponse, asked: JSON) -> Session | None:
        session = self.sessions.get(asked["session_id"])
        if session is None or asked["token"] != self._discord.token:
            await self._send(socket, json.dumps({"op": INVALID, "d": False}))
            return None
        self.resumed += 1
        first = max(0, (asked["seq"] or 0) - self._discord.faults.replayed)
        self.repeated += (asked["seq"] or 0) - first
        await self._catch_up(socket, session, first)
        session.socket = socket
        await self._send(socket, session.encode("RESUMED", {}))
        self._discord.changed()
        return session

    async def _catch_up(self, socket: web.WebSocketResponse, session: Session, first: int) -> None:
        """Also what is told meanwhile: nothing is lost between the last of them and the first that is sent at once."""
        while first < len(session.events):
            await self._send(socket, session.events[first])
            first += 1

    # --- what the fake tells and does

    async def tell(self, name: str, body: JSON, *, intent: int = 0, about: Any = None) -> None:
        """To every session whose intents want it; what a message says is kept back where the intent is missing."""
        for session in list(self.sessions.values()):
            if intent and not session.intents & intent:
                continue
            shown = self._discord.censored(body, about) if about is not None and not session.intents & MESSAGE_CONTENT else body
            event = session.encode(name, shown)
            copies = 2 if self._discord.faults.twice() else 1
            self.repeated += copies - 1
            for _ in range(copies):
                if session.socket is not None and session.begun:
                    await self._send(session.socket, event)

    async def close(self, code: int = 4000) -> None:
        """End every socket; with a code above 4000 that is not fatal the client resumes."""
        for session in self.live:
            socket, session.socket = session.socket, None
            if socket is not None:
                await socket.close(code=code)

    async def ask_to_reconnect(self) -> None:
        for session in self.live:
            if session.socket is not None:
                await self._send(session.socket, json.dumps({"op": RECONNECT, "d": None}))

    async def forget(self) -> None:
        """The session is lost: events of the gap never come."""
        sockets = [session.socket for session in self.live if session.socket is not None]
        self.sessions.clear()
        for socket in sockets:
            await self._send(socket, json.dumps({"op": INVALID, "d": False}))

    @staticmethod
    async def _send(socket: web.WebSocketResponse, text: str) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            await socket.send_str(text)
