"""Work that nobody waits for; what goes wrong in it is logged."""

from __future__ import annotations

import asyncio
from logging import getLogger
from typing import TYPE_CHECKING, Any

from rag.errors import FootnoteError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = getLogger(__name__)


class Beside:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._regular: list[asyncio.Task[None]] = []

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """Those that end by themselves."""
        return list(self._tasks)

    def do(self, work: Awaitable[Any]) -> None:
        task = asyncio.create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def every(self, seconds: float, work: Callable[[], Awaitable[Any]]) -> None:
        self._regular.append(asyncio.create_task(_every(seconds, work)))

    async def end(self) -> None:
        tasks = [*self._regular, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _every(seconds: float, work: Callable[[], Awaitable[Any]]) -> None:
    while True:
        await _logged(work())
        await asyncio.sleep(seconds)


async def _logged(work: Awaitable[Any]) -> None:
    try:
        await work
    except FootnoteError as error:
        log.warning("%s", error)
    except Exception:
        log.exception("an error that should not be")
