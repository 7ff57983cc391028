"""What is particular to the embedded index: its files, its processes, its arithmetic (I5, I6, M5)."""

import asyncio
import errno
import json
import os
import random
import shutil
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import pytest
import pytest_asyncio

from rag.errors import IndexMismatch, StoreUnavailable
from rag.leading import Leading
from rag.types import Search, Stretch
from storage import arrays, code_list, dense_list, generations, lexical_list, local_writer
from storage.index_folder import IndexFolder, safe_name, store_errors
from storage.lexical_list import K1, B
from storage.local_index import LocalIndex
from storage.local_writer import Session
from storage.shelf import Reader, Shelf
from tests.storage.crash_writer import (
    BASE,
    OTHER,
    PROCESSES,
    document,
    expected,
    killed_at,
    run,
    search_until_told,
    write_state,
)
from tests.storage.passages import SIGNATURE, cosines, direction, indexed, without_vectors
from tests.storage.test_passage_index import everything, fill, some_documents

ALL = Search(("all",), direction(1), limit=100)


@pytest_asyncio.fixture
async def index(tmp_path: Path) -> AsyncIterator[LocalIndex]:
    async with LocalIndex(tmp_path) as opened:
        yield opened


async def contents(folder: Path) -> dict[str, str]:
    """Terms by id of all that a fresh process finds, each found by its terms and by its vector."""
    async with LocalIndex(folder) as index:
        candidates = await index.search(BASE, ALL)
        assert all(each.lexical_rank and each.dense_rank and each.bm25 > 0 for each in candidates)
        assert len(candidates) == await index.size(BASE)
        return {each.id: each.terms for each in await index.passages(BASE, [each.id for each in candidates])}


def files(folder: Path) -> list[str]:
    """What lies in the base's folder: builds and generations by their kind."""
    return sorted(each.relative_to(folder).as_posix() for each in (folder / BASE).rglob("*") if each.is_dir())


# --- killed ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first") / "index"
    asyncio.run(run(folder, 0))
    return folder


@pytest.fixture
def folder(first_state: Path, tmp_path: Path) -> Path:
    """A copy of an index that holds state 0."""
    return Path(shutil.copytree(first_state, tmp_path / "index"))


@pytest.fixture(scope="module", params=["the same index", "one beside it"])
def calls(request: pytest.FixtureRequest, first_state: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bool, int]:
    """Whether the run makes a new build, and how many calls of the storage it takes when nobody kills it."""
    beside = request.param == "one beside it"
    copy = Path(shutil.copytree(first_state, tmp_path_factory.mktemp("whole") / "index"))
    made = killed_at(copy, OTHER if beside else SIGNATURE, 0)
    assert made
    return beside, made


@pytest.mark.parametrize("seed", range(10))
async def test_a_run_killed_at_any_moment_leaves_whole_documents_and_the_next_run_finishes(
    folder: Path, calls: tuple[bool, int], seed: int
) -> None:
    beside, many = calls
    signature = OTHER if beside else SIGNATURE
    assert killed_at(folder, signature, random.Random(seed).randint(1, many)) is None

    left = await contents(folder)
    for number in range(12):
        held = {name: terms for name, terms in left.items() if name.startswith(f"d{number:02}#")}
        whole = [{each.passage.id: each.passage.terms for each in document(number, state)} for state in (0, 1) if number != state]
        assert held in whole or (not held and number in (0, 1))
    assert not beside or left in (expected(0), expected(1))

    await run(folder, 1, signature)
    assert await contents(folder) == expected(1)
    assert len(files(folder)) == 2  # one build with one generation: nothing of the killed run is left


# --- torn -----------------------------------------------------------------------------------------------------------


def lose(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [lose, cut, flip])
@pytest.mark.parametrize("name", [*(each for each in generations.FILES if each not in code_list.FILES), generations.MANIFEST])
async def test_a_generation_with_a_file_missing_or_torn_is_made_again(
    folder: Path, name: str, harm: Callable[[Path], None]
) -> None:
    (path,) = (folder / BASE).glob(f"*/*/{name}")
    harm(path)

    assert await contents(folder) == expected(0)
    (mended,) = (folder / BASE).glob(f"*/*/{name}")  # and the torn one is gone
    assert mended.parent != path.parent


