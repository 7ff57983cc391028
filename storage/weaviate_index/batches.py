"""Rows on their way to one collection: what is handed in at once goes together, and what the server refuses goes again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from rag.errors import StoreError

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Sequence

    from weaviate.collections import CollectionAsync
    from weaviate.collections.classes.data import DataObject

    from storage.weaviate_index.server import Server

TOGETHER = 500  # rows in one call
ATTEMPTS = 4  # for rows that the server refuses one by one: a replica that is behind, a full queue
PAUSE = 0.2

Rows = "Sequence[DataObject[Any, Any]]"


class Batches:
    """`write` returns once all its rows are stored, and raises StoreError if one of them is not."""

    def __init__(self, server: Server, build: str) -> None:
        self._server = server
        self._collection: CollectionAsync[Any, Any] = server.surely(build)
        self._waiting: list[DataObject[Any, Any]] = []
        self._sending: Task[None] | None = None

    async def write(self, rows: Sequence[DataObject[Any, Any]]) -> None:
        if not rows:
            return
        self._waiting += rows
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        await asyncio.shield(self._sending)

    async def close(self) -> None:
        """What is on its way when a run is cancelled is not left to chance."""
        if self._sending is not None:
            await asyncio.gather(self._sending, return_exceptions=True)

    async def _send(self) -> None:
        await asyncio.sleep(0)  # the others that are handed in this turn come along
        rows, self._waiting, self._sending = self._waiting, [], None
        for start in range(0, len(rows), TOGETHER):
            await self._store(rows[start : start + TOGETHER])

    async def _store(self, rows: Sequence[DataObject[Any, Any]]) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            part = rows
            written = await self._server.write(lambda part=part: self._collection.data.insert_many(part))  # type: ignore[misc] # bound now
            if not written.has_errors:
                return
            rows = [rows[at] for at in sorted(written.errors)]
            if attempt < ATTEMPTS:
                await asyncio.sleep(PAUSE * attempt)
        first = written.errors[min(written.errors)]
        raise StoreError(
            f"Weaviate did not store {len(rows)} passages, the first since: {' '.join(first.message.split())[:300]}. "
            "What was stored before stays; run `footnote index` again."
        )
