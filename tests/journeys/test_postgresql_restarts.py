"""A real PostgreSQL server that is stopped or killed in the middle of things and started again (P1, P3, R4, I12)."""

from __future__ import annotations

import asyncio
import json
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select

from bots.desk import Desk as QuestionDesk
from bots.desk import DeskSettings
from rag.errors import StoreUnavailable
from rag.types import Place, Question, Thread, Usage
from storage.catalog import DatabaseCatalog
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from storage.local_index import LocalIndex
from storage.schema import answers, questions
from tests.fakes.surfaces import ScriptedCore, ScriptedSurface, Wall
from tests.fakes.writers import ScriptedWriter
from tests.journeys.terminal import WITHOUT_MODELS
from tests.journeys.test_postgresql import write_handbook
from tests.rag.talking import HANDBOOK, LEAVE, LEAVE_ANSWER, THREAD, Desk

if TYPE_CHECKING:
    import subprocess
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from sqlalchemy import Table

    from rag.types import Piece, Prompt
    from tests.databases import OwnPostgres
    from tests.journeys.terminal import Terminal

WAYS = ["stop", "kill"]
APOLOGY = "I cannot reach my documents just now. Please ask again in a moment."
PATIENT = DeskSettings(lease_seconds=3.0, sweep_seconds=0.2, drain_seconds=2.0, patience_seconds=0.2)

pytestmark = pytest.mark.timeout(300)  # servers start, on a machine that may be busy


