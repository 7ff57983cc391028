"""One connection to Cohere for all its models, with what the SDK leaves out: it skips an event that it cannot read."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

import cohere
import httpx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Client: TypeAlias = cohere.AsyncClientV2

CONNECT_SECONDS: Final = 5.0
# Whoever gives up while queueing for a connection may leave one behind that is never used nor closed, and counts (httpcore #1093):
# a service that hung while many asked was never reached again. How many ask at once is bounded where questions are taken.
_NO_QUEUE: Final = httpx.Limits(max_connections=None, max_keepalive_connections=20)


@asynccontextmanager
async def open_client(key: str, url: str) -> AsyncIterator[Client]:
    """`url` is Cohere's own or that of a proxy."""
    async with httpx.AsyncClient(limits=_NO_QUEUE, follow_redirects=True) as http:
        http.event_hooks = {"request": [_connect_soon], "response": [_check_events]}
        yield cohere.AsyncClientV2(key, base_url=url, httpx_client=http, client_name="footnote")


async def _connect_soon(request: httpx.Request) -> None:
    """The SDK has one time for all: a server that is not there would take as long as an answer may."""
    limits = request.extensions["timeout"]
    limits["connect"] = min(limits.get("connect") or CONNECT_SECONDS, CONNECT_SECONDS)


async def _check_events(response: httpx.Response) -> None:
    if response.is_success and "text/event-stream" in response.headers.get("content-type", ""):
        response.stream = _Checked(response.stream)


class _Checked(httpx.AsyncByteStream):
    """The same bytes. An event that is not JSON, or has no type, ends the stream with an error instead of going missing."""

    def __init__(self, stream: httpx.AsyncByteStream | httpx.SyncByteStream) -> None:
        assert isinstance(stream, httpx.AsyncByteStream)  # noqa: S101 - the client is an async one
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        rest = b""
        async for part in self._stream:
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                _check(line.strip())
            yield part
        _check(rest.strip())

    async def aclose(self) -> None:
        await self._stream.aclose()


def _check(line: bytes) -> None:
    field, _, data = line.partition(b":")
    if field != b"data" or data.strip() in (b"", b"[DONE]"):
        return
    try:
        event = json.loads(data)
    except ValueError:
        event = None
    if not isinstance(event, dict) or "type" not in event:
        raise httpx.RemoteProtocolError("an event of the stream cannot be read")
