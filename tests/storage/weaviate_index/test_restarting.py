"""A real server that is killed in the middle of an indexing run, and started again."""

import asyncio
import shutil
from dataclasses import replace

import pytest

from rag.types import Search
from storage.weaviate_index import WeaviateIndex
from tests.storage.passages import SIGNATURE, direction, indexed
from tests.weaviates import PROGRAM, absent, own_server

BASE = "handbook"
DOCUMENTS, GROUP, KILLED_AFTER = 60, 6, 30


@pytest.mark.timeout(300)
async def test_a_run_goes_on_when_the_server_is_killed_and_started_again() -> None:
    if shutil.which(PROGRAM) is None:
        absent("Weaviate: there is no `weaviate` program on PATH, so none can be stopped")
    with own_server() as server:
        patient = replace(server.settings, search_seconds=2.0, search_patience=120.0, write_seconds=10.0, write_patience=120.0)
        async with WeaviateIndex(patient) as index:
            async with index.write(BASE, SIGNATURE) as writer:
                await writer.put("before", indexed("before", "all of before"))
                await writer.publish()
                restarted: asyncio.Future[None] | None = None
                for start in range(0, DOCUMENTS, GROUP):
                    if start == KILLED_AFTER:
                        await asyncio.to_thread(server.stop)
                        restarted = asyncio.ensure_future(asyncio.to_thread(server.start))
                    group = range(start, start + GROUP)
                    await asyncio.gather(*(writer.put(f"d{each}", indexed(f"d{each}", f"all of {each}")) for each in group))
                assert restarted is not None
                await restarted
                assert {each.id for each in await index.search(BASE, Search(("all",), direction(1)))} == {"before#0"}
                await writer.publish()

            found = await index.search(BASE, Search(("all",), direction("all of 7"), limit=DOCUMENTS + 1))
            assert {each.id for each in found if each.lexical_rank} == {"before#0", *(f"d{each}#0" for each in range(DOCUMENTS))}
            assert next(each.id for each in found if each.dense_rank == 1) == "d7#0"
            assert await index.size(BASE) == DOCUMENTS + 1
