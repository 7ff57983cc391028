"""An embedder that remembers: the sentences of passages that are found often are embedded once."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.ports import Embedder
    from rag.types import Vector


class Remembering:
    """Another embedder's vectors, of which the `most` that were used last are kept."""

    def __init__(self, embedder: Embedder, most: int = 8192) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self._embedder = embedder
        self._most = most
        self._kept: OrderedDict[str, Vector] = OrderedDict()

    async def embed_question(self, text: str) -> Vector:
        return await self._embedder.embed_question(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        found = dict(zip(missing, await self._embedder.embed_passages(missing), strict=True)) if missing else {}
        vectors = [found[text] if text in found else self._kept[text] for text in texts]
        for text, vector in zip(texts, vectors, strict=True):
            self._kept[text] = vector
            self._kept.move_to_end(text)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return vectors