@pytest.mark.parametrize("harm", [lose, cut, flip])
async def test_a_generation_whose_codes_are_missing_or_torn_is_made_again(
    index: LocalIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    monkeypatch.setattr(dense_list, "EXACT", 100)
    await fill(index, *some_documents(100))
    search = Search((), direction(3), limit=10)
    found = await index.search(BASE, search)
    (path,) = (tmp_path / BASE).glob("*/*/codes.faiss")
    held = path.read_bytes()
    harm(path)

    async with LocalIndex(tmp_path) as opened:
        assert await opened.search(BASE, search) == found
    (mended,) = (tmp_path / BASE).glob("*/*/codes.faiss")
    assert mended.parent != path.parent
    assert mended.read_bytes() == held


async def test_an_index_of_a_version_that_kept_signs_goes_on_answering(folder: Path) -> None:
    (before,) = (folder / BASE).glob(f"*/*/{generations.MANIFEST}")
    codes, signs = before.with_name("codes.faiss"), before.with_name("signs.u8")
    codes.rename(signs)
    manifest = json.loads(before.read_text("utf-8").replace(codes.name, signs.name))
    before.write_text(json.dumps(manifest | {"layout": 6}), "utf-8")

    assert await contents(folder) == expected(0)
    assert not before.exists()


async def test_a_generation_of_another_layout_is_made_again(folder: Path) -> None:
    (before,) = (folder / BASE).glob(f"*/*/{generations.MANIFEST}")
    manifest = json.loads(before.read_text("utf-8"))
    manifest["layout"] += 1
    before.write_text(json.dumps(manifest), "utf-8")

    assert await contents(folder) == expected(0)
    assert not before.exists()


async def test_an_index_of_a_version_that_knew_no_places_within_passages_goes_on_answering(folder: Path) -> None:
    (manifest,) = (folder / BASE).glob(f"*/*/{generations.MANIFEST}")
    manifest.write_text(json.dumps(json.loads(manifest.read_text("utf-8")) | {"layout": 4}), "utf-8")
    (rows,) = (folder / BASE).glob("*/rows.sqlite")
    with sqlite3.connect(rows) as connection:
        connection.execute("ALTER TABLE passages DROP COLUMN within")
    connection.close()

    assert await contents(folder) == expected(0)


async def test_a_torn_generation_is_made_again_as_it_was_without_what_is_not_published_yet(folder: Path) -> None:
    async with LocalIndex(folder) as index, index.write(BASE, SIGNATURE) as writer:
        await writer.put("d05", indexed("d05", "all new"))
        await writer.remove(["d06"])
    (path,) = (folder / BASE).glob("*/*/vectors.f4")
    cut(path)

    assert await contents(folder) == expected(0)


async def test_a_run_begins_by_mending_what_is_torn(folder: Path) -> None:
    (path,) = (folder / BASE).glob("*/*/scores.f4")
    cut(path)

    async with LocalIndex(folder) as index, index.write(BASE, SIGNATURE):
        assert await contents(folder) == expected(0)


# --- several processes ----------------------------------------------------------------------------------------------


@pytest.fixture
def searching(folder: Path) -> Iterator[Connection]:
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=search_until_told, args=(folder, theirs))
    process.start()
    theirs.close()
    assert ours.recv() == "ready"
    yield ours
    process.join()
    ours.close()


async def test_another_process_searches_through_twenty_publishes_without_an_error_or_an_empty_result(
    folder: Path, searching: Connection
) -> None:
    async with LocalIndex(folder) as index:
        for state in range(1, 11):
            async with index.write(BASE, replace(SIGNATURE, splitting=f"splitting {state // 5}")) as writer:
                await writer.put(f"d{state:02}", document(state, state))
                await writer.publish(switch=True)
                await writer.put("d11", document(11, state))
                await writer.publish()

    await asyncio.to_thread(searching.send, "stop")
    searches, wrong = await asyncio.to_thread(searching.recv)
    assert wrong == []
    assert searches > 20