class HeldWriter(ScriptedWriter):
    """Says half of each answer, and the other half once it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()

    async def write(self, prompt: Prompt) -> AsyncIterator[Piece]:
        self.prompts.append(prompt)
        yield LEAVE_ANSWER[:20]
        self.begun.set()
        await self.go_on.wait()
        yield LEAVE_ANSWER[20:]
        yield Usage(self.name, 1, 1, "complete")


async def ended(server: OwnPostgres, how: str) -> None:
    await asyncio.to_thread(server.end, how)


async def started(server: OwnPostgres) -> None:
    await asyncio.to_thread(server.start)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - of anything a test looks at
            await asyncio.sleep(0.02)


async def rows(database: Database, table: Table) -> int:
    return int(await database.read(lambda connection: connection.execute(select(func.count()).select_from(table)).scalar_one()))


@pytest.mark.parametrize("how", WAYS)
async def test_a_server_that_is_back_before_the_answer_is_whole_is_not_missed(
    how: str, tmp_path: Path, own_postgres: OwnPostgres
) -> None:
    async with LocalIndex(tmp_path) as index, Database(own_postgres.url) as database:
        desk, writer = Desk(database, index), HeldWriter()
        await desk.know(HANDBOOK)
        asked = asyncio.create_task(desk.talk(writer=writer).reply(THREAD, LEAVE))
        await writer.begun.wait()

        await ended(own_postgres, how)
        await started(own_postgres)
        writer.go_on.set()

        assert "25 days" in (await asked).text
        assert [role for role, _, _ in await desk.said()] == ["user", "assistant"]
        assert (await rows(database, questions), await rows(database, answers)) == (1, 1)


@pytest.mark.parametrize("how", WAYS)
async def test_while_it_is_away_who_asked_reads_an_apology_and_afterwards_all_goes_on(
    how: str, tmp_path: Path, own_postgres: OwnPostgres
) -> None:
    async with LocalIndex(tmp_path) as index, Database(own_postgres.url) as database:
        desk, writer = Desk(database, index), HeldWriter()
        await desk.know(HANDBOOK)
        asked = asyncio.create_task(desk.talk(writer=writer).reply(THREAD, LEAVE))
        await writer.begun.wait()
        await ended(own_postgres, how)
        writer.go_on.set()

        with pytest.raises(StoreUnavailable) as told:
            await asked
        with pytest.raises(StoreUnavailable) as told_again:
            await desk.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)
        assert {told.value.user_message, told_again.value.user_message} == {APOLOGY}
        assert re.fullmatch(r"The database postgresql://footnote@127\.0\.0\.1:\d+/postgres [^.]+\.", str(told_again.value))

        await started(own_postgres)
        assert (await desk.said(), await rows(database, answers)) == ([], 0)
        assert "25 days" in (await desk.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)).text
        assert [role for role, _, _ in await desk.said()] == ["user", "assistant"]


@pytest.mark.parametrize("how", WAYS)
async def test_what_was_asked_in_a_chat_is_answered_once_when_the_server_is_back(how: str, own_postgres: OwnPostgres) -> None:
    """One question is half answered when the server goes, one waits; both were acknowledged to the platform."""
    async with Database(own_postgres.url) as database:
        inbox, memory, wall = DatabaseInbox(database), DatabaseMemory(database), Wall()
        core = ScriptedCore(memory)
        core.gate.clear()
        thread = Thread(Place("slack", "T1", "C1"), "7.1")
        async with QuestionDesk(
            inbox=inbox, memory=memory, conversation=core, surfaces={"slack": ScriptedSurface(wall)}, settings=PATIENT
        ) as running:
            for number in ("7.1", "7.2"):
                assert await running.ask(Question("", thread, f"leave {number}?", "Ann", person="U1", message=number))
            await until(lambda: bool(core.asked))
            await ended(own_postgres, how)
            core.gate.set()
            await asyncio.sleep(1.0)  # it tries to store the answer meanwhile
            await started(own_postgres)

            await until(lambda: len(wall.of(thread)) == 2)
            await running.settled()

        assert wall.of(thread) == ["About leave 7.1?", "About leave 7.2?"]
        assert (await rows(database, questions), await rows(database, answers)) == (2, 2)
        asked = [await inbox.asked(thread.place, number) for number in ("7.1", "7.2")]
        assert [each.state for each in asked if each] == ["delivered", "delivered"]


@pytest.mark.parametrize("how", WAYS)
async def test_processes_that_index_and_ask_lose_nothing_and_double_nothing(
    how: str, empty: Terminal, own_postgres: OwnPostgres
) -> None:
    """The run under way may fail, in one plain sentence; the next one goes on. Whoever asks stays, and is answered again."""
    write_handbook(empty.folder / "handbook", 8)
    shared = {**WITHOUT_MODELS, "DATABASE_URL": own_postgres.url}
    assert empty.run("index", "handbook", **shared).status == 0
    write_handbook(empty.folder / "handbook" / "more", 150)
    asking = empty.start("ask", "--json", FOOTNOTE_RETRIEVAL__THRESHOLD="0", **shared)
    assert "25 days" in str(ask(asking)["answer"])

    run = empty.start("index", **shared)
    await under_way(own_postgres.url)
    await ended(own_postgres, how)
    away = ask(asking)
    out, err = await asyncio.to_thread(run.communicate, timeout=100)
    await started(own_postgres)
    back = ask(asking)
    _, said = await asyncio.to_thread(asking.communicate, timeout=100)

    assert "cannot be reached" in str(away)
    assert "25 days" in str(back["answer"])
    assert b"Traceback" not in out + err + said
    assert run.returncode == 1
    assert re.fullmatch(rb"footnote: The database \S+ [^.\n]+\.", err.splitlines()[-1])
    again = empty.run("index", **shared)
    assert (again.status, again.err) == (0, "")
    assert re.search(r"\b474 documents\b", empty.run("index", **shared).out)
    async with Database(own_postgres.url) as database, LocalIndex(empty.folder / ".footnote" / "index") as index:
        assert await index.size("default") == 474
        assert len(await DatabaseCatalog(database).entries("default", await index.live("default"))) == 474
        assert (await rows(database, questions), await rows(database, answers)) == (2, 2)


def ask(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The next thing that it prints."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{LEAVE}\n".encode())
    process.stdin.flush()
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


async def under_way(url: str) -> None:
    """Until the run has written some of its documents, and not all."""
    until = time.monotonic() + 60
    async with Database(url) as database:
        catalog = DatabaseCatalog(database)
        while time.monotonic() < until:
            progress = await catalog.running("default")
            if progress is not None and progress.done > 10:
                return
            await asyncio.sleep(0.02)
    pytest.fail("the run did not begin")
