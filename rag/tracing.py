"""A run and its steps, as they happen: what `footnote trace` shows, and what observers are told."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from functools import partial
from logging import getLogger
from typing import TYPE_CHECKING

from rag.types import Run, Step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rag.ports import Observer

log = getLogger(__name__)
_step = partial(tuple.__new__, Step)  # in half of the time of calling it


class Trace:
    """Records one run. Notes are JSON values; a step's notes may be filled in until the step ends."""

    def __init__(self, kind: str, observers: Sequence[Observer] = ()) -> None:
        self.id = _new_id()
        self.kind = kind
        self.notes: dict[str, object] = {}
        self.observers = observers
        self._started_at = datetime.now(UTC)
        self._clock = time.perf_counter()
        self._steps: list[Step] = []

    def step(self, name: str) -> _Open:
        """Time a step and keep its notes; an error inside is recorded and goes on to the caller."""
        return _Open(self, name)

    def run(self, error: str = "") -> Run:
        """The run as it stands."""
        seconds = time.perf_counter() - self._clock
        return Run(self.id, self.kind, self._started_at, seconds, self.notes, tuple(self._steps), error)

    def end(self, name: str, started: float, notes: dict[str, object], error: BaseException | None) -> None:
        seconds = time.perf_counter() - started
        failure = "" if error is None else f"{type(error).__name__}: {error}"
        self._steps.append(_step((name, started - self._clock, seconds, notes, failure)))
        if not self.observers:
            return
        if error is None:
            self.tell("on_end", name, seconds, notes)
        else:
            self.tell("on_error", name, error)

    def tell(self, event: str, name: str, *details: object) -> None:
        for observer in self.observers:
            try:
                getattr(observer, event)(self.id, name, *details)
            except Exception:  # whatever an observer raises, the answer comes (R39)
                log.warning("observer %s failed at %s of %s", type(observer).__name__, event, name, exc_info=True)


def _new_id() -> str:
    """As `uuid.uuid4` makes them."""
    digits = os.urandom(16).hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{'89ab'[int(digits[16], 16) & 3]}{digits[17:20]}-{digits[20:]}"


class _Open:
    """A step under way: a plain class, since a generator made into a context manager takes three times as long."""

    __slots__ = ("_name", "_notes", "_started", "_trace")

    def __init__(self, trace: Trace, name: str) -> None:
        self._trace = trace
        self._name = name

    def __enter__(self) -> dict[str, object]:
        self._notes: dict[str, object] = {}
        self._started = time.perf_counter()
        if self._trace.observers:
            self._trace.tell("on_start", self._name)
        return self._notes

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, _where: TracebackType | None) -> None:
        self._trace.end(self._name, self._started, self._notes, error)
