"""Embeddings: batches of bounded size, in the order of their texts whatever order they come back in."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Final

import openai

from rag.errors import ModelRefused, ModelUnavailable
from rag.models.openai_compatible.client import limits
from rag.models.openai_compatible.failures import FAULTS, message_of, ours
from rag.models.remote import for_embedding, in_batches, unit, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Vector

BATCH: Final = 96
KNOWN: Final = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_AT_ONCE: Final = 4
_QUESTION: Final = (5.0, 1)  # seconds, and how often it is tried again: somebody waits
_PASSAGES: Final = (300.0, 6)
_TOO_LONG: Final = re.compile(r"token|context|length|too (?:large|long)|maximum|batch", re.IGNORECASE)
_TOO_MUCH: Final = (400, 413, 422, 500)  # llama.cpp says 500
_LONG: Final = 2000  # characters: more than a passage has
_SHORTEST: Final = 200  # characters: no model reads less


class OpenAIEmbedder:
    """`chosen` asks the server for vectors of that dimension; a model that cannot choose has the one it has."""

    def __init__(self, client: openai.AsyncOpenAI, model: str, dimension: int, *, chosen: bool = False) -> None:
        self.name = f"openai/{model}/{dimension}"
        self.dimension = dimension
        self._model = model
        self._client = client
        self._chosen: dict[str, Any] = {"dimensions": dimension} if chosen else {}
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def embed_question(self, text: str) -> Vector:
        """Raises ModelError."""
        return (await self._embed([for_embedding(text)], *_QUESTION))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Raises ModelError; a busy server is waited for, since nobody waits for an answer."""
        return await in_batches([for_embedding(text) for text in texts], BATCH, self._free, self._passages)

    async def _passages(self, texts: Sequence[str]) -> list[Vector]:
        return await self._embed(texts, *_PASSAGES)

    async def _embed(self, texts: Sequence[str], seconds: float, retries: int) -> list[Vector]:
        """Tried once before the SDK tries again: what is too much for the server now is so later."""
        try:
            return await within(seconds, self._call(texts, seconds, 0), self._model)
        except FAULTS as error:
            if isinstance(error, openai.APIStatusError) and _is_too_much(error):
                if (smaller := _smaller(texts)) is None:
                    raise ours(error, self._model) from error
                return [vector for part in smaller for vector in await self._embed(part, seconds, retries)]
            if not isinstance(ours(error, self._model), ModelUnavailable):
                raise ours(error, self._model) from error
        try:
            return await within(seconds, self._call(texts, seconds, retries), self._model)
        except FAULTS as error:
            raise ours(error, self._model) from error

    async def _call(self, texts: Sequence[str], seconds: float, retries: int) -> list[Vector]:
        client = self._client.with_options(max_retries=retries, timeout=limits(min(seconds, 60.0)))
        response = await client.embeddings.create(model=self._model, input=list(texts), encoding_format="float", **self._chosen)
        found = {int(one.index): one.embedding for one in response.data or ()}
        if found.keys() != set(range(len(texts))):
            raise ModelUnavailable(f"{self._model} gave {len(found)} vectors for {len(texts)} texts. Try again.")
        return [self._unit(found[at]) for at in range(len(texts))]

    def _unit(self, numbers: Sequence[float]) -> Vector:
        if len(numbers) != self.dimension:
            raise ModelRefused(
                f"{self._model} gives vectors of {len(numbers)} numbers, and {self.dimension} were expected. "
                f"Set models.dimension to {len(numbers)} and run: footnote index"
            )
        return unit(numbers)


def _is_too_much(error: openai.APIStatusError) -> bool:
    return error.status_code in _TOO_MUCH and bool(_TOO_LONG.search(message_of(error)))


def _smaller(texts: Sequence[str]) -> list[Sequence[str]] | None:
    """What to send instead: long texts cut, or the batch in halves; None where it cannot be smaller."""
    longest = max(map(len, texts))
    if longest > _LONG or (len(texts) == 1 and longest > _SHORTEST):
        return [[text[: longest // 2] for text in texts]]
    half = len(texts) // 2
    return [texts[:half], texts[half:]] if half else None


async def dimension_of(client: openai.AsyncOpenAI, model: str) -> int:
    """Found out by asking for one vector. Raises ModelError."""
    try:
        asked = client.with_options(max_retries=1, timeout=limits(30.0))
        response = await asked.embeddings.create(model=model, input=["dimension"], encoding_format="float")
    except FAULTS as error:
        raise ours(error, model) from error
    if not response.data:
        raise ModelUnavailable(f"{model} gave no vector. Try again.")
    return len(response.data[0].embedding)
