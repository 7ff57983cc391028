"""The questions that a process holds, each under a lease that it renews; and who works on them (P3)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from uuid import uuid4

from rag.errors import PostImpossible

if TYPE_CHECKING:
    from collections.abc import Collection

    from rag.ports import Inbox
    from rag.types import Question, QuestionState, Thread


class Holding:
    """Who stood still for longer than a lease (a busy machine, a laptop that slept) finds itself in the middle of what another
    process answers by now. So before anything is shown it is made sure that the question is still held.
    """

    def __init__(self, inbox: Inbox, seconds: float) -> None:
        self.holder = uuid4().hex
        self.seconds = seconds
        self._inbox = inbox
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._until: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    async def next(self, thread: Thread) -> Question | None:
        began = time.monotonic()
        question = await self._inbox.next(thread, self.holder, seconds=self.seconds)
        if question is not None:
            self._until[question.id] = began + self.seconds
        return question

    async def work(self, question: str, task: asyncio.Task[None]) -> None:
        """Until the task is done."""
        self._tasks[question] = task
        try:
            await asyncio.wait([task])
        finally:
            self._tasks.pop(question, None)
            self._until.pop(question, None)

    def until(self, question: str) -> float:
        """Up to when nobody else has it, by our own clock, which began to count before the database's did."""
        return self._until.get(question, 0.0)

    async def sure(self, question: str) -> None:
        """Ends the work on it, and raises DeliveryError, where it is no longer ours. Raises StoreError."""
        if time.monotonic() < self.until(question):
            return
        await self._renew([question])
        if time.monotonic() >= self.until(question):
            self.stop(question)
            await asyncio.sleep(0)  # here it ends, unless this is only a draft's task
            raise PostImpossible("Another process has the question by now.")

    async def renew(self) -> None:
        """What is no longer ours was edited, deleted or taken over: stop working on it."""
        if held := list(self._tasks):
            for lost in set(held) - await self._renew(held):
                self.stop(lost)

    async def _renew(self, held: Collection[str]) -> frozenset[str]:
        began = time.monotonic()
        still = await self._inbox.renew(self.holder, held, seconds=self.seconds)
        self._until |= {question: began + self.seconds for question in still if question in self._until}
        return still

    async def finish(self, question: str, state: QuestionState, failure: str = "") -> bool:
        self._tasks.pop(question, None)  # from here on it is not renewed, so not found missing either
        return await self._inbox.finish(question, self.holder, state, failure)

    async def hand_back(self, question: str, *, seconds: float = 0.0, failed: bool = False) -> bool:
        return await self._inbox.hand_back(question, self.holder, seconds=seconds, failed=failed)

    def stop(self, question: str) -> bool:
        task = self._tasks.get(question)
        return task is not None and task.cancel()

    async def stop_all(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
