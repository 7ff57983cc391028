"""An embedder that remembers what it was asked last."""

import asyncio

from rag.models.remembering import Remembering
from tests.fakes.sources import CountingEmbedder


async def test_a_text_is_embedded_once_and_the_order_is_kept() -> None:
    inner = CountingEmbedder()
    embedder = Remembering(inner)
    first = await embedder.embed_passages(["one", "two", "one"])

    assert await embedder.embed_passages(["two", "three", "one"]) == [first[1], *await inner.embed_passages(["three"]), first[0]]
    assert inner.embedded == ["one", "two", "three", "three"]
    assert first[0] == first[2]


async def test_what_was_used_longest_ago_goes_first() -> None:
    inner = CountingEmbedder()
    embedder = Remembering(inner, most=2)
    for text in ("one", "two", "one", "three", "one", "two"):
        await embedder.embed_passages([text])

    assert inner.embedded == ["one", "two", "three", "two"]


async def test_more_texts_than_are_kept_all_get_their_vectors() -> None:
    inner = CountingEmbedder()
    texts = [f"text {number}" for number in range(9)]

    assert await Remembering(inner, most=3).embed_passages(texts) == await inner.embed_passages(texts)


async def test_what_another_call_pushes_out_meanwhile_is_still_given() -> None:
    inner = CountingEmbedder()
    embedder = Remembering(inner, most=1)
    calls = [[f"text {number}", f"text {number + 1}"] for number in range(20)]
    expected = [await inner.embed_passages(texts) for texts in calls]

    assert await asyncio.gather(*map(embedder.embed_passages, calls)) == expected
