"""Vectors kept by digest in one SQLite file, which several processes may share. What goes wrong here costs only time."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from logging import getLogger
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path
    from sqlite3 import Connection

log = getLogger(__name__)
T = TypeVar("T")

_BUSY_SECONDS = 2.0
_SHORTLY = 0.1  # seconds
_COUNT_EVERY = 500  # puts between two looks at how many there are
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS vectors_by_use ON vectors (used);
"""


class VectorCache:
    """Holds about `most` vectors: those not used for longest go first. A corrupt file is thrown away."""

    def __init__(self, path: Path, *, most: int) -> None:
        self._path = path
        self._most = most
        self._connection: Connection | None = None
        self._puts = 0
        self._thread = ThreadPoolExecutor(1, "reranker-cache")  # SQLite's one thread, so no lock is needed

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._in_thread(self._disconnect)
        self._thread.shutdown()

    async def get(self, digests: Collection[bytes]) -> Mapping[bytes, bytes]:
        nothing: Mapping[bytes, bytes] = {}
        return await self._in_thread(lambda: self._try(lambda connection: _look_up(connection, digests), nothing))

    async def put(self, digest: bytes, vector: bytes) -> None:
        await self._in_thread(lambda: self._try(lambda connection: self._store(connection, digest, vector), None))

    async def _in_thread(self, action: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, action)

    def _try(self, action: Callable[[Connection], T], otherwise: T, *, again: bool = True) -> T:
        try:
            return action(self._connected())
        except (sqlite3.Error, OSError) as error:
            self._disconnect()
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_BUSY and again:  # who begins the file at the same time is not waited for
                time.sleep(_SHORTLY)
                return self._try(action, otherwise, again=False)
            if code not in _BROKEN:
                log.warning("the reranker's vectors in %s cannot be used just now: %s", self._path, error)
                return otherwise
        log.warning("%s is corrupt: the reranker begins it anew", self._path)
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        return otherwise

    def _connected(self) -> Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
            self._connection.executescript(_SCHEMA)
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _store(self, connection: Connection, digest: bytes, vector: bytes) -> None:
        connection.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (digest, vector, time.time_ns()))
        self._puts += 1
        if self._puts % min(_COUNT_EVERY, max(1, self._most // 10)) == 0:
            (count,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
            oldest = "SELECT digest FROM vectors ORDER BY used LIMIT ?"
            connection.execute(f"DELETE FROM vectors WHERE digest IN ({oldest})", (max(0, count - self._most),))  # noqa: S608 - a constant


def _look_up(connection: Connection, digests: Collection[bytes]) -> Mapping[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for digest in digests:
        for (vector,) in connection.execute("SELECT vector FROM vectors WHERE digest = ?", (digest,)):
            found[digest] = vector
    now = time.time_ns()
    connection.execute("BEGIN")
    connection.executemany("UPDATE vectors SET used = ? WHERE digest = ?", [(now, digest) for digest in found])
    connection.execute("COMMIT")
    return found
