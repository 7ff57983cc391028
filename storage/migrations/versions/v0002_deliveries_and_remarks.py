"""How often an answer could not be shown, and what is remarked below it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("questions", sa.Column("deliveries", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("answers", sa.Column("remark", sa.Text(), nullable=False, server_default=sa.text("''")))