async def test_a_search_during_which_another_generation_went_live_is_made_again(folder: Path) -> None:
    shelf = Shelf(IndexFolder(folder, BASE))
    seen = []

    def search(reader: Reader) -> int:
        seen.append(reader.number)
        if len(seen) == 1:
            session = Session(IndexFolder(folder, BASE), SIGNATURE, anew=False)
            session.open()
            session.put("new", indexed("new", "all"))
            session.publish(switch=False)
            session.close()
        return reader.generation.size

    assert shelf.read(search, 0) == len(expected(0)) + 1
    assert seen == [seen[0], seen[0] + 1]
    shelf.close()


async def test_a_second_writer_is_refused_in_words_and_harms_nothing(folder: Path) -> None:
    async with LocalIndex(folder) as first, LocalIndex(folder) as second, first.write(BASE, SIGNATURE) as writer:
        with pytest.raises(StoreUnavailable, match="is being written by another"):
            async with second.write(BASE, OTHER):
                pass
        with pytest.raises(StoreUnavailable, match="is being written by another"):
            await second.drop(BASE)
        await write_state(writer, 1)

    assert await contents(folder) == expected(1)


async def test_a_base_can_be_written_again_after_a_run_that_failed(folder: Path) -> None:
    async with LocalIndex(folder) as index:

        async def fail_midway() -> None:
            async with index.write(BASE, SIGNATURE) as writer:
                await writer.put("d05", indexed("d05", "all new"))
                raise RuntimeError("midway")

        with pytest.raises(RuntimeError, match="midway"):
            await fail_midway()
        async with index.write(BASE, SIGNATURE) as writer:
            assert (await writer.counts())["d05"] == 1


async def test_a_cancelled_run_lets_go_of_the_base(folder: Path) -> None:
    async with LocalIndex(folder) as index:

        async def endless() -> None:
            async with index.write(BASE, SIGNATURE) as writer:
                while True:
                    await writer.put("d05", indexed("d05", "all new"))

        for pause in (0.0, 0.001, 0.01):
            task = asyncio.create_task(endless())
            await asyncio.sleep(pause)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with index.write(BASE, SIGNATURE) as writer:
                assert len(await writer.counts()) == 11


# --- what lies on disk ----------------------------------------------------------------------------------------------


async def test_old_generations_and_builds_leave_the_disk(index: LocalIndex, tmp_path: Path) -> None:
    for signature in (SIGNATURE, SIGNATURE, OTHER, OTHER, SIGNATURE):
        await fill(index, *some_documents(5), signature=signature)

    assert len(files(tmp_path)) == 2


async def test_the_log_and_the_passages_that_are_gone_do_not_pile_up(index: LocalIndex, tmp_path: Path) -> None:
    for _ in range(6):
        await fill(index, *some_documents(150))
        await index.passages(BASE, ["d000#0"])

    (rows,) = (tmp_path / BASE).glob("*/rows.sqlite")
    (log,) = (tmp_path / BASE).glob("*/rows.sqlite-wal")
    with sqlite3.connect(rows) as connection:
        (held,) = connection.execute("SELECT count(*) FROM passages").fetchone()
    connection.close()
    assert held <= 2 * await index.size(BASE)
    assert log.stat().st_size < 1_000_000


async def test_ids_of_the_generation_before_are_still_read_after_a_publish(index: LocalIndex) -> None:
    await fill(index, indexed("a", "all one"), indexed("b", "all two"))
    before = await index.passages(BASE, ["a#0", "b#0"])
    async with index.write(BASE, SIGNATURE) as writer:
        await writer.remove(["a"])
        await writer.publish()

    assert await index.passages(BASE, ["a#0", "b#0"]) == before
    assert await index.neighbours(BASE, [Stretch("a", 0, 0)]) == [[]]


