"""`footnote index` and `footnote sources`: what is known, and bringing it up to date."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from bots.cli.app import app, console, plain, with_footnote
from bots.commands import sources_of, summary
from rag.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Callable

    from config.assembly import Footnote
    from rag.planning import Plan
    from rag.types import Progress

BaseOption = Annotated[str, typer.Option("--base", help="Only this knowledge base.")]


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
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Forget the index, and make it anew from the documents.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only what went wrong.")] = False,
) -> None:
    """Bring the index up to date: only what changed is read and embedded."""

    given = [str(path.absolute()) for path in paths or ()]

    async def bring_up_to_date(footnote: Footnote) -> None:
        if given:
            await footnote.remember_sources(given)
        for name in chosen(footnote, base):
            if dry_run:
                print_plan(name, await footnote.indexer(name).preview())
                continue
            if rebuild:
                await footnote.index.drop(name)
            await index_base(footnote, name, allow_removals=allow_removals, quiet=quiet)

    with_footnote(bring_up_to_date)


async def index_base(footnote: Footnote, name: str, *, allow_removals: bool, quiet: bool) -> None:
    if quiet or plain():
        progress = await footnote.indexer(name).run(allow_removals=allow_removals)
    else:
        with Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[counts]}"),
            TimeRemainingColumn(),
        ) as bar:
            progress = await footnote.indexer(name).run(shown_on(bar, name), allow_removals=allow_removals)
    out = console()
    for problem in progress.problems:
        out.print(f"not indexed: {problem.document}: {problem.reason}", markup=False)
    if not quiet:
        out.print(summary(progress), markup=False)


def shown_on(bar: Bar, name: str) -> Callable[[Progress], None]:
    task = bar.add_task(name, total=None, counts="")

    def show(progress: Progress) -> None:
        rate = progress.embedded / progress.seconds if progress.seconds else 0
        counts = f"{progress.done}/{progress.found or '?'} documents, {progress.passages} passages, {rate:.0f}/s embedded"
        bar.update(task, total=progress.found, completed=progress.done, counts=counts, description=f"{name}: {progress.state}")

    return show


def chosen(footnote: Footnote, base: str) -> list[str]:
    """The bases a command is about. Raises BadSetting for one that does not exist, or where there is none."""
    names = list(footnote.bases)
    if base and base not in names:
        raise BadSetting(f"There is no knowledge base {base!r}; there are: {', '.join(names)}.")
    return [base] if base else names


def print_plan(name: str, plan: Plan) -> None:
    out = console()
    for offer in plan.to_read:
        out.print(f"read    {offer.listing.id}", markup=False)
    for document in plan.vanished:
        out.print(f"remove  {document}", markup=False)
    for problem in plan.problems:
        out.print(f"cannot  {problem.document}: {problem.reason}", markup=False)
    counts = f"{len(plan.to_read)} to read, {len(plan.vanished)} to remove, {len(plan.unchanged)} unchanged"
    out.print(f"{name}: {counts}. Nothing was changed.", markup=False)


@app.command("sources")
def sources(
    *,
    base: BaseOption = "",
    documents: Annotated[bool, typer.Option("--documents", help="Every document, not only the counts.")] = False,
) -> None:
    """Show what is indexed: documents, passages, age, and what could not be read."""

    async def show(footnote: Footnote) -> None:
        out = console()
        for name in chosen(footnote, base):
            known = await sources_of(footnote.index, footnote.catalog, name)
            out.print(known.headline, markup=False)
            for problem in known.problems:
                out.print(f"  not indexed: {problem.document}: {problem.reason}", markup=False)
            if documents:
                table = Table("document", "title", "passages", "indexed")
                for entry in known.entries:
                    indexed = f"{entry.indexed_at:%Y-%m-%d %H:%M}" if entry.indexed_at else ""
                    table.add_row(entry.document, entry.title, str(entry.passages), indexed)
                out.print(table)

    with_footnote(show)
