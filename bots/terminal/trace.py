"""A run as an operator reads it: one screen that explains an answer, or the lack of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

    from rag.types import Run, Step

LINE = 200  # characters of a value that are shown on one line


def print_run(run: Run, console: Console) -> None:
    said = f"run {run.id}  {run.kind}  {run.started_at:%Y-%m-%d %H:%M:%S} UTC  {run.seconds * 1000:.0f} ms"
    console.print(Text(said, style="bold"))
    if run.error:
        console.print(Text(f"failed: {run.error}", style="bold red"))
    for name, value in run.notes.items():
        print_note(name, value, console)
    for step in run.steps:
        print_step(step, console)


def print_step(step: Step, console: Console) -> None:
    console.print(Text(f"\n{step.name}  {step.seconds * 1000:.1f} ms", style="bold"))
    if step.error:
        console.print(Text(f"  failed: {step.error}", style="red"))
    for name, value in step.notes.items():
        print_note(name, value, console)


def print_note(name: str, value: object, console: Console) -> None:
    """Rows of like values become a table, long texts a block, everything else a line."""
    if rows := as_rows(value):
        console.print(Text(f"  {name}:"))
        console.print(table_of(rows))
    elif isinstance(value, str) and ("\n" in value or len(value) > LINE):
        console.print(Text(f"  {name}:"))
        console.print(Text("\n".join(f"  | {line}" for line in value.splitlines())))
    elif isinstance(value, Mapping) and any(isinstance(part, str) and "\n" in part for part in value.values()):
        for key, part in value.items():
            print_note(f"{name} {key}", part, console)
    elif value not in (None, "", [], {}, ()):
        console.print(Text(f"  {name}: {short(value)}"))


def as_rows(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    rows = [row for row in value if isinstance(row, Mapping)]
    return rows if rows and len(rows) == len(value) and not any("\n" in str(part) for row in rows for part in row.values()) else []


def table_of(rows: Sequence[Mapping[str, object]]) -> Table:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = Table(*columns, box=None, pad_edge=False, padding=(0, 2, 0, 0), title_justify="left")
    for row in rows:
        table.add_row(*(Text(short(row.get(name, ""))) for name in columns))
    return table


def short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {short(part)}" for key, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(short(part) for part in value)
    text = " ".join(str(value).split())
    return text if len(text) <= LINE else f"{text[:LINE]}…"
