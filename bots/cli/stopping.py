"""Ctrl-C, or the wish of the system that we end, while an indexing run goes on: it is cancelled, and says so."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Self

from bots.cli.app import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag.types import Progress

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stoppable:
    """Around a run that hands its progress to `watch`. Raises Interrupted once it was stopped."""

    def __init__(self, base: str, show: Callable[[Progress], None]) -> None:
        self._base = base
        self._show = show
        self._now: Progress | None = None
        self._told = 0  # the signal's number

    def watch(self, now: Progress) -> None:
        self._now = now
        self._show(now)

    def __enter__(self) -> Self:
        self._task = asyncio.current_task()
        for number in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._stop, number)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for number in _SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
        if kind is asyncio.CancelledError and self._told and self._task is not None:
            self._task.uncancel()
            raise Interrupted(self._said(), self._told) from None

    def _stop(self, number: int) -> None:
        if self._task is not None and not self._told:
            self._told = number
            self._task.cancel()

    def _said(self) -> str:
        if self._now and self._now.joined:
            return f"The run of base {self._base!r} goes on in the process that began it; here it is watched no more."
        from bots.commands import counted  # noqa: PLC0415 - loaded once there is something to say

        far = f" after {self._now.done:,} of {counted(self._now.found, 'document')}" if self._now and self._now.found else ""
        return f"The run of base {self._base!r} was cancelled{far}. What it wrote stays: `footnote index` goes on from there."
