"""SQLite under one roof with PostgreSQL: pieces of work run whole in threads, each with its own connection.

Why not aiosqlite: it hops to its thread and back three or four times for each statement; one hop for a whole piece of
work makes storing an answer four times as fast. The writer's thread takes all the work that is waiting and
commits it together, each piece under a savepoint of its own unless it is a single statement.

A single statement is committed at once, on the event loop's own connection, where nobody else is writing: into the log,
without waiting for the disk, in a tenth of a millisecond. On a busy machine a thread may get its turn ten milliseconds later.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from rag.errors import BadSetting
from storage.lanes import Job, Lane, outcome, settle
from storage.statements import driver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import URL, Connection

    from storage.lanes import Outcomes

T = TypeVar("T")

_READERS = 2  # so that one long read does not hold up the others
_GROUP = 64  # pieces of work in one commit
_CHECKPOINT_AFTER = 250  # statements, of some ten pages each
_BUSY = 10_000  # milliseconds to wait for another process that writes
_LONG = 12_000  # pages of four kilobytes in the log
_SHORTLY = 100  # the same, for what can be done later as well
# what one statement changes is held in memory until it has ended: a file of its own would take longer than the statement
_PRAGMAS = (
    f"busy_timeout = {_BUSY}",
    "foreign_keys = ON",
    "synchronous = NORMAL",
    "wal_autocheckpoint = 4000",
    "temp_store = MEMORY",
)


class SqliteEngine:
    def __init__(self, url: URL) -> None:
        self._path = _path(url)
        self._engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", hide_parameters=True)
        event.listen(self._engine, "connect", _prepare)
        self._reads = Lane("footnote-reader")
        self._writes = Lane("footnote-writer", _GROUP)
        self._connections: list[Connection] = []
        self._near: Connection | None = None  # of the event loop's thread, which never waits
        self._written = 0  # there
        self._wrote: asyncio.Task[Any] | None = None  # who did there in this round of the event loop
        self._round: list[Job] = []  # what others want to write there in this round
        self._tidying: asyncio.Future[None] | None = None

    async def open(self) -> None:
        await asyncio.to_thread(self._open)
        writer, self._near, *readers = self._connections
        self._writes.start(partial(_commit, writer))
        for reader in readers:
            self._reads.start(partial(_answered, reader))

    def _open(self) -> None:
        """Connect before any thread is started, so that what cannot be opened is an error of the start."""
        if self._path is not None:
            _make(self._path)
        for _ in range(_READERS + 2):
            self._connections.append(self._engine.connect())
        for pragma in ("busy_timeout = 0", "wal_autocheckpoint = 0"):  # nothing that may take long
            self._connections[1].exec_driver_sql(f"PRAGMA {pragma}")

    async def read(self, work: Callable[[Connection], T], *, short: bool = False) -> T:
        if short and self._near is not None:
            try:
                return work(self._near)
            except sqlite3.OperationalError:  # another process has the file for itself: a thread may wait for it
                pass
        return await self._reads.ask(work)

    async def write(self, work: Callable[[Connection], T], *, single: bool = False) -> T:
        if not single or self._near is None:
            return await self._writes.ask(work, single=single)
        if (wrote := self._wrote) is not None and wrote is not asyncio.current_task():
            done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            self._round.append(Job(work, done, single=True))
            return await done
        try:
            found = work(self._near)  # one statement is a transaction by itself
        except (sqlite3.OperationalError, OperationalError):  # where another writes, a thread waits; what else, it says
            return await self._writes.ask(work, single=True)
        self._count(1)
        if wrote is None:
            self._wrote = asyncio.current_task()
            asyncio.get_running_loop().call_soon(self._end_round)
        return found

    def _end_round(self) -> None:
        """What several wrote within one round of the event loop is committed together: they share most of the pages."""
        jobs, self._round, self._wrote = [job for job in self._round if not job.done.cancelled()], [], None
        if not jobs:
            return
        found = _commit(self._near, jobs) if self._near is not None else []
        if found and not all(isinstance(each, (sqlite3.OperationalError, OperationalError)) for _, each in found):
            self._count(len(jobs))
            settle([(job.done, each) for job, each in found])
        else:
            self._writes.take(jobs)

    def _count(self, more: int) -> None:
        before, self._written = self._written, self._written + more
        if before // _CHECKPOINT_AFTER < self._written // _CHECKPOINT_AFTER:
            self._tidying = self._reads.begin(_emptied)

    async def migrate(self, work: Callable[[Connection], None]) -> None:
        await asyncio.to_thread(self._migrate, work)

    def _migrate(self, work: Callable[[Connection], None]) -> None:
        """On a connection without foreign keys: a table that a migration makes anew must not take its children along."""
        with self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            with _transaction(connection):
                work(connection)

    async def close(self) -> None:
        self._end_round()
        self._near = None
        if self._tidying:
            await self._tidying
        await self._writes.close()
        await self._reads.close()
        for connection in self._connections:
            connection.close()
        self._engine.dispose()


def _emptied(connection: Connection) -> None:
    """The log is brought into the file by a thread, since that waits for the disk. Then it begins anew, unless there was more to
    write meanwhile: it would grow for as long as people ask without a pause. Once it is long, what was written meanwhile is
    brought there while nobody may write, for a moment; it is not made shorter, since writing over it takes two thirds of the time.
    """
    direct = driver(connection)
    with suppress(sqlite3.Error):
        _, in_log, _ = direct.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if in_log < _LONG:
            return
        direct.execute(f"PRAGMA busy_timeout = {_SHORTLY}")
        direct.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        direct.execute(f"PRAGMA busy_timeout = {_BUSY}")


def _path(url: URL) -> Path | None:
    if not url.database or url.database == ":memory:":
        raise BadSetting("The database needs a file: write DATABASE_URL as sqlite:///folder/footnote.db.")
    return None if url.database.startswith("file:") else Path(url.database)


def _make(path: Path) -> None:
    """What people said is for its owner's eyes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)
    except OSError as error:
        raise BadSetting(
            f"The database {path} cannot be made ({error.strerror}): correct DATABASE_URL, or FOOTNOTE_HOME where that is not set."
        ) from error


