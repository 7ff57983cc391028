"""What every embedder promises (M6), over the real ones."""

import asyncio
import math
import struct
from collections.abc import AsyncIterator, Sequence
from operator import mul

import pytest
import pytest_asyncio

from rag.models.breaker import Breaker, BreakerSettings
from rag.models.cohere.client import open_client as open_cohere
from rag.models.cohere.embedder import CohereEmbedder
from rag.models.local.embedder import LocalEmbedder
from rag.models.openai_compatible.client import open_client as open_openai
from rag.models.openai_compatible.embedder import OpenAIEmbedder
from rag.models.sparing import SparedEmbedder
from rag.ports import Embedder
from rag.types import Vector
from tests.fakes.cohere.server import FakeCohere
from tests.fakes.model_server import KEY
from tests.fakes.openai.server import FakeOpenAI

pytestmark = pytest.mark.asyncio(loop_scope="module")  # models take a second to load

TRANSLATIONS = [
    ("The meeting was moved to Friday morning.", "会议改到了星期五上午。", "La reunión se aplazó al viernes por la mañana."),
    ("How do I reset my password?", "我如何重置密码？", "¿Cómo restablezco mi contraseña?"),
    ("Water boils at one hundred degrees.", "水在一百度沸腾。", "El agua hierve a cien grados."),
    ("The dog is sleeping under the table.", "狗正在桌子底下睡觉。", "El perro duerme debajo de la mesa."),
]
AWKWARD = ["", "\0", "a\0b", "\ud800", "x \udfff y", "\ufdfa" * 1000, "a" * 1_000_000, "字" * 100_000, "\u200b\ufeff", "😀" * 500]


@pytest_asyncio.fixture(params=["local", "cohere", "spared", "openai"], scope="module", loop_scope="module")
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param == "local":
        async with LocalEmbedder(processes=2) as local:
            yield local
    elif request.param in {"cohere", "spared"}:
        async with FakeCohere() as server, open_cohere(KEY, server.url) as client:
            cohere = CohereEmbedder(client, "embed-v4.0", 512)
            yield cohere if request.param == "cohere" else SparedEmbedder(cohere, Breaker("embed-v4.0", BreakerSettings()))
    else:
        async with FakeOpenAI("ollama", longest=20_000) as ollama, open_openai("", ollama.base_url) as openai:
            yield OpenAIEmbedder(openai, "nomic-embed-text", 768)


def numbers(vector: Vector) -> Sequence[float]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def cosine(one: Vector, other: Vector) -> float:
    return float(sum(map(mul, numbers(one), numbers(other))))


def distance(one: Vector, other: Vector) -> float:
    return max(abs(a - b) for a, b in zip(numbers(one), numbers(other), strict=True))


async def test_vectors_have_the_dimension_that_is_promised_and_unit_length(embedder: Embedder) -> None:
    vectors = [*await embedder.embed_passages(["one", "two words", "three words here"]), await embedder.embed_question("why?")]

    for vector in vectors:
        assert len(numbers(vector)) == embedder.dimension
        assert math.hypot(*numbers(vector)) == pytest.approx(1, abs=1e-5)


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert await embedder.embed_passages([]) == []


async def test_vectors_come_in_the_order_of_their_texts(embedder: Embedder) -> None:
    texts = [f"Passage number {number} is about the number {number * number}." for number in range(50)]

    forwards = await embedder.embed_passages(texts)
    backwards = await embedder.embed_passages(texts[::-1])

    for one, other in zip(forwards, backwards[::-1], strict=True):
        assert distance(one, other) < 1e-6


async def test_a_vector_does_not_depend_on_the_texts_beside_it(embedder: Embedder) -> None:
    texts = ["Short.", "A longer sentence about the weather in spring. " * 10, "短い文。", "Und noch ein Satz."]

    together = await embedder.embed_passages(texts * 8)
    alone = [(await embedder.embed_passages([text]))[0] for text in texts]

    for position, vector in enumerate(together):
        assert distance(vector, alone[position % len(texts)]) < 1e-6


async def test_a_question_is_nearest_to_the_passage_that_says_the_same(embedder: Embedder) -> None:
    passages = await embedder.embed_passages([english for english, *_ in TRANSLATIONS])

    for position, (english, *_) in enumerate(TRANSLATIONS):
        asked = await embedder.embed_question(english)
        assert max(range(len(passages)), key=lambda n: cosine(asked, passages[n])) == position


@pytest.mark.parametrize("language", [1, 2])
async def test_a_sentence_is_nearest_to_its_translation(embedder: Embedder, language: int) -> None:
    if not isinstance(embedder, LocalEmbedder):
        pytest.skip("the fake servers know words, and no languages")
    english = await embedder.embed_passages([sentences[0] for sentences in TRANSLATIONS])
    translated = await embedder.embed_passages([sentences[language] for sentences in TRANSLATIONS])

    for position, vector in enumerate(english):
        assert max(range(len(translated)), key=lambda n: cosine(vector, translated[n])) == position


async def test_any_text_is_taken(embedder: Embedder) -> None:
    vectors = await embedder.embed_passages(AWKWARD)

    assert len(vectors) == len(AWKWARD)
    for text, vector in zip(AWKWARD, vectors, strict=True):
        assert math.hypot(*numbers(vector)) == pytest.approx(1, abs=1e-5)
        assert math.hypot(*numbers(await embedder.embed_question(text))) == pytest.approx(1, abs=1e-5)


async def test_many_calls_at_once_each_get_their_own_vectors(embedder: Embedder) -> None:
    texts = [f"The {number}th thing that was written down." for number in range(60)]
    expected = await embedder.embed_passages(texts)

    calls = [embedder.embed_passages(texts[start : start + 1 + start % 3]) for start in range(57)]
    questions = [embedder.embed_question(text) for text in texts]
    found = await asyncio.gather(*calls)
    asked = await asyncio.gather(*questions)

    for start, vectors in enumerate(found):
        assert len(vectors) == 1 + start % 3
        for offset, vector in enumerate(vectors):
            assert distance(vector, expected[start + offset]) < 1e-6
    assert len({bytes(vector) for vector in asked}) == len(texts)


async def test_the_name_tells_model_and_version(embedder: Embedder) -> None:
    model, _, version = embedder.name.partition("/")

    assert model
    assert version
