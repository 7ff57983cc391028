"""Threads that do what the event loop asks for."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio

from storage.lanes import Job, Lane, Outcomes, outcome


class Batches:
    """Does jobs one by one and notes how many it was given at once."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, jobs: Sequence[Job]) -> Outcomes:
        self.sizes.append(len(jobs))
        return [(job, outcome(job)) for job in jobs]


@pytest.fixture
def batches() -> Batches:
    return Batches()


@pytest_asyncio.fixture
async def lane(batches: Batches) -> AsyncIterator[Lane]:
    opened = Lane("test", most=3)
    opened.start(batches)
    yield opened
    await opened.close()


async def busy(lane: Lane) -> tuple[asyncio.Task[bool], threading.Event]:
    """The thread is at a job that ends when it is told to."""
    begun, free = threading.Event(), threading.Event()

    def work() -> bool:
        begun.set()
        return free.wait()

    task = asyncio.create_task(lane.ask(work))
    await asyncio.to_thread(begun.wait)
    return task, free


async def test_what_waits_is_taken_together_up_to_the_most(lane: Lane, batches: Batches) -> None:
    first, free = await busy(lane)
    others = [asyncio.create_task(lane.ask(lambda n=n: n)) for n in range(4)]
    await asyncio.sleep(0)
    free.set()

    assert await asyncio.gather(first, *others) == [True, 0, 1, 2, 3]
    assert batches.sizes == [1, 3, 1]


async def test_an_error_comes_back_to_who_asked_and_to_nobody_else(lane: Lane) -> None:
    found = await asyncio.gather(lane.ask(lambda: 1 // 0), lane.ask(lambda: 7), return_exceptions=True)

    assert isinstance(found[0], ZeroDivisionError)
    assert found[1] == 7


async def test_what_nobody_waits_for_any_more_is_not_begun(lane: Lane) -> None:
    done: list[int] = []
    first, free = await busy(lane)
    gone = asyncio.create_task(lane.ask(lambda: done.append(1)))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    free.set()

    assert await first
    assert await lane.ask(lambda: list(done)) == []


async def test_closing_finishes_what_waits_and_takes_nothing_more(batches: Batches) -> None:
    lane = Lane("test", most=2)
    lane.start(batches)
    waiting = [asyncio.create_task(lane.ask(lambda n=n: n)) for n in range(5)]
    await asyncio.sleep(0)
    await lane.close()

    assert await asyncio.gather(*waiting) == list(range(5))
    with pytest.raises(RuntimeError, match="after it was closed"):
        await lane.ask(lambda: 1)
    assert not any(thread.name.startswith("test-") for thread in threading.enumerate())
