"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
CODE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    _documents()
    _index_runs()
    _installations()
    _leases()
    _remembered()
    _threads()
    _questions()
    _runs()
    _turns()
    _answers()
    _posts()
    _feedback()


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("build", sa.Text(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("stamp", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("link", sa.Text(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("indexed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("base", "build", "document", name=op.f("pk_documents")),
        sqlite_with_rowid=False,
    )


def _index_runs() -> None:
    op.create_table(
        "index_runs",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.Column("reported_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_index_runs")),
        sa.UniqueConstraint("base", "run", name=op.f("uq_index_runs_base_run")),
    )
    op.create_index(op.f("ix_index_runs_base_number"), "index_runs", ["base", "number"], unique=False)


def _installations() -> None:
    op.create_table(
        "installations",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("enterprise", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("installed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "enterprise", "workspace", "person", name=op.f("pk_installations")),
    )


def _leases() -> None:
    op.create_table(
        "leases",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("taken_at", sa.Double(), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.Column("cancelled", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )


def _remembered() -> None:
    op.create_table(
        "remembered",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("remembered_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_remembered")),
    )


def _threads() -> None:
    op.create_table(
        "threads",
        sa.Column("id", CODE, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("direct", sa.Boolean(), nullable=False),
        sa.Column("thread", sa.Text(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("quiet", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_threads")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_threads_last_at"), "threads", ["last_at"], unique=False)


def _questions() -> None:
    op.create_table(
        "questions",
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("thread_id", CODE, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("gesture", sa.Text(), nullable=True),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reply_to", sa.Text(), nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("notice", sa.Text(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("claimed_by", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name=op.f("fk_questions_thread_id_threads"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
        sa.UniqueConstraint(
            "platform", "workspace", "channel", "message", name=op.f("uq_questions_platform_workspace_channel_message")
        ),
        sa.UniqueConstraint(
            "platform", "workspace", "channel", "gesture", name=op.f("uq_questions_platform_workspace_channel_gesture")
        ),
    )
    op.create_index(op.f("ix_questions_asked_at"), "questions", ["asked_at"], unique=False)
    op.create_index(op.f("ix_questions_state_id"), "questions", ["state", "id"], unique=False)
    op.create_index(op.f("ix_questions_thread_id_id"), "questions", ["thread_id", "id"], unique=False)


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("id", CODE, nullable=False),
        sa.Column("thread_id", CODE, nullable=False),
        sa.Column("question_id", NUMBER, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("trace", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name=op.f("fk_runs_thread_id_threads"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_runs")),
        sa.UniqueConstraint("id", name=op.f("uq_runs_id")),
    )
    op.create_index(op.f("ix_runs_thread_id_number"), "runs", ["thread_id", "number"], unique=False)


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("thread_id", CODE, nullable=False),
        sa.Column("question_id", NUMBER, nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("bases", sa.Text(), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"], name=op.f("fk_turns_thread_id_threads"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
    )
    op.create_index(op.f("ix_turns_thread_id_id"), "turns", ["thread_id", "id"], unique=False)


def _answers() -> None:
    op.create_table(
        "answers",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("question_id", NUMBER, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("abstained", sa.Boolean(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("suggestions", sa.Text(), nullable=False),
        sa.Column("bases", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("standalone_question", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"], ["questions.id"], name=op.f("fk_answers_question_id_questions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answers")),
        sa.UniqueConstraint("question_id", name=op.f("uq_answers_question_id")),
    )


def _posts() -> None:
    op.create_table(
        "posts",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("question_id", NUMBER, nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("posted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["question_id"], ["questions.id"], name=op.f("fk_posts_question_id_questions"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_posts")),
        sa.UniqueConstraint(
            "platform", "workspace", "channel", "message", name=op.f("uq_posts_platform_workspace_channel_message")
        ),
    )
    op.create_index(op.f("ix_posts_question_id"), "posts", ["question_id"], unique=False)


def _feedback() -> None:
    op.create_table(
        "feedback",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("answer_id", NUMBER, nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Integer(), nullable=False),
        sa.Column("remark", sa.Text(), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name=op.f("fk_feedback_answer_id_answers"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback")),
        sa.UniqueConstraint("answer_id", "person", name=op.f("uq_feedback_answer_id_person")),
    )
