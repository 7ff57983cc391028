"""Commands, worded once: what they do, and how their progress is shown."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bots.administering import Administration, is_command, live
from rag.errors import BadSetting, PostLater
from rag.types import Answer, Entry, Place, Problem, Progress, Run, Thread, Turn
from storage.catalog import DatabaseCatalog
from storage.conversations import DatabaseMemory
from tests.fakes.indexes import MemoryIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.ports import OnProgress
    from storage.database import Database

THREAD = Thread(Place("slack", "T1", "C1"), "100.1")


class ScriptedRuns:
    def __init__(self) -> None:
        self.stages: list[Progress] = []
        self.broken: set[str] = set()
        self.pause = 0.02

    async def start_or_join(self, base: str, on_progress: OnProgress | None = None) -> Progress:
        if base in self.broken:
            raise BadSetting(f"The base {base!r} has no sources.")
        for stage in self.stages:
            assert on_progress is not None
            on_progress(stage)
            await asyncio.sleep(self.pause)
        return Progress(
            base, state="done", found=3, done=3, added=3, passages=9, embedded=9, problems=(Problem("a.pdf", "no text"),)
        )

    async def cancel(self, base: str) -> Progress | None:
        return Progress(base, found=10, done=4) if base == "handbook" else None


class BuiltIndex(MemoryIndex):
    async def live(self, base: str) -> str:
        return f"{base}-1"


class Footnote:
    def __init__(self, database: Database) -> None:
        self.memory = DatabaseMemory(database)
        self.catalog = DatabaseCatalog(database)
        self.index = BuiltIndex()
        self.runs = ScriptedRuns()
        self.names = ["handbook", "api"]


class Screen:
    def __init__(self) -> None:
        self.shown: list[str] = []
        self.fails = False

    async def show(self, text: str) -> None:
        self.shown.append(text)
        if self.fails:
            raise PostLater("ratelimited")


@pytest.fixture
def footnote(database: Database) -> Footnote:
    return Footnote(database)


async def said(footnote: Footnote, text: str, bases: Sequence[str] = ("handbook", "api"), screen: Screen | None = None) -> str:
    admin = Administration(footnote)  # type: ignore[arg-type]  # only what commands need
    return await admin.carry_out(text, bases=bases, thread=THREAD, show=(screen or Screen()).show, pace=0.01)


async def test_reindex_shows_a_bar_and_ends_with_what_changed(footnote: Footnote) -> None:
    footnote.runs.stages = [Progress("handbook"), Progress("handbook", found=10, done=5, passages=7)]
    screen = Screen()

    told = await said(footnote, "reindex handbook", screen=screen)

    assert screen.shown[0] == "handbook: looking for documents"
    assert screen.shown[-1].startswith("`██████████░░░░░░░░░░` 50%\nhandbook: 5 of 10 documents, 7 passages")
    assert told.startswith("handbook: 3 added, 1 could not be read; 3 documents, 9 passages")
    assert "- not indexed: a.pdf: no text" in told


async def test_what_files_are_called_mentions_nobody_and_leads_nowhere(footnote: Footnote) -> None:
    await footnote.catalog.record(
        "handbook",
        "handbook-1",
        [Entry("@everyone https://evil.example.md", "s", passages=1), Entry("<!here>.md", "s", error="`x`")],
    )

    told = await said(footnote, "sources handbook")

    assert "- @\u200beveryone evil.example.md: 1 passage" in told
    assert "- not indexed: ‹!here›.md: 'x'" in told


async def test_a_base_that_fails_keeps_no_other_from_being_indexed(footnote: Footnote) -> None:
    footnote.runs.broken = {"handbook"}

    told = await said(footnote, "reindex")

    assert "The base 'handbook' has no sources." in told
    assert "api: 3 added" in told


async def test_progress_that_cannot_be_shown_breaks_no_run(footnote: Footnote) -> None:
    footnote.runs.stages = [Progress("handbook", found=2, done=1)]
    screen = Screen()
    screen.fails = True

    assert "3 added" in await said(footnote, "reindex handbook", screen=screen)


async def test_only_bases_that_may_be_spoken_of_are_named(footnote: Footnote) -> None:
    assert await said(footnote, "reindex salaries", ["handbook"]) == (
        "There is no knowledge base 'salaries' here. There are: handbook."
    )
    assert "api" not in await said(footnote, "status", ["handbook"])


async def test_cancel_says_how_far_it_was(footnote: Footnote) -> None:
    told = await said(footnote, "cancel")

    assert "handbook: the run is being cancelled after 4 of 10 documents" in told
    assert "api: no run is under way." in told


async def test_status_and_sources_say_what_is_indexed(footnote: Footnote) -> None:
    await footnote.catalog.record("handbook", await footnote.index.live("handbook"), [Entry("leave.md", "s", passages=2)])

    assert "handbook: 1 document" in await said(footnote, "status")
    assert "- leave.md: 2 passages, just now" in await said(footnote, "sources handbook")


async def test_forget_forgets_this_thread(footnote: Footnote) -> None:
    await footnote.memory.remember(THREAD, Turn("user", "Hi"), Answer("Hello"), _run())

    assert await said(footnote, "forget") == "Forgot 2 turns of this thread."
    assert await said(footnote, "forget") == "There was nothing to forget."


async def test_anything_else_gets_the_list_of_commands(footnote: Footnote) -> None:
    assert "**reindex**" in await said(footnote, "hello")


@pytest.mark.parametrize("text", ["reindex", "Reindex handbook", "status", " forget. ", "help", "cancel api"])
def test_a_command_is_its_words_alone(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize("text", ["how do I reindex?", "status of the project", "forget it, how do I log in", "sources?", ""])
def test_a_question_that_begins_like_a_command_is_a_question(text: str) -> None:
    assert not is_command(text)


def test_without_a_total_there_is_no_bar() -> None:
    assert live(Progress("handbook")) == "handbook: looking for documents"


def _run() -> Run:
    return Run("r", "question", datetime.now(UTC), 0.0)
