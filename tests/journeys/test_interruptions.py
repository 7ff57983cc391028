"""Ctrl-C, Ctrl-D, a reader that goes away: all is left as it should be, and only a run that is cut short says so."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.journeys.terminal import FOOTNOTE, SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.journeys.terminal import Terminal


class Window:
    """A terminal window in which `footnote` runs: keys go in, a screen comes out."""

    def __init__(self, terminal: Terminal, *arguments: str) -> None:
        ours, theirs = pty.openpty()
        environment = {**terminal.environment, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            [FOOTNOTE, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=terminal.folder,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: os.close(os.open(os.ttyname(theirs), os.O_RDWR)),  # noqa: PLW1509 - makes it the controlling terminal
        )
        os.close(theirs)
        self._screen = ours
        self.shown = ""

    def until(self, pattern: str) -> str:
        """All that is shown until this is; what was shown before does not count."""
        begun, limit = len(self.shown), time.monotonic() + SECONDS
        while not re.search(pattern, self.shown[begun:]):
            ready, _, _ = select.select([self._screen], [], [], max(0.0, limit - time.monotonic()))
            read = self._read() if ready else ""
            assert read, f"{pattern!r} was never shown: {self.shown[begun:]!r}"
            self.shown += read
        return self.shown[begun:]

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def end(self) -> int:
        """What is left on the screen is read; the exit status."""
        limit = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < limit:
            if select.select([self._screen], [], [], 0.05)[0]:
                self.shown += self._read()
        return self.process.wait(1)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)

    def _read(self) -> str:
        try:
            return os.read(self._screen, 65536).decode(errors="replace")
        except OSError:  # the program is gone
            return ""


@pytest.fixture
def window(docs: Terminal) -> Iterator[Window]:
    window = Window(docs, "chat", "--thread", "window")
    yield window
    window.close()


def test_a_talk_in_a_window_greets_answers_with_whole_links_and_ends_with_ctrl_d(window: Window) -> None:
    greeting = window.until(r"\n> ")
    assert re.search(r"default: \d+ documents, \d+ passages", greeting)
    assert "Ask a question, or /help." in greeting

    window.type("How large a share of the documents may a run remove?\r")
    shown = window.until(r"SOURCES:[\s\S]*\n> ")
    assert re.search(r"\[1\] .+ — .+ \(file://\S+/docs/\w+\.md#[\w-]+\)\r?\n", shown)

    window.type("\x04")
    assert window.end() == 0
    assert "Traceback" not in window.shown


def test_ctrl_c_at_the_prompt_ends_the_talk_at_once(window: Window) -> None:
    window.until(r"\n> ")

    window.type("\x03")

    assert window.end() == 130
    assert "Traceback" not in window.shown
    assert "Error" not in window.shown


def test_ctrl_c_during_an_answer_keeps_the_question_without_one(docs: Terminal) -> None:
    talk = docs.start("chat", "--thread", "cut")
    assert talk.stdin is not None
    talk.stdin.write(b"How large a share of the documents may a run remove?\n")
    talk.stdin.flush()
    time.sleep(3)  # in the midst of starting, searching, or already waiting for the next question: each must be fit for it
    os.killpg(talk.pid, signal.SIGINT)

    out, err = talk.communicate(timeout=SECONDS)

    assert (talk.returncode, err) == (130, b"")
    turns = docs.run("chat", "--thread", "cut", said="/forget").out
    assert turns in ("There was nothing to forget.\n", "Forgot 1 turn.\n", "Forgot 2 turns.\n")
    assert ("Forgot 2" in turns) == (b"SOURCES" in out)


@pytest.mark.parametrize("arguments", [["sources", "--documents"], ["ask", "What is a passage?", "--trace"], ["--help"]])
def test_a_reader_that_goes_away_is_no_mistake(docs: Terminal, arguments: list[str]) -> None:
    running = docs.start(*arguments)
    assert running.stdout is not None
    assert running.stdin is not None
    running.stdout.close()
    running.stdin.close()
    assert running.stderr is not None
    with running.stderr:
        err = running.stderr.read()

    assert running.wait(SECONDS) in (0, 1)
    assert err == b""
