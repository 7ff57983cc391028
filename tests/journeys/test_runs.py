"""Indexing runs of two processes: one joins the other, stops it, or takes over from it (I6, I8, I11)."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.journeys.terminal import ROOT, SECONDS, WITHOUT_MODELS, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = 24
# A reader that takes its time, so that a run lasts for as long as the test needs: it waits for this file to vanish.
SLOW = """
import os, sys, time
sys.path.insert(0, {root!r})
from rag.sources import readers
kept = readers.Readers.read_file
async def read_file(self, name, *arguments):
    import asyncio
    while name.startswith("pages/2") and os.path.exists("wait"):
        await asyncio.sleep(0.02)
    return await kept(self, name, *arguments)
readers.Readers.read_file = read_file
from bots.cli import main
sys.argv[0] = "footnote"
main()
"""


@dataclass(frozen=True, slots=True)
class Pages(Terminal):
    """A folder with pages; a run in it lasts for as long as there is a file `wait`."""

    begun: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def watch(self) -> subprocess.Popen[bytes]:
        """A second run, which has joined the first."""
        run = self.start("index")
        self.begun.append(run)
        assert run.stdout is not None
        assert re.fullmatch(rb"default: .* \(a run that was under way already\)\n", run.stdout.readline())
        return run

    def begin(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A run that is in the midst of its work."""
        (self.folder / "wait").touch()
        run = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-c", SLOW.format(root=str(ROOT)), "index", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=self.environment,
            start_new_session=True,
        )
        self.begun.append(run)
        limit = time.monotonic() + SECONDS
        while not list((self.folder / ".footnote").glob("runs/*.lock")):
            assert run.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.02)
        return run

    def go_on(self) -> None:
        (self.folder / "wait").unlink()


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Pages]:
    (tmp_path / "pages").mkdir()
    for number in range(PAGES):
        write(tmp_path, number, "blue")
    pages = Pages(tmp_path, WITHOUT_MODELS)
    yield pages
    for run in pages.begun:
        run.kill()
        run.communicate()


def write(folder: Path, number: int, colour: str) -> None:
    (folder / "pages" / f"{number}.md").write_text(f"# Page {number}\n\nRoom {number} is {colour}.\n", encoding="utf-8")


def ended(run: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = run.communicate(timeout=SECONDS)
    return run.returncode, out.decode(), err.decode()


def test_two_processes_index_the_same_base_at_once_and_both_end_well(pages: Pages) -> None:
    first = pages.begin("pages")
    second = pages.watch()
    pages.go_on()

    done = rf"default: {PAGES} added; {PAGES} documents, {PAGES} passages; 0 embedded in [\d.]+ s\.\n"
    for status, out, err in (ended(first), ended(second)):
        assert (status, err) == (0, "")
        assert re.fullmatch(done, out)
    assert pages.run("index").out.startswith(f"default: nothing changed; {PAGES} documents, {PAGES} passages")
    assert f"default: {PAGES} documents, {PAGES} passages" in pages.run("sources").out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_told_to_end_is_cancelled_and_the_next_one_goes_on(pages: Pages, number: signal.Signals) -> None:
    run = pages.begin("pages")
    time.sleep(0.3)
    run.send_signal(number)

    status, out, err = ended(run)

    assert (status, out) == (128 + number, "")
    assert re.fullmatch(
        r"footnote: The run of base 'default' was cancelled( after \d+ of \d+ documents)?\. What it wrote stays: "
        r"`footnote index` goes on from there\.\n",
        err,
    )
    pages.go_on()
    assert pages.run("index").status == 0
    assert f"default: {PAGES} documents, {PAGES} passages" in pages.run("sources").out


def test_ctrl_c_while_watching_leaves_the_run_alone(pages: Pages) -> None:
    first = pages.begin("pages")
    second = pages.watch()
    second.send_signal(signal.SIGINT)

    assert ended(second) == (
        130,
        "",
        "footnote: The run of base 'default' goes on in the process that began it; here it is watched no more.\n",
    )
    pages.go_on()
    assert ended(first)[0] == 0


def test_after_kill_9_the_next_run_begins_at_once_and_one_that_had_joined_takes_over(pages: Pages) -> None:
    first = pages.begin("pages")
    second = pages.watch()
    pages.go_on()
    first.send_signal(signal.SIGSTOP)  # it cannot end meanwhile
    first.kill()
    ended(first)
    killed = time.monotonic()

    status, out, err = ended(second)

    assert (status, err) == (0, "")
    assert f"{PAGES} documents, {PAGES} passages" in out
    assert time.monotonic() - killed < 25  # a lease stands for 30 s


def test_while_an_index_is_rebuilt_the_old_one_answers_even_when_the_rebuild_is_killed(pages: Pages) -> None:
    assert pages.run("index", "pages").status == 0
    write(pages.folder, 3, "green")
    rebuild = pages.begin("--rebuild")
    threshold = {"FOOTNOTE_RETRIEVAL__THRESHOLD": "0"}

    assert "Room 3 is blue" in pages.run("ask", "Which colour has room 3?", **threshold).out
    rebuild.kill()
    ended(rebuild)
    pages.go_on()

    assert "Room 3 is blue" in pages.run("ask", "Which colour has room 3?", **threshold).out
    again = pages.run("index", "--rebuild")
    assert re.match(rf"default: \d+ added; {PAGES} documents, {PAGES} passages", again.out)  # it goes on where the other stopped
    assert "Room 3 is green" in pages.run("ask", "Which colour has room 3?", **threshold).out


def test_a_dry_run_says_what_would_change_and_changes_nothing(pages: Pages) -> None:
    assert pages.run("index", "pages").status == 0
    write(pages.folder, 3, "green")
    write(pages.folder, PAGES, "new")
    (pages.folder / "pages" / "5.md").unlink()

    said = pages.run("index", "--dry-run")

    assert said.out.splitlines() == [
        f"read    pages/{PAGES}.md",
        "read    pages/3.md",
        "remove  pages/5.md",
        f"default: 2 to read, 1 to remove, {PAGES - 2} unchanged. Nothing was changed.",
    ]
    assert pages.run("index", "--dry-run").out == said.out
    assert f"default: {PAGES} documents" in pages.run("sources").out
