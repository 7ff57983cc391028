"""Every test has an empty environment and a home of its own: it reaches neither the network nor the developer's files."""

import gc
import logging
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpx
import pytest

from tests.ordering import in_good_order

pytest_plugins = ["tests.databases", "tests.weaviates"]

LOGGERS = ("", "bots", "config", "rag", "storage")  # those that `footnote` sets up
_OURS = ("FOOTNOTE_", "SLACK_", "DISCORD_", "COHERE_", "OPENAI_", "WEAVIATE_", "OTEL_", "PG", "DATABASE_URL")
_SECRETS = ("_TOKEN", "_API_KEY", "_SECRET", "_PASSWORD")


def pytest_configure() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it in the background: our commands would ignore it, too
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    if processes > 1:
        items[:] = in_good_order(items, processes)


def pytest_collection_finish() -> None:
    gc.freeze()  # what is imported stays: looking through it for garbage takes half a second each time


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):  # noqa: TID251 - to clear it
        if name.startswith(_OURS) or name.endswith(_SECRETS):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """What a test sets up of the logs ends with it: others count the entries."""
    root = logging.getLogger()
    handlers, levels = list(root.handlers), {name: logging.getLogger(name).level for name in LOGGERS}
    yield
    root.handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture(scope="session", autouse=True)
def certificates_loaded_once() -> Iterator[None]:
    """Every client of httpx loads all there are, for 20 ms, though it will speak to a fake without TLS."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx._transports.default, "create_ssl_context", cache(httpx.create_ssl_context))
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is also the current one: for what is kept beside a `footnote.toml`."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
