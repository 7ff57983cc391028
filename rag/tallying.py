"""An indexing run, counted as it goes, and told at a bearable pace."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rag.types import Problem, Progress

if TYPE_CHECKING:
    from typing import Literal

    from rag.planning import Plan
    from rag.ports import Catalog, OnProgress

TELL_SECONDS = 0.2  # to whoever watches this run
REPORT_SECONDS = 2.0  # to the database, for everybody else
PROBLEMS = 200  # reported by name; a corpus of broken files must not grow without bound


class Tally:
    """`now` is the progress so far."""

    def __init__(self, base: str, run: str, catalog: Catalog, on_progress: OnProgress | None) -> None:
        self.now = Progress(base, run)
        self._catalog = catalog
        self._on_progress = on_progress
        self._started = self._published = time.monotonic()
        self._told = self._reported = 0.0

    async def begin(self, plan: Plan) -> None:
        unchanged = len(plan.unchanged)
        for problem in plan.problems:
            self.problem(problem)
        self.now = replace(self.now, state="indexing", found=unchanged + len(plan.to_read), done=unchanged, unchanged=unchanged)
        self.add(
            passages=sum(entry.passages for entry in plan.unchanged),
            unread=sum(not entry.passages for entry in plan.unchanged),
        )
        await self.tell(at_once=True)

    def add(self, **counts: int) -> None:
        self.now = replace(self.now, **{name: getattr(self.now, name) + count for name, count in counts.items()})

    def problem(self, problem: Problem) -> None:
        if len(self.now.problems) < PROBLEMS:
            self.now = replace(self.now, problems=(*self.now.problems, problem))

    def remark(self, sentence: str) -> None:
        self.now = replace(self.now, remark=sentence)

    async def move_to(self, state: Literal["indexing", "publishing", "done", "failed", "cancelled"]) -> None:
        self.now = replace(self.now, state=state)
        await self.tell(at_once=True)

    async def end(self, state: Literal["done", "failed", "cancelled"], *, error: str = "") -> Progress:
        self.now = replace(self.now, error=error)
        await self.move_to(state)
        return self.now

    async def tell(self, *, at_once: bool = False) -> None:
        clock = time.monotonic()
        self.now = replace(self.now, seconds=clock - self._started)
        if self._on_progress and (at_once or clock - self._told >= TELL_SECONDS):
            self._told = clock
            self._on_progress(self.now)
        if at_once or clock - self._reported >= REPORT_SECONDS:
            self._reported = clock
            await self._catalog.report(self.now)

    def seconds_since_publish(self) -> float:
        return time.monotonic() - self._published

    def published(self) -> None:
        self._published = time.monotonic()
