"""How the tables came about, on both databases, from the first schema on."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, column, insert, inspect, select, table, text

from rag.errors import BadSetting
from rag.types import Place, Thread
from storage import migrations
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from storage.schema import feedback, metadata
from tests.storage import first_schema

ROOT = Path(__file__).parents[2]


def test_the_newest_revision_is_the_one_that_a_start_compares_with() -> None:
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))

    assert scripts.get_heads() == [migrations.HEAD]


async def test_the_migrated_tables_are_those_of_the_schema(blank_database_url: str) -> None:
    async with Database(blank_database_url) as database:
        assert await database.read(_differences) == []


async def _filled(url: str, version: str, *works: Callable[[Connection], object]) -> None:
    """A database of an earlier version, with what was written there then."""
    first = Database(url)
    try:
        await first._engine.open()
        await first._engine.migrate(partial(migrations.upgrade, to=version))
        for work in works:
            await first._engine.write(work)
    finally:
        await first._engine.close()


async def test_data_of_the_first_schema_is_still_there_at_the_newest(blank_database_url: str) -> None:
    await _filled(blank_database_url, "0001", first_schema.fill)

    async with Database(blank_database_url) as database:
        assert await database.read(migrations.stored_version) == migrations.HEAD
        assert await database.read(_differences) == []
        await first_schema.check(database)


async def test_which_answers_abstained_is_known_of_those_given_before_turns_told(blank_database_url: str) -> None:
    await _filled(
        blank_database_url,
        "0001",
        first_schema.fill,
        lambda connection: connection.execute(text("UPDATE answers SET abstained = true")),
    )

    async with Database(blank_database_url) as database:
        turns = await DatabaseMemory(database).recall(Thread(Place("slack", "T1", "C1"), "100.1"), 10)

    assert [(turn.role, turn.abstained) for turn in turns] == [("user", False), ("assistant", True)]


async def test_what_people_thought_of_an_answer_stays_with_it_when_its_question_becomes_its_key(blank_database_url: str) -> None:
    await _filled(blank_database_url, "0004", first_schema.fill, _another_answer)

    async with Database(blank_database_url) as database:
        rows = await database.read(lambda c: c.execute(select(feedback.c.question_id, feedback.c.person, feedback.c.verdict)).all())
        judged = await DatabaseInbox(database).judge("7", "U1", 1)
        again = await database.read(lambda c: c.execute(select(feedback.c.verdict).where(feedback.c.question_id == 7)).all())

    assert sorted(map(tuple, rows)) == [(7, "U1", -1), (first_schema._QUESTION, "U1", 1)]
    assert (judged, again) == (True, [(1,)])


async def test_a_database_is_migrated_once_however_many_processes_start_at_once(blank_database_url: str) -> None:
    code = "import asyncio, sys; from storage.database import Database; asyncio.run(Database(sys.argv[1]).__aenter__())"
    command = [sys.executable, "-c", code, blank_database_url]
    starts = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(4)]  # noqa: S603, ASYNC220

    assert [(await asyncio.to_thread(start.communicate))[1] for start in starts] == [""] * 4
    async with Database(blank_database_url) as database:
        assert await database.read(_differences) == []


async def test_an_up_to_date_database_is_opened_without_alembic(database_url: str) -> None:
    code = (
        "import asyncio, sys; from storage.database import Database\n"
        "async def main():\n    async with Database(sys.argv[1]): print('alembic' in sys.modules)\n"
        "asyncio.run(main())"
    )
    command = [sys.executable, "-c", code, database_url]
    done = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


async def test_a_newer_schema_is_refused_and_left_alone(database_url: str) -> None:
    async with Database(database_url) as database:
        await database.write(lambda connection: connection.execute(text("UPDATE footnote_version SET version_num = '9999'")))
    try:
        with pytest.raises(BadSetting, match=r"made by a newer version of Footnote \(schema 9999, this one knows \d{4}\)"):
            await Database(database_url).__aenter__()
    finally:
        await _set_version(database_url, migrations.HEAD)


# --- help ---


def _differences(connection: Connection) -> list[object]:
    options = {"version_table": migrations.VERSION_TABLE, "compare_server_default": True}
    context = MigrationContext.configure(connection, opts={**options, "target_metadata": metadata})
    found: list[object] = compare_metadata(context, metadata)
    extra = set(inspect(connection).get_table_names()) - set(metadata.tables) - {migrations.VERSION_TABLE}
    return [*found, *extra]


def _another_answer(connection: Connection) -> None:
    _copied(connection, "questions", id=7, message="100.7")
    _copied(connection, "answers", id=9, question_id=7)
    _copied(connection, "feedback", id=9, answer_id=9, verdict=-1)


def _copied(connection: Connection, name: str, **changed: object) -> None:
    row = {**connection.execute(text(f"SELECT * FROM {name}")).mappings().one(), **changed}  # noqa: S608 - our own tables
    connection.execute(insert(table(name, *map(column, row))).values(row))


async def _set_version(url: str, version: str) -> None:
    # not through Database, which refuses it
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute("UPDATE footnote_version SET version_num = ?", (version,))
        connection.close()
        return
    other = await asyncpg.connect(url)
    await other.execute("UPDATE footnote_version SET version_num = $1", version)
    await other.close()