async def test_ids_of_the_build_before_are_still_read_after_a_switch(index: LocalIndex) -> None:
    await fill(index, indexed("a", "all one"), indexed("b", "all two"))
    before = await index.passages(BASE, ["a#0", "b#0"])
    await fill(index, indexed("b", "all new"), signature=OTHER)

    assert [each.terms for each in await index.passages(BASE, ["a#0", "b#0"])] == ["all one", "all new"]
    async with LocalIndex(index._root) as another:
        assert [each.terms for each in await another.passages(BASE, ["a#0", "b#0"])] == ["all new"]
    assert len(before) == 2


async def test_what_was_removed_is_gone_for_good_some_time_after(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_writer, "GRACE_SECONDS", 0.0)
    async with LocalIndex(folder) as index:
        async with index.write(BASE, SIGNATURE) as writer:
            await writer.remove(["d05"])
            await writer.publish()
        async with index.write(BASE, SIGNATURE):
            assert await index.passages(BASE, ["d05#0"]) == []
    (rows,) = (folder / BASE).glob("*/rows.sqlite")
    assert b"d05#0" not in rows.read_bytes()


async def test_a_publish_that_changes_nothing_makes_no_generation(index: LocalIndex, tmp_path: Path) -> None:
    await fill(index, indexed("a", "all one"))
    before = files(tmp_path)
    async with index.write(BASE, SIGNATURE) as writer:
        await writer.remove(["never there"])
        await writer.publish()

    assert files(tmp_path) == before


async def test_an_index_brought_up_to_date_answers_as_one_made_anew(index: LocalIndex, tmp_path: Path) -> None:
    old, new = some_documents(40, seed=1), some_documents(40, seed=2)
    await fill(index, *old)
    await fill(index, *new[20:])
    await fill(index, *reversed(new[:20]))
    search = Search(("w1", "w3", "w50"), direction(5), limit=30)

    async with LocalIndex(tmp_path / "anew") as anew:
        await fill(anew, *new)
        assert await index.search(BASE, search) == await anew.search(BASE, search)


def test_file_names_are_safe_short_and_apart() -> None:
    names = ["a", "A", "a b", "a-b", "a/b", "../a", "", ".", "..", "con", "ä", "x" * 300, "x" * 301, "\0", "\ud800"]
    made = [safe_name(name) for name in names]

    assert len({name.lower() for name in made}) == len(names)
    assert all(0 < len(name) < 80 and name.isascii() and "/" not in name and not name.startswith(".") for name in made)
    assert made[0] == "a"


# --- what goes wrong ------------------------------------------------------------------------------------------------


async def test_an_unreadable_database_is_an_error_with_the_mending_command(folder: Path) -> None:
    (rows,) = (folder / BASE).glob("*/rows.sqlite")
    rows.write_bytes(b"not a database" * 1000)

    async with LocalIndex(folder) as index:
        with pytest.raises(StoreUnavailable, match="footnote index --rebuild"):
            await index.passages(BASE, ["d01#0"])
        with pytest.raises(StoreUnavailable, match="footnote index --rebuild"):
            async with index.write(BASE, SIGNATURE):
                pass
        await index.drop(BASE)
        await fill(index, indexed("a", "all"))
        assert await index.size(BASE) == 1


@pytest.mark.parametrize("pointer", ["", "[]", "{}", "no json"])
async def test_an_unreadable_pointer_is_an_error_with_the_mending_command(folder: Path, pointer: str) -> None:
    IndexFolder(folder, BASE).pointer_path.write_text(pointer, "utf-8")

    async with LocalIndex(folder) as index:
        with pytest.raises(StoreUnavailable, match="footnote index --rebuild"):
            await index.search(BASE, ALL)


async def test_lost_rows_are_an_error_with_the_mending_command(folder: Path) -> None:
    for each in (folder / BASE).glob("*/rows.sqlite*"):
        each.unlink()

    async with LocalIndex(folder) as index:
        with pytest.raises(StoreUnavailable, match="footnote index --rebuild"):
            await index.passages(BASE, ["d01#0"])


