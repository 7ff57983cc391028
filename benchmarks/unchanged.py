"""What a second run costs when nothing changed, and what one when one paragraph did: 10,000 files.

    .venv/bin/python benchmarks/unchanged.py [--files 10000]

The embedder is an instant one that counts: what is measured is what a run does besides embedding.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from corpus import made_up_text, say
from reporting import Bar, machine, verdict

from config.assembly import assemble
from config.settings import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Progress, Vector


class CountingEmbedder:
    name = "counting"
    dimension = 64

    def __init__(self) -> None:
        self.embedded = 0

    async def embed_question(self, text: str) -> Vector:
        return vector_of(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.embedded += len(texts)
        return [vector_of(text) for text in texts]


def vector_of(text: str) -> Vector:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    found = np.random.default_rng(seed).standard_normal(CountingEmbedder.dimension, dtype=np.float32)
    return bytes((found / np.linalg.norm(found)).astype("<f4").tobytes())


async def run(home: Path, source: Path) -> tuple[Progress, int, float, float]:
    """One run, opening and closing of everything included: its progress, texts embedded, seconds, processor seconds."""
    embedder = CountingEmbedder()
    started, burnt = time.perf_counter(), time.process_time()
    async with assemble(load(home=home, models={"embedder": "none"}, retrieval={"reranker": "none"})) as system:
        system.embedder = embedder
        await system.remember_sources([str(source)])
        progress = await system.indexer("default").run()
    return progress, embedder.embedded, time.perf_counter() - started, time.process_time() - burnt


def change_a_paragraph(path: Path) -> None:
    paragraphs = path.read_text("utf-8").split("\n\n")
    paragraphs[len(paragraphs) // 2] = (
        "This paragraph is another one now. It says what nobody said before, in as many words as it takes."
    )
    path.write_text("\n\n".join(paragraphs), "utf-8")


async def measure(folder: Path, files: int) -> list[Bar]:
    source, home = folder / "source", folder / "home"
    for number in range(files):
        path = source / f"{number % 100:02}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made_up_text(number, 4), "utf-8")
    first, embedded, seconds, _ = await run(home, source)
    say(f"first run: {first.added} documents, {first.passages} passages, {embedded} embedded, {seconds:.0f} s")
    again = [await run(home, source) for _ in range(3)]
    print("second run, three times: " + ", ".join(f"{wall:.2f} s ({cpu:.2f} s of processor)" for _, _, wall, cpu in again))
    change_a_paragraph(source / "07" / "107.md")
    changed, re_embedded, seconds, cpu = await run(home, source)
    print(f"one paragraph changed: {changed.changed} document, {re_embedded} embedded, {seconds:.2f} s ({cpu:.2f} s of processor)")
    return [
        Bar(f"seconds for {files} unchanged files, best of three", min(wall for _, _, wall, _ in again), at_most=3.0),
        Bar("texts embedded when nothing changed", sum(count for _, count, _, _ in again), at_most=0),
        Bar("texts embedded when one paragraph changed", re_embedded, at_most=2, at_least=1),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    arguments = parser.parse_args()
    print(f"{machine()}; made-up Markdown files")
    with tempfile.TemporaryDirectory() as name:
        verdict(asyncio.run(measure(Path(name), arguments.files)))


if __name__ == "__main__":
    main()
