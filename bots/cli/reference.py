"""The pages docs/settings.md and docs/commands.md, written from the settings and the commands themselves.

python -m bots.cli.reference docs
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin

import typer
from pydantic import BaseModel

from bots.cli.app import app
from config.settings import BaseTable, RouteTable, Settings, SourceTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

SETTINGS = """\
# Settings

<!-- Written by `python -m bots.cli.reference docs`: change config/settings.py instead. -->

Every setting has a default; none must be set. Settings stand in `footnote.toml` in the current folder (or where `FOOTNOTE_CONFIG` says), or in environment
variables, which win. A key of a table is the variable `FOOTNOTE_TABLE__KEY`: `FOOTNOTE_RETRIEVAL__K=5` is the same as `k = 5` under `[retrieval]`. Secrets are
read from the environment alone. A key or variable that is not known stops the start with a sentence that names it.

A complete example is [footnote.example.toml](../footnote.example.toml).

## Environment alone

| variable | default | what it is |
|---|---|---|
| `FOOTNOTE_CONFIG` | `footnote.toml` in the current folder | Path of the settings file. |
| `FOOTNOTE_HOME` | `.footnote` beside `footnote.toml`, or in the current folder | Where the embedded default keeps its files. |
| `DATABASE_URL` | a SQLite file in the home | A PostgreSQL or SQLite address. |
"""

COMMANDS = """\
# Commands

<!-- Written by `python -m bots.cli.reference docs`: change bots/cli instead. -->

Exit status: 0 done, 1 it could not (one line says why), 2 wrong use. Commands that read questions also read them from a pipe, one a line, and print plain
text there.
"""


def settings_page() -> str:
    tables = [(name, field.annotation) for name, field in Settings.model_fields.items() if is_table(field.annotation)]
    parts = [SETTINGS]
    parts += [section(f"[{name}]", table) for name, table in tables if table is not None]
    parts += [
        section("[bases.NAME]", BaseTable),
        section("A source, as a table: { path = …, link = … }", SourceTable),
        section("[[routes]]", RouteTable),
    ]
    return "\n".join(parts)


def is_table(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def section(title: str, table: type[BaseModel]) -> str:
    rows = [f"| `{name}` | {default_of(field)} | {values_of(field)} |" for name, field in table.model_fields.items()]
    about = (table.__doc__ or "").strip()
    return "\n".join([f"## {title}", "", about, "", "| key | default | what it does |", "|---|---|---|", *rows, ""])


def default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "must be set"
    value = field.default
    shown = {None: "unset", True: "true", False: "false", "": "empty", (): "none"}.get(value, value)
    return f"`{shown}`" if shown == value or isinstance(value, bool) else str(shown)


def values_of(field: FieldInfo) -> str:
    about = field.description or ""
    if get_origin(field.annotation) is Literal:
        return f"{about} One of: {', '.join(f'`{value}`' for value in get_args(field.annotation))}."
    return about


def commands_page() -> str:
    group = typer.main.get_command(app)
    names = sorted(group.commands)  # type: ignore[attr-defined] # a group has commands
    return "\n".join([COMMANDS, *(f"## footnote {name}\n\n```text\n{help_of(name)}\n```\n" for name in names)])


def help_of(name: str) -> str:
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined] # a group has commands
    return "\n".join(lines_of(command, name)).rstrip()


def lines_of(command: typer.core.TyperCommand, name: str) -> Iterator[str]:
    context = typer.Context(command, info_name=f"footnote {name}")
    yield f"{' '.join(['footnote', name, *command.collect_usage_pieces(context)])}"
    yield ""
    yield (command.help or "").strip()
    for parameter in command.params:
        if isinstance(parameter, typer.core.TyperArgument):
            yield f"  {parameter.make_metavar(context):<24} {parameter.help or ''}".rstrip()
        elif isinstance(parameter, typer.core.TyperOption) and not parameter.hidden:
            yield f"  {', '.join(parameter.opts):<24} {parameter.help or ''}".rstrip()


def main(folder: str) -> None:
    (Path(folder) / "settings.md").write_text(settings_page(), encoding="utf-8")
    (Path(folder) / "commands.md").write_text(commands_page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
