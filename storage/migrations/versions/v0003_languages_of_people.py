"""The language that a platform says people use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("questions", sa.Column("language", sa.Text(), nullable=False, server_default=sa.text("''")))
