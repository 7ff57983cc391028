"""The contract of Catalog, over every database."""

from dataclasses import replace
from datetime import UTC, datetime

from rag.ports import Catalog
from rag.types import Entry, Problem, Progress

NOW = datetime(2026, 11, 30, 12, 0, 0, 1, UTC)
ENTRY = Entry("leave.md", "1700000000-120", "sha256:ab", "Leave, [and] `more`", "https://x.org/leave", 12, "", NOW)
BROKEN = Entry("scan.pdf", "1700000000-9", error="scan.pdf: it holds no text", indexed_at=NOW)
PROGRESS = Progress(
    "handbook", "run-1", "indexing", 900, 120, 60, 20, 40, 3, 1234, 1000, 12.5, (Problem("scan.pdf", "no text \0 \ud800"),)
)


# --- entries --------------------------------------------------------------------------------------------------------


async def test_an_unknown_base_has_no_entries(catalog: Catalog) -> None:
    assert await catalog.entries("handbook", "1") == {}


async def test_entries_come_back_equal(catalog: Catalog) -> None:
    await catalog.record("handbook", "1", [ENTRY, BROKEN])

    assert await catalog.entries("handbook", "1") == {"leave.md": ENTRY, "scan.pdf": BROKEN}


async def test_an_entry_without_a_time_is_given_the_time_of_recording(catalog: Catalog) -> None:
    await catalog.record("handbook", "1", [replace(ENTRY, indexed_at=None)])

    found = (await catalog.entries("handbook", "1"))["leave.md"].indexed_at
    assert found is not None
    assert abs((datetime.now(UTC) - found).total_seconds()) < 60


async def test_recording_again_replaces_an_entry(catalog: Catalog) -> None:
    await catalog.record("handbook", "1", [ENTRY, BROKEN])
    await catalog.record("handbook", "1", [replace(ENTRY, digest="sha256:cd", passages=3)])

    assert await catalog.entries("handbook", "1") == {
        "leave.md": replace(ENTRY, digest="sha256:cd", passages=3),
        "scan.pdf": BROKEN,
    }


async def test_bases_and_builds_are_kept_apart(catalog: Catalog) -> None:
    for base, build in (("handbook", "1"), ("handbook", "2"), ("api", "1")):
        await catalog.record(base, build, [replace(ENTRY, title=f"{base} {build}")])

    await catalog.remove("handbook", "1", ["leave.md"])

    assert await catalog.entries("handbook", "1") == {}
    assert (await catalog.entries("handbook", "2"))["leave.md"].title == "handbook 2"
    assert (await catalog.entries("api", "1"))["leave.md"].title == "api 1"


async def test_only_one_build_is_kept(catalog: Catalog) -> None:
    for base, build in (("handbook", "1"), ("handbook", "2"), ("api", "1")):
        await catalog.record(base, build, [ENTRY])

    await catalog.keep_only("handbook", "2")

    assert [len(await catalog.entries(*at)) for at in (("handbook", "1"), ("handbook", "2"), ("api", "1"))] == [0, 1, 1]


async def test_a_thousand_documents_are_recorded_and_removed(catalog: Catalog) -> None:
    entries = [replace(ENTRY, document=f"docs/{n}.md") for n in range(1203)]
    await catalog.record("handbook", "1", entries)
    await catalog.record("handbook", "1", [])
    await catalog.remove("handbook", "1", [entry.document for entry in entries[:1100]])
    await catalog.remove("handbook", "1", [])

    assert await catalog.entries("handbook", "1") == {entry.document: entry for entry in entries[1100:]}


async def test_names_that_no_database_can_keep_are_kept_well_formed(catalog: Catalog) -> None:
    await catalog.record("handbook", "1", [replace(ENTRY, document="a\0b\udcff", title="\ud800", error="\0")])

    (entry,) = (await catalog.entries("handbook", "1")).values()
    assert (entry.document, entry.title, entry.error) == ("ab\ufffd", "\ufffd", "")
    await catalog.remove("handbook", "1", ["a\0b\udcff"])
    assert await catalog.entries("handbook", "1") == {}


# --- values kept by name --------------------------------------------------------------------------------------------


async def test_what_was_never_remembered_is_none(catalog: Catalog) -> None:
    assert await catalog.remembered("calibration") is None


async def test_a_remembered_value_comes_back_equal_and_is_replaced_by_the_next(catalog: Catalog) -> None:
    await catalog.remember("calibration", {"threshold": 0.123456789, "of": ["a", None, True], "text": "\0\ud800 é"})
    assert await catalog.remembered("calibration") == {"threshold": 0.123456789, "of": ["a", None, True], "text": "\0\ud800 é"}

    await catalog.remember("calibration", {})
    assert await catalog.remembered("calibration") == {}


# --- progress -------------------------------------------------------------------------------------------------------


async def test_a_base_that_was_never_indexed_has_no_progress(catalog: Catalog) -> None:
    assert await catalog.progress("handbook") is None


async def test_progress_comes_back_equal(catalog: Catalog, other: Catalog) -> None:
    await catalog.report(PROGRESS)

    assert await other.progress("handbook") == PROGRESS
    assert await other.progress("api") is None
    assert await other.progress("handbook", "run-1") == PROGRESS
    assert await other.progress("handbook", "run-2") is None


async def test_the_newest_run_counts_as_last_reported(catalog: Catalog) -> None:
    await catalog.report(Progress("handbook", "zzz"))
    await catalog.report(Progress("handbook", "aaa"))
    await catalog.report(Progress("api", "b"))
    await catalog.report(Progress("handbook", "zzz", "done", error="late"))

    assert await catalog.progress("handbook") == Progress("handbook", "aaa")

    await catalog.report(Progress("handbook", "aaa", "failed", found=3, error="it broke"))
    assert await catalog.progress("handbook") == Progress("handbook", "aaa", "failed", found=3, error="it broke")


async def test_when_a_run_last_ended_well_is_known(catalog: Catalog) -> None:
    await catalog.report(replace(PROGRESS, run="a", state="failed"))
    assert await catalog.last_done("handbook") is None

    await catalog.report(replace(PROGRESS, run="b", state="done"))
    await catalog.report(replace(PROGRESS, run="c", state="indexing"))

    done = await catalog.last_done("handbook")
    assert done is not None
    assert abs((datetime.now(UTC) - done).total_seconds()) < 60
    assert await catalog.last_done("api") is None


async def test_a_remark_on_a_run_comes_back(catalog: Catalog) -> None:
    await catalog.report(replace(PROGRESS, remark="The index is good, but …"))

    assert await catalog.progress("handbook") == replace(PROGRESS, remark="The index is good, but …")
