"""Fixtures: a Weaviate server, and settings under which a test has it to itself.

The server is WEAVIATE_URL's where that answers, else one started from a `weaviate` program on PATH. Without either, its
tests are skipped, or fail where FOOTNOTE_REQUIRE asks for it.
"""

import asyncio
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen
from uuid import uuid4

import pytest
import weaviate

from storage.weaviate_index import WeaviateSettings
from storage.weaviate_index.address import grpc_host, rest_host
from tests.databases import ROOT, free_port
from tests.sharing import OwnProcess, common_folder, shared_server
from tests.surroundings import GIVEN, required

PROGRAM = "weaviate"


@dataclass(frozen=True, slots=True)
class OwnServer(OwnProcess):
    """It can be stopped at once, and started again with what it holds."""

    settings: WeaviateSettings

    def stop(self) -> None:
        self._say("stop")

    def start(self) -> None:
        self._say("start")
        until_ready(self.settings.url)


@pytest.fixture(scope="session")
def weaviate_server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[WeaviateSettings]:
    """Where a server answers: one for all processes that run tests."""
    url = GIVEN.get("WEAVIATE_URL", "")
    given = WeaviateSettings(url, GIVEN.get("WEAVIATE_GRPC_URL", ""), GIVEN.get("WEAVIATE_API_KEY", ""))
    if url and answers(url):
        yield given
        return
    if shutil.which(PROGRAM) is None:
        absent("Weaviate: nothing answers at WEAVIATE_URL, and there is no `weaviate` program on PATH")
    with shared_server(common_folder(tmp_path_factory, worker_id, "weaviate"), _start) as addresses:
        url, grpc_url = addresses.split()
        yield WeaviateSettings(url, grpc_url)


@pytest.fixture
def weaviate_settings(weaviate_server: WeaviateSettings) -> Iterator[WeaviateSettings]:
    """With a name of the test's own, so that it sees no collection of another one."""
    settings = replace(weaviate_server, name=f"Test{uuid4().hex[:12]}", search_patience=5.0, write_patience=20.0)
    yield settings
    asyncio.run(remove_all(settings))


def absent(what: str) -> None:
    if required("weaviate"):
        pytest.fail(what)
    pytest.skip(what)


@contextmanager
def own_server() -> Iterator[OwnServer]:
    if shutil.which(PROGRAM) is None:
        absent("Weaviate: there is no `weaviate` program on PATH")
    settings, command = _command("")
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)  # noqa: S603
    try:
        until_ready(settings.url)
        yield OwnServer(process, settings)
    finally:
        process.communicate()


def _start(users: Path) -> str:
    settings, command = _command(str(users))
    subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603
    until_ready(settings.url)
    return f"{settings.url} {settings.grpc_url}"


@contextmanager
def own_cluster(nodes: int) -> Iterator[list[OwnServer]]:
    """So many servers that are one cluster."""
    if shutil.which(PROGRAM) is None:
        absent("Weaviate: there is no `weaviate` program on PATH")
    ports = [_neighbours(6) for _ in range(nodes)]
    together = {
        "CLUSTER_IN_LOCALHOST": "true",
        "RAFT_BOOTSTRAP_EXPECT": str(nodes),
        "RAFT_JOIN": ",".join(f"node{number}:{of[4]}" for number, of in enumerate(ports, 1)),
    }
    servers = []
    try:
        for number, of in enumerate(ports, 1):
            settings, command = _command("", of)
            join = {"CLUSTER_JOIN": f"127.0.0.1:{ports[0][2]}"} if number > 1 else {}
            command += [f"{name}={value}" for name, value in {**together, **join, "CLUSTER_HOSTNAME": f"node{number}"}.items()]
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)  # noqa: S603
            servers.append(OwnServer(process, settings))
        for server in servers:
            until_ready(server.settings.url)
        yield servers
    finally:
        for server in servers:
            server.process.communicate()


def _neighbours(many: int) -> list[str]:
    """Free ports in a row: a node takes some of another's for those that follow the ones it knows."""
    while True:
        first = free_port()
        try:
            for port in range(first, first + many):
                with socket.socket() as listener:
                    listener.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            continue
        return [str(port) for port in range(first, first + many)]


def _command(users: str, ports: Sequence[str] = ()) -> tuple[WeaviateSettings, list[str]]:
    """Where a server will answer, and how it is started."""
    ports = ports or [str(free_port()) for _ in range(6)]
    folder = tempfile.mkdtemp(prefix="footnote-weaviate-")
    command = [sys.executable, "-m", "tests.weaviate_server", users, str(shutil.which(PROGRAM)), folder, *ports]
    return WeaviateSettings(f"http://127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}"), command


def until_ready(url: str, seconds: float = 90.0) -> None:
    until = time.monotonic() + seconds
    while not answers(url):
        if time.monotonic() > until:
            pytest.fail("the temporary Weaviate server did not start")
        time.sleep(0.1)


def answers(url: str) -> bool:
    try:
        with urlopen(f"{rest_host(WeaviateSettings(url)).shown}/v1/.well-known/ready", timeout=2) as response:  # noqa: S310 - http
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


async def remove_all(settings: WeaviateSettings) -> None:
    """Every alias and collection of this name."""
    async with bare_client(settings) as client:
        for alias in await client.alias.list_all():
            if alias.startswith(settings.name):
                await client.alias.delete(alias_name=alias)
        mine = [name for name in await client.collections.list_all() if name.startswith(settings.name)]
        for name in mine:
            await client.collections.delete(name)


def bare_client(settings: WeaviateSettings) -> weaviate.WeaviateAsyncClient:
    """The client by itself, to look at what is there."""
    rest, grpc = rest_host(settings), grpc_host(settings)
    return weaviate.use_async_with_custom(
        http_host=rest.name,
        http_port=rest.port,
        http_secure=rest.secure,
        grpc_host=grpc.name,
        grpc_port=grpc.port,
        grpc_secure=grpc.secure,
        auth_credentials=settings.api_key or None,
        skip_init_checks=True,
    )
