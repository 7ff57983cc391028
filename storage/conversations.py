"""Memory: threads with their turns, the questions and answers they are made of, and the runs that explain them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sqlalchemy import Integer, bindparam, case, literal_column, select, union_all

from rag.text import well_formed
from rag.types import Run, Turn
from storage.columns import new_id
from storage.encoding import from_run, from_sources, to_steps
from storage.forgetting import forget
from storage.schema import answers, questions, runs, threads, turns
from storage.statements import Asked, Together, bound, insert

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Insert, Row, Table

    from rag.types import Answer, Thread
    from storage.database import Database
    from storage.statements import Upsert

_CANCELLED: ColumnElement[str] = literal_column("'cancelled'")  # no parameter: `Together` sends one set for all its statements
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
        self._thread = _thread(database.dialect)
        self._answered = _answered(database.dialect)
        self._failed = _failed(database.dialect)

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
        values = _asked_values(thread, asked, run, question)
        values |= _answer_values(answer) | {"outcome": "answered" if question else "delivered", "why": ""}
        await self._database.write(lambda connection: self._answered.execute(connection, values), single=True)

    async def fail(self, thread: Thread, asked: Turn, failure: str, run: Run, *, question: str = "") -> None:
        """A question that was claimed before is not done with until its author was told (`Inbox.finish`)."""
        values = _asked_values(thread, asked, run, question)
        values |= {"outcome": "answering" if question else "failed", "why": well_formed(failure)}
        await self._database.write(lambda connection: self._failed.execute(connection, values), single=True)

    async def adopt(self, thread: Thread, turns: Sequence[Turn]) -> None:
        key, now = thread_key(thread), datetime.now(UTC)
        rows = [_turn_values(key, turn, now) for turn in turns]

        def work(connection: Connection) -> None:
            connection.execute(self._thread, _thread_values(thread, now))  # its row is locked: who adopts too has to wait
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


@lru_cache(maxsize=1_000)  # a turn needs it twice, and a thread is asked in again
def thread_key(thread: Thread) -> str:
    """A thread's id in the tables: 128 bits of everything that makes it this thread, so that it need not be looked up.

    It is made of a JSON array, put together here: `json.dumps` takes three times as long.
    """
    place, text = thread.place, json.encoder.encode_basestring_ascii
    direct = "true" if place.direct else "false"
    whole = f"[{text(place.platform)}, {text(place.workspace)}, {text(place.channel)}, {direct}, {text(thread.id)}]"
    return blake2b(whole.encode(), digest_size=16).hexdigest()


# --- statements -----------------------------------------------------------------------------------------------------


def _thread(dialect: str) -> Upsert:
    row = insert(threads, dialect).values(_named(threads, _THREAD))
    return row.on_conflict_do_update(index_elements=[threads.c.id], set_={"last_at": row.excluded.last_at})


def _question(dialect: str) -> Upsert:
    """A question that was claimed has a row already: only its outcome is new; one that was cancelled meanwhile stays so."""
    row = insert(questions, dialect).values(_named(questions, _QUESTION))
    outcome: dict[str, Any] = {name: row.excluded[name] for name in ("failure", "run")}
    outcome["state"] = case((questions.c.state == _CANCELLED, questions.c.state), else_=row.excluded.state)
    return row.on_conflict_do_update(index_elements=[questions.c.id], set_=outcome)


def _answered(dialect: str) -> Together:
    return Together(
        dialect,
        _thread(dialect),
        _question(dialect),
        _both_turns(),
        answers.insert().values(_named(answers, _ANSWER)),
        runs.insert().values(_named(runs, _RUN_ROW)),
    )


def _failed(dialect: str) -> Together:
    return Together(
        dialect,
        _thread(dialect),
        _question(dialect),
        _TURNS.insert().values(_named(_TURNS, _ASKED)),
        runs.insert().values(_named(runs, _RUN_ROW)),
    )


def _both_turns() -> Insert:
    """One statement, so that the question's turn has the lower id; SQLAlchemy compiles rows of VALUES anew each time."""
    asked, said = (select(*_named(_TURNS, names).values()) for names in (_ASKED, _SAID))
    return _TURNS.insert().from_select(list(_ASKED), union_all(asked, said))


def _named(table: Table, names: Mapping[str, str]) -> dict[str, Any]:
    return {column: bound(table.c[column], name) for column, name in names.items()}


