"""How indexing runs stand, for others to see."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select, update

from rag.text import well_formed
from storage.encoding import from_progress, to_progress
from storage.schema import index_runs
from storage.statements import insert

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rag.types import Progress

UNFINISHED = ("listing", "indexing", "publishing")

_OF_BASE = index_runs.c.base == bindparam("of_base")
_NEWEST = (
    select(index_runs.c.run, index_runs.c.state, index_runs.c.error, index_runs.c.progress)
    .where(_OF_BASE)
    .order_by(index_runs.c.number.desc())
    .limit(1)
)
_OF_RUN = select(*_NEWEST.selected_columns).where(_OF_BASE, index_runs.c.run == bindparam("of_run"))
_LAST_DONE = (
    select(index_runs.c.reported_at).where(_OF_BASE, index_runs.c.state == "done").order_by(index_runs.c.number.desc()).limit(1)
)
_GIVE_UP = (
    update(index_runs)
    .where(_OF_BASE, index_runs.c.state.in_(UNFINISHED))
    .values(state="failed", error="The process that ran it ended before the run was done.")
)


class IndexRuns:
    def __init__(self, dialect: str) -> None:
        statement = insert(index_runs, dialect)
        changed = {name: statement.excluded[name] for name in ("state", "error", "progress", "reported_at")}
        self._report = statement.on_conflict_do_update(index_elements=[index_runs.c.base, index_runs.c.run], set_=changed)

    def report(self, connection: Connection, progress: Progress) -> None:
        row = {
            "base": progress.base,
            "run": progress.run,
            "state": progress.state,
            "error": well_formed(progress.error),
            "progress": from_progress(progress),
            "reported_at": datetime.now(UTC),
        }
        connection.execute(self._report, row)


def run_of(connection: Connection, base: str, run: str = "") -> Progress | None:
    """The run of this id; without one, the newest."""
    asked = connection.execute(_OF_RUN, {"of_base": base, "of_run": run}) if run else connection.execute(_NEWEST, {"of_base": base})
    row = asked.first()
    return None if row is None else to_progress(base, row.run, row.state, row.error, row.progress)


def last_done(connection: Connection, base: str) -> datetime | None:
    found: datetime | None = connection.execute(_LAST_DONE, {"of_base": base}).scalar()
    return found


def give_up_unfinished(connection: Connection, base: str) -> None:
    """Whoever takes the lease of a base knows that no other run of it goes on."""
    connection.execute(_GIVE_UP, {"of_base": base})
