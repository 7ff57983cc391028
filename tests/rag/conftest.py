"""A conversation about a small handbook."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.database import Database
from storage.local_index import LocalIndex
from tests.rag.talking import HANDBOOK, Desk


@pytest.fixture
async def desk(tmp_path: Path, sqlite_url: str) -> AsyncIterator[Desk]:
    async with Database(sqlite_url) as database, LocalIndex(tmp_path / "index") as index:
        desk = Desk(database, index)
        await desk.know(HANDBOOK)
        yield desk
