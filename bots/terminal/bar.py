"""A bar for an indexing run: how far it is, how fast, and how much longer."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bar

from bots.commands import progressing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from rag.types import Progress


@contextmanager
def progress_bar(console: Console) -> Iterator[Callable[[Progress], None]]:
    """Gone when the run is over: what is printed then says more."""
    columns = (SpinnerColumn(), BarColumn(bar_width=30), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(now: Progress) -> None:
            told = f"{now.base}: publishing" if now.state == "publishing" else progressing(now)
            bar.update(task, total=now.found, completed=now.done, description=told)

        yield show
