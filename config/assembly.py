"""Settings to a running system: the only place that picks implementations."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from config.models import ModelPicker
from config.parts import (
    composing,
    condensing,
    conversing,
    indexing,
    prompts_from,
    retrieving,
    routes_from,
    sources_from,
    splitting,
)
from config.stores import open_index
from config.tables import BaseTable
from rag.calibrating import ROUGH_RERANKED, Calibrator
from rag.citing import SentenceSimilarity, Support
from rag.composing import Composer
from rag.condensing import Condenser
from rag.conversation import Conversation
from rag.errors import BadSetting, IndexMismatch, IndexMissing
from rag.indexing import Indexer
from rag.lexical import SIGNATURE
from rag.models.local.embedder import LocalEmbedder
from rag.retrieval import Retriever
from rag.routing import Router
from rag.runs import Runs
from rag.sources.readers import Readers
from rag.splitting import split
from rag.types import Signature
from storage.catalog import DatabaseCatalog
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from storage.installations import DatabaseInstallations

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
    from pathlib import Path

    from config.models import Models
    from config.settings import Settings
    from rag.ports import (
        Catalog,
        DocumentSource,
        Embedder,
        Inbox,
        Installations,
        Memory,
        Observer,
        OnProgress,
        PassageIndex,
    )
    from rag.routing import Routes
    from rag.types import Progress

REMEMBERED = "sources"
DEFAULT = "default"
CALIBRATING_SECONDS = 30.0  # for one question: nobody waits for its answer


@dataclass(slots=True)
class Footnote:
    """The running system. `bases` are the knowledge bases by name, the default one first."""

    settings: Settings
    bases: dict[str, BaseTable]
    memory: Memory
    catalog: Catalog
    index: PassageIndex
    embedder: Embedder | None
    calibrator: Calibrator
    conversation: Conversation
    readers: Readers
    inbox: Inbox
    routes: Routes
    installations: Installations | None = None
    given: Mapping[str, Sequence[DocumentSource]] | None = None

    @property
    def names(self) -> list[str]:
        return list(self.bases)

    @property
    def signature(self) -> Signature:
        name, dimension = (self.embedder.name, self.embedder.dimension) if self.embedder else ("none", 0)
        return Signature(name, dimension, splitting(self.settings).signature, SIGNATURE)

    def indexer(self, base: str) -> Indexer:
        """Raises BadSetting where the base has no sources."""
        if not self.given and not self.bases[base].sources:
            where = f"Name them in {self.settings.config}" if self.settings.bases else "Name files or folders: footnote index PATH"
            raise BadSetting(f"The base {base!r} has no sources. {where}.")
        return Indexer(
            base=base,
            sources=self.given[base] if self.given else sources_from(self.settings, self.bases[base], self.readers),
            split=partial(split, base=base, settings=splitting(self.settings)),
            signature=self.signature,
            index=self.index,
            catalog=self.catalog,
            embedder=self.embedder,
            settings=indexing(self.settings),
            after=partial(self.calibrator.calibrate_roughly, base),
        )

    @property
    def runs(self) -> Runs:
        """Indexing runs: to start or join one, and to cancel it."""
        return Runs(self.catalog, self.indexer)

    async def bring_up_to_date(self, base: str, on_progress: OnProgress | None = None) -> Progress:
        """Raises as `Runs.start_or_join` does."""
        return await self.runs.start_or_join(base, on_progress)

    async def remember_sources(self, paths: Sequence[str], *, keep: bool = True) -> list[str]:
        """Make these absolute paths the sources of base `default`, from now on or, without `keep`, for this once.

        The sources so far. Raises BadSetting beside bases that footnote.toml names.
        """
        if self.settings.bases:
            raise BadSetting(
                f"{self.settings.config} names the sources; add the paths there, and run `footnote index` without any."
            )
        before = [str(source) for source in self.bases[DEFAULT].sources]
        self.bases[DEFAULT] = BaseTable(sources=tuple(paths))
        if keep:
            await self.catalog.remember(REMEMBERED, {DEFAULT: list(paths)})
        return before

    async def warm(self) -> None:
        """Load the models now instead of with the first question."""
        if isinstance(self.embedder, LocalEmbedder):
            await self.embedder.warm()

    async def check(self) -> None:
        """Raises IndexMissing or IndexMismatch, with the command that mends it, before anybody asks."""
        for base in self.bases:
            await self.check_base(base)
        if not any([await self.index.size(base) for base in self.bases]):
            raise IndexMissing("Nothing has been indexed yet. Run: footnote index PATH")

    async def check_base(self, base: str) -> None:
        """Raises IndexMismatch where its index was made with something else than what is configured."""
        signature = await self.index.signature(base)
        if signature and (signature.embedder, signature.lexical) != (self.signature.embedder, self.signature.lexical):
            raise IndexMismatch(
                f"The index of base {base!r} was made with embedder {signature.embedder}, and {self.signature.embedder} is "
                f"configured. Run: footnote index --base {base}"
            )


@asynccontextmanager
async def assemble(
    settings: Settings,
    *,
    observers: Sequence[Observer] = (),
    given: Mapping[str, Sequence[DocumentSource]] | None = None,
    depth: int = 0,
    cache: Path | None = None,
) -> AsyncIterator[Footnote]:
    """Open everything, and close it again.

    `given` sources take the place of the configured ones; `depth` is how far is ranked at least, `cache` where the
    reranker keeps its vectors.
    """
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(settings.database))
        catalog, memory = DatabaseCatalog(database, settings.home / "runs"), DatabaseMemory(database)
        bases = dict.fromkeys(given, BaseTable()) if given else await known_bases(settings, catalog)
        index = await open_index(settings, stack)
        models = await ModelPicker(settings, stack, catalog).models(cache or settings.home / "models")
        readers = await stack.enter_async_context(Readers(settings.indexing.readers or max(1, (os.cpu_count() or 1) - 1)))
        thresholds: dict[str, float] = {}
        retriever = Retriever(index, models.embedder, models.reranker, retrieving(settings, thresholds, depth))
        calibrator = calibrating(settings, models, index, catalog, thresholds)
        await calibrator.load(bases)
        conversation = converse(settings, bases, memory, retriever, models, observers)
        key = settings.slack_encryption_key
        yield Footnote(
            settings,
            bases,
            memory,
            catalog,
            index,
            models.embedder,
            calibrator,
            conversation,
            readers,
            DatabaseInbox(database),
            routes_from(settings, bases),
            DatabaseInstallations(database, key.get_secret_value()) if key else None,
            given,
        )


def calibrating(
    settings: Settings, models: Models, index: PassageIndex, catalog: Catalog, thresholds: MutableMapping[str, float]
) -> Calibrator:
    """On the scale that questions are judged by: an absolute reranker's, or our own, which needs none."""
    table = retrieving(settings, {}, 0)
    if models.reranker is None or not models.reranker.absolute:
        return Calibrator(Retriever(index, models.embedder, None, table), index, catalog, thresholds)
    patient = replace(table, rerank_seconds=CALIBRATING_SECONDS)
    judging = Retriever(index, models.embedder, models.reranker, patient)
    return Calibrator(judging, index, catalog, thresholds, models.reranker.name, ROUGH_RERANKED)


