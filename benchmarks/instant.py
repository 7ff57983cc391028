"""Models that cost nothing, so that what is left is Footnote itself: vectors made before, scores and answers at once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from rag.types import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from rag.ports import Embedder
    from rag.types import Passage, Piece, Prompt, Vector


class RecordedEmbedder:
    """Gives every text the vector that `teacher` gave it when it was first seen; `misses` counts those first times."""

    def __init__(self, teacher: Embedder) -> None:
        self.name = teacher.name
        self.dimension = teacher.dimension
        self.misses = 0
        self.known: dict[str, Vector] = {}
        self._teacher = teacher

    async def embed_question(self, text: str) -> Vector:
        if text not in self.known:
            self.misses += 1
            self.known[text] = await self._teacher.embed_question(text)
        return self.known[text]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if missing := [text for text in texts if text not in self.known]:
            self.misses += len(missing)
            self.known.update(zip(missing, await self._teacher.embed_passages(missing), strict=True))
        return [self.known[text] for text in texts]


class InstantReranker:
    name = "instant"
    absolute = False

    async def rerank(self, question: str, passages: Sequence[Passage], *, seconds: float) -> list[float | None]:  # noqa: ARG002
        return [float(len(passages) - place) for place in range(len(passages))]


class InstantWriter:
    """Answers with the beginnings of three of the passages, each with its mark: there is something to verify."""

    name = "instant"
    context_tokens = 100_000

    def __init__(self, *, is_model: bool) -> None:
        self.is_model = is_model

    async def write(self, prompt: Prompt) -> AsyncIterator[Piece]:
        yield answer_from([(excerpt.n, excerpt.text) for excerpt in prompt.excerpts]) if prompt.excerpts else ""
        yield Usage(self.name, 1, 1, "complete")


def answer_from(excerpts: Sequence[tuple[int, str]]) -> str:
    chosen = [excerpts[place] for place in (0, 1, 3) if place < len(excerpts)]
    return "\n\n".join(f"{beginning(text)} [{n}]." for n, text in chosen)


@cache  # as the vectors are made before: what a model does is no part of a turn
def beginning(text: str) -> str:
    """About twenty words, without what ends a sentence or begins a list."""
    words = [word.strip(".!?;:`*_#|[]()<>-") for word in text[:300].split()]
    return " ".join([word for word in words if any(map(str.isalnum, word))][:20])
