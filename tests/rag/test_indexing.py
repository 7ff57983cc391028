"""An indexing run, with the real index and the real catalog."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rag.errors import ModelUnavailable, RunInProgress, TooManyRemovals, Unreadable
from rag.intake import IntakeSettings
from rag.splitting import SplitSettings
from rag.types import Problem, Progress, Search
from storage.catalog import DatabaseCatalog
from storage.database import Database
from storage.local_index import LocalIndex
from tests.fakes.sources import CountingEmbedder
from tests.rag.indexing_bench import BASE, Bench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def bench(tmp_path: Path, sqlite_url: str) -> AsyncIterator[Bench]:
    async with Database(sqlite_url) as database, LocalIndex(tmp_path / "index") as index:
        yield Bench(index, DatabaseCatalog(database))


async def test_what_was_indexed_is_found(bench: Bench) -> None:
    progress = await bench.run()

    assert (progress.state, progress.found, progress.done, progress.added, progress.passages) == ("done", 5, 5, 5, 5)
    assert await bench.found("where is the rope") == ["The rope is kept in the rope room."]


async def test_embedding_starts_with_little_and_takes_more_as_it_goes(bench: Bench) -> None:
    bench.intake = IntakeSettings(group=8, first=2)
    bench.source.texts = {f"{number:02}.md": f"Thing number {number} is in a room of its own." for number in range(25)}

    await bench.run()

    assert sorted(bench.embedder.calls) == [2, 3, 4, 8, 8]


async def test_an_unchanged_document_is_neither_read_nor_embedded(bench: Bench) -> None:
    await bench.run()

    progress = await bench.run()

    assert (bench.source.read_ids, bench.embedder.embedded) == ([], [])
    assert (progress.unchanged, progress.passages) == (5, 5)


async def test_a_document_that_was_only_touched_is_read_and_not_embedded(bench: Bench) -> None:
    await bench.run()
    bench.source.stamps["rope.md"] = "touched"

    progress = await bench.run()

    assert (bench.source.read_ids, bench.embedder.embedded) == (["rope.md"], [])
    assert (progress.changed, progress.unchanged) == (0, 5)


async def test_of_a_changed_document_only_the_changed_passage_is_embedded(bench: Bench) -> None:
    paragraphs = [f"Paragraph {number} tells at some length about thing number {number}." for number in range(6)]
    bench.source.texts["long.md"] = "\n\n".join(paragraphs)
    await bench.run()
    paragraphs[3] = "Paragraph 3 now tells at quite some length about an anchor."
    bench.source.texts["long.md"] = "\n\n".join(paragraphs)

    progress = await bench.run()

    assert len(bench.embedder.embedded) == 1
    assert "anchor" in bench.embedder.embedded[0]
    assert progress.changed == 1
    assert await bench.found("anchor") == [paragraphs[3]]


async def test_two_documents_that_swap_contents_are_both_updated(bench: Bench) -> None:
    await bench.run()
    texts = bench.source.texts
    texts["rope.md"], texts["sail.md"] = texts["sail.md"], texts["rope.md"]

    progress = await bench.run()
    candidates = await bench.index.search(BASE, Search(("rope",)))
    passages = await bench.index.passages(BASE, [one.id for one in candidates])

    assert progress.changed == 2
    assert bench.embedder.embedded == []
    assert [passage.document for passage in passages] == ["sail.md"]


async def test_a_renamed_document_keeps_its_embeddings_and_is_not_counted_as_lost(bench: Bench) -> None:
    bench.max_removed = 0.0
    await bench.run()
    bench.source.texts["cable.md"] = bench.source.texts.pop("rope.md")

    progress = await bench.run()

    assert bench.embedder.embedded == []
    assert (progress.added, progress.removed) == (1, 0)
    assert await bench.found("rope") == ["The rope is kept in the rope room."]


async def test_a_document_that_vanished_is_removed(bench: Bench) -> None:
    await bench.run()
    del bench.source.texts["rope.md"]

    progress = await bench.run()

    assert progress.removed == 1
    assert await bench.found("rope") == []
    assert await bench.index.size(BASE) == 4


async def test_a_run_that_would_remove_too_much_stops_and_says_so(bench: Bench) -> None:
    await bench.run()
    del bench.source.texts["rope.md"], bench.source.texts["sail.md"]

    with pytest.raises(TooManyRemovals, match=r"Of base 'handbook', 2 of 5 documents are gone.*--allow-removals"):
        await bench.run()

    assert await bench.found("rope") == ["The rope is kept in the rope room."]
    assert (await bench.run(allow_removals=True)).removed == 2
    assert await bench.found("rope") == []


async def test_a_run_that_finds_nothing_stops_even_when_all_may_be_removed(bench: Bench) -> None:
    bench.max_removed = 1.0
    await bench.run()
    bench.source.texts.clear()

    with pytest.raises(TooManyRemovals, match="No document of base 'handbook' was found"):
        await bench.run()

    assert await bench.index.size(BASE) == 5


async def test_a_rebuild_over_a_folder_that_is_not_there_stops_too(bench: Bench) -> None:
    await bench.run()
    bench.source.texts.clear()
    bench.splitting = SplitSettings(30, 60)

    with pytest.raises(TooManyRemovals):
        await bench.run()

    assert await bench.index.size(BASE) == 5


async def test_an_unreadable_document_is_reported_by_name_and_stops_nothing(bench: Bench) -> None:
    bench.source.texts["scan.pdf"] = Unreadable("scan.pdf", "it holds no text: a scan, perhaps")
    bench.source.unlisted = [Problem("nowhere/", "no file matches it")]

    progress = await bench.run()

    assert progress.state == "done"
    assert set(progress.problems) == {
        Problem("scan.pdf", "it holds no text: a scan, perhaps"),
        Problem("nowhere/", "no file matches it"),
    }
    assert await bench.index.size(BASE) == 5


async def test_what_was_indexed_of_a_document_stays_while_it_cannot_be_read(bench: Bench) -> None:
    await bench.run()
    bench.source.texts["rope.md"] = Unreadable("rope.md", "it is encrypted")

    progress = await bench.run()

    assert progress.problems == (Problem("rope.md", "it is encrypted; what was indexed of it before stays"),)
    assert await bench.found("rope") == ["The rope is kept in the rope room."]


async def test_a_document_that_could_not_be_read_is_tried_again(bench: Bench) -> None:
    text = bench.source.texts["rope.md"]
    bench.source.texts["rope.md"] = Unreadable("rope.md", "it is locked")
    bench.source.stamps["rope.md"] = "same"
    await bench.run()
    bench.source.texts["rope.md"] = text

    assert (await bench.run()).problems == ()
    assert await bench.found("rope") == ["The rope is kept in the rope room."]


async def test_a_run_whose_embedder_fails_keeps_what_it_wrote_and_the_next_one_finishes(bench: Bench) -> None:
    bench.embedder.failures = [ModelUnavailable("the embedder is gone")]

    with pytest.raises(ModelUnavailable, match="the embedder is gone"):
        await bench.run()
    failed = await bench.catalog.progress(BASE)
    progress = await bench.run()

    assert failed is not None
    assert (failed.state, failed.error) == ("failed", "the embedder is gone")
    assert (progress.state, await bench.index.size(BASE)) == ("done", 5)


async def test_another_embedder_rebuilds_beside_and_switches_when_complete(bench: Bench) -> None:
    await bench.run()
    bench.embedder = CountingEmbedder("other", 16)
    bench.embedder.failures = [ModelUnavailable("not now")]
    with pytest.raises(ModelUnavailable):
        await bench.run()
    half_way = await bench.index.signature(BASE), await bench.found("rope")

    progress = await bench.run()
    signature = await bench.index.signature(BASE)

    assert half_way[0] is not None
    assert (half_way[0].embedder, half_way[1]) == ("counting", ["The rope is kept in the rope room."])
    assert signature is not None
    assert (signature.embedder, signature.dimension) == ("other", 16)
    assert progress.added == 5
    assert len(bench.embedder.embedded) == 5
    assert await bench.found("rope") == ["The rope is kept in the rope room."]


async def test_another_splitter_embeds_nothing_whose_text_stays_the_same(bench: Bench) -> None:
    await bench.run()
    bench.splitting = SplitSettings(30, 60)

    await bench.run()

    assert bench.embedder.embedded == []
    assert await bench.index.size(BASE) == 5


async def test_a_rebuild_is_made_beside_and_takes_nothing_from_what_was_there(bench: Bench) -> None:
    await bench.run()
    before = await bench.index.live(BASE)
    bench.embedder.failures = [ModelUnavailable("not now")]
    with pytest.raises(ModelUnavailable):
        await bench.run(rebuild=True)
    half_way = await bench.index.live(BASE), await bench.found("rope")

    progress = await bench.run(rebuild=True)

    assert half_way == (before, ["The rope is kept in the rope room."])
    assert await bench.index.live(BASE) not in ("", before)
    assert (progress.added, progress.passages, len(bench.embedder.embedded)) == (5, 5, 5)
    assert await bench.found("rope") == ["The rope is kept in the rope room."]


async def test_after_a_rebuild_that_was_broken_off_the_next_run_goes_on_with_the_index_that_answers(bench: Bench) -> None:
    await bench.run()
    before = await bench.index.live(BASE)
    bench.embedder.failures = [ModelUnavailable("not now")]
    with pytest.raises(ModelUnavailable):
        await bench.run(rebuild=True)

    progress = await bench.run()

    assert (await bench.index.live(BASE), progress.unchanged, bench.embedder.embedded) == (before, 5, [])


async def test_a_rebuild_that_would_lose_too_much_stops_too(bench: Bench) -> None:
    await bench.run()
    del bench.source.texts["rope.md"], bench.source.texts["sail.md"]

    with pytest.raises(TooManyRemovals):
        await bench.run(rebuild=True)

    assert await bench.found("rope") == ["The rope is kept in the rope room."]
    assert (await bench.run(rebuild=True, allow_removals=True)).removed == 2


@pytest.mark.parametrize("what", ["rows.sqlite", "current"])
async def test_a_rebuild_mends_an_index_that_is_damaged(bench: Bench, tmp_path: Path, what: str) -> None:
    await bench.run()
    damage(tmp_path, what)

    progress = await bench.run(rebuild=True)

    assert (progress.state, await bench.index.size(BASE)) == ("done", 5)
    assert await bench.found("rope") == ["The rope is kept in the rope room."]


def damage(folder: Path, name: str) -> None:
    for path in folder.rglob(name):
        path.write_bytes(b"no longer what it was" * 1000)
    for path in folder.rglob("rows.sqlite-*"):
        path.unlink()


async def test_a_second_run_of_the_same_base_is_told_of_the_first(bench: Bench) -> None:
    held = asyncio.Event()
    async with bench.catalog.lease(BASE, "somebody else"):
        held.set()
        with pytest.raises(RunInProgress):
            await bench.run()

    assert (await bench.run()).state == "done"


async def test_progress_is_told_from_listing_to_done(bench: Bench) -> None:
    told: list[Progress] = []

    await bench.indexer.run(told.append)

    assert [told[0].state, told[1].state, told[-2].state, told[-1].state] == ["listing", "indexing", "publishing", "done"]
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert await bench.catalog.progress(BASE) == told[-1]


async def test_what_follows_a_run_follows_only_one_that_changed_something(bench: Bench) -> None:
    await bench.run()
    await bench.run()

    assert bench.afterwards == 1


async def test_what_goes_wrong_after_a_run_is_a_remark_on_a_good_one(bench: Bench) -> None:
    bench.after_failures = [ModelUnavailable("the embedder is gone")]

    progress = await bench.run()

    assert (progress.state, await bench.index.size(BASE)) == ("done", 5)
    assert progress.remark == (
        "The index is good, but its threshold could not be set (the embedder is gone). Run: footnote calibrate"
    )
    assert await bench.catalog.progress(BASE) == progress


async def test_a_preview_of_what_a_run_would_refuse_says_so(bench: Bench) -> None:
    await bench.run()
    del bench.source.texts["rope.md"], bench.source.texts["sail.md"]

    assert "Of base 'handbook', 2 of 5 documents are gone" in (await bench.indexer.preview()).refusal
    assert (await bench.indexer.preview(allow_removals=True)).refusal == ""


async def test_a_preview_writes_nothing_and_does_not_mind_a_run(bench: Bench, tmp_path: Path) -> None:
    plan = (await bench.indexer.preview()).plan
    untouched = builds(tmp_path)
    await bench.run()
    bench.splitting = SplitSettings(30, 60)
    before = builds(tmp_path)
    async with bench.catalog.lease(BASE, "somebody else"):
        other = (await bench.indexer.preview()).plan
    rebuilt = (await bench.indexer.preview(rebuild=True)).plan

    assert [len(each.to_read) for each in (plan, other, rebuilt)] == [5, 5, 5]
    assert (untouched, builds(tmp_path)) == ([], before)


def builds(folder: Path) -> list[str]:
    """All that an index keeps; SQLite's own files beside a database come and go with who reads it."""
    return sorted(str(path) for path in (folder / "index").rglob("*") if not path.name.startswith("rows.sqlite-"))


async def test_a_preview_changes_nothing(bench: Bench) -> None:
    await bench.run()
    bench.source.texts["new.md"] = "Something new."
    del bench.source.texts["rope.md"]
    bench.source.read_ids.clear()

    plan = (await bench.indexer.preview()).plan

    assert [offer.listing.id for offer in plan.to_read] == ["new.md"]
    assert plan.vanished == ("rope.md",)
    assert bench.source.read_ids == []
    assert await bench.found("rope") == ["The rope is kept in the rope room."]


async def test_a_cancelled_run_says_so_and_the_next_one_finishes(bench: Bench) -> None:
    def cancel(_: Progress) -> None:
        run.cancel()

    run = asyncio.create_task(bench.indexer.run(cancel))
    with pytest.raises(asyncio.CancelledError):
        await run
    cancelled = await bench.catalog.progress(BASE)

    assert cancelled is not None
    assert cancelled.state == "cancelled"
    assert (await bench.run()).state == "done"
    assert await bench.index.size(BASE) == 5
