"""Fixtures: a Weaviate server, and settings under which a test has it to itself.

The server is WEAVIATE_URL's where that answers, else one started from a `weaviate` program on PATH. Without either, its
tests are skipped, or fail where FOOTNOTE_REQUIRE asks for it.
"""

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
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
from tests.databases import free_port
from tests.surroundings import GIVEN, required

PROGRAM = "weaviate"


@dataclass(frozen=True, slots=True)
class OwnServer:
    """A server that these tests started: it can be stopped at once, and started again with what it holds."""

    settings: WeaviateSettings
    process: "subprocess.Popen[str]"

    def stop(self) -> None:
        self._say("stop")

    def start(self) -> None:
        self._say("start")
        until_ready(self.settings.url)

    def _say(self, what: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"


@pytest.fixture(scope="session")
def weaviate_server() -> Iterator[WeaviateSettings]:
    """Where a server answers."""
    url = GIVEN.get("WEAVIATE_URL", "")
    given = WeaviateSettings(url, GIVEN.get("WEAVIATE_GRPC_URL", ""), GIVEN.get("WEAVIATE_API_KEY", ""))
    if url and answers(url):
        yield given
        return
    if shutil.which(PROGRAM) is None:
        absent("Weaviate: nothing answers at WEAVIATE_URL, and there is no `weaviate` program on PATH")
    with own_server() as server:
        yield server.settings


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
    program = shutil.which(PROGRAM)
    if program is None:
        absent("Weaviate: there is no `weaviate` program on PATH")
    folder = tempfile.mkdtemp(prefix="footnote-weaviate-")
    ports = [str(free_port()) for _ in range(6)]
    script = str(Path(__file__).with_name("weaviate_server.py"))
    command = [sys.executable, script, str(program), folder, *ports]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        settings = WeaviateSettings(f"http://127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}")
        until_ready(settings.url)
        yield OwnServer(settings, process)
    finally:
        process.communicate()


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
