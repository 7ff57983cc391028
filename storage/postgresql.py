"""PostgreSQL through asyncpg: pieces of work run as SQLAlchemy runs synchronous code on an async connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import URL, Connection

T = TypeVar("T")

_CONNECTIONS = 10
_CONNECT_SECONDS = 10.0
_STATEMENT_SECONDS = 60.0
_ROLLED_BACK = {"40001", "40P01"}  # could not be done as if alone, deadlock
_TRIES = 3  # besides the last
_IDLE_SECONDS = 600  # firewalls forget connections without a word
_NOT_ASYNCPG = ("channel_binding", "gssencmode", "connect_timeout", "prepared_statement_cache_size")
_MIGRATING = 0x466F6F746E6F7465  # "Footnote" in ASCII: the number of the lock


class PostgresEngine:
    def __init__(self, url: URL) -> None:
        self._url = url
        self._engine = _create(url, seconds=_STATEMENT_SECONDS)
        self._single = self._engine.execution_options(isolation_level="AUTOCOMMIT")

    async def open(self) -> None:
        async with self._single.connect():
            pass

    async def read(self, work: Callable[[Connection], T], *, short: bool = False) -> T:  # noqa: ARG002 - all the same here
        """No transaction around it: one round trip for each statement, and none more."""
        async with self._single.connect() as connection:
            return await connection.run_sync(work)

    async def write(self, work: Callable[[Connection], T], *, single: bool = False) -> T:
        """What the database rolled back, so that another transaction could go on, is done again."""
        for _ in range(_TRIES):
            try:
                return await self._written(work, single=single)
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", "") not in _ROLLED_BACK:
                    raise
        return await self._written(work, single=single)

    async def _written(self, work: Callable[[Connection], T], *, single: bool) -> T:
        if single:  # one statement is a transaction by itself
            return await self.read(work)
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def migrate(self, work: Callable[[Connection], None]) -> None:
        """However long it takes, or another process that is at it."""

        def alone(connection: Connection) -> None:
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _MIGRATING})
            work(connection)

        engine = _create(self._url, seconds=None)
        try:
            async with engine.begin() as connection:
                await connection.run_sync(alone)
        finally:
            await engine.dispose()

    async def close(self) -> None:
        await self._engine.dispose()


def _create(url: URL, *, seconds: float | None) -> AsyncEngine:
    """`seconds` bound a statement: a server that vanished without a word would be waited for otherwise."""
    to_connect = float(str(url.query.get("connect_timeout", _CONNECT_SECONDS)))
    statements = int(str(url.query.get("prepared_statement_cache_size", 100)))  # 0 behind PgBouncer
    # asyncpg reads libpq's options itself (sslmode, sslrootcert, target_session_attrs, …)
    address = url.difference_update_query(_NOT_ASYNCPG).render_as_string(hide_password=False)

    async def connect() -> Any:
        return await asyncpg.connect(address, timeout=to_connect, command_timeout=seconds)

    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        pool_size=_CONNECTIONS,
        max_overflow=_CONNECTIONS,
        pool_recycle=_IDLE_SECONDS,
        hide_parameters=True,
        connect_args={"prepared_statement_cache_size": statements},
    )
    event.listen(engine.sync_engine, "checkout", _refuse_closed)
    return engine


def _refuse_closed(connection: Any, _record: object, _proxy: object) -> None:
    """What the server closed while it was idle is replaced; no round trip is needed to know it."""
    if connection.driver_connection.is_closed():
        raise DisconnectionError
