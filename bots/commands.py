"""What people can ask of the bot besides questions, worded once for all platforms."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rag.types import Problem

if TYPE_CHECKING:
    from rag.ports import Catalog, PassageIndex
    from rag.types import Entry, Progress


@dataclass(frozen=True, slots=True)
class Known:
    """What one base holds."""

    headline: str
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]


async def sources_of(index: PassageIndex, catalog: Catalog, base: str) -> Known:
    entries = (await catalog.entries(base, await index.live(base))).values()
    indexed = [entry for entry in entries if entry.passages]
    problems = [Problem(entry.document, entry.error) for entry in entries if entry.error]
    run = await catalog.progress(base)
    read = {entry.document for entry in entries}
    problems += [problem for problem in run.problems if problem.document not in read] if run else []  # what is no document at all
    newest = max((entry.indexed_at for entry in indexed if entry.indexed_at), default=None)
    headline = f"{base}: {counted(len(indexed), 'document')}, {counted(await index.size(base), 'passage')}"
    if newest:
        headline += f", the newest indexed {ago(newest)}"
    if problems:
        headline += f", {len(problems)} could not be read"
    return Known(
        f"{headline}." if indexed or problems else f"{base}: nothing indexed yet. Run: footnote index PATH",
        tuple(indexed),
        tuple(problems),
    )


def summary(progress: Progress) -> str:
    """An indexing run in one sentence."""
    changes = [
        f"{count} {word}"
        for count, word in (
            (progress.added, "added"),
            (progress.changed, "changed"),
            (progress.removed, "removed"),
            (len(progress.problems), "could not be read"),
        )
        if count
    ]
    what = ", ".join(changes) if changes else "nothing changed"
    held = f"{counted(progress.done - progress.unread, 'document')}, {counted(progress.passages, 'passage')}"
    return f"{progress.base}: {what}; {held}; {progress.embedded} embedded in {progress.seconds:.1f} s."


def progressing(now: Progress) -> str:
    """An indexing run under way, in one line; the rate and the time left once they can be told."""
    elsewhere = " (a run that was under way already)" if now.joined else ""
    if now.found is None:
        return f"{now.base}: looking for documents{elsewhere}"
    said = [f"{now.base}: {now.done:,} of {counted(now.found, 'document')}", counted(now.passages, "passage")]
    if now.problems:
        said.append(f"{len(now.problems)} could not be read")
    fresh = now.done - now.unchanged
    if fresh and now.seconds >= 1 and now.done < now.found:
        said.append(f"about {lasting(now.seconds * (now.found - now.done) / fresh)} left")
    return ", ".join(said) + elsewhere


def cancelling(base: str, now: Progress | None) -> str:
    """What is said to whoever cancels a run; `now` is what `Runs.cancel` gave back."""
    if now is None:
        return f"{base}: no run is under way."
    far = f" after {now.done:,} of {counted(now.found, 'document')}" if now.found else ""
    return f"{base}: the run is being cancelled{far}. What it wrote stays, and the next one goes on from there."


def lasting(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def ago(moment: datetime) -> str:
    seconds = int((datetime.now(UTC) - moment).total_seconds())
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(seconds // size, word)} ago"
    return "just now"
