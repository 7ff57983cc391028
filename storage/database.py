"""One database, SQLite or PostgreSQL: opened, brought up to date, closed. Everything kept goes through it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from rag.errors import BadSetting, StoreUnavailable
from storage.failures import REPORTED, failure, in_our_words
from storage.migrations import HEAD, schema_error, stored_version, upgrade

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from sqlalchemy import Connection

T = TypeVar("T")


class Engine(Protocol):
    async def open(self) -> None: ...
    async def read(self, work: Callable[[Connection], T], *, short: bool = False) -> T: ...
    async def write(self, work: Callable[[Connection], T], *, single: bool = False) -> T: ...
    async def migrate(self, work: Callable[[Connection], None]) -> None: ...
    async def close(self) -> None: ...


class Database:
    """`async with Database(url) as database`: open and migrated inside. Work is a plain function of a connection.

    `read` gives each statement what is committed by then. `write` is one transaction: all of the work, or nothing of
    it. On SQLite work runs in another thread.
    """

    def __init__(self, url: str) -> None:
        address = parse(url)
        self.dialect = address.drivername
        self.where = address.set(query={})._replace(password=None).render_as_string()
        self._engine = _engine(address)
        self._opened = False

    async def __aenter__(self) -> Self:
        try:
            with in_our_words(self.where):
                await self._engine.open()
                if await self._engine.read(stored_version) != HEAD:
                    await self._engine.migrate(upgrade)
        except BaseException:
            await self._engine.close()
            raise
        self._opened = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened = False
        await self._engine.close()

    async def read(self, work: Callable[[Connection], T], *, short: bool = False) -> T:
        """`short` says that the work finds a few rows by an index: on SQLite it is done at once, for the way to a thread and back
        would take several times as long.
        """
        self._check_open()
        try:
            return await self._engine.read(work, short=short)
        except REPORTED as error:
            raise failure(error, self.where) from error

    async def write(self, work: Callable[[Connection], T], *, single: bool = False) -> T:
        """`single` says that the work is one statement: two round trips fewer on PostgreSQL, no way to a thread on SQLite."""
        self._check_open()
        try:
            return await self._engine.write(work, single=single)
        except REPORTED as error:
            raise failure(error, self.where) from error

    def _check_open(self) -> None:
        if not self._opened:
            raise StoreUnavailable(f"The database {self.where} is not open.")


async def check_schema(url: str) -> str:
    """Where the database is, without changing it. Raises BadSetting for one that is not migrated or too new, StoreError."""
    database = Database(url)
    if (path := sqlite_file(url)) is not None and not path.exists():
        return f"{database.where}, made at the first start"
    try:
        with in_our_words(database.where):
            await database._engine.open()  # noqa: SLF001 - its own module
            stored = await database._engine.read(stored_version)  # noqa: SLF001
    finally:
        await database._engine.close()  # noqa: SLF001
    if stored is None:
        raise BadSetting(f"The database {database.where} has no tables yet. Run: footnote migrate")
    if stored != HEAD:
        raise schema_error(stored)
    return database.where


def sqlite_file(url: str) -> Path | None:
    address = parse(url)
    return Path(address.database) if address.drivername == "sqlite" and address.database else None


def parse(url: str) -> URL:
    """The address of a database, whatever driver it names. Raises BadSetting, without a password in it."""
    try:
        address = make_url(url.strip())
    except (ArgumentError, ValueError) as error:
        raise BadSetting("DATABASE_URL is not an address: write sqlite:///file or postgresql://user@host/database.") from error
    kind = address.drivername.split("+")[0]
    if kind in {"postgres", "postgresql"}:
        return address.set(drivername="postgresql")
    if kind == "sqlite":
        return address.set(drivername="sqlite")
    raise BadSetting(f"DATABASE_URL begins with {kind!r}: write sqlite:///file or postgresql://user@host/database.")


def _engine(address: URL) -> Engine:
    if address.drivername == "sqlite":
        from storage.sqlite import SqliteEngine  # noqa: PLC0415 - only one of the two is needed

        return SqliteEngine(address)
    from storage.postgresql import PostgresEngine  # noqa: PLC0415 - asyncpg takes a moment to import

    return PostgresEngine(address)
