"""The inbox: every question from its claim to its delivery, one thread's in order and one at a time (P3, P4)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam

from rag.text import well_formed
from rag.types import Post, Tally
from storage.columns import made_at, new_id
from storage.conversation_rows import thread_key
from storage.inbox_rows import (
    ANSWER,
    ASKERS,
    COUNTING,
    FINISH,
    FORGET_ANSWER,
    FORGET_TURNS,
    HAND_BACK,
    HELD,
    HUSH,
    LOCK,
    MET,
    POSTS,
    READDRESS,
    RENEW,
    REOPEN,
    REVISE,
    TAKE,
    TALLY,
    THREADS,
    UNJUDGE,
    UNNOTE,
    UNTIL,
    WITHDRAW,
    asking,
    by_id,
    judge_upsert,
    post_upsert,
    showing,
    tally_values,
    thread_upsert,
)
from storage.inbox_values import question_row, read_answer, read_question, thread_of, thread_row
from storage.schema import questions
from storage.statements import Asked, insert

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection, Executable, Row

    from rag.ports import Limit
    from rag.types import Answer, Place, Question, QuestionState, Thread
    from storage.database import Database


class DatabaseInbox:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._thread = thread_upsert(database.dialect)
        self._question = insert(questions, database.dialect).on_conflict_do_nothing().returning(questions.c.id)
        self._held = self._question.values(claimed_by=bindparam("holder"), lease_until=UNTIL)
        self._post = post_upsert(database.dialect)
        self._judge = judge_upsert(database.dialect)
        self._tally = Asked(TALLY)

    async def claim(
        self, asked: Question, holder: str = "", *, seconds: float = 0.0, limit: Limit | None = None
    ) -> Question | None:
        now = datetime.now(UTC)
        number = new_id()
        taken = replace(asked, id=str(number), asked_at=asked.asked_at or now, taken_at=made_at(number))
        thread, row, insertion = thread_row(asked.thread, now), question_row(taken), self._question
        counted = tally_values(asked.thread, asked.person)
        if holder:
            row, insertion = row | {"holder": holder, "seconds": seconds}, self._held

        def work(connection: Connection) -> Question | None:
            connection.execute(self._thread, thread)
            notice = asked.notice
            if limit is not None:
                if connection.dialect.name == "postgresql":  # on SQLite, one at a time writes
                    connection.execute(COUNTING)
                notice = limit(Tally(*self._tally.rows(connection, counted)[0]))
            claimed = connection.execute(insertion, {**row, "notice": notice}).first()
            return None if claimed is None else replace(taken, notice=notice)

        return await self._database.write(work)

    async def next(self, thread: Thread, holder: str, *, seconds: float) -> Question | None:
        asked, lock = {"thread": thread_key(thread)}, {"number": _number(thread)}

        def work(connection: Connection) -> Row[Any] | None:
            if connection.dialect.name == "postgresql":  # on SQLite, one at a time writes
                connection.execute(LOCK, lock)
            if connection.execute(HELD, asked).first():
                return None
            return connection.execute(TAKE, asked | {"holder": holder, "seconds": seconds}).first()

        row = await self._database.write(work)
        return None if row is None else read_question(row, thread)

    async def renew(self, holder: str, questions: Collection[str], *, seconds: float) -> frozenset[str]:
        values = {"holder": holder, "ids": [int(id) for id in questions], "seconds": seconds}  # noqa: A001 - the word for it
        rows = await self._database.write(lambda connection: connection.execute(RENEW, values).all(), single=True)
        return frozenset(str(row.id) for row in rows)

    async def finish(self, question: str, holder: str, state: QuestionState, failure: str = "") -> bool:
        values = {"holder": holder, "outcome": state, "why": well_formed(failure)}
        return await self._changed(FINISH, question, values)

    async def hand_back(self, question: str, holder: str, *, seconds: float = 0.0, failed: bool = False) -> bool:
        return await self._changed(HAND_BACK, question, {"holder": holder, "seconds": seconds - 0.001, "failed": int(failed)})

    async def reopen(self, question: str) -> bool:
        return await self._changed(REOPEN, question, {})

    async def unfinished(self, platforms: Collection[str]) -> list[Thread]:
        asked = {"platforms": list(platforms)}
        rows = await self._database.read(lambda connection: connection.execute(THREADS, asked).all())
        return [thread_of(row) for row in rows]

    async def answer(self, question: str) -> Answer | None:
        asked = {"question": int(question)}
        row = await self._database.read(lambda connection: connection.execute(ANSWER, asked).first())
        return None if row is None else read_answer(row)

    async def question(self, id: str) -> Question | None:  # noqa: A002 - the word for it
        return await self._found(by_id(id)) if id.isdigit() else None

    async def asked(self, place: Place, message: str) -> Question | None:
        return await self._found(asking(place, message))

    async def shown(self, place: Place, message: str) -> Question | None:
        return await self._found(showing(place, message))

    async def revise(self, question: str, text: str) -> bool:
        return await self._undone(REVISE, question, {"said": well_formed(text)})

    async def withdraw(self, question: str) -> bool:
        return await self._undone(WITHDRAW, question, {})

    async def readdress(self, question: str, reply_to: str) -> None:
        await self._changed(READDRESS, question, {"to": reply_to})

    async def note(self, question: str, post: Post) -> None:
        values = {"of_question": int(question), "shown": post.message, "still_open": post.open, "now": datetime.now(UTC)}
        await self._database.write(lambda connection: connection.execute(self._post, values), single=True)

    async def unnote(self, question: str, message: str) -> None:
        await self._changed(UNNOTE, question, {"shown": message})

    async def posts(self, question: str) -> list[Post]:
        asked = {"question": int(question)}
        rows = await self._database.read(lambda connection: connection.execute(POSTS, asked).all())
        return [Post(row.message, row.open) for row in rows]

    async def judge(self, question: str, person: str, verdict: int, remark: str = "") -> bool:
        def work(connection: Connection) -> bool:
            row = connection.execute(ANSWER, {"question": int(question)}).first()
            if row is None:
                return False
            who = {"of_question": row.question_id, "who": person}
            if verdict:
                given = {"given": verdict, "said": well_formed(remark), "now": datetime.now(UTC)}
                connection.execute(self._judge, who | given)
            else:
                connection.execute(UNJUDGE, who)
            return True

        return await self._database.write(work)

    async def askers(self, thread: Thread) -> frozenset[str]:
        asked = {"thread": thread_key(thread)}
        rows = await self._database.read(lambda connection: connection.execute(ASKERS, asked).all())
        return frozenset(row.person for row in rows)

    async def met(self, thread: Thread) -> bool:
        asked = {"thread": thread_key(thread)}
        return await self._database.read(lambda connection: connection.execute(MET, asked).first() is not None)

    async def hush(self, thread: Thread) -> None:
        asked = {"of_thread": thread_key(thread)}
        await self._database.write(lambda connection: connection.execute(HUSH, asked), single=True)

    async def _changed(self, statement: Executable, question: str, values: dict[str, Any]) -> bool:
        values = {"question": int(question), **values}
        count = await self._database.write(lambda connection: connection.execute(statement, values).rowcount, single=True)
        return count > 0

    async def _undone(self, statement: Executable, question: str, values: dict[str, Any]) -> bool:
        this = {"question": int(question)}

        def work(connection: Connection) -> bool:
            if not connection.execute(statement, this | values).rowcount:
                return False
            connection.execute(FORGET_ANSWER, this)
            connection.execute(FORGET_TURNS, this)
            return True

        return await self._database.write(work)

    async def _found(self, query: Any) -> Question | None:
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else read_question(row, thread_of(row))


def _number(thread: Thread) -> int:
    """63 bits for each thread, to lock by; that two threads share one costs them a moment."""
    return int(thread_key(thread)[:16], 16) >> 1
