"""The pages docs/settings.md and docs/commands.md, written from the settings and the commands themselves.

python -m bots.cli.reference docs
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import typer
from pydantic import BaseModel
from typer.core import TyperArgument, TyperOption

from bots.cli.commands import app
from config.settings import Settings
from config.tables import BaseTable, RouteTable, SourceTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic.fields import FieldInfo
    from typer.core import TyperCommand

SETTINGS = """\
# Settings

<!-- Written by `python -m bots.cli.reference docs`: change config/settings.py instead. -->

## Where settings are made

Every setting has a default; none must be set. Settings stand in the configuration file, `footnote.toml` in the current folder (or where
`FOOTNOTE_CONFIG` says), or in environment variables, which win. A key of a table is the variable `FOOTNOTE_TABLE__KEY`: `FOOTNOTE_RETRIEVAL__K=5` is the same as
`k = 5` under `[retrieval]`. Secrets are read from the environment alone. A key or variable that is not known stops the start with a sentence that names it.

A complete example is [footnote.example.toml](../footnote.example.toml).

## Environment variables without a table

| variable | default | what it is |
|---|---|---|
| `FOOTNOTE_CONFIG` | `footnote.toml` in the current folder | Path of the settings file. |
| `FOOTNOTE_HOME` | `.footnote` beside `footnote.toml`, or in the current folder | Where the embedded default keeps its files. As `home` it may also stand in `footnote.toml`, above all tables. |
"""

COMMANDS = """\
# Commands

<!-- Written by `python -m bots.cli.reference docs`: change bots/cli instead. -->

## Exit status, pipes and Ctrl-C

Exit status: 0 done, 1 it could not (one line says why), 2 wrong use, 130 interrupted (143 by SIGTERM). `ask` and `chat` also read questions from a pipe, one a line, and print
plain text there. Ctrl-C ends any command at once and leaves everything consistent: an indexing run that was interrupted is finished by the next one.

## What `ask --json` prints

One object for each question: `answer` (with its marks), `abstained`, `remark`, `sources`, `standalone_question`, `passages` (what the answer was written from) and
`run` (for `footnote trace`). A source has its number `n`, its `title` and `places`, each with its name as `place` ("" where it has none) and its own `link`;
`place` and `link` beside them are those of the first one.
"""


def settings_page() -> str:
    parts = [SETTINGS + "".join(f"{row}\n" for row in variable_rows())]
    for name, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            parts.append(section(f"[{name}]", field.annotation))
    parts += [
        section("[bases.NAME]", BaseTable),
        section("a source as a table", SourceTable),
        section("[[routes]]", RouteTable),
    ]
    return "\n".join(parts)


def variable_rows() -> Iterator[str]:
    for field in Settings.model_fields.values():
        if isinstance(field.validation_alias, str):
            yield f"| `{field.validation_alias}` | {default_of(field)} | {field.description} |"


def section(title: str, table: type[BaseModel]) -> str:
    about = (table.__doc__ or "").strip().rstrip(".")
    heading = f"## {about}: {title}"
    rows = [f"| `{name}` | {default_of(field)} | {values_of(field)} |" for name, field in table.model_fields.items()]
    return "\n".join([heading, "", "| key | default | what it does |", "|---|---|---|", *rows, ""])


def default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "must be set"
    value = field.default
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    words: Mapping[object, str] = {None: "unset", "": "empty", (): "none"}
    return words.get(value) or f"`{value}`"


def values_of(field: FieldInfo) -> str:
    about = field.description or ""
    if get_origin(field.annotation) is Literal:
        return f"{about} One of: {', '.join(f'`{value}`' for value in get_args(field.annotation))}."
    return about


def commands() -> Mapping[str, TyperCommand]:
    group: Any = typer.main.get_command(app)  # typer's own click has no types for what a group holds
    found: Mapping[str, TyperCommand] = group.commands
    return {name: found[name] for name in sorted(found)}


def commands_page() -> str:
    return "\n".join([COMMANDS, *(command_section(name, command) for name, command in commands().items())])


def command_section(name: str, command: TyperCommand) -> str:
    usage = " ".join(
        ["footnote", name, *("[OPTIONS]" for _ in options_of(command)[:1]), *map(shown_argument, arguments_of(command))]
    )
    rows = list(parameter_rows(command))
    table = ["", "| argument or option | what it is |", "|---|---|", *rows] if rows else []
    return "\n".join([f"## footnote {name}", "", (command.help or "").strip(), "", f"`{usage}`", *table, ""])


def parameter_rows(command: TyperCommand) -> Iterator[str]:
    for argument in arguments_of(command):
        yield f"| `{shown_argument(argument)}` | {argument.help or ''} |"
    for option in options_of(command):
        takes = "" if option.is_flag else " …"
        yield f"| {', '.join(f'`{name}{takes}`' for name in option.opts)} | {option.help or ''} |"


def arguments_of(command: TyperCommand) -> list[TyperArgument]:
    return [parameter for parameter in command.params if isinstance(parameter, TyperArgument)]


def options_of(command: TyperCommand) -> list[TyperOption]:
    return [parameter for parameter in command.params if isinstance(parameter, TyperOption) and not parameter.hidden]


def shown_argument(argument: TyperArgument) -> str:
    name = f"{(argument.name or '').upper()}{'…' if argument.nargs != 1 else ''}"
    return name if argument.required else f"[{name}]"


PAGES: Mapping[str, Callable[[], str]] = {"settings.md": settings_page, "commands.md": commands_page}


def main(folder: str) -> None:
    for name, page in PAGES.items():
        (Path(folder) / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
