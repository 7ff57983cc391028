"""A turn without its models, against LangChain's ConversationalRetrievalChain over Chroma: same passages, vectors, questions.

    .venv/bin/python benchmarks/turn.py --langchain FOLDER/bin/python [--sizes 10000,100000]

Rounds of both alternate, so that whatever else the machine does hits both. Footnote's side is whole: recall, condensing by
rule, hybrid search, fusion, selection, expansion, prompt, citing, and question, answer and trace kept in SQLite. LangChain's
keeps nothing. Models are instant on both sides: vectors made before, a writer that answers from the passages, a reranker.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import json
import subprocess
import tempfile
import time
import uuid
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from corpus import BASE, Corpus, corpus, dialogs, index_folder, say
from instant import InstantReranker, InstantWriter, RecordedEmbedder
from reporting import Bar, Burnt, folder_of, machine, verdict

from rag.composing import Composer, ComposeSettings
from rag.condensing import Condenser, CondenseSettings
from rag.conversation import Conversation, ConversationSettings
from rag.models.local.embedder import LocalEmbedder
from rag.prompting import Prompts
from rag.retrieval import Retriever
from rag.routing import Base, Router, Routes
from rag.support import SentenceSimilarity, Support
from rag.types import Place, Thread
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.local_index import LocalIndex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

DIALOGS, AT_ONCE, ROUNDS = 60, 50, 7
PLACE = Place("terminal", channel="benchmark")


@dataclass(frozen=True, slots=True)
class Sample:
    """Seconds and seconds of processor time of each turn."""

    seconds: list[float]
    cpu: list[float]


@dataclass(frozen=True, slots=True)
class Burst:
    """Many dialogs at once: answers a second, and processor seconds an answer."""

    rate: float
    cpu: float


class Footnote:
    """Footnote's side, in this process."""

    def __init__(self, conversation: Conversation, embedder: RecordedEmbedder, talks: Sequence[Sequence[str]]) -> None:
        self._conversation = conversation
        self._talks = talks
        self.embedder = embedder

    async def talk(self, at: int) -> list[str]:
        thread = Thread(PLACE, uuid.uuid4().hex)
        return [(await self._conversation.reply(thread, question, speaker="someone")).text for question in self._talks[at]]

    async def serial(self, first: int, count: int) -> Sample:
        """As LangChain's side measures it: between two turns nothing else is done, which would take the processor's caches."""
        seconds, cpu, whole = [], [], Burnt()
        for at in range(first, first + count):
            thread = Thread(PLACE, uuid.uuid4().hex)
            for question in self._talks[at]:
                started, burnt = time.perf_counter(), time.process_time()
                await self._conversation.reply(thread, question, speaker="someone")
                seconds.append(time.perf_counter() - started)
                cpu.append(time.process_time() - burnt)
        others = whole.others() / len(cpu)
        gc.collect()
        return Sample(seconds, [each + others for each in cpu])

    async def together(self, first: int, count: int) -> Burst:
        burnt, started = Burnt(), time.perf_counter()
        answered = sum(map(len, await asyncio.gather(*(self.talk(at) for at in range(first, first + count)))))
        rate = answered / (time.perf_counter() - started)
        return Burst(rate, burnt.seconds() / answered)


@asynccontextmanager
async def footnote(index: Path, talks: Sequence[Sequence[str]], *, is_model: bool, reranked: bool) -> AsyncIterator[Footnote]:
    """Put together as config/assembly.py does it, with instant models."""
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = await stack.enter_async_context(Database(f"sqlite:///{home}/footnote.db"))
        passages = await stack.enter_async_context(LocalIndex(index))
        embedder = RecordedEmbedder(await stack.enter_async_context(LocalEmbedder()))
        writer, prompts = InstantWriter(is_model=is_model), Prompts.load()
        conversation = Conversation(
            memory=DatabaseMemory(database),
            router=Router(Routes([Base(BASE)]), writer, prompts),
            condenser=Condenser(None, prompts, CondenseSettings()),
            retriever=Retriever(passages, embedder, InstantReranker() if reranked else None),
            composer=Composer(writer, prompts, ComposeSettings()),
            support=Support(SentenceSimilarity(embedder)),
            settings=ConversationSettings(),
        )
        yield Footnote(conversation, embedder, talks)


