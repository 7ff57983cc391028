"""What admins ask of the bot, once for all platforms: reindex with live progress, cancel, status, sources, forget (S9, D7)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from logging import getLogger
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bots.commands import ago, cancelling, counted, progressing, sources_of, summary
from rag.errors import DeliveryError, FootnoteError
from rag.labels import plain_title

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag.ports import Catalog, Memory, PassageIndex
    from rag.runs import Runs
    from rag.types import Problem, Progress, Thread

    Show: TypeAlias = Callable[[str], Awaitable[None]]  # shows how a command stands, in the place of what it said before

log = getLogger(__name__)

COMMANDS = ("reindex", "cancel", "status", "sources", "forget", "help")
HELP = """\
*reindex* — bring the documents up to date, with live progress; *reindex BASE* for one knowledge base
*cancel* — stop an update that is under way; what it wrote stays
*status* — what is indexed, and what is under way
*sources* — every document, and those that could not be read
*forget* — in a thread: forget what was said in it""".replace("*", "**")
BAR = 20  # characters
LISTED = 30  # documents of a base
LONGEST = 300  # characters of a name or a reason


class Administered(Protocol):
    """What commands need of the running system."""

    memory: Memory
    catalog: Catalog
    index: PassageIndex

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def runs(self) -> Runs: ...


class Administration:
    """Who may give a command is decided before (`bots.access`). What comes back is Markdown."""

    def __init__(self, footnote: Administered) -> None:
        self._footnote = footnote

    async def carry_out(self, said: str, *, bases: Sequence[str], thread: Thread | None, show: Show, pace: float = 2.0) -> str:
        """Do what was said, and say how it went. `bases` are those that may be spoken of where it is shown."""
        name, _, rest = said.strip().partition(" ")
        named = [base for base in bases if base == rest.strip()]
        if rest.strip() and not named and name in {"reindex", "cancel", "sources"}:
            return f"There is no knowledge base {rest.strip()!r} here. There are: {', '.join(bases)}."
        chosen = named or list(bases)
        match name.casefold():
            case "reindex":
                told = await self._reindex(chosen, show, pace)
            case "cancel":
                told = "\n".join([cancelling(base, await self._footnote.runs.cancel(base)) for base in chosen])
            case "status":
                told = "\n".join([line for base in bases for line in await self._status(base)])
            case "sources":
                told = "\n\n".join([await self._sources(base) for base in chosen])
            case "forget":
                told = await self._forget(thread)
            case _:
                told = HELP
        return told

    async def _reindex(self, bases: Sequence[str], show: Show, pace: float) -> str:
        """One base after the other; one that fails keeps no other from it."""
        done: list[str] = []
        for base in bases:
            watch = Watch(show, pace, "\n".join(done))
            try:
                async with watch:
                    progress = await self._footnote.runs.start_or_join(base, watch.put)
            except FootnoteError as error:
                done.append(f"{base}: {error.user_message}\n{error}")
            else:
                done.append("\n".join([summary(progress), *_problems(progress)]))
        return "\n".join(done)

    async def _status(self, base: str) -> list[str]:
        running = await self._footnote.catalog.running(base)
        known = await sources_of(self._footnote.index, self._footnote.catalog, base)
        return [known.headline, *([f"Under way: {progressing(running)}"] if running else [])]

    async def _sources(self, base: str) -> str:
        known = await sources_of(self._footnote.index, self._footnote.catalog, base)
        lines = [known.headline]
        for entry in known.entries[:LISTED]:
            age = f", {ago(entry.indexed_at)}" if entry.indexed_at else ""
            lines.append(f"- {named(entry.document)}: {counted(entry.passages, 'passage')}{age}")
        if len(known.entries) > LISTED:
            lines.append(f"- … and {len(known.entries) - LISTED} more: `footnote sources` lists all")
        return "\n".join([*lines, *map(unread, known.problems[:LISTED])])

    async def _forget(self, thread: Thread | None) -> str:
        if thread is None:
            return "Say this in the thread that is to be forgotten."
        turns = await self._footnote.memory.forget(thread)
        return f"Forgot {counted(turns, 'turn')} of this thread." if turns else "There was nothing to forget."


class Watch:
    """A run's progress, shown at the platform's pace; what fails in showing it breaks no run."""

    def __init__(self, show: Show, pace: float, above: str = "") -> None:
        self._show = show
        self._pace = pace
        self._above = above
        self._newest: Progress | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def put(self, progress: Progress) -> None:
        self._newest = progress

    async def _run(self) -> None:
        shown = ""
        while True:
            text = "\n".join(part for part in (self._above, live(self._newest) if self._newest else "") if part)
            if text and text != shown:
                try:
                    await self._show(text)
                except DeliveryError as error:
                    log.info("progress could not be shown: %s", error)
                shown = text
            await asyncio.sleep(self._pace if shown else self._pace / 10)


def live(progress: Progress) -> str:
    """A bar, once it is known how much there is to do, and how it stands in words."""
    if not progress.found:
        return progressing(progress)
    share = min(progress.done / progress.found, 1.0)
    full = round(share * BAR)
    return f"`{'█' * full}{'░' * (BAR - full)}` {share:.0%}\n{progressing(progress)}"


def unread(problem: Problem) -> str:
    return f"- not indexed: {named(problem.document)}: {named(problem.reason)}"


def named(text: str) -> str:
    """Files may be called anything: nobody is mentioned, and nothing is a link (X1)."""
    return plain_title(text, LONGEST)


def _problems(progress: Progress) -> list[str]:
    lines = [*map(unread, progress.problems[:LISTED])]
    more = len(progress.problems) - LISTED
    return [*lines, f"- … and {more} more"] if more > 0 else lines


def is_command(said: str) -> bool:
    """Whether this, said to the bot, is a command and no question: its words alone, or with a base's name."""
    words = said.strip().rstrip(".!").split()
    if not words or words[0].casefold() not in COMMANDS or "?" in said:
        return False
    return len(words) <= (2 if words[0].casefold() in {"reindex", "cancel", "sources"} else 1)