@pytest.mark.skipif(not hasattr(os, "pread"), reason="every file is mapped here")
async def test_text_that_cannot_be_read_any_more_is_an_error_in_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "SMALL", 0)
    async with LocalIndex(folder) as index:
        (first, *_) = await index.passages(BASE, ["d01#0"])
        assert first.id == "d01#0"
        (text,) = (folder / BASE).glob("*/*/passages.txt")
        os.truncate(text, 10)

        with pytest.raises(StoreUnavailable, match="cannot be read or written"):
            await index.passages(BASE, ["d02#0"])
        with pytest.raises(StoreUnavailable, match="cannot be read or written"):
            await index.neighbours(BASE, [Stretch("d02", 0, 9)])
        with pytest.raises(StoreUnavailable, match="cannot be read or written"):
            await index.beside(BASE, ALL, Leading(BASE, [], foreign=False, alpha=0.6, coverage=0.4, needed=8, blind=False))


async def test_a_lost_pointer_is_made_again_by_the_next_run(folder: Path) -> None:
    IndexFolder(folder, BASE).pointer_path.unlink()

    async with LocalIndex(folder) as index, index.write(BASE, SIGNATURE) as writer:
        assert await index.search(BASE, ALL) == []
        await writer.publish()
    assert await contents(folder) == expected(0)


async def test_a_folder_that_cannot_be_made_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")

    async with LocalIndex(tmp_path / "file" / "index") as index:
        assert await index.search(BASE, ALL) == []
        with pytest.raises(StoreUnavailable, match="cannot be read or written"):
            async with index.write(BASE, SIGNATURE):
                pass


def test_a_full_disk_is_an_error_in_words_and_loses_no_document(tmp_path: Path) -> None:
    session = Session(IndexFolder(tmp_path, BASE), SIGNATURE, anew=False)
    session.open()
    session.put("a", indexed("a", "all"))
    session._rows._connection.execute("PRAGMA max_page_count = 40")

    with pytest.raises(StoreUnavailable, match="No space is left"), store_errors(BASE):
        session.put("a", indexed("a", *(f"all {number}" for number in range(2000))))

    assert session.counts() == {"a": 1}
    session.publish(switch=False)
    session.close()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "full"), "No space is left"),
        (OSError(errno.EACCES, "no"), "may not be written"),
        (OSError(errno.EROFS, "no"), "may not be written"),
        (OSError(errno.EIO, "broken"), "cannot be read or written"),
        (sqlite3.DatabaseError("odd"), "footnote index --rebuild"),
    ],
)
def test_errors_of_the_system_become_sentences(error: Exception, sentence: str) -> None:
    with pytest.raises(StoreUnavailable, match=sentence) as raised, store_errors(BASE):
        raise error

    assert raised.value.__cause__ is error


async def test_a_vector_of_another_dimension_is_refused(index: LocalIndex) -> None:
    await fill(index, indexed("a", "all"))
    short = direction(1)[:-4]

    with pytest.raises(IndexMismatch, match="64 dimensions, the question's has 63"):
        await index.search(BASE, Search((), short))
    async with index.write(BASE, SIGNATURE) as writer:
        with pytest.raises(IndexMismatch, match="63 dimensions"):
            await writer.put("a", [replace(indexed("a", "all")[0], vector=short)])
        assert await writer.counts() == {"a": 1}


# --- arithmetic -----------------------------------------------------------------------------------------------------


def test_every_score_of_the_lexical_list_is_that_of_bm25s(tmp_path: Path) -> None:
    passages = [each.passage.terms for each in everything(some_documents(300))]
    builder = lexical_list.LexicalBuilder(tmp_path)
    for start in range(0, len(passages), 100):
        builder.add([lexical_list.postings(terms) for terms in passages[start : start + 100]])
    builder.finish()
    ours = lexical_list.LexicalList(tmp_path, len(passages))
    theirs = bm25s.BM25(k1=K1, b=B)
    theirs.index([terms.split() for terms in passages], show_progress=False)

    for word in {word for terms in passages for word in terms.split()}:
        scores = ours.look([word]).scores[: len(passages)]
        assert np.array_equal(scores, theirs.get_scores([word]))


