"""Cohere's embed and rerank against a strict server of ours: batches, kinds of input, dimensions, faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from rag.models.cohere import embedder as module
from rag.models.cohere.client import open_client
from rag.models.cohere.embedder import CohereEmbedder
from rag.models.cohere.reranker import CohereReranker
from rag.types import Passage
from tests.fakes.cohere.server import EMBED, RERANK, FakeCohere
from tests.fakes.model_server import KEY, Refusal, Silence
from tests.fakes.pauses import no_pauses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from rag.models.cohere.client import Client


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with no_pauses(monkeypatch):
        yield


@pytest.fixture
async def server() -> AsyncIterator[FakeCohere]:
    async with FakeCohere() as server:
        yield server


@pytest.fixture
async def client(server: FakeCohere) -> AsyncIterator[Client]:
    async with open_client(KEY, server.url) as client:
        yield client


def passage(text: str) -> Passage:
    return Passage(text, "b", "d", 0, text, title="Leave")


async def test_no_more_than_96_texts_go_in_one_request(server: FakeCohere, client: Client) -> None:
    vectors = await CohereEmbedder(client, "embed-v4.0", 256).embed_passages([f"text {n}" for n in range(200)])

    assert len(vectors) == 200
    assert sorted(len(body["texts"]) for body in server.bodies(EMBED)) == [8, 96, 96]


async def test_questions_and_passages_are_told_apart_and_long_texts_are_cut(server: FakeCohere, client: Client) -> None:
    embedder = CohereEmbedder(client, "embed-v4.0", 256)

    await embedder.embed_question("Why?")
    await embedder.embed_passages(["Because."])

    asked = [
        {name: body[name] for name in ("input_type", "truncate", "embedding_types", "output_dimension")}
        for body in server.bodies(EMBED)
    ]
    common = {"truncate": "END", "embedding_types": ["float"], "output_dimension": 256}
    assert asked == [{"input_type": "search_query", **common}, {"input_type": "search_document", **common}]


@pytest.mark.parametrize(
    ("model", "dimension", "expected"),
    [
        ("embed-v4.0", None, 1024),
        ("embed-v4.0", 256, 256),
        ("embed-multilingual-v3.0", None, 1024),
        ("embed-multilingual-v3.0", 256, 1024),
    ],
)
async def test_the_dimension_is_part_of_the_name(client: Client, model: str, dimension: int | None, expected: int) -> None:
    embedder = CohereEmbedder(client, model, dimension)

    assert (embedder.name, embedder.dimension) == (f"cohere/{model}/{expected}", expected)
    assert len(await embedder.embed_question("Why?")) == 4 * expected


async def test_vectors_of_another_dimension_are_refused(client: Client) -> None:
    embedder = CohereEmbedder(client, "embed-v4.0", 256)
    embedder.dimension = 512

    with pytest.raises(ModelRefused, match=r"of 256 numbers, and 512 were expected. Set models.dimension to 256"):
        await embedder.embed_question("Why?")


async def test_while_indexing_a_busy_service_is_waited_for(server: FakeCohere, client: Client) -> None:
    server.script(EMBED, *[Refusal(429)] * 3, Refusal(500), Refusal(503, headers={"retry-after-ms": "1"}))

    assert await CohereEmbedder(client, "embed-v4.0", 256).embed_passages(["Because."])
    assert len(server.asked) == 6


async def test_somebody_who_waits_does_not_wait_long(server: FakeCohere, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = CohereEmbedder(client, "embed-v4.0", 256)
    server.script(EMBED, Refusal(429), Refusal(429))
    with pytest.raises(ModelUnavailable):
        await embedder.embed_question("Why?")

    monkeypatch.setattr(module, "_QUESTION", (0.05, 1))
    server.script(EMBED, Silence())
    with pytest.raises(ModelTimeout, match=r"within 0\.05 seconds"):
        await embedder.embed_question("Why?")


async def test_the_first_batch_that_fails_ends_the_others(server: FakeCohere, client: Client) -> None:
    server.script(EMBED, Silence(), Refusal(401))

    with pytest.raises(ModelRefused, match="COHERE_API_KEY"):
        await CohereEmbedder(client, "embed-v4.0", 256).embed_passages(["Because."] * 200)


@pytest.mark.parametrize("model", ["embed-v9", "command-a-03-2025"])
async def test_a_model_that_does_not_exist_says_so(client: Client, model: str) -> None:
    with pytest.raises(ModelRefused, match=f"does not know {model}"):
        await CohereEmbedder(client, model).embed_question("Why?")


async def test_scores_are_between_0_and_1_in_the_order_of_the_passages(server: FakeCohere, client: Client) -> None:
    reranker = CohereReranker(client, "rerank-v4.0-fast")

    scores = await reranker.rerank("annual leave days", [passage("travel"), passage("annual leave days")], seconds=5)

    assert [score is not None and 0 <= score <= 1 for score in scores] == [True, True]
    assert (scores[0] or 0) < (scores[1] or 0)
    (body,) = server.bodies(RERANK)
    assert (body["query"], body["documents"], body["top_n"]) == (
        "annual leave days",
        ["Leave\ntravel", "Leave\nannual leave days"],
        2,
    )


async def test_reranking_that_takes_too_long_has_no_scores(server: FakeCohere, client: Client) -> None:
    server.script(RERANK, Silence())

    assert await CohereReranker(client, "rerank-v4.0-fast").rerank("leave", [passage("a"), passage("b")], seconds=0.05) == [
        None,
        None,
    ]


@pytest.mark.parametrize(("status", "error"), [(401, ModelRefused), (404, ModelRefused), (503, ModelUnavailable)])
async def test_reranking_that_fails_says_so(server: FakeCohere, client: Client, status: int, error: type[ModelError]) -> None:
    server.away = Refusal(status)

    with pytest.raises(error):
        await CohereReranker(client, "rerank-v4.0-fast").rerank("leave", [passage("a")], seconds=5)


async def test_a_proxy_that_answers_with_a_page_says_nothing_that_can_be_read(server: FakeCohere, client: Client) -> None:
    server.script(EMBED, Refusal(200, plain="<html>Log in</html>"))

    with pytest.raises(ModelUnavailable, match="cannot be read"):
        await CohereEmbedder(client, "embed-v4.0").embed_question("Why?")
