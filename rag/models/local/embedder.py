"""Embedder with USE multilingual v3 (16 languages, 512 dimensions), whose weights come in a package."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import TYPE_CHECKING, Self

from rag.models.local import embedding
from rag.models.local.packing import Packer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag.types import Vector

_FEW_TEXTS = 2
_FEW_CHARACTERS = 3_000
_QUESTIONS_KEPT = 256


class LocalEmbedder:
    """Questions are embedded in this process, passages by worker processes that give way to everything else."""

    dimension = embedding.DIMENSION

    def __init__(self, *, processes: int = 0, idle_seconds: float = 30.0) -> None:
        """`processes` 0: one for each core. They end when there was no work for `idle_seconds`."""
        self.name = f"use-multilingual-3/{version(embedding.PACKAGE)}"
        self._packer = Packer(processes=processes or os.cpu_count() or 1, idle_seconds=idle_seconds)
        self._thread = ThreadPoolExecutor(1, "embedder")
        self._embed: Callable[[Sequence[str]], bytes] | None = None
        self._questions: OrderedDict[str, Vector] = OrderedDict()
        self._calls = 0

    async def __aenter__(self) -> Self:
        await self._packer.workers.__aenter__()
        return self

    async def __aexit__(self, *exit_: object) -> None:
        await self._packer.workers.__aexit__(*exit_)
        await self._packer.settle()
        self._thread.shutdown(cancel_futures=True)

    @property
    def pids(self) -> tuple[int, ...]:
        return self._packer.workers.pids

    async def warm(self) -> None:
        """Load the model now instead of with the first question."""
        await self._here([])

    async def embed_question(self, text: str) -> Vector:
        key = text[: embedding.LONGEST]
        if (known := self._questions.get(key)) is not None:
            self._questions.move_to_end(key)
            return known
        vector = await self._here([key])
        self._questions[key] = vector
        if len(self._questions) > _QUESTIONS_KEPT:
            self._questions.popitem(last=False)
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Raises ModelUnavailable when a worker died twice over the same texts."""
        if not texts:
            return []
        self._calls += 1
        try:
            if self._calls == 1 and _are_few(texts):
                return embedding.cut(await self._here(texts))
            return await self._packer.embed(texts)
        finally:
            self._calls -= 1

    async def _here(self, texts: Sequence[str]) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._embed_in_thread, texts)

    def _embed_in_thread(self, texts: Sequence[str]) -> bytes:
        if self._embed is None:
            self._embed = embedding.load()
        return self._embed(texts) if texts else b""


def _are_few(texts: Sequence[str]) -> bool:
    """So few that waking a worker would take longer."""
    return len(texts) <= _FEW_TEXTS and sum(map(len, texts)) <= _FEW_CHARACTERS
