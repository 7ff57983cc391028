"""How the tables came about, by Alembic. Importing Alembic takes longer than a start should, so it is asked last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import column, inspect, select, table

from rag.errors import BadSetting

if TYPE_CHECKING:
    from sqlalchemy import Connection

HEAD = "0005"  # the newest revision; a test compares it with versions/
VERSION_TABLE = "footnote_version"
_version = table(VERSION_TABLE, column("version_num"))


def stored_version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(select(_version.c.version_num)).scalar()


def schema_error(stored: str) -> BadSetting:
    """A schema that is not this version's. Revisions count up."""
    if stored < HEAD:
        return BadSetting(
            f"The database has an older schema ({stored}, this version of Footnote needs {HEAD}). Run: footnote migrate"
        )
    return BadSetting(
        f"The database was made by a newer version of Footnote (schema {stored}, this one knows {HEAD}): "
        "install that version, or use another database."
    )


def upgrade(connection: Connection, to: str = "head") -> None:
    """Bring the tables up to date, inside the connection's transaction. Raises BadSetting for a newer schema."""
    stored = stored_version(connection)
    if stored == HEAD:  # another process was faster
        return
    from alembic import command  # noqa: PLC0415 - see above
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if stored is not None and stored not in known:
        raise schema_error(stored)
    config.attributes["connection"] = connection
    command.upgrade(config, to)
