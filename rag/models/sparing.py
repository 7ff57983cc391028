"""Models on other machines, each with a breaker: what somebody waits for does not wait for a model that fails again and again.

Passages are embedded for nobody who waits, and are tried for longer: they go past the breaker.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Final, cast

from rag.errors import ModelTimeout

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rag.models.breaker import Breaker
    from rag.ports import Embedder, Reranker, Writer
    from rag.types import Passage, Piece, Prompt, Vector

_IN_VAIN: Final = 0.9  # of a call's time without a word, and then nobody waits any more: it failed


class SparedWriter:
    def __init__(self, writer: Writer, breaker: Breaker, *, after: Breaker | None = None) -> None:
        self.name = writer.name
        self.is_model = writer.is_model
        self.context_tokens = writer.context_tokens
        self._writer = writer
        self._breaker = breaker
        self._after = after

    def behind(self, other: SparedWriter) -> SparedWriter:
        """For what is of no use where the other one does not answer: while it hangs, nobody waits for this one in vain as well."""
        return SparedWriter(self._writer, self._breaker, after=other._breaker)

    async def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Consume under `contextlib.aclosing`. Raises ModelError."""
        if self._after is not None:
            self._after.check()
        now = asyncio.get_running_loop().time
        in_vain_from = now() + _IN_VAIN * prompt.sampling.seconds
        with self._breaker.call() as call:
            stream = cast("AsyncGenerator[Piece]", self._writer.write(prompt))
            async with aclosing(stream):
                try:
                    first = await anext(stream, None)
                except asyncio.CancelledError:
                    if now() >= in_vain_from:
                        call.failure = ModelTimeout(f"{self.name} took longer than {prompt.sampling.seconds:g} seconds.")
                    raise
                if first is not None:
                    call.heard = True
                    yield first
                async for piece in stream:
                    yield piece


class SparedEmbedder:
    def __init__(self, embedder: Embedder, breaker: Breaker) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self._embedder = embedder
        self._breaker = breaker

    async def embed_question(self, text: str) -> Vector:
        """Raises ModelError."""
        with self._breaker.call():
            return await self._embedder.embed_question(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return await self._embedder.embed_passages(texts)


class SparedReranker:
    """One that had no time left for a single passage failed, though it raises nothing."""

    def __init__(self, reranker: Reranker, breaker: Breaker) -> None:
        self.name = reranker.name
        self.absolute = reranker.absolute
        self._reranker = reranker
        self._breaker = breaker

    async def rerank(self, question: str, passages: Sequence[Passage], *, seconds: float) -> list[float | None]:
        """Raises ModelError."""
        with self._breaker.call() as call:
            scores = await self._reranker.rerank(question, passages, seconds=seconds)
            if passages and all(score is None for score in scores):
                call.failure = ModelTimeout(f"{self.name} took longer than {seconds:g} seconds.")
            return scores
