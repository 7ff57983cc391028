"""Which models are used: what is configured by name, else by which keys there are, else those that come with Footnote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag.errors import BadSetting
from rag.models.extractive import ExtractiveWriter
from rag.models.local.embedder import LocalEmbedder
from rag.models.local.reranker import LocalReranker
from rag.models.remembering import Remembering

if TYPE_CHECKING:
    from contextlib import AsyncExitStack
    from pathlib import Path

    from config.settings import Settings
    from rag.models.breaker import Breaker
    from rag.models.cohere.client import Client as CohereClient
    from rag.models.openai_compatible.client import Client as OpenAIClient
    from rag.models.sparing import SparedWriter
    from rag.ports import Catalog, Embedder, Reranker, Writer

Provider: TypeAlias = Literal["cohere", "openai", ""]


@dataclass(frozen=True, slots=True)
class Models:
    """`sentences` tells which sentences mean the same, and `fallback` answers by rule: neither ever needs a network.

    `router` names the base that a question is about.
    """

    writer: Writer
    condenser: Writer | None
    router: Writer
    embedder: Embedder | None
    reranker: Reranker | None
    sentences: Embedder | None
    fallback: Writer


@dataclass(frozen=True, slots=True)
class Providers:
    """Whose models are used; "" for one that comes with Footnote, or for none."""

    writer: Provider
    condenser: Provider
    embedder: Provider
    reranker: Provider


def providers(settings: Settings) -> Providers:
    """Raises BadSetting for a model without its key, or one that is not installed."""
    table, reranker = settings.models, settings.retrieval.reranker
    if reranker == "local" and not LocalReranker.available():
        raise BadSetting(
            "retrieval.reranker is 'local', and the local reranker is not installed: it exists for Linux and macOS on arm64. "
            "Set it to 'auto' or 'none'."
        )
    by_cohere = reranker == "cohere" or (reranker == "auto" and settings.cohere_api_key is not None)
    return Providers(
        chosen(settings, "models.writer", table.writer),
        chosen(settings, "models.condenser", table.writer if table.condenser == "auto" else table.condenser),
        chosen(settings, "models.embedder", table.embedder),
        chosen(settings, "retrieval.reranker", "cohere") if by_cohere else "",
    )


class ModelPicker:
    """Picks and opens; what is not used is not even loaded: each SDK takes a part of a second."""

    def __init__(self, settings: Settings, stack: AsyncExitStack, catalog: Catalog) -> None:
        self._settings = settings
        self._stack = stack
        self._catalog = catalog
        self._providers = providers(settings)
        self._local: LocalEmbedder | None = None
        self._cohere: CohereClient | None = None
        self._openai: OpenAIClient | None = None

    async def models(self, cache: Path) -> Models:
        """`cache` is where the local reranker keeps its vectors. Raises BadSetting for what lacks its key, ModelError."""
        embedder = await self._embedder()
        sentences = Remembering(await self._local_embedder()) if self._settings.models.embedder != "none" else None
        fallback = ExtractiveWriter(sentences)
        writer, cheaper = await self._writer(), await self._condenser()
        condenser = cheaper.behind(writer) if cheaper and writer and self._is_one_provider else cheaper
        router = cheaper or writer or fallback
        return Models(writer or fallback, condenser, router, embedder, await self._reranker(cache), sentences, fallback)

    @property
    def _is_one_provider(self) -> bool:
        return self._providers.condenser == self._providers.writer

    async def _writer(self) -> SparedWriter | None:
        table = self._settings.models
        return await self._model(self._providers.writer, table.cohere_writer, table.openai_writer)

    async def _condenser(self) -> SparedWriter | None:
        """A cheaper model will do for one sentence (R7)."""
        table = self._settings.models
        return await self._model(self._providers.condenser, table.cohere_condenser, table.openai_condenser or table.openai_writer)

    async def _model(self, provider: Provider, of_cohere: str, of_openai: str) -> SparedWriter | None:
        if not provider:
            return None
        from rag.models.sparing import SparedWriter  # noqa: PLC0415 - see above

        writer = await self._remote_writer(provider, of_cohere, of_openai)
        return SparedWriter(writer, self._breaker(provider, writer.name))

    async def _remote_writer(self, provider: Provider, of_cohere: str, of_openai: str) -> Writer:
        tokens = self._settings.models.context_tokens
        if provider == "cohere":
            from rag.models.cohere.writer import CONTEXT_TOKENS, CohereWriter  # noqa: PLC0415 - see above

            return CohereWriter(await self._cohere_client(), of_cohere, context_tokens=tokens or CONTEXT_TOKENS)
        from rag.models.openai_compatible.writer import OpenAIWriter  # noqa: PLC0415

        is_openai = not self._settings.openai_base_url
        return OpenAIWriter(await self._openai_client(), of_openai, is_openai=is_openai, context_tokens=tokens)

    def _breaker(self, provider: Provider, model: str) -> Breaker:
        """Each use of a model has its own: one that is too slow to condense in time may still be quick enough to answer."""
        from rag.models.breaker import Breaker, BreakerSettings  # noqa: PLC0415

        table = self._settings.models
        shown = f"Cohere's {model}" if provider == "cohere" else model
        return Breaker(shown, BreakerSettings(table.failures, table.rest_seconds))

    async def _embedder(self) -> Embedder | None:
        provider = self._providers.embedder
        if self._settings.models.embedder == "none":
            return None
        if not provider:
            return await self._local_embedder()
        from rag.models.sparing import SparedEmbedder  # noqa: PLC0415

        table = self._settings.models
        if provider == "cohere":
            return SparedEmbedder(await self._cohere_embedder(), self._breaker(provider, table.cohere_embedder))
        return SparedEmbedder(await self._openai_embedder(), self._breaker(provider, table.openai_embedder))

    async def _cohere_embedder(self) -> Embedder:
        from rag.models.cohere.embedder import CohereEmbedder  # noqa: PLC0415

        table = self._settings.models
        return CohereEmbedder(await self._cohere_client(), table.cohere_embedder, table.dimension)

    async def _openai_embedder(self) -> Embedder:
        """What no setting and no list tells of a model's vectors is found out once, and then remembered."""
        from rag.models.openai_compatible.embedder import KNOWN, OpenAIEmbedder, dimension_of  # noqa: PLC0415

        client, table = await self._openai_client(), self._settings.models
        if table.dimension:
            return OpenAIEmbedder(client, table.openai_embedder, table.dimension, chosen=table.openai_embedder in KNOWN)
        known = KNOWN.get(table.openai_embedder)
        if known is None:
            key = f"dimension openai/{table.openai_embedder}"
            remembered = await self._catalog.remembered(key)
            known = int(str(remembered["dimension"])) if remembered else await dimension_of(client, table.openai_embedder)
            await self._catalog.remember(key, {"dimension": known})
        return OpenAIEmbedder(client, table.openai_embedder, known)

    async def _reranker(self, cache: Path) -> Reranker | None:
        if self._providers.reranker == "cohere":
            from rag.models.cohere.reranker import CohereReranker  # noqa: PLC0415
            from rag.models.sparing import SparedReranker  # noqa: PLC0415

            model = self._settings.models.cohere_reranker
            return SparedReranker(CohereReranker(await self._cohere_client(), model), self._breaker("cohere", model))
        if self._settings.retrieval.reranker == "none" or not LocalReranker.available():
            return None
        return await self._stack.enter_async_context(LocalReranker(cache))

    async def _local_embedder(self) -> LocalEmbedder:
        if self._local is None:
            local = LocalEmbedder(processes=self._settings.indexing.embedders)
            self._local = await self._stack.enter_async_context(local)
        return self._local

    async def _cohere_client(self) -> CohereClient:
        self._cohere = self._cohere or await cohere_client(self._settings, self._stack)
        return self._cohere

    async def _openai_client(self) -> OpenAIClient:
        self._openai = self._openai or await openai_client(self._settings, self._stack)
        return self._openai


