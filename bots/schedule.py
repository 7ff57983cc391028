"""Bases that are brought up to date by themselves, every so often (I11): one after the other, while a bot runs."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from logging import getLogger
from typing import TYPE_CHECKING, Protocol, Self

from bots.commands import summary
from rag.errors import FootnoteError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from rag.types import Progress

log = getLogger(__name__)

RETRY_SECONDS = 3_600.0  # after a run that failed, if the next one is not due sooner


class Starting(Protocol):
    """`rag.runs.Runs`, as far as it is needed."""

    async def start_or_join(self, base: str) -> Progress: ...


class Remembering(Protocol):
    """`Catalog`, as far as it is needed."""

    async def last_done(self, base: str) -> datetime | None: ...


class Clock:
    """Seconds since 1970, and the passing of them."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Schedule:
    """`async with Schedule(footnote.runs, footnote.catalog, every)`: inside, each base is brought up to date when it is due.

    `every` holds seconds by base (`reindex_every`). A base is due so long after its last run that ended well, whoever ran it,
    also before a restart: bots that run side by side, and people who index by hand, count. At the end, a run that is under way
    is cancelled; what it wrote stays.
    """

    def __init__(self, runs: Starting, catalog: Remembering, every: Mapping[str, float], *, clock: Clock | None = None) -> None:
        self._runs = runs
        self._catalog = catalog
        self._every = every
        self._clock = clock or Clock()
        self._not_before = dict.fromkeys(every, 0.0)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._every:
            self._task = asyncio.create_task(self.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def run(self) -> None:
        """Without an end."""
        while True:
            try:
                due = {base: await self._due(base) for base in self._every}
            except FootnoteError as error:  # the database is away: it may come back
                log.warning("the schedule of indexing cannot be looked up: %s", error)
                await self._clock.sleep(min(RETRY_SECONDS, *self._every.values()))
                continue
            base = min(due, key=due.__getitem__)
            if (wait := due[base] - self._clock.now()) > 0:
                await self._clock.sleep(wait)  # then look again: somebody may have indexed meanwhile
            else:
                await self._bring_up_to_date(base)

    async def _due(self, base: str) -> float:
        done = await self._catalog.last_done(base)
        return max(self._not_before[base], done.timestamp() + self._every[base] if done else 0.0)

    async def _bring_up_to_date(self, base: str) -> None:
        pause = min(RETRY_SECONDS, self._every[base])
        try:
            progress = await self._runs.start_or_join(base)
        except FootnoteError as error:
            log.warning("base %s was not brought up to date: %s", base, error)
        except Exception:  # the boundary of a run that nobody waits for: the schedule goes on
            log.exception("the run of base %s ended in an error of ours", base)
        else:
            log.info("%s", summary(progress))
            pause = self._every[base]
        self._not_before[base] = self._clock.now() + pause
