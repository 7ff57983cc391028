"""One index of the project's own documentation for all journeys: making it takes as long as they do."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.journeys.terminal import ROOT, Terminal
from tests.sharing import common_folder, one_at_a_time

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def docs(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Terminal:
    """A folder with a copy of the documentation, indexed; the same one for all processes that run tests."""
    common = common_folder(tmp_path_factory, worker_id, "journeys")
    folder = common / "stranger"
    with one_at_a_time(common):
        if not (folder / "prepared").exists():
            prepare(folder)
    return Terminal(folder)


def prepare(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copytree(ROOT / "docs", folder / "docs")
    indexed = Terminal(folder).run("index", "docs")
    assert (indexed.status, indexed.err) == (0, "")
    (folder / "prepared").touch()


@pytest.fixture
def empty(tmp_path: Path) -> Terminal:
    """A folder with nothing in it."""
    return Terminal(tmp_path)
