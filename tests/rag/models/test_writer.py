"""What every writer promises (M6), over the real ones and the one that follows a script."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pytest

from rag.errors import ModelError
from rag.models.breaker import Breaker, BreakerSettings
from rag.models.cohere.client import open_client as open_cohere
from rag.models.cohere.writer import CohereWriter
from rag.models.extractive import ExtractiveWriter
from rag.models.openai_compatible.client import open_client as open_openai
from rag.models.openai_compatible.writer import OpenAIWriter
from rag.models.sparing import SparedWriter
from rag.prompting import Prompts
from rag.types import Cited, Excerpt, Passage, Prompt, Sampling, Turn, Usage
from tests.fakes.cohere.server import FakeCohere
from tests.fakes.model_server import KEY, Silence
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.writers import ScriptedWriter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence

    from rag.ports import Writer
    from rag.types import Piece
    from tests.fakes.writers import Said

PROMPTS = Prompts.load()
LEAVE, TRAVEL = "How many days of annual leave do employees get?", "Within how many days are travel costs refunded?"
TEXTS = (
    "Employees get 25 days of annual leave a year. Requests go to the manager.",
    "Travel costs are refunded within 30 days when all receipts are handed in.",
)
AWKWARD = ["\0", "a\0b", "\ud800", "x \udfff y", "\ufdfa" * 100, "字" * 20_000, "a" * 200_000, "😀" * 500, "\u200b", "</passage>"]


@dataclass
class Held:
    """A writer, and what makes its model hang where it has one on another machine."""

    writer: Writer
    hang: Callable[[], None] | None = None


async def extractive(_: AsyncExitStack) -> Held:
    return Held(ExtractiveWriter())


async def scripted(_: AsyncExitStack) -> Held:
    """As a language model that cites the passage which shares most words with the question."""

    def line(prompt: Prompt) -> Said:
        asked = set(prompt.question.lower().split())
        best = max(prompt.excerpts, key=lambda one: len(asked & set(one.text.lower().split())), default=None)
        return f"{best.text.partition('. ')[0].rstrip('.')} [{best.n}]." if best else prompt.user or "Nothing."

    return Held(ScriptedWriter([line] * 500))


async def cohere(stack: AsyncExitStack) -> Held:
    server = await stack.enter_async_context(FakeCohere())
    client = await stack.enter_async_context(open_cohere(KEY, server.url))
    return Held(CohereWriter(client, "command-a-03-2025"), lambda: setattr(server, "away", Silence("stall")))


async def openai(stack: AsyncExitStack) -> Held:
    server = await stack.enter_async_context(FakeOpenAI())
    client = await stack.enter_async_context(open_openai(KEY, server.base_url))
    return Held(OpenAIWriter(client, "gpt-4.1-mini", is_openai=True), lambda: setattr(server, "away", Silence("stall")))


async def ollama(stack: AsyncExitStack) -> Held:
    """A server of one's own that lacks much."""
    server = await stack.enter_async_context(FakeOpenAI("ollama", lacks=("usage", "stream_options", "roles", "system")))
    client = await stack.enter_async_context(open_openai("", server.base_url))
    return Held(OpenAIWriter(client, "llama3.1", is_openai=False), lambda: setattr(server, "away", Silence("stall")))


async def spared(stack: AsyncExitStack) -> Held:
    held = await cohere(stack)
    return Held(SparedWriter(held.writer, Breaker("Cohere's command-a", BreakerSettings())), held.hang)


IMPLEMENTATIONS: dict[str, Callable[[AsyncExitStack], Awaitable[Held]]] = {
    "extractive": extractive,
    "scripted": scripted,
    "cohere": cohere,
    "openai": openai,
    "ollama": ollama,
    "spared": spared,
}


@pytest.fixture(params=IMPLEMENTATIONS)
async def held(request: pytest.FixtureRequest) -> AsyncIterator[Held]:
    async with AsyncExitStack() as stack:
        yield await IMPLEMENTATIONS[request.param](stack)


@pytest.fixture
def writer(held: Held) -> Writer:
    return held.writer


def prompt(
    question: str = LEAVE, texts: Sequence[str] = TEXTS, history: tuple[Turn, ...] = (), sampling: Sampling | None = None
) -> Prompt:
    excerpts = tuple(
        Excerpt(n, f"Document {n}", text, Passage(str(n), "base", f"d{n}", 0, text, title=f"Document {n}", language="en"))
        for n, text in enumerate(texts, 1)
    )
    user = PROMPTS.answer_user(question, excerpts, history, "en")
    return Prompt(PROMPTS.answer_system("en"), user, question, excerpts, history, "en", sampling or Sampling())


def streaming(writer: Writer, asked: Prompt) -> aclosing[AsyncGenerator[Piece]]:
    return aclosing(cast("AsyncGenerator[Piece]", writer.write(asked)))


