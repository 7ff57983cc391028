"""Bases are brought up to date by themselves when they are due, on a clock that passes only by being waited for (I11)."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bots.schedule import Clock, Schedule
from rag.errors import RunCancelled, StoreUnavailable, TooManyRemovals
from rag.types import Progress

if TYPE_CHECKING:
    from rag.errors import FootnoteError

START = 1_800_000_000.0
HOUR = 3_600.0


class Hours(Clock):
    """Ends the world `after` so many hours."""

    def __init__(self, after: float) -> None:
        self.at = START
        self._end = START + after * HOUR

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        if self.at >= self._end:
            raise asyncio.CancelledError
        await asyncio.sleep(0)


class Bases:
    """Remembers runs as the catalog does, and keeps a record of those that were asked for: `(base, hours since the start)`."""

    def __init__(self, clock: Hours, *, lasting: float = 0.0, **done: float) -> None:
        self.clock = clock
        self.lasting = lasting
        self.done = {base: START + hours * HOUR for base, hours in done.items()}
        self.runs: list[tuple[str, float]] = []
        self.failures: list[Exception] = []
        self.away: list[FootnoteError] = []

    async def start_or_join(self, base: str) -> Progress:
        self.runs.append((base, (self.clock.now() - START) / HOUR))
        if self.failures:
            raise self.failures.pop(0)
        self.clock.at += self.lasting * HOUR
        self.done[base] = self.clock.now()
        return Progress(base, "run", "done")

    async def last_done(self, base: str) -> datetime | None:
        if self.away:
            raise self.away.pop(0)
        return datetime.fromtimestamp(self.done[base], UTC) if base in self.done else None


async def hours(bases: Bases, **every: float) -> list[tuple[str, float]]:
    """The runs until the end of the clock."""
    schedule = Schedule(bases, bases, {base: each * HOUR for base, each in every.items()}, clock=bases.clock)
    with pytest.raises(asyncio.CancelledError):
        await schedule.run()
    return bases.runs


async def test_a_base_that_was_never_indexed_is_due_at_once_and_then_every_so_often() -> None:
    assert await hours(Bases(Hours(13)), handbook=6) == [("handbook", 0), ("handbook", 6), ("handbook", 12)]


async def test_the_last_run_counts_whoever_made_it_and_before_a_restart_too() -> None:
    assert await hours(Bases(Hours(12), handbook=-2), handbook=6) == [("handbook", 4), ("handbook", 10)]


async def test_a_run_made_by_hand_meanwhile_puts_the_next_one_off() -> None:
    bases = Bases(Hours(9), handbook=0)

    async def by_hand(seconds: float) -> None:
        await Hours.sleep(bases.clock, min(seconds, 3 * HOUR))
        bases.done["handbook"] = max(bases.done["handbook"], START + 3 * HOUR)

    bases.clock.sleep = by_hand  # type: ignore[method-assign]

    assert await hours(bases, handbook=6) == []


async def test_each_base_has_its_own_pace_and_a_long_run_is_over_before_the_next_begins() -> None:
    bases = Bases(Hours(10), lasting=1, api=0, handbook=0)

    assert await hours(bases, api=2, handbook=4) == [("api", 2), ("handbook", 4), ("api", 5), ("api", 8), ("handbook", 9)]


async def test_a_run_that_fails_is_said_and_tried_again_within_the_hour_or_sooner(caplog: pytest.LogCaptureFixture) -> None:
    bases = Bases(Hours(8))
    bases.failures = [TooManyRemovals("Of base 'handbook', 5 of 9 documents are gone."), RunCancelled("It was cancelled.")]

    with caplog.at_level(logging.WARNING):
        assert await hours(bases, handbook=6) == [("handbook", 0), ("handbook", 1), ("handbook", 2)]

    assert "5 of 9 documents are gone" in caplog.messages[0]
    quick = Bases(Hours(1.1))
    quick.failures = [RunCancelled("It was cancelled.")]
    assert await hours(quick, handbook=0.5) == [("handbook", 0), ("handbook", 0.5), ("handbook", 1)]


async def test_an_error_of_ours_does_not_end_the_schedule(caplog: pytest.LogCaptureFixture) -> None:
    bases = Bases(Hours(2))
    bases.failures = [KeyError("oops")]

    assert await hours(bases, handbook=6) == [("handbook", 0), ("handbook", 1)]
    assert caplog.messages == ["the run of base handbook ended in an error of ours"]


async def test_a_database_that_is_away_ends_nothing() -> None:
    bases = Bases(Hours(3))
    bases.away = [StoreUnavailable("The database is away.")]

    assert await hours(bases, handbook=6) == [("handbook", 1)]


async def test_at_the_end_a_run_under_way_is_cancelled() -> None:
    class Waiting(Bases):
        cancelled = False

        async def start_or_join(self, base: str) -> Progress:
            begun.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self.cancelled = True
                raise
            return await super().start_or_join(base)

    begun = asyncio.Event()
    bases = Waiting(Hours(3))
    async with Schedule(bases, bases, {"handbook": HOUR}, clock=bases.clock):
        await begun.wait()

    assert bases.cancelled


async def test_without_a_schedule_nothing_runs() -> None:
    bases = Bases(Hours(3))
    async with Schedule(bases, bases, {}, clock=bases.clock):
        await asyncio.sleep(0)

    assert bases.runs == []
