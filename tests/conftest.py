"""Every test has an empty environment and a home of its own: it reaches neither the network nor the developer's files."""

import os
from pathlib import Path

import pytest

pytest_plugins = ["tests.databases", "tests.weaviates"]

_OURS = ("FOOTNOTE_", "SLACK_", "DISCORD_", "COHERE_", "OPENAI_", "WEAVIATE_", "OTEL_", "PG", "DATABASE_URL")
_SECRETS = ("_TOKEN", "_API_KEY", "_SECRET", "_PASSWORD")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):  # noqa: TID251 - to clear it
        if name.startswith(_OURS) or name.endswith(_SECRETS):
            monkeypatch.delenv(name)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is also the current one: for what is kept beside a `footnote.toml`."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
