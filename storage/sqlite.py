"""SQLite under one roof with PostgreSQL: pieces of work run whole in threads, each with its own connection.

Why not aiosqlite: it hops to its thread and back three or four times for each statement; one hop for a whole piece of
work makes storing an answer four times as fast. The writer's thread takes all the work that is waiting and
commits it together, each piece under a savepoint of its own.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import create_engine, event
from sqlalchemy.pool import NullPool

from rag.errors import BadSetting
from storage.statements import driver

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import URL, Connection

T = TypeVar("T")

_READERS = 2  # so that one long read does not hold up the others
_GROUP = 64  # pieces of work in one commit
_BUSY = 10_000  # milliseconds to wait for another process that writes


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[Connection], Any]
    done: asyncio.Future[Any]


class SqliteEngine:
    def __init__(self, url: URL) -> None:
        self._path = _path(url)
        self._engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", hide_parameters=True)
        event.listen(self._engine, "connect", _prepare)
        self._reads: SimpleQueue[_Job | None] = SimpleQueue()
        self._writes: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._connections: list[Connection] = []

    async def open(self) -> None:
        await asyncio.to_thread(self._open)
        self._start("footnote-writer", self._write)
        for n in range(_READERS):
            self._start(f"footnote-reader-{n}", self._read)

    def _open(self) -> None:
        """Connect before any thread is started, so that what cannot be opened is an error of the start."""
        if self._path is not None:
            _make(self._path)
        for _ in range(_READERS + 1):
            self._connections.append(self._engine.connect())

    def _start(self, name: str, serve: Callable[[Connection], None]) -> None:
        connection = self._connections[len(self._threads)]
        thread = threading.Thread(target=serve, args=(connection,), name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._ask(self._reads, work)

    async def write(self, work: Callable[[Connection], T], *, single: bool = False) -> T:  # noqa: ARG002 - all the same here
        return await self._ask(self._writes, work)

    async def _ask(self, jobs: SimpleQueue[_Job | None], work: Callable[[Connection], T]) -> T:
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        jobs.put(_Job(work, done))
        return await done

    async def migrate(self, work: Callable[[Connection], None]) -> None:
        await asyncio.to_thread(self._migrate, work)

    def _migrate(self, work: Callable[[Connection], None]) -> None:
        """On a connection without foreign keys: a table that a migration makes anew must not take its children along."""
        with self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            with _transaction(connection):
                work(connection)

    async def close(self) -> None:
        threads, self._threads = self._threads, []
        if threads:
            self._writes.put(None)
            for _ in range(_READERS):
                self._reads.put(None)
        for thread in threads:
            await asyncio.to_thread(thread.join)
        for connection in self._connections:
            connection.close()
        self._engine.dispose()

    def _read(self, connection: Connection) -> None:
        while (job := self._reads.get()) is not None:
            if not job.done.cancelled():
                _deliver([(job, _outcome(connection, job))])

    def _write(self, connection: Connection) -> None:
        while (job := self._writes.get()) is not None:
            jobs, last = self._waiting(job)
            _deliver(_commit(connection, [job for job in jobs if not job.done.cancelled()]))
            if last:
                return

    def _waiting(self, first: _Job) -> tuple[list[_Job], bool]:
        """What waits to be written, and whether the end is among it."""
        jobs = [first]
        with suppress(Empty):
            while len(jobs) < _GROUP:
                job = self._writes.get_nowait()
                if job is None:
                    return jobs, True
                jobs.append(job)
        return jobs, False


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
    for pragma in (f"busy_timeout = {_BUSY}", "foreign_keys = ON", "synchronous = NORMAL", "wal_autocheckpoint = 4000"):
        connection.execute(f"PRAGMA {pragma}")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        connection.execute("PRAGMA journal_mode = WAL")


def _commit(connection: Connection, jobs: Sequence[_Job]) -> list[tuple[_Job, Any]]:
    """Do every job apart and commit once: a job that fails leaves nothing behind and harms no other."""
    try:
        with _transaction(connection):
            if len(jobs) == 1:
                return [(jobs[0], jobs[0].work(connection))]
            return [(job, _apart(connection, job)) for job in jobs]
    except Exception as error:  # noqa: BLE001 - the thread's boundary: it is raised where the work was asked for
        return [(job, error) for job in jobs]


def _apart(connection: Connection, job: _Job) -> Any:
    direct = driver(connection)
    direct.execute("SAVEPOINT job")
    outcome = _outcome(connection, job)
    if isinstance(outcome, Exception):
        direct.execute("ROLLBACK TO job")
    direct.execute("RELEASE job")
    return outcome


def _outcome(connection: Connection, job: _Job) -> Any:
    try:
        return job.work(connection)
    except Exception as error:  # noqa: BLE001 - the thread's boundary: it is raised where the work was asked for
        return error


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


def _deliver(outcomes: Sequence[tuple[_Job, Any]]) -> None:
    """Wake the tasks that wait, all those of one event loop at once."""
    for loop in {job.done.get_loop() for job, _ in outcomes}:
        mine = [(job.done, outcome) for job, outcome in outcomes if job.done.get_loop() is loop]
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, mine)


def _settle(outcomes: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for done, outcome in outcomes:
        if done.done():
            continue
        if isinstance(outcome, Exception):
            done.set_exception(outcome)
        else:
            done.set_result(outcome)