async def pieces_of(writer: Writer, asked: Prompt) -> list[Piece]:
    async with streaming(writer, asked) as stream:
        return [piece async for piece in stream]


def text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


async def test_an_answer_comes_from_the_passage_that_holds_it(writer: Writer) -> None:
    leave, travel = [text_of(await pieces_of(writer, prompt(question))) for question in (LEAVE, TRAVEL)]

    assert "25 days" in leave
    assert "30 days" in travel


async def test_the_last_piece_is_the_only_usage_and_names_the_writer(writer: Writer) -> None:
    *pieces, usage = await pieces_of(writer, prompt())

    assert isinstance(usage, Usage)
    assert not any(isinstance(piece, Usage) for piece in pieces)
    assert (usage.model, usage.finish in {"complete", "stop"}) == (writer.name, True)
    assert min(usage.tokens_in, usage.tokens_out) >= 0
    assert not writer.is_model or min(usage.tokens_in, usage.tokens_out) > 0


async def test_the_statement_is_cited_by_the_number_of_its_passage(writer: Writer) -> None:
    """By a mark in the text, or by a citation whose stretch lies within the text."""
    for question, number in ((LEAVE, 1), (TRAVEL, 2)):
        pieces = await pieces_of(writer, prompt(question))

        text, cited = text_of(pieces), [piece for piece in pieces if isinstance(piece, Cited)]
        assert f"[{number}]" in text or [one.excerpts for one in cited] == [(number,)]
        assert all(0 <= one.start < one.end <= len(text) for one in cited)


async def test_it_is_streamed(writer: Writer) -> None:
    """A model's answer is told word by word; a rule's whole sentences."""
    pieces = [piece for piece in await pieces_of(writer, prompt()) if isinstance(piece, str)]

    assert len(pieces) > (3 if writer.is_model else 0)
    assert all(pieces)


async def test_without_a_passage_a_model_says_something_and_a_rule_nothing(writer: Writer) -> None:
    pieces = await pieces_of(writer, prompt(texts=()))

    assert bool(text_of(pieces)) == writer.is_model
    assert isinstance(pieces[-1], Usage)


async def test_a_stream_that_nobody_reads_to_its_end_is_closed_and_the_next_one_is_whole(writer: Writer) -> None:
    whole = await pieces_of(writer, prompt())
    for _ in range(3):
        async with streaming(writer, prompt()) as stream:
            assert await anext(stream) == whole[0]

    assert await pieces_of(writer, prompt()) == whole


async def test_what_is_cancelled_ends_at_once_and_the_next_one_is_whole(writer: Writer) -> None:
    whole = await pieces_of(writer, prompt())
    begun = asyncio.Event()

    async def follow() -> None:
        async with streaming(writer, prompt()) as stream:
            async for _ in stream:
                begun.set()
                await asyncio.sleep(60)

    following = asyncio.create_task(follow())
    await asyncio.wait_for(begun.wait(), 20)
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(following, 20)

    assert await pieces_of(writer, prompt()) == whole


async def test_questions_at_once_each_get_their_own_answer(writer: Writer) -> None:
    questions = [LEAVE, TRAVEL] * 6
    one_by_one = {question: text_of(await pieces_of(writer, prompt(question))) for question in (LEAVE, TRAVEL)}

    at_once = await asyncio.gather(*(pieces_of(writer, prompt(question)) for question in questions))

    assert [text_of(pieces) for pieces in at_once] == [one_by_one[question] for question in questions]


async def test_the_same_question_is_answered_the_same_way_again(writer: Writer) -> None:
    assert await pieces_of(writer, prompt()) == await pieces_of(writer, prompt())


@pytest.mark.parametrize("odd", AWKWARD, ids=ascii)
async def test_any_text_is_taken(writer: Writer, odd: str) -> None:
    """In the question, the passages and the history: an answer, or one of our errors."""
    asked = prompt(f"{LEAVE} {odd}", (odd, *TEXTS), (Turn("user", odd, odd), Turn("assistant", odd)))

    pieces = await pieces_of(writer, asked)

    assert isinstance(pieces[-1], Usage)
    text_of(pieces).encode()


async def test_every_sampling_is_taken(writer: Writer) -> None:
    for sampling in (Sampling(0.0, 1.0, 1, 20), Sampling(2.0, 0.001, 5_000, 4_000), Sampling(seconds=20.0)):
        assert isinstance((await pieces_of(writer, prompt(sampling=sampling)))[-1], Usage)


async def test_a_model_that_hangs_is_given_up_in_its_time_with_an_error_of_ours(held: Held) -> None:
    if held.hang is None:
        pytest.skip("it has no model on another machine")
    held.hang()

    async with asyncio.timeout(10):
        with pytest.raises(ModelError):
            await pieces_of(held.writer, prompt(sampling=Sampling(seconds=0.3)))


async def test_it_tells_its_name_and_how_much_it_can_read(writer: Writer) -> None:
    assert writer.name
    assert writer.context_tokens > 1_000
