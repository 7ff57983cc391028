"""Cohere's models, spared while the service hangs or has trouble: who waits, and for how long."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from rag.errors import ModelTimeout, ModelUnavailable
from rag.models.breaker import Breaker, BreakerSettings
from rag.models.cohere.client import open_client
from rag.models.cohere.embedder import CohereEmbedder
from rag.models.cohere.reranker import CohereReranker
from rag.models.cohere.writer import CohereWriter
from rag.models.sparing import SparedEmbedder, SparedReranker, SparedWriter
from rag.types import Passage, Prompt, Sampling, Usage
from rag.writing import written
from tests.fakes.cohere.server import CHAT, EMBED, RERANK, FakeCohere, Says
from tests.fakes.model_server import KEY, Refusal, Silence
from tests.fakes.pauses import no_pauses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from rag.models.cohere.client import Client

PASSAGES = [Passage("1", "b", "d", 0, "Employees get 25 days.")]
HANGS = Silence("stall")


class Clock:
    """Flows as usual; a test moves it ahead."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with no_pauses(monkeypatch):
        yield


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker("The model", BreakerSettings(failures=2, rest=30.0), clock)


@pytest.fixture
async def server() -> AsyncIterator[FakeCohere]:
    async with FakeCohere() as server:
        yield server


@pytest.fixture
async def client(server: FakeCohere) -> AsyncIterator[Client]:
    async with open_client(KEY, server.url) as client:
        yield client


@pytest.fixture
def writer(client: Client, breaker: Breaker) -> SparedWriter:
    return SparedWriter(CohereWriter(client, "command-a-03-2025"), breaker)


def prompt(seconds: float = 30.0, user: str = "Say it.") -> Prompt:
    return Prompt("", user, sampling=Sampling(seconds=seconds))


async def said(writer: SparedWriter, seconds: float = 30.0, user: str = "Say it.") -> str:
    """What it writes, or the name of the error."""
    try:
        return (await written(writer, prompt(seconds, user))).text
    except (ModelTimeout, ModelUnavailable) as error:
        return type(error).__name__


async def test_what_is_written_goes_through_as_it_is(server: FakeCohere, writer: SparedWriter) -> None:
    server.script(CHAT, Says("Twenty-five days."))

    async with aclosing(writer.write(prompt())) as stream:
        pieces = [piece async for piece in stream]

    assert pieces == ["Twenty-five ", "days.", Usage("command-a-03-2025", 70, 12, "complete")]
    assert (writer.name, writer.is_model, writer.context_tokens) == ("command-a-03-2025", True, 128_000)


async def test_fifty_who_ask_at_once_while_it_hangs_wait_once_and_those_after_them_not_at_all(
    server: FakeCohere, writer: SparedWriter
) -> None:
    server.away = HANGS
    begun = time.monotonic()
    first = await asyncio.gather(*(said(writer, 0.5) for _ in range(50)))
    waited = time.monotonic() - begun

    then = await asyncio.gather(*(said(writer, 0.5, "Say it again.") for _ in range(50)))

    assert set(first) == {"ModelTimeout"}
    assert waited < 10 * 0.5  # one after the other would take 25
    assert time.monotonic() - begun - waited < waited
    assert set(then) == {"ModelUnavailable"}
    assert not [one for one in server.asked if "again" in str(one.body)]


async def test_once_it_is_back_one_trial_lets_all_in(server: FakeCohere, writer: SparedWriter, clock: Clock) -> None:
    server.away = HANGS
    await asyncio.gather(said(writer, 0.2), said(writer, 0.2))
    server.away = None
    assert await said(writer) == "ModelUnavailable"
    server.asked.clear()
    clock.ahead += 30

    at_once = await asyncio.gather(*(said(writer) for _ in range(10)))

    assert sorted(at_once) == ["ModelUnavailable"] * 9 + ["Say it."]
    assert len(server.asked) == 1
    assert await asyncio.gather(*(said(writer) for _ in range(10))) == ["Say it."] * 10


