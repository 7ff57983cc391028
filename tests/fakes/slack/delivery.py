"""How events reach the app: over one socket out of several, or signed over HTTP; and again where it does not acknowledge."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import aiohttp
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from tests.fakes.slack.limits import ACK_SECONDS

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack
    from tests.fakes.slack.state import JSON

RETRIES = (0.0, 1.0, 5.0)  # minutes


@dataclass(eq=False)
class Delivery:
    kind: str  # events_api, slash_commands, interactive
    body: JSON
    attempts: int = 0
    acknowledged: bool = False
    response: JSON = field(default_factory=dict)
    lost: bool = False
    statuses: list[int] = field(default_factory=list)  # over HTTP

    @property
    def done(self) -> bool:
        return self.acknowledged or self.lost


@dataclass(eq=False)
class Socket:
    ws: web.WebSocketResponse
    waiting: dict[str, asyncio.Future[JSON]] = field(default_factory=dict)

    def acknowledge(self, envelope: JSON) -> None:
        waiting = self.waiting.pop(str(envelope.get("envelope_id", "")), None)
        if waiting is not None and not waiting.done():
            waiting.set_result(envelope.get("payload") or {})

    def lose(self) -> None:
        for waiting in self.waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the socket was closed"))


class Courier:
    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self.sockets: list[Socket] = []
        self.deliveries: list[Delivery] = []
        self.held: list[Delivery] | None = None  # a list holds them back
        self._tasks: set[asyncio.Task[None]] = set()

    def deliver(self, delivery: Delivery, *, retried: bool = True) -> Delivery:
        self.deliveries.append(delivery)
        if self.held is not None:
            self.held.append(delivery)
            return delivery
        self._start(delivery, retried=retried)
        if delivery.kind == "events_api" and self.slack.faults.twice():
            self._start(delivery, retried=retried)
        return delivery

    def again(self, delivery: Delivery) -> None:
        self._start(delivery, retried=False)

    def release(self, *, backwards: bool = False) -> None:
        held, self.held = self.held or [], None
        for delivery in reversed(held) if backwards else held:
            self._start(delivery, retried=True)

    def _start(self, delivery: Delivery, *, retried: bool) -> None:
        task = asyncio.get_running_loop().create_task(self._carry(delivery, retried=retried))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _carry(self, delivery: Delivery, *, retried: bool) -> None:
        reason = ""
        for attempt, minutes in enumerate((None, *RETRIES) if retried else (None,)):
            if minutes is not None:
                await self.slack.clock.sleep(minutes * self.slack.minute)
            delivery.attempts += 1
            try:
                over_socket = self.slack.app.socket_mode
                response = await (self._over_socket if over_socket else self._over_http)(delivery, attempt, reason)
            except (ConnectionError, TimeoutError, aiohttp.ClientError) as error:
                reason = "timeout" if isinstance(error, TimeoutError) else "connection_failed"
                continue
            delivery.response = response
            delivery.acknowledged = True
            self.slack.acknowledged(delivery)
            break
        else:
            delivery.lost = not delivery.acknowledged
        self.slack.changed()

    async def _over_socket(self, delivery: Delivery, attempt: int, reason: str) -> JSON:
        if not self.sockets:
            raise ConnectionError("no socket is open")
        socket = self.slack.faults.chances.choice(self.sockets)
        envelope: JSON = {
            "envelope_id": str(uuid.uuid4()),
            "type": delivery.kind,
            "payload": delivery.body,
            "accepts_response_payload": delivery.kind != "events_api",
        }
        if delivery.kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        waiting: asyncio.Future[JSON] = asyncio.get_running_loop().create_future()
        socket.waiting[envelope["envelope_id"]] = waiting
        try:
            await socket.ws.send_str(json.dumps(envelope))
        except ConnectionError:
            socket.waiting.pop(envelope["envelope_id"], None)
            raise
        late = asyncio.ensure_future(self.slack.clock.sleep(ACK_SECONDS))
        either: set[asyncio.Future[Any]] = {waiting, late}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            late.cancel()
            socket.waiting.pop(envelope["envelope_id"], None)
        if not waiting.done():
            raise TimeoutError
        return waiting.result()

    async def _over_http(self, delivery: Delivery, attempt: int, reason: str) -> JSON:
        if delivery.kind == "events_api":
            body, kind = json.dumps(delivery.body), "application/json"
        else:
            form = delivery.body if delivery.kind == "slash_commands" else {"payload": json.dumps(delivery.body)}
            body, kind = urlencode(form), "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, **signed(self.slack.app.signing_secret, body)}
        if attempt:
            headers |= {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason}
        timeout = aiohttp.ClientTimeout(total=ACK_SECONDS)
        async with self.slack.http.post(self.slack.app.request_url, data=body.encode(), headers=headers, timeout=timeout) as answer:
            text = await answer.text()
            delivery.statuses.append(answer.status)
            if answer.status >= 300:
                raise ConnectionError("http_error")
        return json.loads(text) if text.startswith("{") else {"text": text} if text else {}


def signed(secret: str, body: str, *, at: float | None = None) -> dict[str, str]:
    """The headers that show that a request comes from Slack. The time is the world's, not the fake's."""
    timestamp = str(int(time.time() if at is None else at))
    signature = SignatureVerifier(secret).generate_signature(timestamp=timestamp, body=body)
    return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": signature or ""}
