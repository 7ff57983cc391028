"""Weaviate through Footnote beside its bare client: loading, searching, and searches during a rebuild.

    WEAVIATE_URL=http://localhost:8080 .venv/bin/python benchmarks/with_weaviate.py [--passages 100000] [--keep] [--loaded]

Both sides load the same rows and ask the same questions by turns in one run, against collections of one schema, so only the
ratios count. Passages are made up: words by Zipf's law, vectors of 512 dimensions around 300 subjects. `--keep` leaves the
collections for a later run with `--loaded`, which only searches; `--no-rebuild` leaves out the last part.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from corpus import say
from reporting import Bar, machine, verdict
from weaviate.classes.query import MetadataQuery

from config.settings import load
from config.stores import weaviate_from
from rag.types import Indexed, Passage, Search, Signature
from storage.weaviate_index import WeaviateIndex
from storage.weaviate_index.rows import LEXICAL, row
from storage.weaviate_index.server import connected

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag.ports import IndexWriter
    from storage.weaviate_index.server import Server

BASE, NAME = "benchmark", "FootnoteBenchmark"
BARE = f"{NAME}Bare"
DIMENSION, OTHER_DIMENSION, WORDS, SUBJECTS = 512, 256, 60_000, 300
MOST_WORDS = 134  # of a passage, a quarter at least: 84 on an average
GROUP, BATCH = 192, 1_000  # passages that an indexing run writes at once; rows in one call of the bare client
AHEAD = 4  # groups whose vectors are asked for while one before them is written
SEGMENT = 13 * GROUP  # rows that one side loads before it is the other's turn
REBUILT, RATE = 2 * SEGMENT, 50  # passages that are made again while so many searches a second go on


class Seed(NamedTuple):
    """Passages that are the same in every run."""

    chance: np.random.Generator
    subjects: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any]

    @classmethod
    def new(cls, number: int) -> Seed:
        chance = np.random.default_rng(number)
        weights = 1 / (np.arange(WORDS) + 2.7) ** 1.05
        return cls(chance, np.random.default_rng(0).standard_normal((SUBJECTS, DIMENSION)), weights / weights.sum())

    def vectors(self, many: int, dimension: int = DIMENSION) -> list[bytes]:
        found = self.subjects[self.chance.integers(0, SUBJECTS, many), :dimension]
        found = found + 0.8 * self.chance.standard_normal((many, dimension))
        return [each.astype("<f4").tobytes() for each in found / np.linalg.norm(found, axis=1, keepdims=True)]

    def passages(self, start: int, many: int, dimension: int = DIMENSION) -> list[Indexed]:
        words = self.chance.choice(WORDS, size=(many, MOST_WORDS), p=self.weights)
        lengths = self.chance.integers(MOST_WORDS // 4, MOST_WORDS + 1, many)
        found = []
        for at, (chosen, vector) in enumerate(zip(words, self.vectors(many, dimension), strict=True), start):
            document, ordinal = f"folder/document{at // 6}.md", at % 6
            terms = " ".join(f"w{word}" for word in chosen[: lengths[at - start]])
            digest = hashlib.sha256(f"{at}".encode()).hexdigest()
            place = {"title": f"Document {at // 6}", "link": f"https://example.com/{at // 6}", "headings": ("One", "Two")}
            held = Passage(f"{digest[:24]}", BASE, document, ordinal, f"{terms} " * 2, terms=terms, digest=digest, **place)
            found.append(Indexed(held, vector))
        return found

    def searches(self, many: int) -> list[Search]:
        words = self.chance.choice(WORDS, size=(many, 8), p=self.weights)
        vectors = self.vectors(many)
        return [Search(tuple(f"w{word}" for word in chosen), vector) for chosen, vector in zip(words, vectors, strict=True)]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--loaded", action="store_true")
    parser.add_argument("--no-rebuild", action="store_true")
    given = parser.parse_args()
    say(machine())
    settings = weaviate_from(load(weaviate={"name": NAME}))
    async with connected(settings) as server, WeaviateIndex(settings) as index:
        bars = [] if given.loaded else [await loading(server, index, given.passages)]
        bars += await searching(server, index, given.searches)
        if not given.keep:
            await index.drop(BASE)
            await server.client.collections.delete(BARE)
        bars += [] if given.no_rebuild else await rebuilding(index)
    verdict(bars)


# --- loading --------------------------------------------------------------------------------------------------------


async def loading(server: Server, index: WeaviateIndex, passages: int) -> Bar:
    await index.drop(BASE)
    await server.client.collections.delete(BARE)
    await server.make_build(BARE)
    seed, bare, ours = Seed.new(1), 0.0, 0.0
    async with index.write(BASE, Signature("made up", DIMENSION, "", "")) as writer:
        for number, start in enumerate(range(0, passages, SEGMENT)):
            held = seed.passages(start, min(SEGMENT, passages - start))
            sides = [lambda held=held: by_client(server, held), lambda held=held: by_writer(writer, held)]
            taken = [await sides[(number + turn) % 2]() for turn in range(2)]
            bare, ours = bare + taken[number % 2], ours + taken[1 - number % 2]
            rates = f"bare {len(held) / taken[number % 2]:.0f}/s, Footnote {len(held) / taken[1 - number % 2]:.0f}/s"
            say(f"{start + len(held)} passages: {rates}, ratio so far {bare / ours:.3f}")
        begun = time.perf_counter()
        await writer.publish()
        say(f"published in {time.perf_counter() - begun:.1f} s")
    say(f"bare {passages / bare:.0f}/s, Footnote {passages / ours:.0f}/s")
    return Bar("load rate beside the bare client's insert_many", bare / ours, at_least=0.9)


async def by_client(server: Server, held: Sequence[Indexed]) -> float:
    """Seconds taken. The rows are made before: the bare client is given what it needs."""
    rows = [row(each, each.passage.document, 1) for each in held]
    collection = server.client.collections.use(BARE)
    begun = time.perf_counter()
    for start in range(0, len(rows), BATCH):
        written = await collection.data.insert_many(rows[start : start + BATCH])
        assert not written.has_errors  # noqa: S101 - nothing to measure otherwise
    return time.perf_counter() - begun


async def by_writer(writer: IndexWriter, held: Sequence[Indexed]) -> float:
    """As an indexing run does it: known vectors are asked for, some groups ahead, then each document is put."""
    begun = time.perf_counter()
    groups = [held[start : start + GROUP] for start in range(0, len(held), GROUP)]
    ahead = [asyncio.create_task(writer.vectors([each.passage.digest for each in group])) for group in groups[:AHEAD]]
    for at, group in enumerate(groups):
        await ahead[at]
        ahead += [asyncio.create_task(writer.vectors([each.passage.digest for each in more])) for more in groups[at + AHEAD :][:1]]
        documents: dict[str, list[Indexed]] = {}
        for each in group:
            documents.setdefault(each.passage.document, []).append(each)
        await asyncio.gather(*(writer.put(document, passages) for document, passages in documents.items()))
    return time.perf_counter() - begun


# --- searching ------------------------------------------------------------------------------------------------------


async def searching(server: Server, index: WeaviateIndex, many: int) -> list[Bar]:
    searches = Seed.new(2).searches(many)
    collection = server.client.collections.use(BARE)

    async def bare(search: Search) -> None:
        await collection.query.hybrid(
            " ".join(search.terms),
            vector=np.frombuffer(search.vector or b"", "<f4").tolist(),
            alpha=0.35,
            query_properties=[LEXICAL],
            limit=search.limit,
            return_metadata=MetadataQuery(score=True),
            return_properties=["passage", LEXICAL],
        )

    async def ours(search: Search) -> None:
        await index.search(BASE, search)

    taken = await by_turns(searches[:20], bare, ours) and await by_turns(searches, bare, ours)
    shown = [f"{median(each):.1f}/{quantiles(each, n=20)[-1]:.1f}" for each in taken]
    say(f"p50/p95 in ms: bare hybrid {shown[0]}, Footnote {shown[1]}")
    return [
        Bar("search p50 beside the bare client's hybrid", median(taken[1]) / median(taken[0]), at_most=1.5),
        Bar(
            "search p95 beside the bare client's hybrid", quantiles(taken[1], n=20)[-1] / quantiles(taken[0], n=20)[-1], at_most=1.5
        ),
    ]


async def by_turns(searches: Sequence[Search], *sides: Callable[[Search], Awaitable[None]]) -> list[list[float]]:
    """Milliseconds of each search, by side."""
    taken: list[list[float]] = [[] for _ in sides]
    for number, search in enumerate(searches):
        for turn in range(len(sides)):
            at = (number + turn) % len(sides)
            begun = time.perf_counter()
            await sides[at](search)
            taken[at].append(1000 * (time.perf_counter() - begun))
    return taken


# --- rebuilding -----------------------------------------------------------------------------------------------------


async def rebuilding(index: WeaviateIndex) -> list[Bar]:
    """With another dimension, while questions that were embedded for the one before go on."""
    base, seed = f"{BASE} rebuilt", Seed.new(3)
    await index.drop(base)
    await fill(index, base, seed, DIMENSION)
    done, failed, empty = 0, 0, 0
    searches = seed.searches(200)

    async def search(number: int) -> None:
        nonlocal done, failed, empty
        try:
            found = await index.search(base, searches[number % len(searches)])
        except Exception as error:  # noqa: BLE001 - each counts, whatever it is
            failed += 1
            if failed == 1:
                say(f"{type(error).__name__}: {error}")
        else:
            done, empty = done + 1, empty + (not found)

    rebuild = asyncio.create_task(fill(index, base, seed, OTHER_DIMENSION))
    begun, asked = time.perf_counter(), 0
    async with asyncio.TaskGroup() as tasks:
        while not rebuild.done() or asked < RATE:
            tasks.create_task(search(asked))
            asked += 1
            await asyncio.sleep(max(0.0, begun + asked / RATE - time.perf_counter()))
    await rebuild
    say(f"{done} searches in {time.perf_counter() - begun:.0f} s, while {REBUILT} passages were made again")
    await index.drop(base)
    return [Bar("searches that failed during a rebuild", failed, at_most=0), Bar("that found nothing", empty, at_most=0)]


async def fill(index: WeaviateIndex, base: str, seed: Seed, dimension: int) -> None:
    async with index.write(base, Signature(f"made up {dimension}", dimension, "", "")) as writer:
        for start in range(0, REBUILT, SEGMENT):
            await by_writer(writer, seed.passages(start, SEGMENT, dimension))
        await writer.publish(switch=True)


if __name__ == "__main__":
    asyncio.run(main())
