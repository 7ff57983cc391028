"""How collections are made: what the settings say, and nothing that needs a module of the server."""

import asyncio
from dataclasses import replace
from typing import Literal

import pytest
import weaviate
from weaviate.collections.classes.config import Vectorizers

from rag.errors import StoreError
from rag.types import Search
from storage.weaviate_index import WeaviateIndex, WeaviateSettings
from tests.storage.passages import SIGNATURE, direction, indexed
from tests.weaviates import bare_client

BASE = "handbook"
DOCUMENTS = [indexed(f"d{number}", f"all of {number}", f"word{number}") for number in range(20)]


async def made(settings: WeaviateSettings) -> str:
    """A base with some documents, found again; its collection."""
    async with WeaviateIndex(settings) as index:
        async with index.write(BASE, SIGNATURE) as writer:
            await asyncio.gather(*(writer.put(passages[0].passage.document, passages) for passages in DOCUMENTS))
            await writer.publish()
        found = await index.search(BASE, Search(("word7",), direction("word7"), limit=10))
        assert next(each.id for each in found if each.dense_rank == 1) == "d7#1"
        assert next(each.cosine for each in found if each.dense_rank == 1) == pytest.approx(1.0, abs=1e-5)
        assert [each.id for each in found if each.lexical_rank] == ["d7#1"]
        assert await index.languages(BASE) == ("en",)
        return writer.build


async def test_vectors_and_terms_are_our_own(weaviate_settings: WeaviateSettings, client: weaviate.WeaviateAsyncClient) -> None:
    config = await client.collections.use(await made(weaviate_settings)).config.get()

    assert {each.vectorizer.vectorizer for each in (config.vector_config or {}).values()} <= {Vectorizers.NONE}
    assert config.vectorizer in (None, Vectorizers.NONE)
    searchable = {each.name: str(each.tokenization) for each in config.properties if each.index_searchable}
    assert list(searchable) == ["lexical"]
    assert "whitespace" in searchable["lexical"].lower()
    assert (config.inverted_index_config.bm25.k1, config.inverted_index_config.bm25.b) == pytest.approx((0.9, 0.4))


@pytest.mark.parametrize("quantization", ["rq", "bq", "sq", "pq"])
async def test_vectors_are_compressed_as_set_and_compared_whole(
    quantization: Literal["rq", "bq", "sq", "pq"], weaviate_settings: WeaviateSettings, client: weaviate.WeaviateAsyncClient
) -> None:
    build = await made(replace(weaviate_settings, quantization=quantization))

    assert f"_{quantization.upper()}Config" in str(type(await quantizer(client, build)))


async def quantizer(client: weaviate.WeaviateAsyncClient, build: str) -> object:
    config = await client.collections.use(build).config.get()
    held = config.vector_index_config or next(iter((config.vector_config or {}).values())).vector_index_config
    return getattr(held, "quantizer", None)


async def test_none_is_compressed_by_default(weaviate_settings: WeaviateSettings, client: weaviate.WeaviateAsyncClient) -> None:
    assert await quantizer(client, await made(weaviate_settings)) is None


async def test_a_collection_is_divided_as_set(weaviate_settings: WeaviateSettings, client: weaviate.WeaviateAsyncClient) -> None:
    build = await made(replace(weaviate_settings, shards=2))

    assert len(await client.collections.use(build).config.get_shards()) == 2


async def test_everything_is_kept_in_the_tenant_that_is_set(weaviate_settings: WeaviateSettings) -> None:
    ours, theirs = replace(weaviate_settings, tenant="ours"), replace(weaviate_settings, tenant="theirs")
    build = await made(ours)

    async with bare_client(ours) as client:
        collection = client.collections.use(build)
        assert set(await collection.tenants.get()) == {"ours"}
        assert (await collection.with_tenant("ours").aggregate.over_all()).total_count == 40
    async with WeaviateIndex(theirs) as other:
        assert await other.search(BASE, Search(("all",), direction(1))) == []
        await other.drop(BASE)
    async with WeaviateIndex(ours) as index:
        assert await index.size(BASE) == 40


async def test_more_copies_than_there_are_nodes_is_told(weaviate_settings: WeaviateSettings) -> None:
    async with WeaviateIndex(replace(weaviate_settings, replicas=9)) as index:
        with pytest.raises(StoreError, match="refused a request"):
            async with index.write(BASE, SIGNATURE):
                pass
