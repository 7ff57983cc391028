"""One open connection to Weaviate, and the collections that are made there."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from weaviate import use_async_with_custom
from weaviate.classes.config import (
    Configure,
    ConsistencyLevel,
    DataType,
    Property,
    ReplicationDeletionStrategy,
    Tokenization,
    VectorDistances,
)
from weaviate.classes.init import AdditionalConfig, Auth, Timeout
from weaviate.config import GrpcConfig

from rag.errors import BadSetting, StoreUnavailable
from storage.lexical_list import K1, B
from storage.weaviate_index.address import grpc_host, rest_host
from storage.weaviate_index.calls import Calls, CollectionGone
from storage.weaviate_index.naming import NAME, states_of
from storage.weaviate_index.rows import LEXICAL
from storage.weaviate_index.version import check_version, is_ready, release

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from weaviate import WeaviateAsyncClient
    from weaviate.collections import CollectionAsync

    from storage.weaviate_index.address import WeaviateSettings

# once the server is back it is found at once: gRPC alone waits up to two minutes before it looks again
_CHANNEL = [("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 2000)]
_CONNECTING = 10.0
_CATCHES_UP = (1, 38)


class Server:
    """`read` and `write` make calls with the patience of a question and of an indexing run."""

    def __init__(self, client: WeaviateAsyncClient, settings: WeaviateSettings) -> None:
        shown = rest_host(settings).shown
        self.client = client
        self.settings = settings
        self.version = ""
        self.read = Calls(shown, settings.search_seconds, settings.search_patience, self.ready)
        self.write = Calls(shown, settings.write_seconds, settings.write_patience, self.ready)
        self._builds: dict[str, CollectionAsync[Any, Any]] = {}  # making the client's object takes longer than many a call
        self._level = ConsistencyLevel.QUORUM if settings.replicas > 1 else ConsistencyLevel.ONE
        self.states = client.collections.use(states_of(settings.name), skip_argument_validation=True).with_consistency_level(
            self._level
        )

    async def ready(self) -> bool:
        return await is_ready(self.settings)

    def build(self, name: str) -> CollectionAsync[Any, Any]:
        if name not in self._builds:
            found = self.client.collections.use(name, skip_argument_validation=True)
            self._builds[name] = found.with_tenant(self.settings.tenant) if self.settings.tenant else found
        return self._builds[name]

    def surely(self, name: str) -> CollectionAsync[Any, Any]:
        """Read and written by most replicas, so that every reader sees what a writer wrote before."""
        return self.build(name).with_consistency_level(self._level)

    async def make_states(self) -> None:
        name = states_of(self.settings.name)
        if await self.write(lambda: self.client.collections.exists(name)):
            return
        await self._make(
            name,
            properties=[_text("alias", filterable=True), _text("build"), _text("state")],
            vector_config=Configure.Vectors.self_provided(vector_index_config=Configure.VectorIndex.flat()),
        )

    async def make_build(self, name: str) -> None:
        tenant, shards = self.settings.tenant, self.settings.shards
        tenants = Configure.multi_tenancy(auto_tenant_creation=True, auto_tenant_activation=True)
        await self._make(
            name,
            properties=PROPERTIES,
            inverted_index_config=Configure.inverted_index(bm25_k1=K1, bm25_b=B),
            vector_config=Configure.Vectors.self_provided(
                vector_index_config=Configure.VectorIndex.hnsw(
                    distance_metric=VectorDistances.COSINE,
                    quantizer=self._quantizer,
                    flat_search_cutoff=_FLAT,
                    dynamic_ef_factor=_WIDTH,
                )
            ),
            sharding_config=Configure.sharding(desired_count=shards) if shards and not tenant else None,
            multi_tenancy_config=tenants if tenant else None,
        )
        if tenant:
            await self.write(lambda: self.client.collections.use(name).tenants.create([tenant]))

    async def _make(self, name: str, **how: Any) -> None:
        """A call that was made twice, since its answer was lost, finds the collection there."""

        async def make() -> None:
            if not await self.client.collections.exists(name):
                await self.client.collections.create(name, replication_config=self._copies, **how)

        await self.write(make)

    @property
    def _copies(self) -> Any:
        """A node that was away catches up by itself: searches ask any one of them, and find less there until it has.

        Newer servers do so unasked, and their client warns of being asked.
        """
        if self.settings.replicas == 1:
            return None
        return Configure.replication(
            factor=self.settings.replicas,
            async_enabled=None if release(self.version) >= _CATCHES_UP else True,
            deletion_strategy=ReplicationDeletionStrategy.TIME_BASED_RESOLUTION,
        )

    @property
    def _quantizer(self) -> Any:
        quantizers = Configure.VectorIndex.Quantizer
        makers: dict[str, Callable[[], Any]] = {
            "none": quantizers.none,
            "rq": quantizers.rq,
            "bq": quantizers.bq,
            "sq": quantizers.sq,
            "pq": quantizers.pq,
        }
        return makers[self.settings.quantization]()


_FLAT = 2_000  # up to so many passages that a filter lets through, all are looked at: exact, and quicker than the graph

_WIDTH = 5  # times the list's length the graph is searched; the server's own 8 takes half as long again and finds no more


def _text(name: str, *, filterable: bool = False, searchable: bool = False) -> Property:
    return Property(
        name=name,
        data_type=DataType.TEXT,
        index_filterable=filterable,
        index_searchable=searchable,
        tokenization=Tokenization.WHITESPACE if searchable else Tokenization.FIELD,
    )


def _number(name: str, *, ranged: bool = False) -> Property:
    return Property(name=name, data_type=DataType.INT, index_filterable=False, index_range_filters=ranged)


PROPERTIES = [
    *(_text(name, filterable=True) for name in ("passage", "document", "digest", "language")),
    *(_number(name, ranged=True) for name in ("ordinal", "born", "died")),
    _text(LEXICAL, searchable=True),
    *(_text(name) for name in ("base", "text", "title", "link", "headings", "anchor", "within")),
    *(_number(name) for name in ("page", "line", "start", "stop")),
    Property(name="expandable", data_type=DataType.BOOL, index_filterable=False),
]


@asynccontextmanager
async def connected(settings: WeaviateSettings) -> AsyncIterator[Server]:
    """Raises StoreUnavailable where no server answers in time, BadSetting and StoreError where it cannot be used."""
    if not NAME.fullmatch(settings.name):
        raise BadSetting(
            f"weaviate.name (FOOTNOTE_WEAVIATE__NAME) is {settings.name!r}: it starts with a capital letter and holds at most "
            "40 letters and digits."
        )
    client = _client(settings)
    server = Server(client, settings)
    try:
        server.version = await check_version(settings)
        await server.read(client.connect, seconds=_CONNECTING)
        await _check_grpc(server)
        yield server
    finally:
        await asyncio.shield(client.close())


async def _check_grpc(server: Server) -> None:
    """Searches go to an address of their own, which may be wrong where the first one is right."""
    nowhere = server.client.collections.use(f"{server.settings.name}Nowhere")
    try:
        await server.read(lambda: nowhere.query.fetch_objects(limit=1))
    except CollectionGone:
        return  # it answered
    except StoreUnavailable as error:
        rest, grpc = rest_host(server.settings).shown, grpc_host(server.settings)
        raise StoreUnavailable(
            f"Weaviate at {rest} answers, and at its gRPC address, {grpc.name}:{grpc.port}, it does not. Check WEAVIATE_GRPC_URL."
        ) from error


async def check_cluster(settings: WeaviateSettings) -> str:
    """What there is, in a few words. Raises as `connected` does, and where there are fewer nodes than copies are wanted."""
    async with connected(settings) as server:
        version, nodes = await check_version(settings), await server.read(server.client.cluster.nodes)
    if len(nodes) < settings.replicas:
        raise BadSetting(
            f"weaviate.replicas (FOOTNOTE_WEAVIATE__REPLICAS) is {settings.replicas}, and Weaviate at {rest_host(settings).shown} "
            f"has {len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}. Set it lower, or add nodes."
        )
    return f"Weaviate {version} at {rest_host(settings).shown}, {len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}"


def _client(settings: WeaviateSettings) -> WeaviateAsyncClient:
    rest, grpc = rest_host(settings), grpc_host(settings)
    return use_async_with_custom(
        http_host=rest.name,
        http_port=rest.port,
        http_secure=rest.secure,
        grpc_host=grpc.name,
        grpc_port=grpc.port,
        grpc_secure=grpc.secure,
        auth_credentials=Auth.api_key(settings.api_key) if settings.api_key else None,
        skip_init_checks=True,  # they ask a package registry for the newest client
        additional_config=AdditionalConfig(
            timeout=Timeout(query=settings.search_seconds, insert=settings.write_seconds, init=settings.search_seconds),
            grpc_config=GrpcConfig(channel_options=_CHANNEL),
            trust_env=True,
        ),
    )
