"""Memory: threads with their turns, the questions and answers they are made of, and the runs that explain them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Integer, bindparam, select

from rag.text import well_formed
from rag.types import Run, Turn
from storage.conversation_rows import (
    answer_values,
    answered,
    asked_values,
    failed,
    thread_key,
    thread_upsert,
    thread_values,
    turn_values,
)
from storage.encoding import to_steps
from storage.forgetting import forget
from storage.schema import runs, turns
from storage.statements import Asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Row, Table

    from rag.types import Answer, Thread
    from storage.database import Database

_TURNS: Table = turns  # a method has an argument of that name
_RECALL = (
    select(turns.c.role, turns.c.text, turns.c.speaker, turns.c.bases, turns.c.said_at, turns.c.abstained)
    .where(turns.c.thread_id == bindparam("thread"))
    .order_by(turns.c.id.desc())
    .limit(bindparam("limit", type_=Integer()))
)
_RUN = select(runs.c.id, runs.c.kind, runs.c.started_at, runs.c.seconds, runs.c.error, runs.c.trace)
_RUNS_BEGINNING = _RUN.where(runs.c.id >= bindparam("first"), runs.c.id < bindparam("after")).order_by(runs.c.id).limit(2)
_NEWEST_RUN = _RUN.order_by(runs.c.number.desc()).limit(1)


class DatabaseMemory:
    """A question that failed stays in the thread as a turn of its author's, with no answer after it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recalled = Asked(_RECALL)
        self._thread = thread_upsert(database.dialect)
        self._answered = answered(database.dialect)
        self._failed = failed(database.dialect)

    async def recall(self, thread: Thread, turns: int) -> list[Turn]:
        if turns <= 0:
            return []
        asked = {"thread": thread_key(thread), "limit": min(turns, 1_000_000)}

        def work(connection: Connection) -> list[Turn]:
            return [_turn(row) for row in reversed(self._recalled.rows(connection, asked))]

        return await self._database.read(work, short=True)

    async def remember(self, thread: Thread, asked: Turn, answer: Answer, run: Run, *, question: str = "") -> None:
        """`question` is the id of a question that was claimed before: it is answered by this, and not yet delivered.

        Raises StoreError where it is answered already: it stays so.
        """
        values = asked_values(thread, asked, run, question)
        values |= answer_values(answer, "answered" if question else "delivered")
        await self._database.write(lambda connection: self._answered.execute(connection, values), single=True)

    async def fail(self, thread: Thread, asked: Turn, failure: str, run: Run, *, question: str = "") -> None:
        """A question that was claimed before is not done with until its author was told (`Inbox.finish`)."""
        values = asked_values(thread, asked, run, question)
        values |= {"outcome": "answering" if question else "failed", "why": well_formed(failure)}
        await self._database.write(lambda connection: self._failed.execute(connection, values), single=True)

    async def adopt(self, thread: Thread, turns: Sequence[Turn]) -> None:
        key, now = thread_key(thread), datetime.now(UTC)
        rows = [turn_values(key, turn, now) for turn in turns]

        def work(connection: Connection) -> None:
            connection.execute(self._thread, thread_values(thread, now))  # its row is locked: who adopts too has to wait
            if connection.execute(_RECALL, {"thread": key, "limit": 1}).first() is None:
                connection.execute(_TURNS.insert(), rows)

        if rows:
            await self._database.write(work)

    async def forget(self, thread: Thread) -> int:
        key = thread_key(thread)
        return await self._database.write(lambda connection: forget(connection, key))

    async def run(self, id: str) -> Run | None:  # noqa: A002 - the word for it
        beginning = well_formed(id)
        if not beginning:
            return None
        bounds = {"first": beginning, "after": beginning + "\U0010ffff"}
        found = await self._database.read(lambda connection: connection.execute(_RUNS_BEGINNING, bounds).all())
        if len(found) == 1 or (found and found[0].id == beginning):
            return _run(found[0])
        return None

    async def last_run(self, thread: Thread | None = None) -> Run | None:
        newest = _NEWEST_RUN if thread is None else _NEWEST_RUN.where(runs.c.thread_id == thread_key(thread))
        row = await self._database.read(lambda connection: connection.execute(newest).first())
        return None if row is None else _run(row)


def _turn(row: Sequence[Any]) -> Turn:
    role, text, speaker, bases, said_at, abstained = row
    return Turn(role, text, speaker, tuple(bases), said_at, abstained)


def _run(row: Row[*tuple[Any, ...]]) -> Run:
    return Run(row.id, row.kind, row.started_at, row.seconds, row.trace["notes"], to_steps(row.trace), row.error)
