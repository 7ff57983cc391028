"""The tables answer the questions asked of them by their indexes."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, Select, delete, select, text

from rag.types import Answer, Place, Run, Thread, Turn
from storage import conversations, inbox_rows
from storage.columns import new_id
from storage.database import Database
from storage.schema import metadata, questions, threads
from storage.statements import insert

QUERIES = {
    "recall": (conversations._RECALL, "ix_turns_thread_id_id"),
    "a run by its beginning": (conversations._RUNS_BEGINNING, "runs_id"),
    "the last run of a thread": (
        conversations._NEWEST_RUN.where(metadata.tables["runs"].c.thread_id == "a"),
        "ix_runs_thread_id_number",
    ),
    "whether a thread has questions": (inbox_rows.MET, "ix_questions_thread_id_id"),
    "whether a question of a thread is held": (inbox_rows.HELD, "ix_questions_open"),
    "the questions of a thread that are open": (
        select(questions.c.id).where(inbox_rows._OPEN, questions.c.thread_id == "a").order_by(questions.c.id),
        "ix_questions_open",
    ),
    "all questions that are open": (select(questions.c.id).where(inbox_rows._OPEN), "ix_questions_open"),
    "what a message asked": (
        inbox_rows.asking(Place("slack", "T1", "C1"), "100.1"),
        "ix_questions_platform_workspace_channel_message",
    ),
}


@pytest.mark.parametrize("name", QUERIES)
async def test_a_query_that_grows_with_the_data_uses_its_index(database: Database, name: str) -> None:
    query, index = QUERIES[name]

    plan = await database.write(lambda connection: _plan(connection, query))

    assert index.replace("runs_id", "autoindex_runs" if database.dialect == "sqlite" else "uq_runs_id") in plan
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan


def _plan(connection: Connection, query: Select[*tuple[object, ...]]) -> str:
    words = query.params({"thread": "a", "limit": 10, "first": "a", "after": "b"}).compile(
        connection, compile_kwargs={"literal_binds": True}
    )
    if connection.dialect.name == "sqlite":
        return str(connection.execute(text(f"EXPLAIN QUERY PLAN {words}")).all())
    connection.execute(text("SET LOCAL enable_seqscan = off"))
    connection.execute(text("SET LOCAL enable_bitmapscan = off"))
    return str(connection.execute(text(f"EXPLAIN {words}")).all())


@pytest.mark.parametrize("named", ["message", "gesture"])
async def test_a_message_of_a_platform_is_claimed_by_one_row(database: Database, named: str) -> None:
    row = {
        "thread_id": "t",
        "platform": "slack",
        "workspace": "T1",
        "channel": "C1",
        named: "100.1",
        "state": "waiting",
        "roles": [],
        "text": "How many?",
        "attempts": 0,
        "asked_at": datetime.now(UTC),
    }
    thread = {"id": "t", "platform": "slack", "direct": False, "thread": "100.1", "last_at": row["asked_at"]}

    def claim(connection: Connection) -> int:
        return connection.execute(insert(questions, database.dialect).on_conflict_do_nothing(), {**row, "id": new_id()}).rowcount

    await database.write(lambda connection: connection.execute(threads.insert(), thread))
    assert [await database.write(claim), await database.write(claim)] == [1, 0]
    await database.write(lambda connection: connection.execute(delete(threads)))
    assert await database.read(lambda connection: connection.execute(select(questions)).all()) == []


async def test_an_answer_of_the_terminal_changes_few_pages(sqlite_url: str) -> None:
    """Each costs its way into the log, and out of it: an index more is a page more, for every answer."""
    async with Database(sqlite_url) as database:
        memory = conversations.DatabaseMemory(database)
        for n in range(100):
            run = Run(f"{n % 7}-{n}", "question", datetime.now(UTC), 0.1, {"question": "How many?"}, ())
            await memory.remember(Thread(Place("terminal"), f"{n}"), Turn("user", "How many?"), Answer("Five [1]."), run)
        _, pages, _ = await database.read(lambda connection: connection.exec_driver_sql("PRAGMA wal_checkpoint").one())

    assert pages <= 10 * 100
