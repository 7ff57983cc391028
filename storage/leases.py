"""Leases in the database: one holder of a base over all processes and machines, by the database's clock."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from logging import getLogger
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import bindparam, delete, select, update

from rag.errors import RunInProgress, StoreError, StoreUnavailable
from rag.text import well_formed
from storage.columns import database_clock
from storage.index_runs import UNFINISHED, give_up_unfinished, newest_run
from storage.schema import leases
from storage.statements import bound, insert

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy import Connection, Executable

    from rag.types import Progress
    from storage.database import Database

log = getLogger(__name__)

_MINE = (leases.c.name == bindparam("of_name"), leases.c.holder == bindparam("of_holder"))
_UNTIL = database_clock() + bound(leases.c.lease_until, "seconds")
_RENEW = update(leases).where(*_MINE).values(lease_until=_UNTIL)
_GIVE_BACK = delete(leases).where(*_MINE)
_TAKEN_AT = select(leases.c.taken_at).where(leases.c.name == bindparam("of_name"))


class Leases:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._take = _take(database.dialect)

    @asynccontextmanager
    async def hold(self, base: str, owner: str, seconds: float) -> AsyncIterator[None]:
        """Renewed at a third of its time. Losing it cancels the body, which then raises StoreUnavailable."""
        body = asyncio.current_task()
        assert body is not None  # noqa: S101 - there is always one inside `async with`
        cancelling = body.cancelling()
        mine = {"of_name": base, "of_holder": uuid4().hex}
        renewal: asyncio.Task[None] | None = None
        try:
            try:
                await self._database.write(lambda connection: self._taken(connection, mine, owner, seconds))
                renewal = asyncio.create_task(self._renew(mine, seconds, body))
                yield
            finally:
                await self._give_back(mine, renewal)
        except asyncio.CancelledError:
            if _lost(renewal) and body.uncancel() <= cancelling:
                raise StoreUnavailable(
                    f"The run of base {base!r} was stopped: it lost its lease, since the database did not answer for "
                    f"{seconds:g} s or another process took the run over. Run it again."
                ) from None
            raise

    def _taken(self, connection: Connection, mine: dict[str, str], owner: str, seconds: float) -> None:
        base = mine["of_name"]
        row = {**mine, "of_owner": well_formed(owner), "seconds": seconds}
        if connection.execute(self._take, row).first() is None:
            since = connection.execute(_TAKEN_AT, {"of_name": base}).scalar()
            raise _in_progress(base, since, newest_run(connection, base))
        give_up_unfinished(connection, base)

    async def _renew(self, mine: dict[str, str], seconds: float, body: asyncio.Task[object]) -> None:
        """Ends when the lease is lost."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            await asyncio.sleep(seconds / 3)
            asked = time.monotonic()
            with suppress(StoreError, TimeoutError):  # there is time left to try again
                async with asyncio.timeout(max(until - asked, 0.0)):
                    if not await self._database.write(lambda connection: _renewed(connection, mine, seconds)):
                        break
                until = asked + seconds
        body.cancel()

    async def _give_back(self, mine: dict[str, str], renewal: asyncio.Task[None] | None) -> None:
        if renewal is not None:
            renewal.cancel()
        try:
            await asyncio.shield(self._database.write(lambda connection: connection.execute(_GIVE_BACK, mine)))
        except StoreError as error:  # it runs out by itself
            log.warning("the lease of base %s could not be given back: %s", mine["of_name"], error)


def _take(dialect: str) -> Executable:
    row = insert(leases, dialect).values(
        name=bound(leases.c.name, "of_name"),
        holder=bound(leases.c.holder, "of_holder"),
        owner=bound(leases.c.owner, "of_owner"),
        taken_at=database_clock(),
        lease_until=_UNTIL,
    )
    taken = {name: row.excluded[name] for name in ("holder", "owner", "taken_at", "lease_until")}
    row = row.on_conflict_do_update(index_elements=[leases.c.name], set_=taken, where=leases.c.lease_until < database_clock())
    return row.returning(leases.c.holder)


def _renewed(connection: Connection, mine: dict[str, str], seconds: float) -> bool:
    return connection.execute(_RENEW, {**mine, "seconds": seconds}).rowcount == 1


def _lost(renewal: asyncio.Task[None] | None) -> bool:
    return renewal is not None and renewal.done() and not renewal.cancelled()


def _in_progress(base: str, since: float | None, progress: Progress | None) -> RunInProgress:
    begun = "" if since is None else f", since {datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M:%S} UTC"
    state = f"{begun}: {_so_far(progress)}"
    return RunInProgress(
        f"Base {base!r} is being indexed already{state}.",
        user_message=f"My documents are being indexed already{state}.",
    )


def _so_far(progress: Progress | None) -> str:
    if progress is None or progress.state not in UNFINISHED:
        return "it has just begun"
    if progress.found is None:
        return f"{progress.done} documents so far, still looking for more"
    return f"{progress.done} of {progress.found} documents"
