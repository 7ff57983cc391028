"""A run and its steps, as they happen: what `footnote trace` shows, and what observers are told."""

from __future__ import annotations

import time
import uuid
from contextlib import contextmanager
from datetime import UTC, datetime
from logging import getLogger
from typing import TYPE_CHECKING

from rag.types import Run, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag.ports import Observer

log = getLogger(__name__)


class Trace:
    """Records one run. Notes are JSON values; a step's notes may be filled in until the step ends."""

    def __init__(self, kind: str, observers: Sequence[Observer] = ()) -> None:
        self.id = str(uuid.uuid4())
        self.kind = kind
        self.notes: dict[str, object] = {}
        self._observers = observers
        self._started_at = datetime.now(UTC)
        self._clock = time.perf_counter()
        self._steps: list[Step] = []

    @contextmanager
    def step(self, name: str) -> Iterator[dict[str, object]]:
        """Time a step and keep its notes; an error inside is recorded and goes on to the caller."""
        notes: dict[str, object] = {}
        started = time.perf_counter()
        self._tell("on_start", name)
        try:
            yield notes
        except BaseException as error:
            self._close(name, started, notes, error=f"{type(error).__name__}: {error}")
            self._tell("on_error", name, error)
            raise
        self._tell("on_end", name, self._close(name, started, notes).seconds, notes)

    def run(self, error: str = "") -> Run:
        """The run as it stands."""
        seconds = time.perf_counter() - self._clock
        return Run(self.id, self.kind, self._started_at, seconds, self.notes, tuple(self._steps), error)

    def _close(self, name: str, started: float, notes: dict[str, object], *, error: str = "") -> Step:
        step = Step(name, started - self._clock, time.perf_counter() - started, notes, error)
        self._steps.append(step)
        return step

    def _tell(self, event: str, name: str, *details: object) -> None:
        for observer in self._observers:
            try:
                getattr(observer, event)(self.id, name, *details)
            except Exception:  # whatever an observer raises, the answer comes (R39)
                log.warning("observer %s failed at %s of %s", type(observer).__name__, event, name, exc_info=True)
