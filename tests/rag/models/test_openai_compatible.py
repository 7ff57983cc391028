"""Servers that speak as OpenAI does, each with what it lacks and with its own way of saying no."""

from __future__ import annotations

from contextlib import aclosing
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, get_args

import httpx2
import openai
import pytest

from rag.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from rag.models.openai_compatible.client import open_client
from rag.models.openai_compatible.embedder import OpenAIEmbedder, dimension_of
from rag.models.openai_compatible.failures import FAULTS, ours
from rag.models.openai_compatible.thoughts import Thoughts
from rag.models.openai_compatible.writer import OpenAIWriter
from rag.types import Prompt, Sampling, Usage
from tests.fakes.model_server import KEY, Refusal, Silence
from tests.fakes.openai.server import CHAT, EMBED, FakeOpenAI, Maker, Says
from tests.fakes.pauses import no_pauses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from rag.types import Piece

MODEL = "llama3.1"
TEXT = "Employees get 25 days [1]."
ALL = Sampling(temperature=0.5, top_p=0.9, top_k=40, max_tokens=100)
PROMPT = Prompt("The rules.", "The whole template.", sampling=ALL)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with no_pauses(monkeypatch):
        yield


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI("ollama") as server:
        yield server


@pytest.fixture
async def writer(server: FakeOpenAI) -> AsyncIterator[OpenAIWriter]:
    async with open_client("", server.base_url) as client:
        yield OpenAIWriter(client, MODEL, is_openai=False)


async def pieces_of(writer: OpenAIWriter, prompt: Prompt = PROMPT) -> list[Piece]:
    async with aclosing(writer.write(prompt)) as stream:
        return [piece async for piece in stream]


async def failing(writer: OpenAIWriter, prompt: Prompt = PROMPT) -> tuple[str, ModelError]:
    """What was streamed until it failed, and how it did."""
    text = ""
    async with aclosing(writer.write(prompt)) as stream:
        try:
            async for piece in stream:
                text += piece if isinstance(piece, str) else ""
        except ModelError as error:
            return text, error
    raise AssertionError(f"It did not fail: {text}")


def told(pieces: list[Piece]) -> tuple[str, Usage]:
    *text, usage = pieces
    assert isinstance(usage, Usage)
    return "".join(map(str, text)), usage


# --- what is sent and read ------------------------------------------------------------------------------------------


async def test_an_answer_streams_and_ends_with_what_it_cost(server: FakeOpenAI, writer: OpenAIWriter) -> None:
    server.script(CHAT, Says(TEXT))

    assert told(await pieces_of(writer)) == (TEXT, Usage(MODEL, 70, 12, "complete"))


async def test_everything_that_is_set_is_sent_to_a_server_of_ones_own(server: FakeOpenAI, writer: OpenAIWriter) -> None:
    await pieces_of(writer)

    (body,) = server.bodies(CHAT)
    assert {name: body[name] for name in ("temperature", "top_p", "top_k", "max_tokens")} == {
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 40,
        "max_tokens": 100,
    }
    assert body["messages"] == [{"role": "system", "content": "The rules."}, {"role": "user", "content": "The whole template."}]


async def test_openai_itself_gets_no_top_k_and_the_new_name_of_max_tokens() -> None:
    async with FakeOpenAI("openai") as server, open_client(KEY, server.base_url) as client:
        await pieces_of(OpenAIWriter(client, "gpt-4.1-mini", is_openai=True))

        (body,) = server.bodies(CHAT)
        assert body["max_completion_tokens"] == 100
        assert not {"top_k", "max_tokens"} & body.keys()


async def test_a_server_that_tells_no_usage_is_estimated(server: FakeOpenAI, writer: OpenAIWriter) -> None:
    server.lacks = ("usage", "roles")
    server.script(CHAT, Says(TEXT))

    text, usage = told(await pieces_of(writer))

    assert text == TEXT
    assert (usage.tokens_in > 0, usage.tokens_out > 0, "estimated" in usage.note) == (True, True, True)


