"""A server behind TLS, with a key, with several copies: what cannot be had of the real one here is looked at on the wire."""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped] # it has no types
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from weaviate import use_async_with_local
from weaviate.classes.config import ConsistencyLevel, ReplicationDeletionStrategy

from rag.errors import StoreError
from storage.weaviate_index import WeaviateIndex, WeaviateSettings
from storage.weaviate_index.address import grpc_host, rest_host
from storage.weaviate_index.server import Server, connected
from tests.databases import free_port
from tests.fakes.gate import gates
from tests.journeys.terminal import Terminal

QUICK = {"FOOTNOTE_RETRIEVAL__RERANKER": "none", "FOOTNOTE_INDEXING__READERS": "1", "FOOTNOTE_INDEXING__EMBEDDERS": "1"}
KEY = "a-key-of-nobody"


# --- TLS ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of an authority of our own, for this machine; its key stands in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path / "authority.pem"
    path.write_bytes(made.public_bytes(encoding) + private)
    return path


async def test_everything_goes_through_tls_where_the_address_says_https(
    tmp_path: Path, certificate: Path, weaviate_settings: WeaviateSettings
) -> None:
    """Both addresses, by the whole program; the authority is named as the libraries beneath read it."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    tls.set_alpn_protocols(["h2", "http/1.1"])
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text("# Leave\n\nEmployees get 25 days of annual leave a year.", "utf-8")
    async with gates(rest_host(weaviate_settings).port, grpc_host(weaviate_settings).port, tls=tls) as (rest, queries):
        variables = {
            **QUICK,
            "WEAVIATE_URL": f"https://localhost:{rest.port}",
            "WEAVIATE_GRPC_URL": f"localhost:{queries.port}",
            "FOOTNOTE_WEAVIATE__NAME": weaviate_settings.name,
        }
        trusted = {"SSL_CERT_FILE": str(certificate), "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(certificate)}
        terminal = Terminal(tmp_path, variables)

        indexed = await asyncio.to_thread(terminal.run, "index", "docs", **trusted)
        asked = await asyncio.to_thread(terminal.run, "ask", "How many days of annual leave do employees get?", **trusted)
        unknown = await asyncio.to_thread(terminal.run, "ask", "How many days?", FOOTNOTE_WEAVIATE__SEARCH_PATIENCE="0.1")

    assert (indexed.status, indexed.err) == (0, "")
    assert "25 days" in asked.out
    assert unknown.status == 1
    assert unknown.err.startswith(f"footnote: Weaviate at https://localhost:{rest.port} ")
    assert len(unknown.err.splitlines()) == 1


# --- keys -----------------------------------------------------------------------------------------------------------


class Listener(grpc.GenericRpcHandler):  # type: ignore[misc] # it has no types
    """Notes what comes with each gRPC call, and knows none."""

    def __init__(self) -> None:
        self.came_with: list[dict[str, str]] = []

    def service(self, details: Any) -> None:
        self.came_with.append({name: value for name, value in details.invocation_metadata if isinstance(value, str)})


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[WeaviateSettings, list[str], Listener]]:
    """Settings for a server that tells its version and nothing else, and what it was sent: the keys over REST, all over gRPC."""
    keys: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        keys.append(request.headers.get("Authorization", ""))
        if request.path.endswith("/meta"):
            return web.json_response({"version": "1.39.0"})
        return web.json_response({}, status=200 if request.path.endswith("ready") else 404)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner, listener, server = web.AppRunner(app), Listener(), grpc.aio.server()
    server.add_generic_rpc_handlers((listener,))
    ports = free_port(), server.add_insecure_port("127.0.0.1:0")
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", ports[0]).start()
    await server.start()
    try:
        url, grpc_url = f"http://127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}"
        yield WeaviateSettings(url, grpc_url, KEY, search_patience=0.1), keys, listener
    finally:
        await server.stop(None)
        await runner.cleanup()


async def test_the_key_goes_with_every_call_over_both_addresses() -> None:
    async with listening() as (settings, keys, listener):
        with pytest.raises(StoreError) as told:  # it knows no search
            await WeaviateIndex(settings).__aenter__()

    assert keys
    assert set(keys) == {f"Bearer {KEY}"}
    assert listener.came_with
    assert {came.get("authorization") for came in listener.came_with} == {f"Bearer {KEY}"}
    assert KEY not in str(told.value)


# --- copies ---------------------------------------------------------------------------------------------------------


async def test_what_is_kept_several_times_is_made_so_and_read_and_written_by_most(
    weaviate_settings: WeaviateSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One node cannot hold three copies: what it would be told is noted instead."""
    asked: list[dict[str, Any]] = []
    settings = WeaviateSettings(
        weaviate_settings.url, weaviate_settings.grpc_url, name=weaviate_settings.name, replicas=3, shards=2
    )
    async with connected(settings) as server:

        async def create(_: str, **how: Any) -> None:
            asked.append(how)

        monkeypatch.setattr(server.client.collections, "create", create)
        await server.make_build(f"{settings.name}_Made")
        await server.make_states()

        assert [how["replication_config"].factor for how in asked] == [3, 3]
        assert {how["replication_config"].deletionStrategy for how in asked} == {ReplicationDeletionStrategy.TIME_BASED_RESOLUTION}
        assert [how["sharding_config"] and how["sharding_config"].desiredCount for how in asked[:1]] == [2]
        assert level_of(server) == [ConsistencyLevel.QUORUM, ConsistencyLevel.QUORUM, None]
    async with connected(weaviate_settings) as server:
        assert level_of(server) == [ConsistencyLevel.ONE, ConsistencyLevel.ONE, None]


@pytest.mark.filterwarnings("ignore:Dep0")
@pytest.mark.parametrize(("version", "asked"), [("1.37.4", True), ("1.38.0", None), ("1.40.0-dev", None)])
async def test_a_node_that_was_away_catches_up_by_itself(version: str, asked: bool | None) -> None:  # noqa: FBT001 - a parameter
    """Servers since 1.38 do it unasked."""
    settings = WeaviateSettings("http://127.0.0.1:1", replicas=2)
    server = Server(use_async_with_local(skip_init_checks=True), settings)
    server.version = version

    assert server._copies.asyncEnabled is asked


def level_of(server: Server) -> list[ConsistencyLevel | None]:
    """Of states, of what a run reads and writes, and of searches, for which any copy will do."""
    found: list[ConsistencyLevel | None] = [
        each.consistency_level for each in (server.states, server.surely("Any"), server.build("Any"))
    ]
    return found