def _prepare(connection: sqlite3.Connection, _record: object) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        connection.execute("PRAGMA journal_mode = WAL")


def _answered(connection: Connection, jobs: Sequence[Job]) -> Outcomes:
    return [(job, outcome(job, connection)) for job in jobs]


def _commit(connection: Connection, jobs: Sequence[Job]) -> Outcomes:
    """Do every job apart and commit once: a job that fails leaves nothing behind and harms no other."""
    try:
        with _transaction(connection):
            if len(jobs) == 1:
                return [(jobs[0], jobs[0].work(connection))]
            return [(job, (_alone if job.single else _apart)(connection, job)) for job in jobs]
    except Exception as error:  # noqa: BLE001 - the thread's boundary: it is raised where the work was asked for
        return [(job, error) for job in jobs]


def _alone(connection: Connection, job: Job) -> Any:
    """One statement leaves nothing behind when it fails, unless SQLite gave up the whole transaction."""
    found = outcome(job, connection)
    if isinstance(found, Exception) and not driver(connection).in_transaction:
        raise found
    return found


def _apart(connection: Connection, job: Job) -> Any:
    direct = driver(connection)
    direct.execute("SAVEPOINT job")
    found = outcome(job, connection)
    if isinstance(found, Exception):
        direct.execute("ROLLBACK TO job")
    direct.execute("RELEASE job")
    return found


@contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    """Writing from the start: a transaction that reads first and writes later may find itself too late."""
    driver(connection).execute("BEGIN IMMEDIATE")
    try:
        yield
        driver(connection).execute("COMMIT")
    except BaseException:
        direct = driver(connection)
        if direct is not None and direct.in_transaction:  # SQLite may have rolled back by itself
            direct.execute("ROLLBACK")
        raise