class LangChain:
    """LangChain's side, in a process of its own venv."""

    def __init__(self, python: str, of: Corpus, cache: Path) -> None:
        size = len(of.passages)
        texts, vectors = cache / f"texts-{size}.json", cache / f"vectors-{size}.f32"
        if not texts.exists():
            texts.write_text(json.dumps([(each.text, each.link, each.title) for each in of.passages]), "utf-8")
        of.vectors.astype("<f4").tofile(vectors)
        say("opening Chroma (filling it, the first time)")
        side = Path(__file__).with_name("langchain_side.py")
        command = [python, str(side), str(cache / f"chroma-{size}"), str(texts), str(vectors), str(size)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - the operator names it
        self.about = self._reply()

    def take(self, talks: Sequence[Sequence[str]], answers: Sequence[Sequence[str]], known: dict[str, bytes], k: int) -> None:
        pairs = [[{"question": q, "answer": a} for q, a in zip(*each, strict=True)] for each in zip(talks, answers, strict=True)]
        questions = [question for talk in talks for question in talk]
        vectors = [np.frombuffer(known[question], "<f4").tolist() for question in questions]
        self._ask({"do": "take", "dialogs": pairs, "questions": questions, "vectors": vectors, "k": k})

    def serial(self, first: int, count: int) -> Sample:
        return Sample(**self._ask({"do": "serial", "first": first, "count": count}))

    def together(self, first: int, count: int, *, threads: bool) -> Burst:
        found = self._ask({"do": "together", "first": first, "count": count, "threads": threads})
        return Burst(found["answered"] / found["seconds"], found["cpu"] / found["answered"])

    def close(self) -> None:
        self._process.communicate()

    def _ask(self, what: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        return self._reply()

    def _reply(self) -> dict[str, Any]:
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


async def measure(of: Corpus, arguments: argparse.Namespace, cache: Path) -> list[Bar]:
    talks = dialogs(of.passages, DIALOGS)
    async with AsyncExitStack() as stack:
        index = await index_folder(of, cache, LocalEmbedder().name)
        ours = await stack.enter_async_context(
            footnote(index, talks, is_model=arguments.model, reranked=not arguments.without_reranker)
        )
        answers = [await ours.talk(at) for at in range(DIALOGS)]  # also shows every text that will be embedded
        for question in (question for talk in talks for question in talk):
            await ours.embedder.embed_question(question)
        misses = ours.embedder.misses
        abstained = sum("[1]" not in text for talk in answers for text in talk)
        print(f"\n{len(of.passages)} passages ({of.origin}); {DIALOGS} dialogs of 3 questions, {abstained} answers without a mark")
        if arguments.profile:
            await profiled(ours, arguments.profile)
        if not arguments.langchain:
            await alone(ours)
            return []
        theirs = LangChain(arguments.langchain, of, cache)
        stack.callback(theirs.close)
        theirs.take(talks, answers, ours.embedder.known, arguments.k)
        bars = await compared(ours, theirs, len(of.passages), arguments.k)
        assert ours.embedder.misses == misses, "a vector was not made before"  # noqa: S101 - the measure would be wrong
        return bars


async def compared(ours: Footnote, theirs: LangChain, size: int, k: int) -> list[Bar]:
    mine, other, my_bursts, bursts = [], [], [], []
    for number in range(ROUNDS):
        first = number * 8 % (DIALOGS - 10)
        other.append(await asyncio.to_thread(theirs.serial, first, 10))
        mine.append(await ours.serial(first, 10))
        bursts += [await asyncio.to_thread(theirs.together, 0, AT_ONCE, threads=threads) for threads in (False, True)]
        my_bursts.append(await ours.together(0, AT_ONCE))
    mine, other = mine[1:], other[1:]  # the first round warms both up
    wall = [median(each.seconds) * 1e3 for each in mine], [median(each.seconds) * 1e3 for each in other]
    cpu = [median(each.cpu) * 1e3 for each in mine], [median(each.cpu) * 1e3 for each in other]
    by_threads = median(each.rate for each in bursts[1::2]) > median(each.rate for each in bursts[::2])
    best = bursts[1::2] if by_threads else bursts[::2]
    print(
        f"LangChain over Chroma {theirs.about['version']} gives {k} passages; at once by {'threads' if by_threads else 'ainvoke'}"
    )
    print(f"  Footnote {median(wall[0]):6.2f} ms a turn ({median(cpu[0]):.2f} ms of processor)")
    print(f"  LangChain {median(wall[1]):5.2f} ms a turn ({median(cpu[1]):.2f} ms of processor)")
    rates = median(each.rate for each in my_bursts), median(each.rate for each in best)
    burnt = median(each.cpu for each in my_bursts) * 1e3, median(each.cpu for each in best) * 1e3
    print(
        f"  {AT_ONCE} at once: Footnote {rates[0]:.0f}/s ({burnt[0]:.2f} ms of processor an answer), "
        f"LangChain {rates[1]:.0f}/s ({burnt[1]:.2f} ms)"
    )
    allowed = 1.0 if size <= 10_000 else 1.3
    return [
        Bar(f"turn, {size} passages, Footnote / LangChain", ratio(*wall), at_most=allowed),
        Bar(f"turn, {size} passages, processor time, Footnote / LangChain", ratio(*cpu)),
        Bar(
            f"{AT_ONCE} at once, {size} passages, answers a second, Footnote / LangChain",
            ratio([each.rate for each in my_bursts], [each.rate for each in best]),
            at_least=1.0,
        ),
    ]


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median over the rounds: the two of a round were measured one right after the other."""
    return median(mine / other for mine, other in zip(ours, theirs, strict=True))


async def alone(ours: Footnote) -> None:
    for _ in range(3):
        sample = await ours.serial(0, 20)
        burst = await ours.together(0, AT_ONCE)
        print(f"  Footnote alone {median(sample.seconds) * 1e3:.2f} ms a turn ({median(sample.cpu) * 1e3:.2f} ms of processor)")
        print(f"  {AT_ONCE} at once {burst.rate:.0f}/s ({burst.cpu * 1e3:.2f} ms of processor)")


async def profiled(ours: Footnote, file: str) -> None:
    with cProfile.Profile() as profile:
        await ours.serial(0, 40)
    profile.dump_stats(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--langchain", help="the Python of a venv with benchmarks/requirements.txt; without it, Footnote alone")
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--cache", help="where passages, vectors and indexes are kept")
    parser.add_argument("--random-vectors", action="store_true", help="embed nothing: random vectors for the dense list")
    parser.add_argument("--k", type=int, default=4, help="passages that LangChain retrieves; 4 is its default")
    parser.add_argument("--model", action="store_true", help="the writer counts as a language model: the whole prompt is made")
    parser.add_argument("--without-reranker", action="store_true")
    parser.add_argument("--profile", help="a file for cProfile's figures of Footnote's turns")
    arguments = parser.parse_args()
    print(machine())
    cache = folder_of(arguments.cache)
    bars: list[Bar] = []
    for size in map(int, arguments.sizes.split(",")):
        of = corpus(size, cache, real_vectors=not arguments.random_vectors)
        bars += asyncio.run(measure(of, arguments, cache))
    verdict(bars)


if __name__ == "__main__":
    main()
