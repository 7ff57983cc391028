from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from rag.intake import ready
from rag.support import Claim, SentenceSimilarity, Support, numbers
from rag.types import Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Vector

ENGLISH = Passage(
    "1",
    "base",
    "fund.md",
    0,
    "The fund was founded in 1987. It holds 120 million euros and pays max_yield 3.5 percent.",
    language="en",
    headings=("Funds",),
)


def support(cosine: float) -> Support:
    async def similarity(claims: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        return [[cosine] * len(passages) for _ in claims]

    return Support(similarity)


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("The fund was founded in 1987.", True),
        ("In 1987 somebody founded this fund.", True),
        ("The fund was founded in 1988.", False),
        ("- 1. The fund was founded in 1987, see https://a.example/2024.", True),
        ("Bread is baked in the morning.", False),
        ("max_yield is paid by the fund", True),
        ("Funds hold euros", True),
        ("20 million euros and pays max_yield", False),  # cut out of 120
        ("", False),
    ],
)
async def test_words_and_numbers_support_a_claim(claim: str, supported: bool) -> None:  # noqa: FBT001 - the expected outcome
    for passage in (ENGLISH, ready(ENGLISH)):  # as it was read, and as it was indexed: with its terms
        [verdict] = await Support().judge([Claim(claim, passage)])
        assert verdict.supported is supported
        assert bool(verdict.reason) is not supported


async def test_what_stands_word_for_word_in_the_passage_is_supported_whatever_it_says() -> None:
    passage = ENGLISH._replace(text="Why? It is what it is, and so it will be for all of us.")

    [verdict] = await Support().judge([Claim("It is what it is, and so it will be for all of us.", passage)])

    assert verdict.supported


async def test_across_languages_a_lower_cosine_is_enough_than_within_one() -> None:
    judged = await support(0.5).judge(
        [Claim("该基金成立于1987年。", ENGLISH), Claim("Money is put aside by this institution.", ENGLISH)]
    )

    assert [verdict.supported for verdict in judged] == [True, False]


async def test_a_claim_that_the_model_did_not_mark_needs_clear_support() -> None:
    claim = Claim("该基金成立于1987年。", ENGLISH)

    assert [verdict.supported for verdict in await support(0.5).judge([claim], clearly=True)] == [False]
    assert [verdict.supported for verdict in await support(0.65).judge([claim], clearly=True)] == [True]


async def test_meaning_does_not_decide_against_a_number_unless_it_may_be_spelled_otherwise() -> None:
    plain = Passage("2", "base", "a.md", 0, "The fund was founded in 1987.", language="en")

    assert not (await support(0.9).judge([Claim("该基金成立于1990年。", plain)]))[0].supported
    assert (await support(0.9).judge([Claim("该基金持有1.2亿欧元。", ENGLISH)]))[0].supported


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.000, 10,000 and 10 000", ["10000"]),
        ("3,5 and 3.5", ["3.5", "3", "5"]),
        ("３月", ["3"]),
        ("3.11.2", ["3.11.2", "3", "11", "2"]),
        ("at 10:30", ["10.30", "10", "30"]),
        ("none", []),
    ],
)
def test_numbers_are_read_in_one_spelling(text: str, found: list[str]) -> None:
    assert numbers(text) == found


@dataclass
class LettersEmbedder:
    """A text's vector is which of the letters a to d it holds."""

    name: str = "letters"
    dimension: int = 4
    texts: list[str] = field(default_factory=list)

    async def embed_question(self, text: str) -> Vector:
        return (await self.embed_passages([text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.texts.extend(texts)
        return [array("f", [float(letter in text) for letter in "abcd"]).tobytes() for text in texts]


async def test_a_claim_is_compared_with_the_sentence_of_the_passage_that_is_nearest() -> None:
    embedder = LettersEmbedder()

    rows = await SentenceSimilarity(embedder)(["a", "bc"], ["A d. A b and c.", "d", ""])

    assert rows == [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    assert len(embedder.texts) == len(set(embedder.texts))
