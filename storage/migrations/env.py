"""Run by Alembic. The connection comes from `storage.migrations.upgrade`, in a transaction already."""

from __future__ import annotations

from alembic import context

from storage.migrations import VERSION_TABLE
from storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite alters a table by making it anew
)
with context.begin_transaction():
    context.run_migrations()
