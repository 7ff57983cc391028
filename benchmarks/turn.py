"""A turn without its models, against LangChain's ConversationalRetrievalChain over Chroma: same passages, vectors, questions.

    .venv/bin/python benchmarks/turn.py --langchain FOLDER/bin/python [--sizes 10000,100000]

Rounds of both alternate, so that whatever else the machine does hits both, and each asks what was not asked in the rounds
before, as people do: what is asked again finds what it needs in the processor's caches. Footnote's side is whole: recall,
condensing by rule, hybrid search, fusion, selection, expansion, prompt, citing, and question, answer and trace kept in SQLite.
LangChain's keeps nothing. Both give the writer eight passages; LangChain by itself would take four (`--k 4`). Models are instant
on both sides: vectors made before, a writer that answers from the passages. Neither side has a reranker; Footnote's is measured
with an instant one as well, which twenty passages are read for.
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
from dataclasses import astuple, dataclass
from functools import partial
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
from rag.retrieval import RetrievalSettings, Retriever
from rag.routing import Base, Router, Routes
from rag.support import SentenceSimilarity, Support
from rag.types import Place, Thread
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.local_index import LocalIndex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from rag.ports import Embedder

ROUNDS, ONE_BY_ONE, AT_ONCE = 8, 10, 50
IN_A_ROUND = ONE_BY_ONE + 2 * AT_ONCE
DIALOGS = ROUNDS * IN_A_ROUND
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


@dataclass(frozen=True, slots=True)
class Round:
    """The median turn of a round in seconds and seconds of processor time; answers a second, and processor seconds an answer."""

    seconds: float
    cpu: float
    rate: float
    burnt: float

    @classmethod
    def of(cls, sample: Sample, burst: Burst) -> Round:
        return cls(median(sample.seconds), median(sample.cpu), burst.rate, burst.cpu)


class Footnote:
    """Footnote's side, in this process."""

    def __init__(self, conversation: Conversation, talks: Sequence[Sequence[str]]) -> None:
        self._conversation = conversation
        self._talks = talks

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
async def footnote(
    index: Path, talks: Sequence[Sequence[str]], embedder: Embedder, *, is_model: bool, reranked: bool
) -> AsyncIterator[Footnote]:
    """Put together as config/assembly.py does it, with instant models."""
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = await stack.enter_async_context(Database(f"sqlite:///{home}/footnote.db"))
        passages = await stack.enter_async_context(LocalIndex(index))
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
        yield Footnote(conversation, talks)


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
        embedder = RecordedEmbedder(await stack.enter_async_context(LocalEmbedder()))
        sides = [
            partial(footnote, index, talks, embedder, is_model=arguments.model, reranked=reranked) for reranked in (False, True)
        ]
        say(f"asking {3 * DIALOGS} questions, which shows every text that will be embedded")
        answers, _ = [await answered(side, DIALOGS) for side in sides]
        for question in (question for talk in talks for question in talk):
            await embedder.embed_question(question)
        ours, reranking = [await stack.enter_async_context(side()) for side in sides]
        misses = embedder.misses
        abstained = sum("[1]" not in text for talk in answers for text in talk)
        print(f"\n{len(of.passages)} passages ({of.origin}); {DIALOGS} dialogs of 3 questions, {abstained} answers without a mark")
        if arguments.profile:
            await profiled(ours, arguments.profile)
        if not arguments.langchain:
            await alone(ours, reranking)
            return []
        theirs = LangChain(arguments.langchain, of, cache)
        stack.callback(theirs.close)
        theirs.take(talks, answers, embedder.known, arguments.k)
        bars = await compared(ours, reranking, theirs, len(of.passages), arguments.k)
        assert embedder.misses == misses, "a vector was not made before"  # noqa: S101 - the measure would be wrong
        return bars


async def answered(side: Callable[[], AbstractAsyncContextManager[Footnote]], many: int) -> list[list[str]]:
    """By one that is not measured: it has been asked everything then."""
    async with side() as ours:
        return [await ours.talk(at) for at in range(many)]


async def compared(ours: Footnote, reranking: Footnote, theirs: LangChain, size: int, k: int) -> list[Bar]:
    sides: tuple[list[Round], ...] = ([], [], [], [])
    for first in range(0, DIALOGS, IN_A_ROUND):
        one, other = first + ONE_BY_ONE, first + ONE_BY_ONE + AT_ONCE
        by_one = [await asyncio.to_thread(theirs.serial, first, ONE_BY_ONE)]
        by_one += [await each.serial(first, ONE_BY_ONE) for each in (ours, reranking)]
        bursts = [await asyncio.to_thread(theirs.together, at, AT_ONCE, threads=at == one) for at in (one, other)]
        bursts += [await ours.together(one, AT_ONCE), await reranking.together(other, AT_ONCE)]
        for side, sample, burst in zip(sides, (by_one[0], *by_one), bursts, strict=True):
            side.append(Round.of(sample, burst))
    by_threads, by_ainvoke, mine, with_reranker = [side[1:] for side in sides]  # the first round warms all up
    is_threads = median(each.rate for each in by_threads) > median(each.rate for each in by_ainvoke)
    best, how = (by_threads, "threads") if is_threads else (by_ainvoke, "ainvoke")
    print(f"LangChain over Chroma {theirs.about['version']} gives {k} passages; at once by {how}")
    for name, side in (("LangChain", best), ("Footnote", mine), ("Footnote with a reranker", with_reranker)):
        print(f"  {name:24} {told(side)}")
    allowed = 1.0 if size <= 10_000 else 1.3
    return [*bars(f"{size} passages", mine, best, allowed), *bars(f"{size} passages, with a reranker", with_reranker, best)]


def told(side: Sequence[Round]) -> str:
    wall, cpu, rate, burnt = (median(column) for column in zip(*map(astuple, side), strict=True))
    return (
        f"{wall * 1e3:5.2f} ms a turn ({cpu * 1e3:.2f} ms of processor); "
        f"{AT_ONCE} at once: {rate:.0f}/s ({burnt * 1e3:.2f} ms of processor an answer)"
    )


def bars(name: str, ours: Sequence[Round], theirs: Sequence[Round], allowed: float | None = None) -> list[Bar]:
    """The median over the rounds, whose two were measured one right after the other. Without `allowed` they are only shown."""
    wall, cpu, rate, _ = (
        median(mine / other for mine, other in zip(*columns, strict=True))
        for columns in zip(zip(*map(astuple, ours), strict=True), zip(*map(astuple, theirs), strict=True), strict=True)
    )
    return [
        Bar(f"turn, {name}, Footnote / LangChain", wall, at_most=allowed),
        Bar(f"turn, {name}, processor time, Footnote / LangChain", cpu),
        Bar(f"{AT_ONCE} at once, {name}, answers a second, Footnote / LangChain", rate, at_least=1.0 if allowed else None),
    ]


async def alone(ours: Footnote, reranking: Footnote) -> None:
    for name, side in (("Footnote", ours), ("Footnote with a reranker", reranking)):
        rounds = [
            Round.of(await side.serial(first, ONE_BY_ONE), await side.together(first + ONE_BY_ONE, AT_ONCE))
            for first in range(0, DIALOGS, IN_A_ROUND)
        ]
        print(f"  {name:24} {told(rounds)}")


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
    parser.add_argument(
        "--k", type=int, default=RetrievalSettings().k, help="passages that LangChain retrieves, by default as ours"
    )
    parser.add_argument("--model", action="store_true", help="the writer counts as a language model: the whole prompt is made")
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
