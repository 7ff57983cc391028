"""Calls that do not depend on each other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

T = TypeVar("T")


async def side_by_side(calls: Sequence[Coroutine[object, object, T]]) -> list[T]:
    """Their results, in order. One call alone is made without a task of its own, which would cost more than many a call."""
    return [await calls[0]] if len(calls) == 1 else list(await asyncio.gather(*calls))
