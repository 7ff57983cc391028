"""`footnote index` and `footnote sources`: what is known, and bringing it up to date."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bots.cli.app import app, console, plain, say_aside, say_error, with_footnote
from bots.terminal.wording import visible
from rag.errors import BadSetting, FootnoteError, RunCancelled, TooManyRemovals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.assembly import Footnote
    from rag.indexing import Preview
    from rag.types import Entry, Progress

BaseOption = Annotated[str, typer.Option("--base", help="Only this knowledge base.")]
REASONS = 3  # of why there is nothing to index
GLOB = "*?["
NAMED = 50  # documents that could not be read and are named after a run: `footnote sources` names them all


@app.command("index")
def index(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files, folders or globs: they become the sources of the base.")
    ] = None,
    *,
    base: BaseOption = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    allow_removals: Annotated[
        bool, typer.Option("--allow-removals", help="Go on even if many documents, or all, are gone.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the index anew from the documents, beside the one that is asked meanwhile.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only what went wrong.")] = False,
) -> None:
    """Bring the index up to date: only what changed is read and embedded."""
    given = [os.path.abspath(path) for path in paths or ()]  # noqa: PTH100 - resolves `..` and leaves links as they are

    async def bring_up_to_date(footnote: Footnote) -> bool:
        supplying = Supplying(
            footnote, allow_removals=allow_removals, rebuild=rebuild, own=rebuild or allow_removals or bool(given), quiet=quiet
        )
        names = chosen(footnote, base)
        refuse_missing(given)
        before = await footnote.remember_sources(given, keep=not dry_run) if given else None
        if dry_run:
            for name in names:
                found = await footnote.indexer(name).preview(rebuild=rebuild, allow_removals=allow_removals)
                print_preview(name, found)
            return True
        try:
            return await supplying.all(names)
        except (TooManyRemovals, BadSetting):
            if before is not None:  # a run that was refused changes nothing, the sources included
                await footnote.remember_sources(before)
            raise

    if not with_footnote(bring_up_to_date):
        raise typer.Exit(1)


class Supplying:
    """`footnote index`, with its options. `own`: a run that is under way already may not do what this one shall."""

    def __init__(self, footnote: Footnote, *, allow_removals: bool, rebuild: bool, own: bool, quiet: bool) -> None:
        self._footnote = footnote
        self._allow_removals = allow_removals
        self._rebuild = rebuild
        self._own = own
        self._quiet = quiet

    async def all(self, names: list[str]) -> bool:
        """A base that fails is said so, and the others are brought up to date all the same. Whether all were."""
        if len(names) == 1:
            await self.one(names[0])
            return True
        failed = 0
        for name in names:
            try:
                await self.one(name)
            except RunCancelled:
                raise
            except FootnoteError as error:
                failed += 1
                say_error(error)
        return not failed

    async def one(self, name: str) -> None:
        """Raises FootnoteError, also where there is nothing to index."""
        from bots.commands import summary  # noqa: PLC0415 - loaded once there is something to show

        progress = await self._watched(name)
        if not progress.passages and not progress.removed:
            raise BadSetting(nothing_found(progress))
        self._tell_problems(progress)
        if not self._quiet:
            console().print(summary(progress))
        if progress.remark:
            say_aside(f"{name}: {progress.remark}")

    async def _watched(self, name: str) -> Progress:
        from bots.terminal.bar import progress_bar  # noqa: PLC0415

        if self._quiet:
            return await self._brought_up_to_date(name, lambda _: None)
        if plain():
            return await self._brought_up_to_date(name, say_when_joined())
        with progress_bar(console()) as show:
            return await self._brought_up_to_date(name, show)

    async def _brought_up_to_date(self, name: str, show: Callable[[Progress], None]) -> Progress:
        from bots.cli.stopping import Stoppable  # noqa: PLC0415

        with Stoppable(name, show) as stoppable:
            return await self._footnote.runs.start_or_join(
                name, stoppable.watch, allow_removals=self._allow_removals, rebuild=self._rebuild, own=self._own
            )

    def _tell_problems(self, progress: Progress) -> None:
        for problem in progress.problems[:NAMED]:
            say_aside(f"not indexed: {problem.document}: {problem.reason}")
        if len(progress.problems) > NAMED:
            say_aside(f"not indexed: {len(progress.problems) - NAMED} more; `footnote sources` names them.")


def refuse_missing(given: list[str]) -> None:
    """What is typed and is not there is a slip: nothing is begun over it. Raises BadSetting."""
    for path in given:
        if not os.path.lexists(path) and not any(sign in path for sign in GLOB):
            raise BadSetting(f"There is no file or folder {path}. Check how it is written, and give one that exists.")


def nothing_found(progress: Progress) -> str:
    reasons = [f"{problem.document}: {problem.reason}" for problem in progress.problems]
    further = f"; and {len(reasons) - REASONS} more" if len(reasons) > REASONS else ""
    why = f": {'; '.join(reasons[:REASONS])}{further}." if reasons else ": there is no file of a known format."
    return f"There is nothing to index in base {progress.base!r}{why}"


def chosen(footnote: Footnote, base: str) -> list[str]:
    """The bases a command is about. Raises BadSetting for one that does not exist."""
    names = list(footnote.bases)
    if base and base not in names:
        raise BadSetting(f"There is no knowledge base {base!r}; there are: {', '.join(names)}.")
    return [base] if base else names


def say_when_joined() -> Callable[[Progress], None]:
    """Without a bar, one line says why nothing seems to happen."""
    from bots.commands import progressing  # noqa: PLC0415

    said: set[str] = set()

    def say(now: Progress) -> None:
        if now.joined and now.run not in said:
            said.add(now.run)
            print(visible(progressing(now)), flush=True)  # noqa: T201

    return say


def print_preview(name: str, preview: Preview) -> None:
    out, plan = console(), preview.plan
    for offer in plan.to_read:
        known = preview.unread.get(offer.listing.id, "")
        out.print(f"retry   {offer.listing.id}: {known}" if known else f"read    {offer.listing.id}")
    for document in plan.vanished:
        out.print(f"remove  {document}")
    for problem in plan.problems:
        out.print(f"cannot  {problem.document}: {problem.reason}")
    counts = f"{len(plan.to_read)} to read, {len(plan.vanished)} to remove, {len(plan.unchanged)} unchanged"
    out.print(f"{name}: {counts}. Nothing was changed.")
    if preview.refusal:
        out.print(f"{name}: a run would stop. {preview.refusal}")


@app.command("sources")
def sources(
    *,
    base: BaseOption = "",
    documents: Annotated[bool, typer.Option("--documents", help="Every document, not only the counts.")] = False,
) -> None:
    """Show what is indexed: documents, passages, age, and what could not be read."""

    async def show(footnote: Footnote) -> None:
        from bots.commands import sources_of  # noqa: PLC0415

        out = console()
        for name in chosen(footnote, base):
            known = await sources_of(footnote.index, footnote.catalog, name)
            out.print(known.headline)
            for problem in known.problems:
                out.print(f"  not indexed: {problem.document}: {problem.reason}")
            if documents and known.entries:
                print_entries(known.entries)

    with_footnote(show)


def print_entries(entries: tuple[Entry, ...]) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table("document", "title", "passages", "indexed (UTC)", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for entry in entries:
        table.add_row(*(Text(visible(cell)) for cell in cells_of(entry)))
    console().print(table)


def cells_of(entry: Entry) -> Iterator[str]:
    yield entry.document
    yield entry.title
    yield f"{entry.passages:,}"
    yield f"{entry.indexed_at:%Y-%m-%d %H:%M}" if entry.indexed_at else ""
