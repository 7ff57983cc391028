"""Searches in a process of their own, while many are asked."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from itertools import product
from pathlib import Path

import pytest
import pytest_asyncio

from rag.choosing import Choosing
from rag.coverage import Word
from rag.errors import IndexMismatch
from rag.leading import Leading, Led
from rag.types import Candidate, Match, Passage, Search
from storage import dense_list, searcher
from storage.local_index import LocalIndex
from storage.searcher import Searcher
from tests.storage.passages import SIGNATURE, direction, indexed

BASE = "handbook"
PLAIN = (False, 0.6, 0.4, 8, False)
SEARCHES = [Search((f"w{n % 7}", f"w{n % 5}", "açaí", "北京"), direction(n), limit=5) for n in range(40)]


async def fill(folder: Path, *texts: str) -> None:
    async with LocalIndex(folder) as index, index.write(BASE, SIGNATURE) as writer:
        await writer.put("a", indexed("a", *texts))
        await writer.publish(switch=True)


async def here(folder: Path, searches: Sequence[Search]) -> list[list[Candidate]]:
    async with LocalIndex(folder) as index:
        return [await index.search(BASE, each) for each in searches]


async def led(asked: LocalIndex | Searcher, search: Search, work: Leading) -> Led | None:
    found = await asked.beside(BASE, search, work)
    return found  # noqa: RET504 - told what it is


async def started(asked: Searcher) -> int:
    """Its process is there."""
    for _ in range(3_000):
        if await asked.search(BASE, SEARCHES[0]) is not None and asked.pid is not None:
            return asked.pid
        await asyncio.sleep(0.01)
    raise AssertionError("the process does not start")


@pytest_asyncio.fixture
async def folder(tmp_path: Path) -> Path:
    await fill(tmp_path, *(f"w{n % 7} w{n % 11} açaí" for n in range(60)))
    return tmp_path


@pytest.fixture
def called_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are cores enough, however few this machine has."""
    monkeypatch.setattr(searcher, "cores", lambda: 2)


@pytest_asyncio.fixture
async def process(folder: Path, called_for: None) -> AsyncIterator[Searcher]:  # noqa: ARG001 - it is in force
    async with Searcher(folder, many=1) as opened:
        await started(opened)
        yield opened


async def test_the_process_finds_what_is_found_here(folder: Path, process: Searcher) -> None:
    found = await asyncio.gather(*(process.search(BASE, each) for each in SEARCHES))

    assert found == await here(folder, SEARCHES)
    assert any(each.matched and each.sketch for candidates in found if candidates for each in candidates)


async def test_the_process_finds_by_codes_what_is_found_here(
    folder: Path, process: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_list, "EXACT", 100)
    await fill(folder, *(f"w{n % 7} number {n}" for n in range(700)))
    assert [path.stat().st_size for path in (folder / BASE).glob("*/*/codes.faiss")][-1]

    found = await asyncio.gather(*(process.search(BASE, each) for each in SEARCHES))

    assert found == await here(folder, SEARCHES)


async def test_the_process_makes_of_what_is_found_what_would_be_made_of_it_here(folder: Path, process: Searcher) -> None:
    """A passage that stands there twice is a copy; one of another language, and searched by words alone, are told."""
    await fill(folder, *(f"w{n % 7} w{n % 11} açaí" for n in range(60)), "w1 açaí 北京", "w1 açaí 北京")
    search = Search(("w1", "açaí", "北京"), direction(0))
    words = [Word(("w1",), 2), Word(("açaí", "acai"), 1, own=False), Word(("北京",), 1)]
    choosing = Choosing("w1?", "en", frozenset(["w1"]), {BASE: 0.1}, 8, "both", 60, 6000)
    sides = product((False, True), (2, 9), (False, True), (None, choosing))
    works = [Leading(BASE, words, foreign, 0.6, 0.4, needed, blind, how) for foreign, needed, blind, how in sides]
    async with LocalIndex(folder) as index:
        wanted = [await led(index, search, work) for work in works]

    found = await asyncio.gather(*(led(process, search, work) for work in works))

    assert found == wanted
    chosen = [each.chosen for each in found if each and each.chosen]
    matches = [match for each in found if each for match in each.matches]
    matches += [match for each in chosen for match in (*each.matches, *each.nearest, *each.ranked)]
    assert len(chosen) == len(works) // 2
    assert any(match.copies for match in matches)
    assert any(match.parts for each in chosen for match in each.matches)
    passages = [passage for match in matches for passage in (match.passage, *match.copies, *match.parts)]
    assert {*map(type, matches), *map(type, passages)} == {Match, Passage}


