"""An index in Weaviate that a test has to itself, and the bare client to look at what is there."""

from collections.abc import AsyncIterator

import pytest
import weaviate

from storage.weaviate_index import WeaviateIndex, WeaviateSettings
from tests.weaviates import bare_client


@pytest.fixture
async def index(weaviate_settings: WeaviateSettings) -> AsyncIterator[WeaviateIndex]:
    async with WeaviateIndex(weaviate_settings) as opened:
        yield opened


@pytest.fixture
async def client(weaviate_settings: WeaviateSettings) -> AsyncIterator[weaviate.WeaviateAsyncClient]:
    async with bare_client(weaviate_settings) as opened:
        yield opened
