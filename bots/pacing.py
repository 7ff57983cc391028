"""How often something may be done in a minute, as platforms count it."""

from __future__ import annotations

import time
from collections import deque

MINUTE = 60.0


class Pace:
    """At most so many in any stretch of a minute."""

    def __init__(self, per_minute: int, seconds: float = MINUTE) -> None:
        self._most = per_minute
        self._seconds = seconds
        self._done: deque[float] = deque()
        self._paused = 0.0

    def take(self) -> bool:
        """Whether it may be done now; it counts then."""
        now = time.monotonic()
        while self._done and self._done[0] <= now - self._seconds:
            self._done.popleft()
        if now < self._paused or len(self._done) >= self._most:
            return False
        self._done.append(now)
        return True

    def pause(self, seconds: float) -> None:
        """Nothing for so long: the platform said so."""
        self._paused = max(self._paused, time.monotonic() + seconds)
