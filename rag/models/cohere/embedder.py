"""Cohere's embed (v2). The SDK sends what it is given: 96 texts a request are all the server takes, so batches are made here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from rag.errors import ModelRefused, ModelUnavailable
from rag.models.cohere.failures import FAULTS, ours
from rag.models.remote import for_embedding, in_batches, unit, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    import cohere

    from rag.types import Vector

BATCH: Final = 96
DIMENSION: Final = 1024
_AT_ONCE: Final = 4
_QUESTION: Final = (5.0, 1)  # seconds, and how often it is tried again: somebody waits
_PASSAGES: Final = (300.0, 6)
_FIXED: Final = {"embed-multilingual-light-v3.0": 384, "embed-english-light-v3.0": 384}  # all other models of version 3: 1024


class CohereEmbedder:
    """`dimension` is asked for where the model can choose; the models of version 3 have their own."""

    def __init__(self, client: cohere.AsyncClientV2, model: str, dimension: int | None = None) -> None:
        own = None if "v3" not in model else _FIXED.get(model, DIMENSION)
        self.dimension = own or dimension or DIMENSION
        self.name = f"cohere/{model}/{self.dimension}"
        self._model = model
        self._chosen: dict[str, Any] = {} if own else {"output_dimension": self.dimension}
        self._client = client
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def embed_question(self, text: str) -> Vector:
        """Raises ModelError."""
        seconds, retries = _QUESTION
        call = self._embed([text], "search_query", seconds, retries)
        return (await within(seconds, call, f"Cohere's {self._model}"))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Raises ModelError; a busy server is waited for, since nobody waits for an answer."""
        return await in_batches(texts, BATCH, self._free, self._passages)

    async def _passages(self, texts: Sequence[str]) -> list[Vector]:
        seconds, retries = _PASSAGES
        return await within(seconds, self._embed(texts, "search_document", seconds, retries), f"Cohere's {self._model}")

    async def _embed(self, texts: Sequence[str], kind: str, seconds: float, retries: int) -> list[Vector]:
        try:
            response = await self._client.embed(
                model=self._model,
                input_type=kind,
                texts=[for_embedding(text) for text in texts],
                embedding_types=["float"],
                truncate="END",
                request_options={"timeout": min(seconds, 60.0), "max_retries": retries, "retry_remote_protocol_errors": True},
                **self._chosen,
            )
        except FAULTS as error:
            raise ours(error, self._model) from error
        vectors = getattr(getattr(response, "embeddings", None), "float_", None) or []
        if len(vectors) != len(texts):
            raise ModelUnavailable(f"Cohere's {self._model} gave {len(vectors)} vectors for {len(texts)} texts. Try again.")
        return [self._unit(vector) for vector in vectors]

    def _unit(self, numbers: Sequence[float]) -> Vector:
        if len(numbers) != self.dimension:
            raise ModelRefused(
                f"Cohere's {self._model} gives vectors of {len(numbers)} numbers, and {self.dimension} were expected. "
                f"Set models.dimension to {len(numbers)} and run: footnote index"
            )
        return unit(numbers)
