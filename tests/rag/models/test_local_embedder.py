"""What is particular to the embedder that comes with the package: its worker processes."""

import asyncio
import ctypes
import os
from pathlib import Path

import numpy as np
import pytest

from rag.errors import ModelUnavailable
from rag.models.local.embedder import LocalEmbedder
from tests.rag.workers.processes import gone, kill

TEXTS = [f"Sentence {number} of a text about many different things and places." for number in range(400)]


async def test_questions_and_single_passages_start_no_process() -> None:
    async with LocalEmbedder() as embedder:
        await embedder.warm()
        await embedder.embed_question("What is this?")
        await embedder.embed_passages(["This is a passage."])

        assert embedder.pids == ()


async def test_a_few_passages_start_one_process_and_many_all_of_them() -> None:
    async with LocalEmbedder(processes=2) as embedder:
        calls = [embedder.embed_passages(TEXTS[start : start + 10]) for start in range(0, 40, 10)]
        assert [len(vectors) for vectors in await asyncio.gather(*calls)] == [10] * 4
        assert len(embedder.pids) == 1

        assert len(await embedder.embed_passages(TEXTS)) == len(TEXTS)
        assert len(embedder.pids) == 2


async def test_a_worker_killed_in_the_midst_of_the_work_costs_no_vector() -> None:
    async with LocalEmbedder(processes=2) as embedder:
        await embedder.embed_passages(TEXTS[:40])
        working = asyncio.create_task(embedder.embed_passages(TEXTS))
        await asyncio.sleep(0.1)
        kill(embedder.pids[0])

        vectors = await working
        assert len(set(vectors)) == len(TEXTS)


async def test_workers_that_keep_dying_are_reported_with_how_they_died() -> None:
    async def kill_all(embedder: LocalEmbedder) -> None:
        while True:
            kill(*embedder.pids)
            await asyncio.sleep(0.01)

    async with LocalEmbedder(processes=1) as embedder:
        killing = asyncio.create_task(kill_all(embedder))
        with pytest.raises(ModelUnavailable, match="SIGKILL"):
            await embedder.embed_passages(TEXTS)
        killing.cancel()

        assert len(await embedder.embed_passages(TEXTS[:20])) == 20


async def test_a_call_that_is_given_up_leaves_the_others_their_vectors() -> None:
    async with LocalEmbedder(processes=1) as embedder:
        given_up = asyncio.create_task(embedder.embed_passages(TEXTS))
        other = asyncio.create_task(embedder.embed_passages(TEXTS[:5]))
        await asyncio.sleep(0)
        given_up.cancel()

        assert len(await other) == 5


async def test_idle_workers_end_and_no_process_is_left_behind() -> None:
    async with LocalEmbedder(processes=2, idle_seconds=0.05) as embedder:
        await embedder.embed_passages(TEXTS[:40])
        assert await gone(*embedder.pids)

        working = asyncio.create_task(embedder.embed_passages(TEXTS))
        await asyncio.sleep(0.2)
        pids = embedder.pids
    with pytest.raises(ModelUnavailable):
        await working
    assert pids
    assert await gone(*pids)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has one thread anyway")
async def test_numpy_computes_in_one_thread_so_that_questions_stay_fast_on_busy_cores() -> None:
    libraries = list((Path(np.__file__).parents[1] / "numpy.libs").glob("*openblas*"))
    if not libraries:
        pytest.skip("this numpy has no OpenBLAS")
    openblas = ctypes.CDLL(str(libraries[0]))
    openblas.scipy_openblas_set_num_threads64_(2)

    async with LocalEmbedder() as embedder:
        await embedder.warm()

    assert openblas.scipy_openblas_get_num_threads64_() == 1
