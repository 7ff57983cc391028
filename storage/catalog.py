"""Catalog: what is indexed and with which digest, how runs stand, and values kept by name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, select

from rag.text import well_formed
from rag.types import Entry, Progress
from storage.holders import Holders
from storage.index_runs import IndexRuns, last_done, run_of
from storage.leases import Leases
from storage.schema import documents, remembered
from storage.statements import upsert

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from sqlalchemy import Connection, Executable

    from storage.database import Database

_BATCH = 500  # rows in one transaction: others get their turn in between

_OF_BUILD = (documents.c.base == bindparam("of_base"), documents.c.build == bindparam("of_build"))
_ENTRIES = select(
    documents.c.document,
    documents.c.stamp,
    documents.c.digest,
    documents.c.title,
    documents.c.link,
    documents.c.passages,
    documents.c.error,
    documents.c.indexed_at,
).where(*_OF_BUILD)
_REMOVE = delete(documents).where(*_OF_BUILD, documents.c.document == bindparam("gone"))
_REMOVE_OTHERS = delete(documents).where(documents.c.base == bindparam("of_base"), documents.c.build != bindparam("of_build"))
_REMEMBERED = select(remembered.c.value).where(remembered.c.key == bindparam("of_key"))


class DatabaseCatalog:
    """Documents' names and texts are stored well-formed: a lone surrogate in them comes back as U+FFFD.

    `holders` is a folder where the processes of this machine show that they live, so that a run that was killed is known to be.
    """

    def __init__(self, database: Database, holders: Path | None = None) -> None:
        self._database = database
        self._leases = Leases(database, Holders(holders))
        self._record = upsert(documents, database.dialect)
        self._remember = upsert(remembered, database.dialect)
        self._runs = IndexRuns(database.dialect)

    async def entries(self, base: str, build: str) -> Mapping[str, Entry]:
        def work(connection: Connection) -> dict[str, Entry]:
            return {row[0]: Entry(*row) for row in connection.execute(_ENTRIES, {"of_base": base, "of_build": build})}

        return await self._database.read(work)

    async def record(self, base: str, build: str, entries: Sequence[Entry]) -> None:
        now = datetime.now(UTC)
        for batch in _batches([_row(base, build, entry, now) for entry in entries]):
            await self._write(self._record, batch)

    async def remove(self, base: str, build: str, documents: Collection[str]) -> None:
        for batch in _batches([{"of_base": base, "of_build": build, "gone": well_formed(document)} for document in documents]):
            await self._write(_REMOVE, batch)

    async def keep_only(self, base: str, build: str) -> None:
        await self._write(_REMOVE_OTHERS, {"of_base": base, "of_build": build})

    def lease(self, base: str, owner: str, *, seconds: float = 30.0) -> AbstractAsyncContextManager[None]:
        return self._leases.hold(base, owner, seconds)

    async def report(self, progress: Progress) -> None:
        await self._database.write(lambda connection: self._runs.report(connection, progress))

    async def progress(self, base: str, run: str = "") -> Progress | None:
        return await self._database.read(lambda connection: run_of(connection, base, run))

    async def running(self, base: str) -> Progress | None:
        run = await self._leases.owner(base)
        return None if run is None else await self.progress(base, run) or Progress(base, run)

    async def last_done(self, base: str) -> datetime | None:
        return await self._database.read(lambda connection: last_done(connection, base))

    async def cancel(self, base: str) -> bool:
        return await self._leases.cancel(base)

    async def remembered(self, key: str) -> Mapping[str, object] | None:
        return await self._database.read(lambda connection: connection.execute(_REMEMBERED, {"of_key": key}).scalar())

    async def remember(self, key: str, value: Mapping[str, object]) -> None:
        await self._write(self._remember, {"key": key, "value": value, "remembered_at": datetime.now(UTC)})

    async def _write(self, statement: Executable, values: dict[str, Any] | list[dict[str, Any]]) -> None:
        await self._database.write(lambda connection: connection.execute(statement, values))


def _row(base: str, build: str, entry: Entry, now: datetime) -> dict[str, object]:
    return {
        "base": base,
        "build": build,
        "document": well_formed(entry.document),
        "stamp": well_formed(entry.stamp),
        "digest": entry.digest,
        "title": well_formed(entry.title),
        "link": well_formed(entry.link),
        "passages": entry.passages,
        "error": well_formed(entry.error),
        "indexed_at": entry.indexed_at or now,
    }


def _batches(rows: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(rows), _BATCH):
        yield rows[start : start + _BATCH]