@pytest.mark.parametrize("maker", get_args(Maker))
async def test_what_a_server_does_not_know_is_left_out_from_then_on(maker: Maker) -> None:
    lacks = ("system", "stream_options", "temperature", "max_tokens")
    async with FakeOpenAI(maker, lacks) as server, open_client(KEY, server.base_url) as client:  # type: ignore[arg-type] # these
        writer = OpenAIWriter(client, MODEL, is_openai=maker == "openai")
        await pieces_of(writer)
        before = len(server.asked)
        text, _ = told(await pieces_of(writer))

        assert text
        assert len(server.asked) == before + 1
        last = server.bodies(CHAT)[-1]
        assert last["messages"] == [{"role": "user", "content": "The rules.\n\nThe whole template."}]
        assert not set(lacks) & last.keys()


async def test_a_refusal_that_names_nothing_is_told(server: FakeOpenAI, writer: OpenAIWriter) -> None:
    server.script(CHAT, Refusal(400, "the context is full"))

    _, failure = await failing(writer)

    assert str(failure) == f"{MODEL} refused the request with status 400: the context is full."
    assert isinstance(failure, ModelRefused)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>Let me see. 24?</think>\n\nIt is 25.", "It is 25."),
        ("\n<think>\nHm.\n</think>It is 25.", "It is 25."),
        ("<think>never ends", ""),
        ("<table> is a tag.", "<table> is a tag."),
        ("<thi", "<thi"),
        ("I think: <think> is a tag.", "I think: <think> is a tag."),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_thoughts_are_no_part_of_the_answer(text: str, expected: str, size: int) -> None:
    thoughts = Thoughts()
    pieces = [text[start : start + size] for start in range(0, len(text), size)]

    assert "".join(map(thoughts.without, pieces)) + thoughts.rest() == expected


@pytest.mark.parametrize(
    ("finish", "expected"), [("stop", "complete"), ("length", "max_tokens"), ("content_filter", None), ("tool_calls", None)]
)
async def test_why_the_model_stopped_is_told(server: FakeOpenAI, writer: OpenAIWriter, finish: str, expected: str | None) -> None:
    server.script(CHAT, Says(TEXT, finish=finish))

    if expected:
        assert told(await pieces_of(writer))[1].finish == expected
    else:
        text, failure = await failing(writer)
        assert (text, type(failure)) == (TEXT, ModelRefused)


# --- what goes wrong ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "says",
    [*(Says(TEXT, fault=fault) for fault in ("cut", "malformed", "no end")), Says(TEXT, error="overloaded")],
)
async def test_a_stream_that_breaks_off_is_no_answer_and_not_tried_again(
    server: FakeOpenAI, writer: OpenAIWriter, says: Says
) -> None:
    server.script(CHAT, says)

    text, failure = await failing(writer)

    assert isinstance(failure, ModelUnavailable)
    assert "broke off" in str(failure)
    assert text
    assert TEXT.startswith(text)
    assert len(server.asked) == 1


async def test_a_stream_that_stalls_is_a_timeout(server: FakeOpenAI, writer: OpenAIWriter) -> None:
    server.script(CHAT, Says(TEXT, fault="stall"))

    _, failure = await failing(writer, Prompt("", "a", sampling=Sampling(seconds=0.1)))

    assert isinstance(failure, ModelTimeout)


async def test_a_stream_is_begun_again_as_long_as_nothing_came_of_it(server: FakeOpenAI, writer: OpenAIWriter) -> None:
    server.script(CHAT, Refusal(503, "Loading model"), Silence("cut"), Says(TEXT))

    assert told(await pieces_of(writer))[0] == TEXT


@pytest.mark.parametrize(
    ("refusal", "error", "said"),
    [
        (Refusal(429, "slow down", {"Retry-After": "30"}), ModelUnavailable, "It asks to wait 30 s"),
        (Refusal(500, plain="<html>Bad</html>"), ModelUnavailable, "status 500. Try"),
        (Refusal(401, "Incorrect API key provided: sk-abc"), ModelRefused, "refuses the key in OPENAI_API_KEY"),
        (Refusal(404, "model 'llama3.1' not found, try pulling it first"), ModelRefused, "try pulling it first"),
    ],
)
async def test_each_failure_says_what_to_do(
    server: FakeOpenAI, writer: OpenAIWriter, refusal: Refusal, error: type[ModelError], said: str
) -> None:
    server.away = refusal

    _, failure = await failing(writer)

    assert isinstance(failure, error)
    assert said in str(failure)
    assert "sk-abc" not in str(failure)


