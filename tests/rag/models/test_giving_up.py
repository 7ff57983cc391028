"""Many give up at the same moment, while a service hangs: what they held of its client is free again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from rag.models.cohere.client import open_client as open_cohere
from rag.models.cohere.embedder import CohereEmbedder
from rag.models.openai_compatible.client import open_client as open_openai
from rag.models.openai_compatible.embedder import OpenAIEmbedder
from tests.fakes.cohere.server import FakeCohere
from tests.fakes.model_server import KEY, Silence
from tests.fakes.openai.server import FakeOpenAI

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rag.ports import Embedder


@pytest.fixture(params=["cohere", "openai"])
async def asked(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Embedder, FakeCohere | FakeOpenAI]]:
    if request.param == "cohere":
        async with FakeCohere() as cohere, open_cohere(KEY, cohere.url) as client:
            yield CohereEmbedder(client, "embed-v4.0", 512), cohere
    else:
        async with FakeOpenAI("ollama") as ollama, open_openai("", ollama.base_url) as openai:
            yield OpenAIEmbedder(openai, "nomic-embed-text", 768), ollama


async def given_up(embedder: Embedder) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(0.2):
            await embedder.embed_question("How many days?")


async def test_a_service_that_hung_while_many_gave_it_up_is_reached_by_all_of_them_again(
    asked: tuple[Embedder, FakeCohere | FakeOpenAI],
) -> None:
    embedder, server = asked
    server.away = Silence("stall")
    for _ in range(3):
        await asyncio.gather(*(given_up(embedder) for _ in range(50)))
    server.away = None

    vectors = await asyncio.gather(*(embedder.embed_question("How many days?") for _ in range(50)))

    assert len(set(map(bytes, vectors))) == 1
