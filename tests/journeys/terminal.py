"""The real `footnote` command in a process of its own, with an environment and a folder that hold nothing else."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.surroundings import GIVEN

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
FOOTNOTE = Path(sys.executable).parent / "footnote"
WITHOUT_MODELS = {  # for what they have nothing to do with: loading them takes most of the time of a short command
    "FOOTNOTE_RETRIEVAL__RERANKER": "none",
    "FOOTNOTE_MODELS__EMBEDDER": "none",
    "FOOTNOTE_INDEXING__READERS": "1",
}
SECONDS = 100.0  # for one command on a busy machine


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def blocks(self) -> list[str]:
        """What was printed, in its paragraphs."""
        return [block for block in self.out.split("\n\n") if block.strip()]


@dataclass(frozen=True, slots=True)
class Terminal:
    """A folder, and the variables that are set in it."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": GIVEN.get("PATH", ""), "HOME": str(self.folder), "LANG": "C.UTF-8", **self.variables}

    def with_a_database_in(self, folder: Path) -> Terminal:
        """For a process that serves: it takes up every question that it finds in its database, those of another test, too."""
        own = folder / "footnote.db"
        with closing(sqlite3.connect(self.folder / ".footnote" / "footnote.db")) as ours, closing(sqlite3.connect(own)) as copy:
            ours.backup(copy)
        return replace(self, variables={**self.variables, "DATABASE_URL": f"sqlite:///{own}"})

    def run(self, *arguments: str, said: str | bytes = b"", **variables: str) -> Said:
        """Run `footnote`; `said` is piped in."""
        done = subprocess.run(  # noqa: S603 - our own command
            [FOOTNOTE, *arguments],
            input=said.encode() if isinstance(said, str) else said,
            capture_output=True,
            cwd=self.folder,
            env={**self.environment, **variables},
            timeout=SECONDS,
            check=False,
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
        """Begin to run `footnote` with pipes, in a process group of its own."""
        pipe = subprocess.PIPE
        return subprocess.Popen(  # noqa: S603 - our own command
            [FOOTNOTE, *arguments],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=self.folder,
            env={**self.environment, **variables},
            start_new_session=True,
        )


def said_until_it_listens(process: subprocess.Popen[bytes]) -> bytes:
    """What a bot says at its start, up to the line that it listens, or to its end. What follows is left in the pipe."""
    assert process.stderr is not None
    said = b""
    while not (said.endswith(b"\n") and b"Footnote listens" in said):
        if not (character := os.read(process.stderr.fileno(), 1)):
            break
        said += character
    return said
