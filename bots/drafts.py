"""An answer while it is being written: shown at the platform's pace, as far as that can be done."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from logging import getLogger
from typing import TYPE_CHECKING

from rag.errors import FootnoteError, PostLater

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = getLogger(__name__)


class Drafts:
    """The newest draft, shown by one task at the platform's pace: late ones are skipped. A failure ends them, not the answer."""

    def __init__(self, show: Callable[[str], Awaitable[None]], pace: float) -> None:
        self._shown = show
        self._pace = pace
        self._newest = ""
        self._news = asyncio.Event()
        self._stopped = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.unsure = False  # whether there may be a message that nobody knows of, or more in one than was told

    def put(self, draft: str) -> None:
        """All the text so far."""
        self._newest = draft
        self._news.set()
        if self._task is None and draft.strip():
            self._task = asyncio.create_task(self._show())

    async def stop(self) -> None:
        """What is being sent is sent to its end, so that the id of a new message is known."""
        self._stopped.set()
        self._news.set()
        if self._task is not None:
            await asyncio.shield(self._task)

    async def _show(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._stopped.is_set():
                return
            try:
                await self._shown(self._newest)
            except FootnoteError as error:
                log.info("drafts are not shown any more: %s", error)
                self.unsure = isinstance(error, PostLater) and error.unsure
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), self._pace)
