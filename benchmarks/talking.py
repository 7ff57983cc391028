"""What the benchmarks of platforms share: a bot whose model is scripted, in a process of its own, and how times are told."""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.fakes.surfaces import ScriptedCore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rag.ports import Memory, OnDraft
    from rag.types import Answer, Thread

TOKEN = "word "  # noqa: S105 - a token of a model


@dataclass(frozen=True, slots=True)
class Writing:
    tokens: int
    per_second: float  # 0: all at once
    thinking: float = 0.3  # seconds before the first token

    @property
    def whole(self) -> str:
        return (TOKEN * self.tokens).strip()


class Model(ScriptedCore):
    """Writes so many tokens a second, and notes when the first and the last one came."""

    def __init__(self, memory: Memory, writing: Writing) -> None:
        super().__init__(memory, lambda _: writing.whole)
        self._writing = writing
        self.firsts: dict[str, float] = {}
        self.lasts: dict[str, float] = {}

    async def reply(self, thread: Thread, text: str, on_draft: OnDraft | None = None, **more: Any) -> Answer:
        if self._writing.per_second and on_draft:
            await asyncio.sleep(self._writing.thinking)
            self.firsts[text] = time.time()
            for n in range(1, self._writing.tokens + 1):
                on_draft(TOKEN * n)
                await asyncio.sleep(1 / self._writing.per_second)
        answer = await super().reply(thread, text, None, **more)
        self.lasts[text] = time.time()
        return answer


@contextmanager
def noted(path: Path, model: Model | None = None) -> Iterator[None]:
    """What was measured inside the process is written there at its end."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    yield
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    times = {"firsts": model.firsts, "lasts": model.lasts} if model else {}
    path.write_text(json.dumps({**times, "processor": seconds}), encoding="utf-8")


def told(name: str, seconds: Sequence[float]) -> None:
    if len(seconds) < 2:
        print(f"{name:60} {len(seconds)} measured")
        return
    cuts = statistics.quantiles(seconds, n=20)
    print(f"{name:60} median {statistics.median(seconds) * 1000:6.0f} ms   p95 {cuts[-1] * 1000:6.0f} ms   of {len(seconds)}")
