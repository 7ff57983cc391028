"""How a question and its answer are written: the statements, and what stands in the rows."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import case, false, literal_column, select, union_all

from rag.text import well_formed
from storage.columns import new_id
from storage.encoding import from_run, from_sources
from storage.schema import answers, questions, runs, threads, turns
from storage.statements import Together, bound, insert

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import ColumnElement, Insert, Table

    from rag.types import Answer, Run, Thread, Turn
    from storage.statements import Upsert

    Columns: TypeAlias = dict[str, str | ColumnElement[Any]]

_CANCELLED: ColumnElement[str] = literal_column("'cancelled'")  # no parameter: `Together` sends one set for all its statements


def thread_key(thread: Thread) -> str:
    """A thread's id in the tables: 128 bits of everything that makes it this thread, so that it need not be looked up."""
    key: str = _row_of(thread)["thread_key"]
    return key


@lru_cache(maxsize=1_000)  # a turn needs it twice, and a thread is asked in again
def _row_of(thread: Thread) -> Mapping[str, Any]:
    """What its row holds from the beginning. The key is made of a JSON array, written here in a third of `json.dumps`' time."""
    place, text = thread.place, json.encoder.encode_basestring_ascii
    direct = "true" if place.direct else "false"
    whole = f"[{text(place.platform)}, {text(place.workspace)}, {text(place.channel)}, {direct}, {text(thread.id)}]"
    return {
        "thread_key": blake2b(whole.encode(), digest_size=16).hexdigest(),
        "at_platform": well_formed(place.platform),
        "at_workspace": well_formed(place.workspace),
        "at_channel": well_formed(place.channel),
        "at_direct": place.direct,
        "thread_own_id": well_formed(thread.id),
    }


# --- statements -----------------------------------------------------------------------------------------------------


def thread_upsert(dialect: str) -> Upsert:
    row = insert(threads, dialect).values(_named(threads, _THREAD))
    return row.on_conflict_do_update(index_elements=[threads.c.id], set_={"last_at": row.excluded.last_at})


def _question(dialect: str) -> Upsert:
    """A question that was claimed has a row already: only its outcome is new; one that was cancelled meanwhile stays so."""
    row = insert(questions, dialect).values(_named(questions, _QUESTION))
    outcome: dict[str, Any] = {name: row.excluded[name] for name in ("failure", "run")}
    outcome["state"] = case((questions.c.state == _CANCELLED, questions.c.state), else_=row.excluded.state)
    return row.on_conflict_do_update(index_elements=[questions.c.id], set_=outcome)


def answered(dialect: str) -> Together:
    return Together(
        dialect,
        thread_upsert(dialect),
        _question(dialect),
        _both_turns(),
        answers.insert().values(_named(answers, _ANSWER)),
        runs.insert().values(_named(runs, _RUN_ROW)),
    )


def failed(dialect: str) -> Together:
    return Together(
        dialect,
        thread_upsert(dialect),
        _question(dialect),
        turns.insert().values(_named(turns, _ASKED)),
        runs.insert().values(_named(runs, _RUN_ROW)),
    )


def _both_turns() -> Insert:
    """One statement, so that the question's turn has the lower id; SQLAlchemy compiles rows of VALUES anew each time."""
    asked, said = (select(*_named(turns, names).values()) for names in (_ASKED, _SAID))
    return turns.insert().from_select(list(_ASKED), union_all(asked, said))


def _named(table: Table, names: Columns) -> dict[str, Any]:
    return {column: bound(table.c[column], name) if isinstance(name, str) else name for column, name in names.items()}


# Which value stands in which column; a value that stands in several places is sent once, and what is always the same never.
_NOTHING: ColumnElement[str] = literal_column("''")
_NONE: ColumnElement[str] = literal_column("'[]'")
_PLACE: Columns = {"platform": "at_platform", "workspace": "at_workspace", "channel": "at_channel"}
_THREAD: Columns = _PLACE | {
    "id": "thread_key",
    "direct": "at_direct",
    "thread": "thread_own_id",
    "last_at": "now",
    "quiet": false(),
}
_OF: Columns = {"thread_id": "thread_key", "question_id": "question_key"}
_QUESTION: Columns = _PLACE | {
    "id": "question_key",
    "thread_id": "thread_key",
    "state": "outcome",
    "author": "asked_by",
    "person": _NOTHING,
    "reply_to": _NOTHING,
    "base": _NOTHING,
    "notice": _NOTHING,
    "roles": _NONE,
    "attempts": literal_column("1"),
    "text": "asked_text",
    "failure": "why",
    "run": "run_id",
    "asked_at": "asked_when",
}
_ASKED: Columns = _OF | {
    "role": "asked_role",
    "speaker": "asked_by",
    "text": "asked_text",
    "bases": "asked_bases",
    "said_at": "asked_when",
    "abstained": false(),
}
_SAID: Columns = _OF | {
    "role": literal_column("'assistant'"),
    "speaker": _NOTHING,
    "text": "answer_text",
    "bases": "answer_bases",
    "said_at": "now",
    "abstained": "answer_abstained",
}
_ANSWER: Columns = {
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
_RUN_ROW: Columns = _OF | {
    "id": "run_id",
    "kind": "run_kind",
    "started_at": "run_started",
    "seconds": "run_seconds",
    "error": "run_error",
    "trace": "run_trace",
}

# --- values ---------------------------------------------------------------------------------------------------------


def thread_values(thread: Thread, now: datetime) -> dict[str, object]:
    return {**_row_of(thread), "now": now}


def asked_values(thread: Thread, asked: Turn, run: Run, question: str) -> dict[str, object]:
    now = datetime.now(UTC)
    return {
        **_row_of(thread),
        "now": now,
        "question_key": int(question) if question else new_id(),
        "asked_role": asked.role,
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


def answer_values(answer: Answer, outcome: str) -> dict[str, object]:
    return {
        "outcome": outcome,
        "why": "",
        "answer_text": well_formed(answer.text),
        "answer_abstained": answer.abstained,
        "answer_sources": from_sources(answer.sources),
        "answer_suggestions": from_sources(answer.suggestions),
        "answer_bases": answer.bases,
        "answer_language": answer.language,
        "answer_question": well_formed(answer.question),
        "answer_remark": well_formed(answer.remark),
    }


def turn_values(key: str, turn: Turn, now: datetime) -> dict[str, object]:
    return {
        "thread_id": key,
        "role": turn.role,
        "text": well_formed(turn.text),
        "speaker": well_formed(turn.speaker),
        "bases": turn.bases,
        "said_at": turn.said_at or now,
        "abstained": turn.abstained,
    }
