"""Work in spawned processes: what a caller may rely on, whatever becomes of the processes."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rag.workers import WorkerDied, Workers, WorkFailed
from tests.rag.workers.processes import gone

ROOT = Path(__file__).parents[3]
TARGET = "tests.rag.workers.targets:obedient"


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    async with Workers(TARGET, processes=2) as pool:
        yield pool


async def test_no_process_is_started_before_there_is_work(workers: Workers) -> None:
    assert workers.pids == ()


async def test_each_call_gets_its_own_answer(workers: Workers) -> None:
    words = [f"word-{number}" for number in range(200)]

    answers = await asyncio.gather(*(workers.call(f"say {word}".encode()) for word in words))

    assert [answer.decode() for answer in answers] == words
    assert len(workers.pids) == 2


async def test_answers_of_many_megabytes_pass(workers: Workers) -> None:
    word = "x" * 5_000_000

    assert await workers.call(f"say {word}".encode()) == word.encode()


async def test_what_a_library_prints_does_not_disturb_the_answers(workers: Workers) -> None:
    assert await workers.call(b"print nonsense") == b"done"
    assert await workers.call(b"say sense") == b"sense"


async def test_a_worker_loads_nothing_of_the_product_but_what_it_is_made_of(workers: Workers) -> None:
    modules = (await workers.call(b"modules")).decode().split(",")

    assert set(modules) <= {"rag", "rag.worker_side"}


async def test_workers_give_way_to_other_processes() -> None:
    async with Workers(TARGET, processes=1, niceness=7) as workers:
        assert int(await workers.call(b"niceness")) == min(19, os.nice(0) + 7)


async def test_an_error_in_the_work_reaches_its_caller_and_the_process_lives(workers: Workers) -> None:
    await workers.call(b"say hello")
    before = workers.pids

    with pytest.raises(WorkFailed, match="ValueError: wrong"):
        await workers.call(b"raise wrong")

    assert await workers.call(b"say hello") == b"hello"
    assert workers.pids == before


async def test_the_work_of_a_process_that_died_is_tried_again(workers: Workers, tmp_path: Path) -> None:
    assert await workers.call(f"die-once {tmp_path / 'died'}".encode()) == b"done"


@pytest.mark.parametrize("name", ["SIGKILL", "SIGABRT", "SIGSEGV"])
async def test_work_that_kills_its_process_twice_is_given_up_and_says_how(workers: Workers, name: str) -> None:
    with pytest.raises(WorkerDied, match=name):
        await workers.call(f"die {name}".encode())


async def test_work_that_stood_behind_a_deadly_call_is_done_all_the_same() -> None:
    async with Workers(TARGET, processes=1, ahead=3) as workers:
        await workers.call(b"say hello")
        calls = [workers.call(b"die SIGKILL"), workers.call(b"say second"), workers.call(b"say third")]

        answers = await asyncio.gather(*calls, return_exceptions=True)

    assert isinstance(answers[0], WorkerDied)
    assert answers[1:] == [b"second", b"third"]


async def test_work_that_takes_too_long_is_ended_with_its_process() -> None:
    async with Workers(TARGET, processes=1, retries=0) as workers:
        with pytest.raises(WorkerDied, match=r"took longer than 0\.2 s"):
            await workers.call(b"sleep 60", seconds=0.2)

        assert await workers.call(b"say hello") == b"hello"


async def test_a_caller_that_leaves_does_not_disturb_the_others(workers: Workers) -> None:
    leaver = asyncio.create_task(workers.call(b"sleep .3"))
    stayers = [asyncio.create_task(workers.call(f"say {number}".encode())) for number in range(10)]
    await asyncio.sleep(0.05)
    leaver.cancel()

    assert await asyncio.gather(*stayers) == [str(number).encode() for number in range(10)]


async def test_a_function_that_cannot_be_loaded_is_reported_to_all_who_wait() -> None:
    async with Workers("tests.rag.workers.targets:broken", processes=2) as workers:
        answers = await asyncio.gather(*(workers.call(b"say hello") for _ in range(5)), return_exceptions=True)

    assert all(isinstance(answer, WorkerDied) and "no such model" in str(answer) for answer in answers)


async def test_idle_processes_end_and_start_again_when_needed() -> None:
    async with Workers(TARGET, processes=1, idle_seconds=0.05) as workers:
        await workers.call(b"say hello")
        assert await gone(*workers.pids)

        assert await workers.call(b"say again") == b"again"


async def test_closing_ends_every_process_and_tells_who_waits() -> None:
    async with Workers(TARGET, processes=2) as workers:
        await asyncio.gather(*(workers.call(b"sleep .1") for _ in range(4)))
        pids = workers.pids
        calls = [asyncio.create_task(workers.call(b"sleep 60")) for _ in range(8)]
        await asyncio.sleep(0.05)

    assert await gone(*pids)
    for call in calls:
        with pytest.raises(WorkerDied, match="closed"):
            await call


async def test_an_interrupt_from_the_keyboard_is_the_parents_business(workers: Workers) -> None:
    await workers.call(b"say hello")
    for pid in workers.pids:
        os.kill(pid, signal.SIGINT)

    assert await workers.call(b"say hello") == b"hello"


async def test_no_worker_outlives_a_parent_that_was_killed() -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.rag.workers.parent", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in (await parent.stdout.readline()).split()]
    assert len(pids) == 2

    parent.kill()
    await parent.wait()

    assert await gone(*pids)


async def test_bare_processes_do_not_see_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    seen = []
    for bare in (False, True):
        async with Workers(TARGET, processes=1, bare=bare) as pool:
            seen.append("SOME_API_KEY" in (await pool.call(b"environment")).decode().split(","))

    assert seen == [True, False]
