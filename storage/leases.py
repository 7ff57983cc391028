"""Leases in the database: one holder of a base over all processes and machines, by the database's clock."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from logging import getLogger
from typing import TYPE_CHECKING, Literal, TypeAlias
from uuid import uuid4

from sqlalchemy import bindparam, delete, or_, select, update

from rag.errors import RunCancelled, RunInProgress, StoreError, StoreUnavailable
from rag.text import well_formed
from storage.columns import database_clock
from storage.index_runs import UNFINISHED, give_up_unfinished, run_of
from storage.schema import leases
from storage.statements import bound, insert

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy import Connection, Executable

    from rag.types import Progress
    from storage.database import Database
    from storage.holders import Holders

log = getLogger(__name__)

Stop: TypeAlias = Literal["lost", "cancelled"]

_LOOK_SECONDS = 1.0  # how often a holder looks whether it was asked to stop

_OF_BASE = leases.c.name == bindparam("of_name")
_MINE = (_OF_BASE, leases.c.holder == bindparam("of_holder"))
_UNTIL = database_clock() + bound(leases.c.lease_until, "seconds")
_RENEW = update(leases).where(*_MINE).values(lease_until=_UNTIL)
_GIVE_BACK = delete(leases).where(*_MINE)
_WANTED = select(leases.c.cancelled).where(*_MINE)
_TAKEN_AT = select(leases.c.taken_at).where(_OF_BASE)
_HELD = select(leases.c.holder, leases.c.owner).where(_OF_BASE, leases.c.lease_until >= database_clock())
_CANCEL = update(leases).where(*_MINE).values(cancelled=True)


class Leases:
    def __init__(self, database: Database, holders: Holders) -> None:
        self._database = database
        self._holders = holders
        self._take = _take(database.dialect)

    @asynccontextmanager
    async def hold(self, base: str, owner: str, seconds: float) -> AsyncIterator[None]:
        """Renewed at a third of its time. Losing it cancels the body, which then raises StoreUnavailable; so does `cancel`."""
        body = asyncio.current_task()
        assert body is not None  # noqa: S101 - there is always one inside `async with`
        cancelling = body.cancelling()
        mine = {"of_name": base, "of_holder": uuid4().hex}
        renewal: asyncio.Task[Stop] | None = None
        with self._holders.alive(mine["of_holder"]):
            try:
                try:
                    dead = await self._dead(base)
                    await self._database.write(lambda connection: self._taken(connection, mine, owner, seconds, dead))
                    self._holders.forget(dead)
                    renewal = asyncio.create_task(self._renew(mine, seconds, body))
                    yield
                finally:
                    await self._give_back(mine, renewal)
            except asyncio.CancelledError:
                if (stop := _stop(renewal)) and body.uncancel() <= cancelling:
                    raise _stopped(base, stop, seconds) from None
                raise

    async def owner(self, base: str) -> str | None:
        """What the lease is held for; None where it is free, or its holder is known to be dead."""
        found = await self._held(base)
        return found and found[1]

    async def cancel(self, base: str) -> bool:
        found = await self._held(base)
        if found is None:
            return False
        asked = {"of_name": base, "of_holder": found[0]}
        return await self._database.write(lambda connection: connection.execute(_CANCEL, asked).rowcount == 1)

    async def _held(self, base: str) -> tuple[str, str] | None:
        row = await self._database.read(lambda connection: connection.execute(_HELD, {"of_name": base}).first())
        return None if row is None or self._holders.died(row.holder) else (row.holder, row.owner)

    async def _dead(self, base: str) -> str:
        """Who holds the lease although its process has ended; "" where nobody is known to."""
        row = await self._database.read(lambda connection: connection.execute(_HELD, {"of_name": base}).first())
        return row.holder if row is not None and self._holders.died(row.holder) else ""

    def _taken(self, connection: Connection, mine: dict[str, str], owner: str, seconds: float, dead: str) -> None:
        base = mine["of_name"]
        row = {**mine, "of_owner": well_formed(owner), "seconds": seconds, "dead": dead}
        if connection.execute(self._take, row).first() is None:
            since = connection.execute(_TAKEN_AT, {"of_name": base}).scalar()
            raise _in_progress(base, since, run_of(connection, base))
        give_up_unfinished(connection, base)

    async def _renew(self, mine: dict[str, str], seconds: float, body: asyncio.Task[object]) -> Stop:
        """Ends when the lease is lost, or somebody asks for the end."""
        until = time.monotonic() + seconds
        renew_at = until - seconds * 2 / 3
        stop: Stop = "lost"
        while time.monotonic() < until:
            await asyncio.sleep(min(_LOOK_SECONDS, seconds / 3))
            asked = time.monotonic()
            with suppress(StoreError, TimeoutError):  # there is time left to try again
                async with asyncio.timeout(max(until - asked, 0.0)):
                    cancelled = await self._database.read(lambda connection: connection.execute(_WANTED, mine).scalar())
                    if cancelled is None or cancelled:
                        stop = "cancelled" if cancelled else "lost"
                        break
                    if asked < renew_at:
                        continue
                    if not await self._database.write(lambda connection: _renewed(connection, mine, seconds)):
                        break
                until, renew_at = asked + seconds, asked + seconds / 3
        body.cancel()
        return stop

    async def _give_back(self, mine: dict[str, str], renewal: asyncio.Task[Stop] | None) -> None:
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
        cancelled=False,
    )
    taken = {name: row.excluded[name] for name in ("holder", "owner", "taken_at", "lease_until", "cancelled")}
    free = or_(leases.c.lease_until < database_clock(), leases.c.holder == bound(leases.c.holder, "dead"))
    row = row.on_conflict_do_update(index_elements=[leases.c.name], set_=taken, where=free)
    return row.returning(leases.c.holder)


def _renewed(connection: Connection, mine: dict[str, str], seconds: float) -> bool:
    return connection.execute(_RENEW, {**mine, "seconds": seconds}).rowcount == 1


def _stop(renewal: asyncio.Task[Stop] | None) -> Stop | None:
    """Why the renewal ended by itself, if it did."""
    return renewal.result() if renewal is not None and renewal.done() and not renewal.cancelled() else None


def _stopped(base: str, stop: Stop, seconds: float) -> RunCancelled | StoreUnavailable:
    if stop == "cancelled":
        return RunCancelled(f"The run of base {base!r} was cancelled. What it wrote stays: `footnote index` goes on from there.")
    return StoreUnavailable(
        f"The run of base {base!r} was stopped: it lost its lease, since the database did not answer for "
        f"{seconds:g} s or another process took the run over. Run it again."
    )


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
        return "still looking for documents"
    return f"{progress.done} of {progress.found} documents done"
