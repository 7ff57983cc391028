"""Which turns only say that the documents do not say: of those, a follow-up takes no words."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("turns", sa.Column("abstained", sa.Boolean(), nullable=False, server_default=sa.false()))
    turns = sa.table("turns", sa.column("question_id"), sa.column("role"), sa.column("abstained", sa.Boolean()))
    answers = sa.table("answers", sa.column("question_id"), sa.column("abstained", sa.Boolean()))
    silent = sa.select(answers.c.question_id).where(answers.c.abstained)
    op.execute(turns.update().where(turns.c.role == "assistant", turns.c.question_id.in_(silent)).values(abstained=True))
