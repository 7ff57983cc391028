"""Fewer indexes, since each costs every answer: those that nobody asked go, others hold only the rows that are asked for.

An answer's key is its question.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.drop_index("ix_threads_last_at", "threads")
    _questions()
    _feedback_without_answers()
    _answers()
    _feedback_of_answers()


def _questions() -> None:
    op.drop_index("ix_questions_asked_at", "questions")
    op.drop_index("ix_questions_state_id", "questions")
    where = {column: f"{column} IS NOT NULL" for column in ("message", "gesture")}
    with op.batch_alter_table("questions") as questions:
        for column in where:
            questions.drop_constraint(f"uq_questions_platform_workspace_channel_{column}", type_="unique")
    for column, condition in where.items():
        name = f"ix_questions_platform_workspace_channel_{column}"
        _partial(name, ["platform", "workspace", "channel", column], condition, unique=True)
    _partial("ix_questions_open", ["thread_id", "id"], "state IN ('waiting', 'answering', 'answered')")


def _partial(name: str, columns: list[str], condition: str, *, unique: bool = False) -> None:
    where = sa.text(condition)
    op.create_index(name, "questions", columns, unique=unique, sqlite_where=where, postgresql_where=where)


def _feedback_without_answers() -> None:
    op.add_column("feedback", sa.Column("question_id", NUMBER))
    feedback = sa.table("feedback", sa.column("answer_id"), sa.column("question_id"))
    answers = sa.table("answers", sa.column("id"), sa.column("question_id"))
    of = sa.select(answers.c.question_id).where(answers.c.id == feedback.c.answer_id).scalar_subquery()
    op.execute(feedback.update().values(question_id=of))
    with op.batch_alter_table("feedback") as altered:
        altered.drop_constraint("uq_feedback_answer_id_person", type_="unique")
        altered.drop_constraint("fk_feedback_answer_id_answers", type_="foreignkey")
        altered.drop_column("answer_id")
        altered.alter_column("question_id", existing_type=NUMBER, nullable=False)


def _answers() -> None:
    with op.batch_alter_table("answers") as answers:
        answers.drop_constraint("uq_answers_question_id", type_="unique")
        answers.drop_constraint("pk_answers", type_="primary")
        answers.drop_column("id")
        answers.create_primary_key("pk_answers", ["question_id"])


def _feedback_of_answers() -> None:
    with op.batch_alter_table("feedback") as feedback:
        feedback.create_unique_constraint("uq_feedback_question_id_person", ["question_id", "person"])
        feedback.create_foreign_key(
            "fk_feedback_question_id_answers", "answers", ["question_id"], ["question_id"], ondelete="CASCADE"
        )
