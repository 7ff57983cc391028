"""What the adapters of models on other machines share: vectors, texts, batches, retries, and what a server said."""

from __future__ import annotations

import asyncio
import math
import time
from array import array
from contextlib import aclosing
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final, TypeVar

import stamina

from rag.errors import ModelTimeout, ModelUnavailable
from rag.text import well_formed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence

    from rag.types import Piece, Vector

T = TypeVar("T")

ATTEMPTS: Final = 3
LONGEST_WAIT: Final = 10.0  # seconds that a person waits for a busy model; beyond that an answer without it is better
LONGEST: Final = 30_000  # characters of a text: each model cuts it to what it can read
NOTHING: Final = "-"  # stands for a text without a word, which servers refuse
_SAID: Final = 200  # characters of what a server says


def for_embedding(text: str) -> str:
    shown = well_formed(text[:LONGEST]).strip()
    return shown if any(map(str.isprintable, shown)) else NOTHING


def unit(numbers: Sequence[float]) -> Vector:
    """As float32 of unit length. Raises ModelUnavailable for what is no vector."""
    length = math.hypot(*numbers)
    if not math.isfinite(length) or length == 0:
        raise ModelUnavailable("The embedder gave a vector that is none: its numbers are all zero, or not numbers.")
    return array("f", [number / length for number in numbers]).tobytes()


async def in_batches(
    texts: Sequence[str], size: int, free: asyncio.Semaphore, call: Callable[[Sequence[str]], Awaitable[list[T]]]
) -> list[T]:
    """The results in order. A few calls at once, bounded by `free`; the first failure ends the others, and is raised as it is."""

    async def one(start: int) -> list[T]:
        async with free:
            return await call(texts[start : start + size])

    tasks = [asyncio.ensure_future(one(start)) for start in range(0, len(texts), size)]
    try:
        return [each for part in await asyncio.gather(*tasks) for each in part]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def within(seconds: float, work: Awaitable[T], name: str) -> T:
    """The result, or ModelTimeout: a limit over all that the SDK does, its retries and their pauses included."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise ModelTimeout(f"{name} did not answer within {seconds:g} seconds.") from error


async def streamed(stream: Callable[[], AsyncGenerator[Piece, None]], seconds: float, name: str) -> AsyncGenerator[Piece, None]:
    """All pieces, within this time altogether; tried again only until there is a first one. Consume under `aclosing`."""
    ends_at = asyncio.get_running_loop().time() + seconds
    late = f"{name} took longer than {seconds:g} seconds."
    try:
        async with asyncio.timeout_at(ends_at):
            pieces, piece = await begun(stream, seconds)
    except TimeoutError as error:
        raise ModelTimeout(late) from error
    async with aclosing(pieces):
        while True:
            yield piece
            try:
                async with asyncio.timeout_at(ends_at):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                raise ModelTimeout(late) from error


async def begun(stream: Callable[[], AsyncGenerator[Piece, None]], seconds: float) -> tuple[AsyncGenerator[Piece, None], Piece]:
    """A stream with its first piece, tried again until there is one (no SDK does so), but never after it.

    Raises ModelError.
    """
    async for attempt in stamina.retry_context(
        on=_worth_waiting, attempts=ATTEMPTS, timeout=seconds, wait_initial=0.4, wait_jitter=0.2
    ):
        with attempt:
            pieces = stream()
            try:
                return pieces, await anext(pieces)
            except StopAsyncIteration as error:
                raise ModelUnavailable("The model's answer ended before it began.") from error
    raise AssertionError("unreachable: the last attempt raises")


def _worth_waiting(error: Exception) -> bool | float:
    if not isinstance(error, ModelUnavailable):
        return False
    if error.retry_after is None:
        return True
    return error.retry_after if error.retry_after <= LONGEST_WAIT else False


def wait_of(headers: Mapping[str, str] | None) -> float | None:
    """How many seconds a server asks to wait: a number or a date (Retry-After), or when its limit is reset."""
    found = {name.lower(): value for name, value in (headers or {}).items()}
    if found.get("retry-after-ms"):
        return _number(found["retry-after-ms"], 0.001)
    if value := found.get("retry-after"):
        seconds = _number(value)
        return _until(value) if seconds is None else seconds
    reset = _number(found.get("x-ratelimit-reset", ""))
    return None if reset is None or reset < time.time() else reset - time.time()


def _number(text: str, unit_: float = 1.0) -> float | None:
    try:
        number = float(text) * unit_
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _until(date: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except ValueError:
        return None


def said(message: object) -> str:
    """What a server said, on one line, short; without what it repeats of the request, which is nobody's business."""
    text = " ".join(str(message).split()) if isinstance(message, str) else ""
    for start in ("'input'", '"input"', "'body'", "<html", "<!DOCTYPE", "<!doctype"):
        text = text.partition(start)[0]
    text = text.strip(" {[(,:'\"")
    shown = text[:_SAID].rstrip() + (" …" if len(text) > _SAID else "")
    return f": {shown.rstrip('.')}" if shown else ""
