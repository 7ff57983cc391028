"""The catalog, as one process sees it and as another does."""

from collections.abc import AsyncIterator

import pytest

from rag.ports import Catalog
from storage.catalog import DatabaseCatalog
from storage.database import Database


@pytest.fixture
def catalog(database: Database) -> Catalog:
    return DatabaseCatalog(database)


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Catalog]:
    """The catalog as another process sees it."""
    async with Database(database_url) as database:
        yield DatabaseCatalog(database)