@pytest.mark.parametrize("maker", ["openai", "ollama", "vllm", "llama.cpp"])
async def test_the_message_is_found_in_every_body(maker: Maker) -> None:
    async with FakeOpenAI(maker) as server, open_client(KEY, server.base_url) as client:
        _, failure = await failing(OpenAIWriter(client, "no-such", is_openai=False))

    assert "model 'no-such' not found, try pulling it first" in str(failure)


async def test_a_server_that_is_not_there(server: FakeOpenAI, writer: OpenAIWriter) -> None:
    await server.stop()

    _, failure = await failing(writer)

    assert isinstance(failure, ModelUnavailable)
    assert "OPENAI_BASE_URL" in str(failure)


# --- errors ---------------------------------------------------------------------------------------------------------


def classes(root: type[Exception]) -> Iterator[type[Exception]]:
    yield root
    for one in root.__subclasses__():
        yield from classes(one)


def raised(kind: type[Any]) -> Exception:
    request = httpx2.Request("POST", "http://localhost")
    response = httpx2.Response(getattr(kind, "status_code", 500), request=request)
    for arguments in (
        {"message": "no", "response": response, "body": {"message": "no"}},
        {"response": response, "body": {"message": "no"}},
        {"message": "no", "request": request, "body": None},
        {"message": "no", "request": request},
        {"request": request},
    ):
        try:
            error: Exception = kind(**arguments)
        except TypeError:
            continue
        return error
    return _unmade(kind)


def _unmade(kind: Any) -> Exception:
    """What wants more than any request gives, without having been given it."""
    error: Exception = BaseException.__new__(kind)
    return error


@pytest.mark.parametrize("kind", sorted(set(classes(openai.OpenAIError)), key=str))
def test_every_error_of_the_sdk_becomes_one_of_ours(kind: type[Exception]) -> None:
    error = raised(kind)

    assert isinstance(error, FAULTS)
    assert isinstance(ours(error, MODEL), ModelError)


def test_an_event_that_is_no_json_becomes_one_of_ours() -> None:
    assert isinstance(ours(JSONDecodeError("x", "y", 0), MODEL), ModelError)


# --- vectors --------------------------------------------------------------------------------------------------------


async def test_vectors_are_in_order_and_batches_are_bounded(server: FakeOpenAI) -> None:
    async with open_client("", server.base_url) as client:
        embedder = OpenAIEmbedder(client, "nomic-embed-text", await dimension_of(client, "nomic-embed-text"))
        vectors = await embedder.embed_passages([f"text {n}" for n in range(200)])
        again = [await embedder.embed_question(f"text {n}") for n in (0, 95, 96, 199)]

    assert [vectors[n] for n in (0, 95, 96, 199)] == again
    assert max(len(body["input"]) for body in server.bodies(EMBED)) == 96
    assert embedder.name == f"openai/nomic-embed-text/{embedder.dimension}"


@pytest.mark.parametrize("maker", ["vllm", "llama.cpp"])
async def test_what_is_too_long_for_the_server_is_cut(maker: Maker) -> None:
    async with FakeOpenAI(maker, longest=900) as server, open_client("", server.base_url) as client:
        embedder = OpenAIEmbedder(client, "nomic-embed-text", 768)
        vectors = await embedder.embed_passages(["short", "word " * 1000, "x" * 1000])

    assert len(set(vectors)) == 3


async def test_a_dimension_is_asked_for_where_it_was_chosen() -> None:
    async with FakeOpenAI("openai") as server, open_client(KEY, server.base_url) as client:
        chosen = OpenAIEmbedder(client, "text-embedding-3-small", 256, chosen=True)
        await chosen.embed_question("Why?")

        assert server.bodies(EMBED)[0]["dimensions"] == 256


async def test_vectors_of_another_dimension_are_refused(server: FakeOpenAI) -> None:
    async with open_client("", server.base_url) as client:
        with pytest.raises(ModelRefused, match=r"of 768 numbers, and 512 were expected"):
            await OpenAIEmbedder(client, "nomic-embed-text", 512).embed_question("Why?")


async def test_while_indexing_a_busy_server_is_waited_for(server: FakeOpenAI) -> None:
    server.script(EMBED, Refusal(429, "12000 tokens per minute"), Refusal(500), Refusal(503))
    async with open_client("", server.base_url) as client:
        assert await OpenAIEmbedder(client, "nomic-embed-text", 768).embed_passages(["Because."])
