"""Documents that are in hand already, as a source: for evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.types import Listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Document, Problem


class GivenDocuments:
    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = {document.id: document for document in documents}

    async def list(self) -> tuple[list[Listing], list[Problem]]:
        return [Listing(document.id, document.digest) for document in self._documents.values()], []

    async def read(self, listing: Listing) -> Document:
        return self._documents[listing.id]