# Which value stands in which column; a value that stands in several places is sent once.
_PLACE = {"platform": "at_platform", "workspace": "at_workspace", "channel": "at_channel"}
_THREAD = _PLACE | {"id": "thread_key", "direct": "at_direct", "thread": "thread_own_id", "last_at": "now", "quiet": "spoken"}
_OF = {"thread_id": "thread_key", "question_id": "question_key"}
_QUESTION = _PLACE | {
    "id": "question_key",
    "thread_id": "thread_key",
    "state": "outcome",
    "author": "asked_by",
    "person": "nothing",
    "reply_to": "nothing",
    "base": "nothing",
    "notice": "nothing",
    "roles": "none",
    "attempts": "once",
    "text": "asked_text",
    "failure": "why",
    "run": "run_id",
    "asked_at": "asked_when",
}
_ASKED = _OF | {
    "role": "asked_role",
    "speaker": "asked_by",
    "text": "asked_text",
    "bases": "asked_bases",
    "said_at": "asked_when",
    "abstained": "never",
}
_SAID = _OF | {
    "role": "answer_role",
    "speaker": "nobody",
    "text": "answer_text",
    "bases": "answer_bases",
    "said_at": "now",
    "abstained": "answer_abstained",
}
_ANSWER = {
    "question_id": "question_key",
    "text": "answer_text",
    "abstained": "answer_abstained",
    "sources": "answer_sources",
    "suggestions": "answer_suggestions",
    "bases": "answer_bases",
    "language": "answer_language",
    "standalone_question": "answer_question",
    "remark": "answer_remark",
    "run": "run_id",
    "answered_at": "now",
}
_RUN_ROW = _OF | {
    "id": "run_id",
    "kind": "run_kind",
    "started_at": "run_started",
    "seconds": "run_seconds",
    "error": "run_error",
    "trace": "run_trace",
}

# --- values ---------------------------------------------------------------------------------------------------------


def _thread_values(thread: Thread, now: datetime) -> dict[str, object]:
    place = thread.place
    return {
        "thread_key": thread_key(thread),
        "at_platform": well_formed(place.platform),
        "at_workspace": well_formed(place.workspace),
        "at_channel": well_formed(place.channel),
        "at_direct": place.direct,
        "thread_own_id": well_formed(thread.id),
        "now": now,
        "spoken": False,
    }


def _asked_values(thread: Thread, asked: Turn, run: Run, question: str) -> dict[str, object]:
    now = datetime.now(UTC)
    return _thread_values(thread, now) | {
        "question_key": int(question) if question else new_id(),
        "asked_role": asked.role,
        "none": (),
        "nothing": "",
        "once": 1,
        "never": False,
        "asked_by": well_formed(asked.speaker),
        "asked_text": well_formed(asked.text),
        "asked_when": asked.said_at or now,
        "asked_bases": asked.bases,
        "run_id": well_formed(run.id),
        "run_kind": run.kind,
        "run_started": run.started_at,
        "run_seconds": run.seconds,
        "run_error": well_formed(run.error),
        "run_trace": from_run(run),
    }


def _answer_values(answer: Answer) -> dict[str, object]:
    return {
        "answer_role": "assistant",
        "nobody": "",
        "answer_text": well_formed(answer.text),
        "answer_abstained": answer.abstained,
        "answer_sources": from_sources(answer.sources),
        "answer_suggestions": from_sources(answer.suggestions),
        "answer_bases": answer.bases,
        "answer_language": answer.language,
        "answer_question": well_formed(answer.question),
        "answer_remark": well_formed(answer.remark),
    }


def _turn_values(key: str, turn: Turn, now: datetime) -> dict[str, object]:
    return {
        "thread_id": key,
        "role": turn.role,
        "text": well_formed(turn.text),
        "speaker": well_formed(turn.speaker),
        "bases": turn.bases,
        "said_at": turn.said_at or now,
        "abstained": turn.abstained,
    }


def _turn(row: Sequence[Any]) -> Turn:
    role, text, speaker, bases, said_at, abstained = row
    return Turn(role, text, speaker, tuple(bases), said_at, abstained)


def _run(row: Row[*tuple[Any, ...]]) -> Run:
    return Run(row.id, row.kind, row.started_at, row.seconds, row.trace["notes"], to_steps(row.trace), row.error)
