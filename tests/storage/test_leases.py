"""Catalog's lease: one run of a base at a time, over processes and machines (I8)."""

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from rag.errors import RunCancelled, RunInProgress, StoreUnavailable
from rag.ports import Catalog
from rag.types import Progress
from storage import schema
from storage.catalog import DatabaseCatalog
from storage.columns import database_clock
from storage.database import Database

PROGRESS = Progress("handbook", "run-1", "indexing", 900, 120)


async def test_a_lease_keeps_every_other_run_of_its_base_out_until_it_is_left(catalog: Catalog, other: Catalog) -> None:
    async with catalog.lease("handbook", "me"):
        for second in (catalog, other):
            with pytest.raises(RunInProgress):
                await second.lease("handbook", "me").__aenter__()
        async with other.lease("api", "you"):
            pass
    async with other.lease("handbook", "you"):
        pass


async def test_a_lease_is_given_back_when_the_run_fails_or_is_cancelled(catalog: Catalog, other: Catalog) -> None:
    with pytest.raises(ValueError, match="broken"):
        async with catalog.lease("handbook", "me"):
            raise ValueError("broken")

    async def run() -> None:
        async with catalog.lease("handbook", "me"):
            running.set()
            await asyncio.sleep(60)

    running = asyncio.Event()
    task = asyncio.create_task(run())
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async with other.lease("handbook", "you"):
        pass


async def test_of_many_that_want_a_lease_at_once_one_gets_it(catalog: Catalog, other: Catalog) -> None:
    async def run(at: Catalog) -> str:
        try:
            async with at.lease("handbook", "me"):
                await done.wait()
                return "ran"
        except RunInProgress:
            refused.append(at)
            if len(refused) == 9:
                done.set()
            return "refused"

    done, refused = asyncio.Event(), list[Catalog]()
    outcomes = await asyncio.gather(*(run(at) for at in (catalog, other) * 5))
    assert sorted(outcomes) == ["ran", *["refused"] * 9]


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (None, r"it has just begun"),
        (Progress("handbook", "old", "done", found=9, done=9), r"it has just begun"),
        (Progress("handbook", "run-1", "listing", done=0), r"still looking for documents"),
        (PROGRESS, r"120 of 900 documents done"),
    ],
)
async def test_who_is_refused_is_told_since_when_and_how_far(
    catalog: Catalog, other: Catalog, progress: Progress | None, words: str
) -> None:
    async with catalog.lease("handbook", "me"):
        if progress:
            await catalog.report(progress)
        with pytest.raises(RunInProgress, match=rf"'handbook' .* since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC: {words}\.$") as refused:
            await other.lease("handbook", "you").__aenter__()
    assert words in refused.value.user_message


async def test_a_lease_is_renewed_for_as_long_as_the_run_takes(catalog: Catalog, other: Catalog, database: Database) -> None:
    async with catalog.lease("handbook", "me", seconds=1.5):
        ends = {await _ends(database)}
        while len(ends) < 3:  # twice renewed
            await asyncio.sleep(0.05)
            ends.add(await _ends(database))
        with pytest.raises(RunInProgress):
            await other.lease("handbook", "you").__aenter__()
    assert max(ends) - min(ends) >= 0.9


async def test_a_lease_that_ran_out_is_taken_over_and_its_unfinished_run_has_failed(
    catalog: Catalog, other: Catalog, database: Database
) -> None:
    async def run() -> None:
        async with catalog.lease("handbook", "me", seconds=3):
            await catalog.report(PROGRESS)
            await _run_out(database)
            async with other.lease("handbook", "you"):
                seen.append(await other.progress("handbook"))
                await asyncio.sleep(30)

    seen: list[Progress | None] = []
    with pytest.raises(StoreUnavailable, match="lost its lease"):
        await run()
    assert seen == [replace(PROGRESS, state="failed", error="The process that ran it ended before the run was done.")]


