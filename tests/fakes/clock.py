"""Time as the fake tells it: it flows as usual, and a test moves it ahead."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress


class Clock:
    def __init__(self) -> None:
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        """Everything that was to happen in between happens now."""
        self._ahead += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        due = self.now() + seconds
        while (left := due - self.now()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):  # not wait_for, which swallows a cancellation now and then
                    await self._moved.wait()
