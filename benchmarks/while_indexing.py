"""How much slower a question is while `footnote index` runs in another process.

    .venv/bin/python benchmarks/while_indexing.py [--rounds 8]

The run is stopped and let go on by turns (SIGSTOP, SIGCONT), and the same questions are asked each time: so that both are
measured minutes apart at most, on the same machine in the same state. Real models, the whole system.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from corpus import dialogs, documents, html_files, made_up_text, say
from reporting import Bar, machine, verdict

from config.assembly import Footnote, assemble
from config.settings import load
from rag.intake import ready
from rag.splitting import SplitSettings, split
from rag.types import Document, Place, Thread

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTIONS = 9
MADE_UP = "made-up text"
FIRST, ALL = 40, 2_000  # files that are indexed before, and while questions are asked


def files_for(folder: Path) -> tuple[list[Path], str]:
    """The files of the corpus, copied or made below the folder's `all`."""
    (folder / "all").mkdir()
    real = [path for path in html_files() if path.stat().st_size > 4_000][:ALL]
    made = []
    for number in range(ALL):
        if len(real) == ALL:
            made.append(folder / "all" / f"{number:05}.html")
            shutil.copyfile(real[number], made[-1])
        else:
            made.append(folder / "all" / f"{number:05}.md")
            made[-1].write_text(made_up_text(number, 12), "utf-8")
    return made, "installed documentation" if len(real) == ALL else MADE_UP


def questions_on(origin: str) -> list[str]:
    """Made of words of the first documents, so that they have answers."""
    if origin == MADE_UP:
        text = "\n\n".join(made_up_text(number, 4) for number in range(20))
        first = [Document("d", "d", text, "d", language="en")]
    else:
        first = list(islice(documents(), 20))
    passages = [ready(each) for document in first for each in split(document, "default", SplitSettings())]
    return [question for talk in dialogs(passages, QUESTIONS // 3) for question in talk]


async def asked(system: Footnote, questions: Sequence[str]) -> list[float]:
    seconds = []
    for question in questions:
        started = time.perf_counter()
        await system.conversation.reply(Thread(Place("terminal"), uuid.uuid4().hex), question)
        seconds.append(time.perf_counter() - started)
    return seconds


async def measure(folder: Path, rounds: int, *, reranker: bool) -> list[Bar]:
    files, origin = files_for(folder)
    shown = folder / "shown"
    shown.mkdir()
    for path in files[:FIRST]:
        path.rename(shown / path.name)
    home = folder / "home"
    index(home, shown).wait()
    for path in files[FIRST:]:
        path.rename(shown / path.name)
    rest, during = [], []
    async with assemble(load(home=home, retrieval={"reranker": "local" if reranker else "none"})) as system:
        questions = questions_on(origin)
        await asked(system, questions)
        run = index(home)
        try:
            for number in range(rounds):
                await asyncio.sleep(3 if number == 0 else 1)
                if run.poll() is not None:
                    break
                during.append(await asked(system, questions))
                os.killpg(run.pid, signal.SIGSTOP)
                rest.append(await asked(system, questions))
                os.killpg(run.pid, signal.SIGCONT)
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGCONT)
                os.killpg(run.pid, signal.SIGTERM)
                run.wait()
    say(f"{len(during)} rounds of {len(questions)} questions")
    ratios = [median(busy) / median(calm) for busy, calm in zip(during, rest, strict=True)]
    print(f"{origin}; at rest {median(map(median, rest)) * 1e3:.0f} ms, during a run {median(map(median, during)) * 1e3:.0f} ms")
    return [Bar("a question during a run / at rest, median of the rounds", median(ratios), at_most=2.0)]


def index(home: Path, source: Path | None = None) -> subprocess.Popen[bytes]:
    """`footnote index`, in a process group of its own."""
    command = [sys.executable, "-c", "from bots.cli import main; main()", "index", *([str(source)] if source else [])]
    return subprocess.Popen(  # noqa: S603 - ours
        command,
        env={**dict(os.environ), "FOOTNOTE_HOME": str(home)},  # noqa: TID251 - handed on to another process
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[1],
        start_new_session=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--reranker", action="store_true", help="rerank, too: on a busy machine its time limit hides the rest")
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        verdict(asyncio.run(measure(Path(name), arguments.rounds, reranker=arguments.reranker)))


if __name__ == "__main__":
    main()