@pytest.fixture
def by_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few enough passages for a test."""
    monkeypatch.setattr(dense_list, "EXACT", 100)
    monkeypatch.setattr(dense_list, "LOOKED_AT", (60, 6))


@pytest.mark.usefixtures("by_codes")
async def test_the_best_by_codes_are_nearly_those_by_cosine_and_their_cosines_are_exact(index: LocalIndex) -> None:
    documents = some_documents(150)
    await fill(index, *documents)
    shared = 0
    for seed in range(20):
        mixed = np.frombuffer(direction(everything(documents)[seed * 7].passage.terms), "<f4") * 2 + np.frombuffer(
            direction(seed), "<f4"
        )
        vector = (mixed / np.linalg.norm(mixed)).astype("<f4").tobytes()
        exact = cosines(everything(documents), vector)
        candidates = [each for each in await index.search(BASE, Search((), vector, limit=10)) if each.dense_rank]
        assert [each.cosine for each in candidates] == pytest.approx([exact[each.id] for each in candidates], abs=1e-5)
        best = sorted(exact, key=lambda name: -exact[name])
        assert min(candidates, key=lambda each: each.dense_rank).id == best[0]
        shared += len({each.id for each in candidates} & set(best[:10]))
    assert shared > 20 * 10 * 0.8


@pytest.mark.usefixtures("by_codes")
async def test_by_codes_passages_without_a_vector_are_passed_over(index: LocalIndex) -> None:
    documents = [without_vectors(each) if number % 3 else each for number, each in enumerate(some_documents(150))]
    await fill(index, *documents)
    present = {each.passage.id for each in everything(documents) if each.vector}

    candidates = await index.search(BASE, Search((), direction(3), limit=len(present)))

    assert {each.id for each in candidates if each.dense_rank} == present


@pytest.mark.usefixtures("by_codes")
async def test_by_codes_many_copies_of_one_vector_are_ranked_in_the_order_of_their_documents(index: LocalIndex) -> None:
    await fill(index, *(indexed(f"d{number:03}", "the same") for number in range(400)), indexed("other", "another"))

    candidates = await index.search(BASE, Search((), direction("the same"), limit=5))

    assert [each.id for each in candidates] == [f"d{number:03}#0" for number in range(5)]


class Prompt(ThreadPoolExecutor):
    """Its thread has begun before anybody could look."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        while not (future.running() or future.done()):
            time.sleep(0)
        return future


class Kept(ThreadPoolExecutor):
    """Its thread has something else to do for ever."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ARG002 - as the other's
        return Future()


@pytest.mark.usefixtures("by_codes")
@pytest.mark.parametrize(("made", "by_another"), [(Prompt, True), (Kept, False)])
async def test_a_long_dense_list_is_looked_through_by_a_thread_beside_if_that_finds_the_time(
    index: LocalIndex, monkeypatch: pytest.MonkeyPatch, made: type[ThreadPoolExecutor], *, by_another: bool
) -> None:
    documents = some_documents(150)
    await fill(index, *documents)
    questions = [direction(each.passage.terms) for each in everything(documents)[::9]]
    searches = [Search((f"w{number}",), vector, limit=10) for number, vector in enumerate(questions)]
    at_once = [await index.search(BASE, each) for each in searches]
    seen: list[bool] = []
    best = dense_list.DenseList.best

    def by(*given: Any) -> Any:
        seen.append(threading.current_thread() is not threading.main_thread())
        return best(*given)

    monkeypatch.setattr(dense_list, "LONG", 100)
    monkeypatch.setattr(dense_list.DenseList, "best", by)
    with made(1) as index.aside:
        found = [await index.search(BASE, each) for each in searches]

    assert found == at_once
    assert seen == [by_another] * len(searches)
    assert any(each.dense_rank for each in at_once[0])