async def test_one_that_is_of_no_use_without_another_is_not_asked_while_that_one_is_left_alone(
    server: FakeCohere, client: Client, writer: SparedWriter, clock: Clock
) -> None:
    cheaper = SparedWriter(CohereWriter(client, "command-r7b-12-2024"), Breaker("The cheaper one", BreakerSettings()))
    server.script(CHAT, *[Refusal(503)] * 6)
    await said(writer), await said(writer)

    with pytest.raises(ModelUnavailable, match=r"^The model is left alone, since it kept failing: .*status 503"):
        await written(cheaper.behind(writer), prompt())
    assert await said(cheaper) == "Say it."
    clock.ahead += 30
    assert await said(cheaper.behind(writer)) == "ModelUnavailable"
    assert [await said(writer), await said(cheaper.behind(writer))] == ["Say it."] * 2


async def test_trouble_that_is_told_counts_as_well(server: FakeCohere, writer: SparedWriter, clock: Clock) -> None:
    server.away = Refusal(503)
    assert [await said(writer) for _ in range(3)] == ["ModelUnavailable"] * 3
    assert len(server.asked) == 2 * 3  # each of two calls is tried three times, the third call is not made
    clock.ahead += 30
    server.away = None

    assert [await said(writer) for _ in range(2)] == ["Say it."] * 2


async def test_an_answer_that_stalls_in_the_middle_counts_as_well(server: FakeCohere, client: Client, breaker: Breaker) -> None:
    writer = SparedWriter(CohereWriter(client, "command-a-03-2025", silence=0.2), breaker)
    server.script(CHAT, *[Says("Employees never get it.", fault="stall")] * 2)

    assert [await said(writer) for _ in range(3)] == ["ModelTimeout", "ModelTimeout", "ModelUnavailable"]


async def test_whoever_goes_away_early_is_no_failure(server: FakeCohere, writer: SparedWriter) -> None:
    server.away = HANGS
    for _ in range(3):
        waiting = asyncio.create_task(said(writer, 20.0))
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    server.away = None

    assert await said(writer) == "Say it."


async def test_whoever_wants_no_more_of_an_answer_is_no_failure(server: FakeCohere, writer: SparedWriter) -> None:
    server.script(CHAT, *[Says("Employees get it.")] * 3)
    for _ in range(3):
        async with aclosing(writer.write(prompt())) as stream:
            assert await anext(stream) == "Employees "

    assert await said(writer) == "Say it."


async def test_vectors_of_questions_are_spared_and_those_of_passages_are_not(
    server: FakeCohere, client: Client, breaker: Breaker
) -> None:
    embedder = SparedEmbedder(CohereEmbedder(client, "embed-v4.0", 512), breaker)
    server.script(EMBED, *[Refusal(503)] * 4)
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="status 503"):
            await embedder.embed_question("How many?")

    with pytest.raises(ModelUnavailable, match="is left alone for 30 s more"):
        await embedder.embed_question("How many?")
    assert len(await embedder.embed_passages(["one", "two"])) == 2
    assert (embedder.name, embedder.dimension) == ("cohere/embed-v4.0/512", 512)


async def test_a_reranker_that_has_no_time_for_anything_counts_as_failed(
    server: FakeCohere, client: Client, breaker: Breaker
) -> None:
    reranker = SparedReranker(CohereReranker(client, "rerank-v4.0-fast"), breaker)
    server.script(RERANK, HANGS, HANGS)
    assert [await reranker.rerank("How many?", PASSAGES, seconds=0.1) for _ in range(2)] == [[None], [None]]

    with pytest.raises(ModelUnavailable, match="is left alone for 30 s more, since it kept failing: cohere/rerank"):
        await reranker.rerank("How many?", PASSAGES, seconds=0.1)
    assert (reranker.name, reranker.absolute) == ("cohere/rerank-v4.0-fast", True)


async def test_no_passages_are_no_failure(client: Client, breaker: Breaker) -> None:
    reranker = SparedReranker(CohereReranker(client, "rerank-v4.0-fast"), breaker)

    assert [await reranker.rerank("How many?", [], seconds=0.1) for _ in range(3)] == [[], [], []]
