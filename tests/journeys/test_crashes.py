"""`footnote index`, killed at twenty points: what answers meanwhile is complete, nothing stays behind, the next run finishes."""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag.types import Stretch
from storage.catalog import DatabaseCatalog
from storage.database import Database
from storage.local_index import LocalIndex
from tests.journeys.terminal import SECONDS, Terminal

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

PAGES = 60
KILLS = 20
SETTINGS = {  # short passages and one process that embeds: a run takes long enough; a reranker has nothing to do with it
    "FOOTNOTE_RETRIEVAL__RERANKER": "none",
    "FOOTNOTE_INDEXING__EMBEDDERS": "1",
    "FOOTNOTE_INDEXING__SIZE_MIN": "40",
    "FOOTNOTE_INDEXING__SIZE_MAX": "160",
}
ROOMS = ("lamp", "rope", "sail", "helm", "mast", "keel")

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="children are looked up in /proc"),
    pytest.mark.timeout(600),  # twenty runs, on a machine that may be busy
]


class Asking:
    """One `footnote ask --json` that stays, while indexing runs come and go."""

    def __init__(self, terminal: Terminal) -> None:
        self._process = terminal.start("ask", "--json", FOOTNOTE_RETRIEVAL__THRESHOLD="0")

    def ask(self, question: str) -> dict[str, object]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n".encode())
        self._process.stdin.flush()
        answer: dict[str, object] = json.loads(self._process.stdout.readline())
        return answer

    def end(self) -> tuple[int, bytes]:
        _, err = self._process.communicate(timeout=SECONDS)
        return self._process.returncode, err


@pytest.fixture
def pages(tmp_path: Path) -> Terminal:
    (tmp_path / "pages").mkdir()
    write(tmp_path / "pages", 0)
    return Terminal(tmp_path, SETTINGS)


def write(folder: Path, generation: int) -> None:
    """Each page has two passages, and each of them names the generation."""
    for number in range(PAGES):
        told = f"The {ROOMS[number % 6]} number {number} is kept in room {generation}. "
        text = f"# Page {number}\n\n{told * 2}\n\n## More about it\n\n{told * 2}\n"
        (folder / f"{number}.md").write_text(text, encoding="utf-8")


def test_a_run_that_is_killed_anywhere_leaves_a_complete_state_and_is_finished_by_the_next(pages: Terminal, tmp_path: Path) -> None:
    chance = random.Random(7)
    early = pages.start("index", "pages")
    time.sleep(chance.uniform(0.3, 1.5))
    kill(early)
    assert pages.run("ask", "Who?").err in {"", "footnote: Nothing has been indexed yet. Run: footnote index PATH\n"}
    begun = time.monotonic()
    assert pages.run("index", "pages", "-q").status == 0
    lasts = time.monotonic() - begun
    asking = Asking(pages)

    for generation in range(1, KILLS):
        write(pages.folder / "pages", generation)
        running = pages.start("index", "-q")
        time.sleep(chance.uniform(0.1, 1.0) * lasts)
        kill(running)
        number = chance.randrange(PAGES)
        check_complete(asking.ask(f"Where is the {ROOMS[number % 6]} number {number} of page {number} kept?"), generation)

    finished = pages.run("index", "-q")
    assert (finished.status, finished.err) == (0, "")
    check_complete(asking.ask("Where is the lamp number 0 kept?"), KILLS - 1)
    assert asking.end() == (0, b"")
    undisturbed = Terminal(pages.folder, {**pages.variables, "FOOTNOTE_HOME": str(tmp_path / "undisturbed")})
    assert undisturbed.run("index", "pages", "-q").status == 0
    assert held(pages.folder / ".footnote") == held(tmp_path / "undisturbed")


def check_complete(answer: dict[str, object], newest: int) -> None:
    """Each document's passages are all of one generation, and none is of one that is still to come."""
    passages = answer["passages"]
    assert isinstance(passages, list)
    assert passages
    for passage in passages:
        generations = set(re.findall(r"room (\d+)", passage["text"]))
        assert len(generations) == 1, passage
        assert int(generations.pop()) <= newest


def kill(running: subprocess.Popen[bytes]) -> None:
    """The process alone: its workers have to notice by themselves."""
    workers = children(running.pid)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    limit = time.monotonic() + 30
    while left := [pid for pid in workers if is_running(pid)]:
        assert time.monotonic() < limit, f"workers are left: {left}"
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in found for child in read(path).split()]


def is_running(pid: int) -> bool:
    return re.search(r"(?m)^State:\s+[^ZX\s]", read(Path(f"/proc/{pid}/status"))) is not None


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:  # it has ended
        return ""


def held(home: Path) -> dict[str, tuple[str, ...]]:
    """What an index holds: passages by document, as it gives them."""

    async def look() -> Iterator[tuple[str, tuple[str, ...]]]:
        async with Database(f"sqlite:///{home / 'footnote.db'}") as database, LocalIndex(home / "index") as index:
            entries = await DatabaseCatalog(database).entries("default", await index.live("default"))
            stretches = [Stretch(name, 0, 99) for name in entries]
            found = dict(zip(entries, await index.neighbours("default", stretches), strict=True))
            assert sum(map(len, found.values())) == await index.size("default")
            return iter([(name, tuple(repr(passage) for passage in passages)) for name, passages in found.items()])

    documents = dict(asyncio.run(look()))
    assert len(documents) == PAGES
    return documents
