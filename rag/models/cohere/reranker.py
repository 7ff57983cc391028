"""Cohere's rerank (v2): scores between 0 and 1 that mean the same for every question, within one model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from rag.errors import ModelUnavailable
from rag.models.cohere.failures import FAULTS, ours
from rag.models.remote import for_embedding

if TYPE_CHECKING:
    from collections.abc import Sequence

    import cohere

    from rag.types import Passage

MOST: Final = 1000  # documents in one request
_TOKENS: Final = 4096  # of one document


class CohereReranker:
    absolute = True

    def __init__(self, client: cohere.AsyncClientV2, model: str) -> None:
        self.name = f"cohere/{model}"
        self._model = model
        self._client = client

    async def rerank(self, question: str, passages: Sequence[Passage], *, seconds: float) -> list[float | None]:
        """Raises ModelError. One request tells all scores: where it takes too long, no passage has one."""
        scores: list[float | None] = [None] * len(passages)
        if not passages:
            return scores
        texts = [for_embedding(passage.embedded) for passage in passages[:MOST]]
        try:
            async with asyncio.timeout(seconds):
                response = await self._client.rerank(
                    model=self._model,
                    query=for_embedding(question),
                    documents=texts,
                    top_n=len(texts),
                    max_tokens_per_doc=_TOKENS,
                    request_options={"timeout": seconds + 1, "max_retries": 1},  # the limit above ends it first
                )
        except TimeoutError:
            return scores
        except FAULTS as error:
            raise ours(error, self._model) from error
        for result in getattr(response, "results", None) or ():
            index, score = getattr(result, "index", None), getattr(result, "relevance_score", None)
            if not isinstance(index, int) or not isinstance(score, int | float) or not 0 <= index < len(texts):
                raise ModelUnavailable(f"Cohere's {self._model} answered with something that cannot be read. Try again.")
            scores[index] = float(score)
        return scores
