"""The tables. What they are for is said here; how they came about, in `migrations/`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from storage.columns import Code, Json, Number, Utc

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, default="")


def _belongs(name: str, to: str) -> Column[int]:
    """What belongs to a row goes with it."""
    return Column(name, ForeignKey(to, ondelete="CASCADE"), nullable=False, index=True)


def _where(condition: str) -> dict[str, Any]:
    """Of an index that holds only these rows: the others cost nothing."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


# --- conversations --------------------------------------------------------------------------------------------------

# `id` is made from the whole place and the thread's own id (`conversation_rows.thread_key`): it is known without asking.
threads = Table(
    "threads",
    metadata,
    Column("id", Code, primary_key=True),
    Column("platform", Text, nullable=False),
    _text("workspace"),
    _text("channel"),
    Column("direct", Boolean, nullable=False),
    Column("thread", Text, nullable=False),
    Column("last_at", Utc, nullable=False),
    Column("quiet", Boolean, nullable=False, default=False),  # people talk among themselves there
    sqlite_with_rowid=False,
)

UNFINISHED = ("waiting", "answering", "answered")

# One row for each question, from its claim to its delivery. `message` is the platform's id of what was asked: unique
# in its channel, so that a question is claimed once (P3); NULL where the platform has none (the terminal).
# `id` is `columns.new_id()`. state: waiting · answering · answered · delivered · failed · cancelled · expired.
# `gesture` is what else names the same act of asking: Slack may send one act as two messages (its client_msg_id is one).
# `person` is the platform's id of who asked, `reply_to` what the surface needs in order to answer, in its own form;
# `notice` is said instead of an answer. `lease_until` without `claimed_by` says that it is not to be taken up before.
# Those of a thread that was forgotten hang on the thread "forgotten" for a day: their ids alone.
# `attempts` counts how often it was taken up, `deliveries` how often what was to be said could not be shown.
questions = Table(
    "questions",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("thread_id", Code, ForeignKey("threads.id", ondelete="CASCADE"), nullable=False),
    Column("platform", Text, nullable=False),
    _text("workspace"),
    _text("channel"),
    Column("message", Text),
    Column("state", Text, nullable=False),
    Column("gesture", Text),
    _text("author"),
    _text("person"),
    Column("roles", Json, nullable=False),
    Column("text", Text, nullable=False),
    _text("reply_to"),
    Column("language", Text, nullable=False, server_default=text("''")),
    _text("base"),
    _text("notice"),
    _text("failure"),
    _text("run"),
    Column("claimed_by", Text),
    Column("lease_until", Double),
    Column("attempts", Integer, nullable=False),
    Column("deliveries", Integer, nullable=False, server_default="0"),
    Column("asked_at", Utc, nullable=False),
    Index(None, "thread_id", "id"),
    Index("ix_questions_open", "thread_id", "id", **_where(f"state IN {UNFINISHED}")),
    Index(None, "platform", "workspace", "channel", "message", unique=True, **_where("message IS NOT NULL")),
    Index(None, "platform", "workspace", "channel", "gesture", unique=True, **_where("gesture IS NOT NULL")),
)

# Turns and runs go with their thread. `question_id` tells which of them are one question's; every index costs each
# question, so it has none: ask within the thread.
turns = Table(
    "turns",
    metadata,
    Column("id", Number, primary_key=True),
    Column("thread_id", Code, ForeignKey("threads.id", ondelete="CASCADE"), nullable=False),
    Column("question_id", Number),
    Column("role", Text, nullable=False),
    _text("speaker"),
    Column("text", Text, nullable=False),
    Column("bases", Json, nullable=False),
    Column("said_at", Utc, nullable=False),
    Column("abstained", Boolean, nullable=False, server_default=false()),
    Index(None, "thread_id", "id"),
)

# One for each question: who was slower finds that it is answered.
answers = Table(
    "answers",
    metadata,
    Column("question_id", ForeignKey("questions.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    Column("abstained", Boolean, nullable=False),
    Column("sources", Json, nullable=False),
    Column("suggestions", Json, nullable=False),
    Column("bases", Json, nullable=False),
    _text("language"),
    _text("standalone_question"),
    Column("remark", Text, nullable=False, server_default=text("''")),
    _text("run"),
    Column("answered_at", Utc, nullable=False),
)

# The platform's messages that show an answer, in order; stored as soon as their ids are known, an open stream's too.
posts = Table(
    "posts",
    metadata,
    Column("id", Number, primary_key=True),
    _belongs("question_id", "questions.id"),
    Column("platform", Text, nullable=False),
    _text("workspace"),
    _text("channel"),
    Column("message", Text, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("posted_at", Utc, nullable=False),
    UniqueConstraint("platform", "workspace", "channel", "message"),
)

# `verdict` is 1 or -1: one for each answer and person, the last one counts.
feedback = Table(
    "feedback",
    metadata,
    Column("id", Number, primary_key=True),
    Column("question_id", ForeignKey("answers.question_id", ondelete="CASCADE"), nullable=False),
    Column("person", Text, nullable=False),
    Column("verdict", Integer, nullable=False),
    _text("remark"),
    Column("given_at", Utc, nullable=False),
    UniqueConstraint("question_id", "person"),
)

# `number` is the order in which runs were stored; `trace` holds the notes and the steps.
runs = Table(
    "runs",
    metadata,
    Column("number", Number, primary_key=True),
    Column("id", Code, nullable=False, unique=True),
    Column("thread_id", Code, ForeignKey("threads.id", ondelete="CASCADE"), nullable=False),
    Column("question_id", Number, nullable=False),
    Column("kind", Text, nullable=False),
    Column("started_at", Utc, nullable=False),
    Column("seconds", Double, nullable=False),
    _text("error"),
    Column("trace", Json, nullable=False),
    Index(None, "thread_id", "number"),
)

# --- indexing -------------------------------------------------------------------------------------------------------

# The catalog: what each build of a base holds.
documents = Table(
    "documents",
    metadata,
    Column("base", Text, nullable=False),
    Column("build", Text, nullable=False),
    Column("document", Text, nullable=False),
    _text("stamp"),
    _text("digest"),
    _text("title"),
    _text("link"),
    Column("passages", Integer, nullable=False),
    _text("error"),
    Column("indexed_at", Utc),
    PrimaryKeyConstraint("base", "build", "document"),
    sqlite_with_rowid=False,
)

# Who holds what: `holder` is new for each holding, `owner` says what for (a run's id). Times are by the database's clock.
# `cancelled` asks the holder to stop.
leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("taken_at", Double, nullable=False),
    Column("lease_until", Double, nullable=False),
    Column("cancelled", Boolean, nullable=False),
)

index_runs = Table(
    "index_runs",
    metadata,
    Column("number", Number, primary_key=True),
    Column("base", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("state", Text, nullable=False),
    _text("error"),
    Column("progress", Json, nullable=False),
    Column("reported_at", Utc, nullable=False),
    UniqueConstraint("base", "run"),
    Index(None, "base", "number"),
)

# --- the rest -------------------------------------------------------------------------------------------------------

remembered = Table(
    "remembered",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Json, nullable=False),
    Column("remembered_at", Utc, nullable=False),
)

# A platform's installation in a workspace, or in an enterprise of many; `person` is who installed it, where the
# platform gives tokens to persons too. `secret` is encrypted: no token stands here as it is.
installations = Table(
    "installations",
    metadata,
    Column("platform", Text, nullable=False),
    Column("enterprise", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("secret", LargeBinary, nullable=False),
    Column("installed_at", Utc, nullable=False),
    PrimaryKeyConstraint("platform", "enterprise", "workspace", "person"),
)