def converse(  # noqa: PLR0913, PLR0917 - each part of a conversation that was opened
    settings: Settings,
    bases: Mapping[str, BaseTable],
    memory: Memory,
    retriever: Retriever,
    models: Models,
    observers: Sequence[Observer],
) -> Conversation:
    prompts, table = prompts_from(settings), settings.answering
    degraded = Composer(models.fallback, prompts, composing(settings)) if table.degraded == "answer" else None
    return Conversation(
        memory=memory,
        router=Router(
            routes_from(settings, bases),
            models.router,
            prompts,
            by_subject=table.route_by_subject,
            silent_errors=table.silent_errors,
        ),
        condenser=Condenser(models.condenser, prompts, condensing(settings)),
        retriever=retriever,
        composer=Composer(models.writer, prompts, composing(settings)),
        degraded=degraded if models.writer.is_model else None,
        support=Support(SentenceSimilarity(models.sentences) if models.sentences else None),
        settings=conversing(settings),
        observers=observers,
    )


async def known_bases(settings: Settings, catalog: Catalog) -> dict[str, BaseTable]:
    """Those of the settings, the default one first; without any, the one base whose sources were given by command."""
    if settings.bases:
        return dict(sorted(settings.bases.items(), key=lambda item: not item[1].default))
    remembered = await catalog.remembered(REMEMBERED) or {}
    paths = remembered.get(DEFAULT, [])
    return {DEFAULT: BaseTable(sources=tuple(map(str, paths)) if isinstance(paths, list) else ())}
