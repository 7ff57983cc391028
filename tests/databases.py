"""Fixtures: an empty database, on SQLite and on PostgreSQL.

PostgreSQL is TEST_DATABASE_URL's, or a server started from the installed programs. Without either, its tests are
skipped, or fail where FOOTNOTE_REQUIRE asks for it.
"""

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest
from sqlalchemy import make_url

from storage.database import Database
from storage.schema import metadata
from tests.postgres_server import PASSWORD
from tests.sharing import OwnProcess, common_folder, shared_server
from tests.surroundings import GIVEN, required

ROOT = Path(__file__).parents[1]
KINDS = ["sqlite", "postgresql"]


# --- fixtures -------------------------------------------------------------------------------------------------------


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database with its tables."""
    if request.param == "sqlite":
        sqlite: str = request.getfixturevalue("sqlite_url")
        return sqlite
    url: str = request.getfixturevalue("postgres_with_tables")
    asyncio.run(_execute(url, *(str(table.delete()) for table in reversed(metadata.sorted_tables))))
    return url


@pytest.fixture
def sqlite_url(sqlite_with_tables: Path, tmp_path: Path) -> str:
    """The same for tests that are not about databases: copied, since making tables takes ten times as long."""
    path = tmp_path / "footnote.db"
    shutil.copyfile(sqlite_with_tables, path)
    return f"sqlite:///{path}"


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    async with Database(database_url) as opened:
        yield opened


@pytest.fixture(params=KINDS)
def blank_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database with nothing in it."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'footnote.db'}"
        return
    with _own_database(request.getfixturevalue("postgres_server")) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_with_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "footnote.db"
    asyncio.run(_migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def postgres_with_tables(postgres_server: str) -> Iterator[str]:
    with _own_database(postgres_server) as url:
        asyncio.run(_migrate(url))
        yield url


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The address of a server in which databases can be made: one for all processes that run tests."""
    if url := GIVEN.get("TEST_DATABASE_URL"):
        yield url
        return
    with postgres_in(common_folder(tmp_path_factory, worker_id, "postgres"), _needed()) as url:
        yield url


@pytest.fixture
def own_postgres() -> "Iterator[OwnPostgres]":
    """Empty, for one test alone, whatever TEST_DATABASE_URL says: that one is nobody's to stop."""
    with _own_server(_needed()) as server:
        yield server


# --- a server -------------------------------------------------------------------------------------------------------


def _needed() -> Path:
    programs = installed_postgres()
    if programs is None:
        missing = "PostgreSQL is not installed (no initdb on PATH or in /usr/lib/postgresql), and there is no TEST_DATABASE_URL"
        if required("postgres"):
            pytest.fail(missing)
        pytest.skip(missing)
    return programs


def installed_postgres() -> Path | None:
    found = [Path(program).resolve().parent for program in [shutil.which("initdb")] if program]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in found if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def postgres_in(folder: Path, programs: Path) -> AbstractContextManager[str]:
    """The address of a server for all that name this folder."""
    return shared_server(folder, partial(_start, programs))


def _start(programs: Path, users: Path) -> str:
    port = free_port()
    folder = tempfile.mkdtemp(prefix="footnote-postgres-")
    arguments = [str(users), str(programs), folder, str(port), _account()]
    subprocess.run([sys.executable, "-m", "tests.postgres_server", *arguments], check=True, cwd=ROOT)  # noqa: S603
    url = _address(port)
    asyncio.run(_until_ready(url))
    return url


@dataclass(frozen=True, slots=True)
class OwnPostgres(OwnProcess):
    """It can be stopped or killed, and started again with what it confirmed."""

    url: str

    def end(self, how: str) -> None:
        """`stop` or `kill`."""
        self._say(how)

    def start(self) -> None:
        self._say("start")
        asyncio.run(_until_ready(self.url))


@contextmanager
def _own_server(programs: Path) -> Iterator[OwnPostgres]:
    port = free_port()
    folder = tempfile.mkdtemp(prefix="footnote-postgres-")
    command = [sys.executable, "-m", "tests.postgres_server", "", str(programs), folder, str(port), _account()]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: S603
    try:
        url = _address(port)
        asyncio.run(_until_ready(url))
        yield OwnPostgres(process, url)
    finally:
        process.communicate()


def _address(port: int) -> str:
    return f"postgresql://footnote:{PASSWORD}@127.0.0.1:{port}/postgres"


def _account() -> str:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return ""
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


async def _until_ready(url: str, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            connection = await asyncpg.connect(url)
        except (OSError, asyncpg.PostgresError):
            await asyncio.sleep(0.02)
        else:
            await connection.close()
            return
    pytest.fail("the temporary PostgreSQL server did not start")


# --- databases in it ------------------------------------------------------------------------------------------------


@contextmanager
def _own_database(server: str) -> Iterator[str]:
    name = f"footnote_test_{uuid4().hex}"
    asyncio.run(_execute(server, f"CREATE DATABASE {name}"))
    try:
        yield make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        asyncio.run(_execute(server, f"DROP DATABASE {name} WITH (FORCE)"))


async def _execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


async def _migrate(url: str) -> None:
    async with Database(url):
        pass
