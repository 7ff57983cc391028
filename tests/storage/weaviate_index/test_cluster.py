"""Three real servers that keep each passage three times, and one of them is killed."""

import asyncio
from dataclasses import replace

import pytest

from rag.types import Search
from storage.weaviate_index import WeaviateIndex, WeaviateSettings
from storage.weaviate_index.server import check_cluster
from tests.storage.passages import SIGNATURE, direction, indexed
from tests.weaviates import own_cluster

BASE = "handbook"
MANY = 12


def patient(settings: WeaviateSettings) -> WeaviateSettings:
    return replace(settings, replicas=3, search_seconds=10.0, search_patience=60.0, write_seconds=20.0, write_patience=120.0)


async def put(index: WeaviateIndex, numbers: range) -> None:
    async with index.write(BASE, SIGNATURE) as writer:
        await asyncio.gather(*(writer.put(f"d{number}", indexed(f"d{number}", f"all of {number}")) for number in numbers))
        await writer.publish()


async def found(index: WeaviateIndex) -> set[str]:
    """By both lists."""
    candidates = await index.search(BASE, Search(("all",), direction("all of 7"), limit=100))
    return {each.id for each in candidates if each.lexical_rank and each.dense_rank}


@pytest.mark.timeout(300)
async def test_with_three_copies_one_node_may_die_while_others_index_and_answer() -> None:
    first, more = {f"d{number}#0" for number in range(MANY)}, {f"d{number}#0" for number in range(2 * MANY)}
    with own_cluster(3) as servers:
        one, two, _ = (patient(server.settings) for server in servers)
        async with WeaviateIndex(one) as at_one, WeaviateIndex(two) as at_two:
            assert (await check_cluster(one)).endswith("3 nodes")
            await put(at_one, range(MANY))
            assert [await found(at_one), await found(at_two)] == [first, first]

            await asyncio.to_thread(servers[2].stop)
            assert [await found(at_one), await found(at_two)] == [first, first]
            await put(at_two, range(MANY, 2 * MANY))
            assert [await found(at_one), await found(at_two)] == [more, more]
