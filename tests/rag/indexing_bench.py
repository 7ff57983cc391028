"""An indexer with all that it works on: the real index and the real catalog, documents in a dict and an embedder that counts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rag.indexing import Indexer, IndexSettings
from rag.intake import IntakeSettings
from rag.lexical import question_terms
from rag.splitting import SplitSettings, split
from rag.types import Progress, Search, Signature
from tests.fakes.sources import CountingEmbedder, DictSource

if TYPE_CHECKING:
    from rag.ports import PassageIndex
    from storage.catalog import DatabaseCatalog

BASE = "handbook"
SPLITTING = SplitSettings(40, 80)


class Bench:
    """An indexer with all that it works on."""

    def __init__(self, index: PassageIndex, catalog: DatabaseCatalog) -> None:
        self.index = index
        self.catalog = catalog
        self.source = DictSource(
            {f"{name}.md": f"The {name} is kept in the {name} room." for name in ("lamp", "rope", "sail", "helm", "mast")}
        )
        self.embedder = CountingEmbedder()
        self.splitting = SPLITTING
        self.max_removed = 0.2
        self.intake = IntakeSettings(reading=3, embedding=2, group=2)
        self.afterwards = 0
        self.after_failures: list[Exception] = []

    @property
    def indexer(self) -> Indexer:
        return Indexer(
            base=BASE,
            sources=[self.source],
            split=partial(split, base=BASE, settings=self.splitting),
            signature=Signature(self.embedder.name, self.embedder.dimension, self.splitting.signature, "1"),
            index=self.index,
            catalog=self.catalog,
            embedder=self.embedder,
            settings=IndexSettings(self.max_removed, self.intake),
            after=self.count,
        )

    async def count(self) -> None:
        self.afterwards += 1
        if self.after_failures:
            raise self.after_failures.pop(0)

    async def run(self, *, allow_removals: bool = False, rebuild: bool = False) -> Progress:
        self.source.read_ids.clear()
        self.embedder.embedded.clear()
        return await self.indexer.run(allow_removals=allow_removals, rebuild=rebuild)

    async def found(self, words: str) -> list[str]:
        candidates = await self.index.search(BASE, Search(tuple(question_terms(words, ("en",)))))
        return [passage.text for passage in await self.index.passages(BASE, [one.id for one in candidates])]
