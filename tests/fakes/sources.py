"""Documents that live in a dict, and an embedder that counts: what an indexing run does with them can be watched."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from rag.errors import Unreadable
from rag.types import Document, Listing, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Vector


class DictSource:
    """`texts` by id; an error in place of a text is what reading it raises. `read_ids` records what was read."""

    def __init__(self, texts: dict[str, str | Unreadable] | None = None) -> None:
        self.texts: dict[str, str | Unreadable] = texts or {}
        self.stamps: dict[str, str] = {}
        self.unlisted: list[Problem] = []
        self.read_ids: list[str] = []

    async def list(self) -> tuple[list[Listing], list[Problem]]:
        listings = [Listing(name, self.stamps.get(name) or stamp_of(str(text))) for name, text in self.texts.items()]
        return listings, self.unlisted

    async def read(self, listing: Listing) -> Document:
        self.read_ids.append(listing.id)
        text = self.texts[listing.id]
        if isinstance(text, Unreadable):
            raise text
        return Document(listing.id, "", text, digest=stamp_of(text), link=f"https://example.com/{listing.id}")


def stamp_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class CountingEmbedder:
    """Vectors by the words of a text. `embedded` records every text, `calls` how many each had; `failures` are raised first."""

    def __init__(self, name: str = "counting", dimension: int = 32) -> None:
        self.name = name
        self.dimension = dimension
        self.embedded: list[str] = []
        self.calls: list[int] = []
        self.failures: list[Exception] = []

    async def embed_question(self, text: str) -> Vector:
        return self._vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if self.failures:
            raise self.failures.pop(0)
        self.embedded += texts
        self.calls.append(len(texts))
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        values = np.full(self.dimension, 1e-3)
        for word in text.casefold().split():
            values[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dimension] += 1
        vector: Vector = (values / np.linalg.norm(values)).astype("<f4").tobytes()
        return vector