async def test_who_has_time_lets_a_process_that_is_behind_do_less(
    folder: Path, process: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What this thread chooses then is the same: `test_retrieval` asks it of an index that does nothing beside."""
    choosing = Choosing("w1?", "en", frozenset(), {BASE: 0.1}, 8, "both", 60, 6000)
    work = Leading(BASE, [Word(("w1",), 1)], *PLAIN, choosing)
    search = Search(("w1",), direction(0))
    async with LocalIndex(folder) as index:
        whole, light = await led(index, search, work), await led(index, search, work.lighter())

    async def ask(*, looks: bool) -> list[bool]:
        """Whether each of many was done whole."""
        monkeypatch.setattr(searcher, "_MOMENT", 0.0 if looks else 1e9)
        found = await asyncio.gather(*(led(process, search, work) for _ in range(20)))
        assert all(each in (whole, light) for each in found)
        return [each == whole for each in found]

    assert whole != light
    assert all(await ask(looks=False))
    await asyncio.sleep(0.1)  # this thread has time
    assert not all(await ask(looks=True))


async def test_the_process_sees_a_publish_at_once(folder: Path, process: Searcher) -> None:
    await fill(folder, "new words")

    assert await process.search(BASE, Search(("new",))) == (await here(folder, [Search(("new",))]))[0]
    assert await process.search("nowhere", Search(("new",))) == []
    nothing = await process.beside("nowhere", Search(("new",)), Leading("nowhere", [Word(("new",), 1)], *PLAIN))
    assert nothing is not None
    assert nothing.matches == []


async def test_one_after_the_other_is_searched_without_a_process(folder: Path) -> None:
    async with Searcher(folder, many=5) as alone:
        assert [await alone.search(BASE, each) for each in SEARCHES] == [None] * len(SEARCHES)
        assert alone.pid is None


async def test_many_that_wait_for_each_other_start_the_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher, "cores", lambda: 2)

    def work() -> int:
        return sum(n * n for n in range(40_000))

    async def ask(asked: Searcher) -> None:
        await asked.search(BASE, SEARCHES[0])
        work()

    async with Searcher(folder, many=5) as asked, asyncio.timeout(30):
        while asked.pid is None:
            await asyncio.gather(*(ask(asked) for _ in range(10)))


@pytest.mark.usefixtures("called_for")
async def test_the_process_that_is_there_searches_on_when_fewer_are_asked_than_started_it(folder: Path) -> None:
    async with Searcher(folder, many=4) as asked, asyncio.timeout(30):
        while asked.pid is None:
            await asyncio.gather(*(asked.search(BASE, SEARCHES[0]) for _ in range(10)))
            await asyncio.sleep(0.01)
        found = []
        for search in SEARCHES[:8]:
            await asyncio.sleep(0.12)
            found.append(await asyncio.create_task(asked.search(BASE, search)))

        assert found[3:] == (await here(folder, SEARCHES[:8]))[3:]
        await asyncio.sleep(1)
        assert await asked.search(BASE, SEARCHES[0]) is None


@pytest.mark.usefixtures("called_for")
async def test_on_one_core_there_is_no_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher, "cores", lambda: 1)

    async with Searcher(folder, many=1) as alone:
        assert [await alone.search(BASE, each) for each in SEARCHES] == [None] * len(SEARCHES)


@pytest.mark.usefixtures("called_for")
async def test_what_a_killed_process_was_asked_is_searched_here_and_another_takes_its_place(folder: Path) -> None:
    wanted = await here(folder, SEARCHES)
    async with LocalIndex(folder, many=1) as index:
        first = await started(index.searcher)
        waiting = [asyncio.create_task(index.search(BASE, each)) for each in SEARCHES]
        await asyncio.sleep(0)
        os.kill(first, signal.SIGKILL)

        assert await asyncio.gather(*waiting) == wanted
        assert await started(index.searcher) != first
        assert await asyncio.gather(*(index.search(BASE, each) for each in SEARCHES)) == wanted


@pytest.mark.usefixtures("called_for")
async def test_a_search_that_nobody_waits_for_any_more_harms_no_other(folder: Path) -> None:
    wanted = await here(folder, SEARCHES)
    async with LocalIndex(folder, many=1) as index:
        await started(index.searcher)
        tasks = [asyncio.create_task(index.search(BASE, each)) for each in SEARCHES]
        for _ in range(3):
            await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)

    assert found[1::2] == wanted[1::2]
    assert all(isinstance(each, asyncio.CancelledError) for each in found[::2])


@pytest.mark.usefixtures("called_for")
async def test_what_is_wrong_with_a_search_is_said_as_without_a_process(folder: Path) -> None:
    async with LocalIndex(folder, many=1) as index:
        await started(index.searcher)
        with pytest.raises(IndexMismatch, match="vectors of 64 dimensions, the question's has 2"):
            await index.search(BASE, Search(("w1",), bytes(8)))
        with pytest.raises(IndexMismatch, match="vectors of 64 dimensions, the question's has 2"):
            await index.beside(BASE, Search(("w1",), bytes(8)), Leading(BASE, [Word(("w1",), 1)], *PLAIN))


@pytest.mark.usefixtures("called_for")
async def test_a_process_with_nothing_to_do_ends_and_comes_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher, "IDLE_SECONDS", 0.05)
    async with Searcher(folder, many=1) as asked:
        first = await started(asked)
        for _ in range(3_000):
            if asked.pid is None:
                break
            await asyncio.sleep(0.01)
        assert asked.pid is None
        assert await started(asked) != first


@pytest.mark.usefixtures("called_for")
async def test_a_process_that_cannot_be_started_is_not_tried_again_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(searcher, "_TARGET", "storage.searcher:missing")
    async with Searcher(folder, many=1) as asked:
        for _ in range(3_000):
            assert await asked.search(BASE, SEARCHES[0]) is None
            if caplog.messages:
                break
            await asyncio.sleep(0.01)
        assert "could not be started" in caplog.messages[0]
        assert [await asked.search(BASE, each) for each in SEARCHES] == [None] * len(SEARCHES)
        assert asked.pid is None


@pytest.mark.usefixtures("called_for")
async def test_a_process_that_hangs_is_ended_and_its_searches_are_done_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(searcher, "_SECONDS", 0.3)
    wanted = await here(folder, SEARCHES)
    async with LocalIndex(folder, many=1) as index:
        os.kill(await started(index.searcher), signal.SIGSTOP)

        assert await asyncio.gather(*(index.search(BASE, each) for each in SEARCHES)) == wanted
        assert "took longer than 0.3 s" in caplog.text
