"""How much memory the process that answers takes with 100,000 passages; model workers apart.

    .venv/bin/python benchmarks/memory.py [--size 100000] [--random-vectors]

A process of its own opens the whole system, as `footnote ask` does, with the real embedder and writer, and asks a hundred
questions. Its resident memory counts whatever it touched of the index's memory-mapped files, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import Corpus, corpus, dialogs, index_folder
from reporting import Bar, folder_of, machine, verdict

from rag.models.local.embedder import LocalEmbedder

ASK = """
import asyncio, json, sys
from pathlib import Path
from config.assembly import assemble
from config.settings import load
from rag.types import Place, Thread
def memory():
    lines = Path("/proc/self/status").read_text().splitlines()
    return {name: int(value.split()[0]) / 1e3 for name, _, value in (line.partition(":") for line in lines) if name in sys.argv[2:]}
async def run():
    answered = 0
    async with assemble(load(home=Path(sys.argv[1]))) as system:
        for number, question in enumerate(json.load(sys.stdin)):
            answer = await system.conversation.reply(Thread(Place("terminal"), str(number // 3)), question)
            answered += bool(answer.matches)
        print(json.dumps({"answered": answered, **memory()}))
asyncio.run(run())
"""


async def prepared(of: Corpus, cache: Path) -> tuple[Path, list[str], str]:
    questions = [question for talk in dialogs(of.passages, 34) for question in talk]
    return await index_folder(of, cache, LocalEmbedder().name), questions, f"{len(of.passages)} passages ({of.origin})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--cache", help="where passages, vectors and indexes are kept")
    parser.add_argument("--random-vectors", action="store_true", help="embed nothing: random vectors for the dense list")
    arguments = parser.parse_args()
    print(machine())
    cache = folder_of(arguments.cache)
    of = corpus(arguments.size, cache, real_vectors=not arguments.random_vectors)
    index, questions, about = asyncio.run(prepared(of, cache))
    with tempfile.TemporaryDirectory() as home:
        shutil.copytree(index, Path(home) / "index")
        command = [sys.executable, "-c", ASK, home, "VmRSS", "VmHWM", "RssAnon", "RssFile"]
        found = subprocess.run(  # noqa: S603 - ours
            command, input=json.dumps(questions), check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1]
        ).stdout
    memory: dict[str, float] = json.loads(found.splitlines()[-1])
    print(f"{about}; {memory['answered']:.0f} of {len(questions)} questions found passages")
    print(f"MB: {memory['VmRSS']:.0f} resident, {memory['RssAnon']:.0f} of them its own, {memory['RssFile']:.0f} mapped files")
    verdict([Bar("MB resident at most", memory["VmHWM"], at_most=600)])


if __name__ == "__main__":
    main()
