"""One run of a base at a time, whoever asks for it and wherever: who comes second joins the run that is under way (I8)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from rag.errors import RunCancelled, RunFailed, RunInProgress

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag.indexing import Indexer
    from rag.ports import Catalog, OnProgress
    from rag.types import Progress

LOOK_SECONDS = 1.0  # how often a run that was joined is looked at
_ENDED = ("done", "failed", "cancelled")


class Runs:
    """`indexer` gives the indexer of a base; it raises BadSetting where the base has no sources."""

    def __init__(self, catalog: Catalog, indexer: Callable[[str], Indexer], *, look_seconds: float = LOOK_SECONDS) -> None:
        self._catalog = catalog
        self._indexer = indexer
        self._look_seconds = look_seconds

    async def start_or_join(
        self,
        base: str,
        on_progress: OnProgress | None = None,
        *,
        allow_removals: bool = False,
        rebuild: bool = False,
        own: bool = False,
    ) -> Progress:
        """Bring a base up to date; where a run is under way already, watch that one (`joined` is told) and end as it does.

        `own` is for who wants what the other run may not do: it is waited for, then a run of our own begins. A run whose
        process died is taken over. Cancelling this cancels a run of our own; one that was joined goes on.
        Raises as `Indexer.run` does, but never RunInProgress; RunFailed and RunCancelled also for a run that was joined.
        """
        indexer = self._indexer(base)
        while True:
            try:
                return await indexer.run(on_progress, allow_removals=allow_removals, rebuild=rebuild)
            except RunInProgress:
                ended = await self._watched(base, on_progress)
                if ended and not own:
                    return _outcome(ended)

    async def cancel(self, base: str) -> Progress | None:
        """Ask the run under way to stop, in whichever process it is: its progress so far; None where there is none.

        It stops within a second or two, and whoever started or joined it gets RunCancelled.
        """
        now = await self._catalog.running(base)
        return now if now and await self._catalog.cancel(base) else None

    async def _watched(self, base: str, on_progress: OnProgress | None) -> Progress | None:
        """How the run under way ended; None where it went away without an end, or was gone before it could be looked at."""
        run = ""
        while (now := await self._catalog.running(base)) and run in {"", now.run}:
            run = now.run
            if on_progress:
                on_progress(replace(now, joined=True))
            await asyncio.sleep(self._look_seconds)
        ended = await self._catalog.progress(base, run) if run else None
        return replace(ended, joined=True) if ended and ended.state in _ENDED else None


def _outcome(ended: Progress) -> Progress:
    if ended.state == "failed":
        raise RunFailed(f"The run of base {ended.base!r} that was under way failed: {ended.error}")
    if ended.state == "cancelled":
        raise RunCancelled(f"The run of base {ended.base!r} that was under way was cancelled. What it wrote stays.")
    return ended
