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
        found = {text: self._kept[text] for text in texts if text in self._kept}  # another call may push it out meanwhile
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found.update(zip(missing, await self._embedder.embed_passages(missing), strict=True))
        vectors = [found[text] for text in texts]
        for text, vector in zip(texts, vectors, strict=True):
            self._kept[text] = vector
            self._kept.move_to_end(text)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return vectors