async def test_a_lease_that_was_lost_cancels_the_run_with_a_clear_error(catalog: Catalog, database: Database) -> None:
    async def run() -> None:
        async with catalog.lease("handbook", "me", seconds=0.3):
            await database.write(lambda connection: connection.execute(delete(schema.leases)))
            await asyncio.sleep(30)

    with pytest.raises(StoreUnavailable, match="The run of base 'handbook' was stopped: it lost its lease"):
        await run()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_whoever_holds_a_lease_can_be_asked_to_stop(catalog: Catalog, other: Catalog) -> None:
    async def run() -> None:
        async with catalog.lease("handbook", "me", seconds=0.3):
            asked.append(await other.cancel("handbook"))
            await asyncio.sleep(30)

    asked: list[bool] = []
    with pytest.raises(RunCancelled, match="The run of base 'handbook' was cancelled"):
        await run()
    assert asked == [True]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert not await other.cancel("handbook")
    async with catalog.lease("handbook", "me", seconds=0.3):  # the wish went with the lease
        await asyncio.sleep(0.2)


async def test_a_run_that_is_cancelled_from_outside_stays_cancelled(catalog: Catalog, database: Database) -> None:
    async def run() -> None:
        async with catalog.lease("handbook", "me", seconds=0.3):
            await database.write(lambda connection: connection.execute(delete(schema.leases)))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.sleep(30)

    task = asyncio.create_task(run())
    with pytest.raises(asyncio.CancelledError):
        await task


_HOLD = """
import asyncio, sys
from pathlib import Path
from storage.catalog import DatabaseCatalog
from storage.database import Database

async def main(url: str, seconds: float, holders: Path | None) -> None:
    async with Database(url) as database, DatabaseCatalog(database, holders).lease("handbook", "process", seconds=seconds):
        print("held", flush=True)
        await asyncio.sleep(60)

asyncio.run(main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None))
"""


@contextlib.contextmanager
def _holder(url: str, seconds: float, *holders: Path) -> Iterator["subprocess.Popen[str]"]:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", _HOLD, url, str(seconds), *map(str, holders)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)  # noqa: S603
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


async def test_a_lease_holds_over_processes_and_is_taken_over_from_one_that_was_killed(database_url: str) -> None:
    with _holder(database_url, seconds=60) as process:
        async with Database(database_url) as database:
            catalog = DatabaseCatalog(database)
            with pytest.raises(RunInProgress):
                await catalog.lease("handbook", "me").__aenter__()
            process.send_signal(signal.SIGKILL)
            process.wait()
            with pytest.raises(RunInProgress):  # nobody knows yet
                await catalog.lease("handbook", "me").__aenter__()
            await _run_out(database)
            async with catalog.lease("handbook", "me"):
                pass


async def test_a_lease_is_taken_over_at_once_from_a_process_of_this_machine_that_was_killed(
    database_url: str, tmp_path: Path
) -> None:
    async with Database(database_url) as database:
        catalog, elsewhere = DatabaseCatalog(database, tmp_path), DatabaseCatalog(database)
        with _holder(database_url, 60, tmp_path) as process:
            with pytest.raises(RunInProgress):
                await catalog.lease("handbook", "me").__aenter__()
            process.send_signal(signal.SIGKILL)
            process.wait()
            with pytest.raises(RunInProgress):  # who cannot know has to wait
                await elsewhere.lease("handbook", "you").__aenter__()
            assert await elsewhere.running("handbook") == Progress("handbook", "process")
            assert await catalog.running("handbook") is None
            async with catalog.lease("handbook", "me"):
                assert await elsewhere.running("handbook") == Progress("handbook", "me")
    assert locks(tmp_path) == []


async def test_of_another_machine_nothing_is_known(database: Database, tmp_path: Path) -> None:
    async with DatabaseCatalog(database, tmp_path).lease("handbook", "me"):
        (file,) = locks(tmp_path)
        file.unlink()
        file.write_text("another machine", encoding="ascii")
        with pytest.raises(RunInProgress):
            await DatabaseCatalog(database, tmp_path).lease("handbook", "you").__aenter__()


async def test_a_folder_that_cannot_be_written_keeps_nobody_from_running(database: Database, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with DatabaseCatalog(database, tmp_path / "file").lease("handbook", "me"):
        pass


def locks(folder: Path) -> list[Path]:
    return list(folder.glob("*.lock"))


async def _run_out(database: Database) -> None:
    await database.write(lambda connection: connection.execute(update(schema.leases).values(lease_until=database_clock() - 1)))


async def _ends(database: Database) -> float:
    return float(await database.read(lambda connection: connection.execute(select(schema.leases.c.lease_until)).scalar_one()))