async def cohere_client(settings: Settings, stack: AsyncExitStack) -> CohereClient:
    from rag.models.cohere.client import open_client  # noqa: PLC0415 - see above

    return await stack.enter_async_context(open_client(cohere_key(settings, "models"), settings.cohere_api_url))


async def openai_client(settings: Settings, stack: AsyncExitStack) -> OpenAIClient:
    from rag.models.openai_compatible.client import open_client  # noqa: PLC0415

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    return await stack.enter_async_context(open_client(key, settings.openai_base_url))


def chosen(settings: Settings, setting: str, named: str) -> Provider:
    """Whose model it is, "" for one that comes with Footnote. Raises BadSetting where its key is not set."""
    if named == "cohere":
        cohere_key(settings, setting)
        return "cohere"
    has_openai = bool(settings.openai_api_key or settings.openai_base_url)
    if named == "openai":
        if not has_openai:
            raise BadSetting(f"{setting} is 'openai', and neither OPENAI_API_KEY nor OPENAI_BASE_URL is set. Set one of them.")
        return "openai"
    if named != "auto":
        return ""
    return "cohere" if settings.cohere_api_key else "openai" if has_openai else ""


def cohere_key(settings: Settings, setting: str) -> str:
    if settings.cohere_api_key is None:
        raise BadSetting(f"{setting} is 'cohere', and COHERE_API_KEY is not set. Set it, or choose another one.")
    return settings.cohere_api_key.get_secret_value()
