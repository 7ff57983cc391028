"""Which passage index is used: Weaviate where there is an address of one, else the embedded one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from storage.local_index import LocalIndex

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from config.settings import Settings
    from rag.ports import PassageIndex
    from storage.weaviate_index import WeaviateSettings


async def open_index(settings: Settings, stack: AsyncExitStack) -> PassageIndex:
    """Raises StoreUnavailable where Weaviate does not answer, BadSetting where it is set up wrongly."""
    if not settings.weaviate_url:
        return await stack.enter_async_context(LocalIndex(settings.home / "index"))
    from storage.weaviate_index import WeaviateIndex  # noqa: PLC0415 - loading its client takes a second that others need not wait

    return await stack.enter_async_context(WeaviateIndex(weaviate_from(settings)))


async def check_index(settings: Settings) -> str:
    """What is used, in a few words. Raises as `open_index` does, at once."""
    if not settings.weaviate_url:
        return "embedded"
    from storage.weaviate_index.server import check_cluster  # noqa: PLC0415 - as above

    return await check_cluster(replace(weaviate_from(settings), search_patience=0.0))


def weaviate_from(settings: Settings) -> WeaviateSettings:
    from storage.weaviate_index import WeaviateSettings  # noqa: PLC0415 - as above

    table, key = settings.weaviate, settings.weaviate_api_key
    return WeaviateSettings(
        url=settings.weaviate_url,
        grpc_url=settings.weaviate_grpc_url,
        api_key=key.get_secret_value() if key else "",
        name=table.name,
        tenant=table.tenant,
        replicas=table.replicas,
        shards=table.shards,
        quantization=table.quantization,
        search_seconds=table.search_seconds,
        search_patience=table.search_patience,
        write_seconds=table.write_seconds,
        write_patience=table.write_patience,
    )
