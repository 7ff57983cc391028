"""Whoever comes second joins the run that is under way; anybody can cancel it (I8)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rag.errors import ModelUnavailable, RunCancelled, RunFailed
from rag.runs import Runs
from storage.catalog import DatabaseCatalog
from storage.database import Database
from storage.local_index import LocalIndex
from tests.fakes.sources import CountingEmbedder
from tests.rag.indexing_bench import BASE, Bench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from rag.types import Progress, Vector

LOOK = 0.01


class WaitingEmbedder(CountingEmbedder):
    """Embeds nothing before it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.may = asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.set()
        await self.may.wait()
        return await super().embed_passages(texts)


@pytest.fixture
async def first(tmp_path: Path, sqlite_url: str) -> AsyncIterator[Bench]:
    async with opened(tmp_path, sqlite_url) as bench:
        bench.embedder = WaitingEmbedder()
        yield bench


@pytest.fixture
async def second(tmp_path: Path, sqlite_url: str) -> AsyncIterator[Bench]:
    """The same base as another process sees it."""
    async with opened(tmp_path, sqlite_url) as bench:
        yield bench


class opened:  # noqa: N801 - reads as a function
    def __init__(self, folder: Path, database: str) -> None:
        self._database, self._index = Database(database), LocalIndex(folder / "index")
        self._runs = folder / "runs"

    async def __aenter__(self) -> Bench:
        return Bench(await self._index.__aenter__(), DatabaseCatalog(await self._database.__aenter__(), self._runs))

    async def __aexit__(self, *_: object) -> None:
        await self._index.__aexit__()
        await self._database.__aexit__(None, None, None)


def runs_of(bench: Bench) -> Runs:
    return Runs(bench.catalog, lambda _: bench.indexer, look_seconds=LOOK)


async def begun(bench: Bench) -> asyncio.Task[Progress]:
    """A run in the midst of its work."""
    run = asyncio.create_task(runs_of(bench).start_or_join(BASE))
    await embedder_of(bench).asked.wait()
    return run


async def watching(told: list[Progress]) -> None:
    for _ in range(500):
        if len(told) > 1:
            return
        await asyncio.sleep(LOOK)


def embedder_of(bench: Bench) -> WaitingEmbedder:
    assert isinstance(bench.embedder, WaitingEmbedder)
    return bench.embedder


async def test_who_comes_second_watches_the_run_under_way_and_ends_as_it_does(first: Bench, second: Bench) -> None:
    told: list[Progress] = []
    run = await begun(first)
    joining = asyncio.create_task(runs_of(second).start_or_join(BASE, told.append))
    await watching(told)
    embedder_of(first).may.set()

    ended, joined = await asyncio.gather(run, joining)

    assert (told[0].run, told[0].found, told[0].joined) == (ended.run, 5, True)
    assert (joined.run, joined.state, joined.added, joined.joined) == (ended.run, "done", 5, True)
    assert second.source.read_ids == []


async def test_who_wants_a_run_of_their_own_waits_for_the_one_under_way(first: Bench, second: Bench) -> None:
    second.source.texts["keel.md"] = "The keel is below."
    told: list[Progress] = []
    run = await begun(first)
    own = asyncio.create_task(runs_of(second).start_or_join(BASE, told.append, own=True))
    await watching(told)
    embedder_of(first).may.set()

    ended, mine = await asyncio.gather(run, own)

    assert mine.run != ended.run
    assert (mine.joined, mine.added, mine.unchanged) == (False, 1, 5)


async def test_a_run_that_was_joined_and_fails_fails_for_both(first: Bench, second: Bench) -> None:
    first.embedder.failures = [ModelUnavailable("the embedder is gone")]
    run = await begun(first)
    joining = asyncio.create_task(runs_of(second).start_or_join(BASE))
    await asyncio.sleep(5 * LOOK)
    embedder_of(first).may.set()

    with pytest.raises(ModelUnavailable):
        await run
    with pytest.raises(RunFailed, match=r"that was under way failed: the embedder is gone$"):
        await joining


async def test_a_run_is_cancelled_from_elsewhere_and_the_next_one_finishes(first: Bench, second: Bench) -> None:
    run = await begun(first)
    joining = asyncio.create_task(runs_of(second).start_or_join(BASE))
    await asyncio.sleep(5 * LOOK)

    cancelled = await runs_of(second).cancel(BASE)

    assert cancelled is not None
    assert cancelled.found == 5
    with pytest.raises(RunCancelled, match=r"What it wrote stays"):
        await run
    with pytest.raises(RunCancelled, match=r"that was under way was cancelled"):
        await joining
    ended = await second.catalog.progress(BASE)
    assert ended is not None
    assert ended.state == "cancelled"
    assert await runs_of(second).cancel(BASE) is None
    assert (await runs_of(second).start_or_join(BASE)).passages == 5


async def test_to_stop_watching_does_not_stop_the_run(first: Bench, second: Bench) -> None:
    run = await begun(first)
    joining = asyncio.create_task(runs_of(second).start_or_join(BASE))
    await asyncio.sleep(5 * LOOK)
    joining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await joining
    embedder_of(first).may.set()

    assert (await run).state == "done"


async def test_nothing_runs_and_nothing_is_cancelled(second: Bench) -> None:
    assert await runs_of(second).cancel(BASE) is None
    assert await second.catalog.running(BASE) is None


async def test_a_run_shows_from_its_first_moment(second: Bench) -> None:
    async with second.catalog.lease(BASE, "run-1"):
        now = await second.catalog.running(BASE)

    assert now is not None
    assert (now.run, now.state, now.found) == ("run-1", "listing", None)
