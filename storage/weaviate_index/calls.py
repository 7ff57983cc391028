"""Calls to a Weaviate server: each under a deadline of ours, made again while the server is away, its errors as ours.

Left to itself, the client tries a query for a minute before it says that nobody answers.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

import httpx
from grpc import StatusCode  # type: ignore[import-untyped] # it has no types
from grpc.aio import AioRpcError, UsageError  # type: ignore[import-untyped] # it has no types
from weaviate.exceptions import (
    AuthenticationFailedError,
    InsufficientPermissionsError,
    MissingScopeError,
    ResponseCannotBeDecodedError,
    WeaviateBaseError,
    WeaviateConnectionError,
    WeaviateGRPCUnavailableError,
    WeaviateRetryError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
    WeaviateUnsupportedFeatureError,
)

from rag.errors import StoreError, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")
PAUSE, LONGEST_PAUSE = 0.2, 2.0  # seconds between two attempts

# what the client raises, and what may come through it from the libraries beneath
SDK_ERRORS = (WeaviateBaseError, httpx.HTTPError, httpx.InvalidURL, AioRpcError, UsageError)
_AWAY = (
    WeaviateConnectionError,
    WeaviateGRPCUnavailableError,
    WeaviateRetryError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
    httpx.TransportError,
)
_AWAY_CODES = (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED, StatusCode.RESOURCE_EXHAUSTED, StatusCode.ABORTED)
_KEY_CODES = (StatusCode.UNAUTHENTICATED, StatusCode.PERMISSION_DENIED)
_KEY_STATUS, _BUSY_STATUS = (401, 403), (408, 429, 500, 502, 503, 504)
_REFUSED = (AuthenticationFailedError, InsufficientPermissionsError, MissingScopeError)
_GONE = ("could not find class", "could not find index for class", "class not found", "not found in schema")


class Starting(Exception):
    """Raised by what is called: what the server says cannot be relied on before it has started."""


class CollectionGone(StoreError):
    """The collection that was asked does not exist (any more)."""


class Calls:
    """Makes calls to one server; `shown` is its address as the operator knows it.

    `ready` tells whether the server has started altogether: until then it refuses what it takes later, and knows no collection.
    """

    def __init__(self, shown: str, seconds: float, patience: float, ready: Callable[[], Awaitable[bool]] | None = None) -> None:
        self._shown = shown
        self._seconds = seconds
        self._patience = patience
        self._ready = ready

    async def __call__(self, make: Callable[[], Awaitable[T]], *, seconds: float | None = None) -> T:
        """Raises StoreUnavailable when nobody answers in time, StoreError when the server refuses."""
        until, pause, was_ready = time.monotonic() + self._patience, PAUSE, self._ready is None
        while True:
            try:
                async with asyncio.timeout(seconds or self._seconds):
                    return await make()
            except TimeoutError as late:
                error: Exception = late
                ours: StoreError = self._away(f"did not answer within {seconds or self._seconds:g} s")
            except Starting as early:
                error, ours = early, self._away("has not started yet")
            except SDK_ERRORS as theirs:
                error, ours = theirs, self.translated(theirs)
                if not isinstance(ours, StoreUnavailable) and not await self._started():
                    ours = self._away("has not started yet")
                elif isinstance(ours, CollectionGone) and not was_ready:
                    was_ready = True  # now, though perhaps not when it was asked
                    continue
            if not isinstance(ours, StoreUnavailable) or time.monotonic() + pause >= until:
                raise ours from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _started(self) -> bool:
        if self._ready is None:
            return True
        try:
            async with asyncio.timeout(self._seconds):
                return await self._ready()
        except (TimeoutError, *SDK_ERRORS):
            return False

    def translated(self, error: BaseException) -> StoreError:
        """StoreUnavailable where trying again may help."""
        code, status = _grpc_code(error), getattr(error, "status_code", 0)
        if isinstance(error, _REFUSED) or code in _KEY_CODES or status in _KEY_STATUS:
            return StoreError(
                f"Weaviate at {self._shown} does not let this program in. Check that WEAVIATE_API_KEY is the key of a user who may "
                "read and write collections, aliases and objects."
            )
        if isinstance(error, _AWAY) or code in _AWAY_CODES:
            return self._away("cannot be reached")
        if status in _BUSY_STATUS:
            return self._away(f"has a problem (status {status})")
        return self._refusal(error)

    def _refusal(self, error: BaseException) -> StoreError:
        """Where trying again does not help."""
        if isinstance(error, ResponseCannotBeDecodedError):
            return StoreError(f"What answers at {self._shown} is not Weaviate. Check WEAVIATE_URL.")
        if isinstance(error, WeaviateUnsupportedFeatureError):
            return StoreError(f"Weaviate at {self._shown} is too old: {_plain(error)} Install a newer one.")
        if any(words in str(error) for words in _GONE):
            return CollectionGone(f"A collection is gone from Weaviate at {self._shown}. Run `footnote index`.")
        return StoreError(f"Weaviate at {self._shown} refused a request: {_plain(error)}")

    def _away(self, how: str) -> StoreUnavailable:
        return StoreUnavailable(f"Weaviate at {self._shown} {how}. Check that it runs, and WEAVIATE_URL and WEAVIATE_GRPC_URL.")


def _grpc_code(error: BaseException | None) -> StatusCode | None:
    """The code of a call that failed: the client's own errors only hold its words."""
    while error is not None:
        if isinstance(error, AioRpcError):
            code: StatusCode = error.code()
            return code
        error = error.__cause__ or error.__context__
    return None


def _plain(error: BaseException) -> str:
    """One line of what the client says; it may repeat what was sent, so not more than that."""
    return " ".join(str(error).split())[:300]
