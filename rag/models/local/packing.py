"""Texts of many calls, packed into batches for the workers: one text alone costs them a fifth more."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag.errors import ModelUnavailable
from rag.models.local import embedding
from rag.workers import WorkerDied, Workers, WorkFailed

if TYPE_CHECKING:
    from asyncio import Future, Task
    from collections.abc import Sequence

    from rag.types import Vector

_AHEAD = 2  # batches at a time for each worker, so that none waits for this process
_BATCH_TEXTS = 16
_FEW_TEXTS = 4  # fewer at once cost more each
_LITTLE = 48  # texts, about half a second of work; a process takes longer to start
_BATCH_CHARACTERS = 16_000  # about 0.2 s of work, so that a run's last batches end together


@dataclass(eq=False, slots=True)
class _Call:
    """What one caller waits for."""

    done: Future[None]
    missing: int
    vectors: dict[int, Vector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Item:
    text: str
    position: int
    call: _Call


class Packer:
    def __init__(self, *, processes: int, idle_seconds: float) -> None:
        self.workers = Workers("rag.models.local.embedding:worker", processes=processes, ahead=_AHEAD, idle_seconds=idle_seconds)
        self._waiting: deque[_Item] = deque()
        self._under_way: set[Task[None]] = set()
        self._scheduled = False

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Raises ModelUnavailable."""
        call = _Call(asyncio.get_running_loop().create_future(), len(texts))
        self._waiting.extend(_Item(text, position, call) for position, text in enumerate(texts))
        self._schedule()
        await call.done
        return [call.vectors[position] for position in range(len(texts))]

    async def settle(self) -> None:
        """Wait for what is under way; nothing comes after it once the workers are closed."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    def _schedule(self) -> None:
        """Send after whoever else calls in this turn of the loop."""
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._send_all)

    def _send_all(self) -> None:
        self._scheduled = False
        most = 1 if self._is_little() else _AHEAD * self.workers.processes
        while self._waiting and len(self._under_way) < most:
            if batch := self._next_batch():
                task = asyncio.create_task(self._send(batch))
                self._under_way.add(task)

    def _is_little(self) -> bool:
        """Whether one process does what waits before another has started: it is given one batch after the other."""
        return len(self._waiting) <= _LITTLE and len(self.workers.pids) <= 1 < self.workers.processes

    def _next_batch(self) -> list[_Item]:
        """In order; the fewer are left, the smaller, so that all workers are busy to the end and end together."""
        left = len(self._waiting)
        shared = -(-left // (_AHEAD * self.workers.processes))
        most = min(_BATCH_TEXTS, max(shared, min(_FEW_TEXTS, -(-left // self.workers.processes))))
        batch: list[_Item] = []
        characters = 0
        while self._waiting and len(batch) < most and characters < _BATCH_CHARACTERS:
            item = self._waiting.popleft()
            if not item.call.done.done():
                batch.append(item)
                characters += min(len(item.text), embedding.LONGEST)
        return batch

    async def _send(self, batch: list[_Item]) -> None:
        try:
            joined = await self.workers.call(embedding.pack([item.text for item in batch]))
        except WorkerDied as death:
            _fail(batch, f"A process that embeds passages {death}, and so did the next one: is there enough memory?", death)
        except WorkFailed as failure:
            _fail(batch, f"The bundled embedder failed ({failure}): install Footnote anew.", failure)
        else:
            _deliver(batch, embedding.cut(joined))
        finally:
            self._under_way -= {task for task in (asyncio.current_task(),) if task is not None}
            self._schedule()


def _deliver(batch: list[_Item], vectors: list[Vector]) -> None:
    for item, vector in zip(batch, vectors, strict=True):
        call = item.call
        call.vectors[item.position] = vector
        call.missing -= 1
        if call.missing == 0 and not call.done.done():
            call.done.set_result(None)


def _fail(batch: list[_Item], sentence: str, error: Exception) -> None:
    for item in batch:
        if not item.call.done.done():
            failure = ModelUnavailable(sentence)
            failure.__cause__ = error
            item.call.done.set_exception(failure)
