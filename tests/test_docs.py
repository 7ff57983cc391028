"""The documentation says what is so: every setting, command and error is in it, and every link, anchor and command of it exists."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from bots.cli.reference import PAGES, commands
from config.settings import Settings, load
from config.tables import BaseTable, RouteTable, SourceTable
from rag import errors
from rag.prompting import VARIABLES, Prompts

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
TOLD = [*DOCS, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
WHOLE = "\n".join(path.read_text(encoding="utf-8") for path in TOLD)
TABLES: dict[str, type[BaseModel]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
} | {"bases": BaseTable, "routes": RouteTable, "source": SourceTable}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"(?ms)^ *```.*?^ *```", "", text))


def code_blocks(text: str, language: str) -> list[str]:
    return [inspect.cleandoc(block) for block in re.findall(rf"(?ms)^ *```{language}\n(.*?)^ *```", text)]


def anchors(text: str) -> set[str]:
    headings = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```", "", text))
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


# --- generated pages ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert text_of(ROOT / "docs" / name) == PAGES[name](), "Run: .venv/bin/python -m bots.cli.reference docs"


@pytest.mark.parametrize(("table", "key"), [(table, key) for table, model in TABLES.items() for key in model.model_fields])
def test_every_setting_is_described(table: str, key: str) -> None:
    field = TABLES[table].model_fields[key]

    assert field.description
    assert f"| `{key}` |" in text_of(ROOT / "docs" / "settings.md")


@pytest.mark.parametrize("name", commands())
def test_every_command_is_described_with_all_it_takes(name: str) -> None:
    command = commands()[name]

    assert command.help
    assert all(getattr(parameter, "help", None) for parameter in command.params)
    assert f"## footnote {name}" in text_of(ROOT / "docs" / "commands.md")


# --- errors ---------------------------------------------------------------------------------------------------------


def classes() -> dict[str, type[errors.FootnoteError]]:
    return {
        name: found
        for name, found in vars(errors).items()
        if isinstance(found, type) and issubclass(found, errors.FootnoteError) and found.__module__ == errors.__name__
    }


def test_the_tree_that_is_drawn_is_the_tree_that_is() -> None:
    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"([│ ├└─]*)(\w+)(?:\s|$)", line):
            depth = len(found[1]) // 4
            if found[2] not in classes():
                continue
            path[depth:] = [found[2]]
            drawn[found[2]] = path[depth - 1] if depth else "Exception"

    assert drawn == {name: found.__mro__[1].__name__ for name, found in classes().items()}


@pytest.mark.parametrize("name", [name for name, found in classes().items() if not found.__subclasses__()])
def test_every_error_is_told_with_what_to_do(name: str) -> None:
    row = re.search(rf"(?m)^\| {name} \|([^|]+)\|([^|]+)\|$", text_of(ROOT / "docs" / "operations.md"))

    assert row is not None
    assert all(part.strip() for part in row.groups())


@pytest.mark.parametrize("name", classes())
def test_every_error_has_a_sentence_for_who_asked(name: str) -> None:
    assert re.fullmatch(r"[A-Z][^.?!]*[.?!]( [A-Z][^.?!]*[.?!])?", classes()[name].user_message)


# --- prompts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIABLES)
def test_every_template_is_told_with_its_variables(name: str) -> None:
    row = re.search(rf"(?m)^\| `{name}\.txt` \|[^|]+\|([^|]*)\|([^|]*)\|$", text_of(ROOT / "docs" / "prompts.md"))

    assert row is not None
    required, optional = (set(re.findall(r"`\$(\w+)`", cell)) for cell in row.groups())
    variables = next(found for template, found in VARIABLES.items() if template == name)
    assert required == set(variables.required)
    assert optional == set(variables.optional)


def test_every_variable_of_a_template_is_explained() -> None:
    page = text_of(ROOT / "docs" / "prompts.md")

    for variable in set().union(*(found.required | found.optional for found in VARIABLES.values())):
        assert f"| `${variable}` |" in page


def test_a_built_in_template_can_be_copied_and_named_as_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "condense.txt").write_text(text_of(ROOT / "rag" / "prompts" / "condense.txt"), encoding="utf-8")

    assert Prompts.load(tmp_path).templates["condense"].template == Prompts.load().templates["condense"].template


# --- links and commands ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", TOLD, ids=lambda path: path.name)
def test_links_lead_to_pages_and_headings_that_are_there(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(path))):
        if re.match(r"https?://", target):
            continue
        page, _, anchor = target.partition("#")
        found = (path.parent / page).resolve() if page else path
        assert found.is_file(), f"{path.name} links to {target}"
        assert not anchor or anchor in anchors(text_of(found)), f"{path.name} links to {target}"


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_page_is_reached_from_the_readme(path: Path) -> None:
    assert f"docs/{path.name}" in text_of(ROOT / "README.md")


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:scripts|tests|rag|bots|config|storage|docs|\.ci)/[\w./-]+)`", WHOLE))

    assert named
    for name in named:
        assert (ROOT / name).exists(), name


def test_every_make_target_that_is_named_is_there() -> None:
    targets = set(re.findall(r"(?m)^(\w+):", text_of(ROOT / "Makefile")))

    named = set(re.findall(r"\bmake (\w+)`|^make (\w+)$", WHOLE, re.MULTILINE))
    assert {one or other for one, other in named} <= targets
    assert {"demo", "test"} <= targets


@pytest.mark.parametrize("path", [*TOLD, ROOT / "Procfile"], ids=lambda path: path.name)
def test_commands_that_are_shown_take_the_options_that_they_are_shown_with(path: Path) -> None:
    known = {
        name: {option for each in command.params for option in getattr(each, "opts", [])} for name, command in commands().items()
    }
    for name, rest in re.findall(r"\bfootnote ([a-z]+)\b([^`\n|]*)", text_of(path)):
        if name in known:
            assert set(re.findall(r"(?<=\s)--[\w-]+", re.sub(r"#.*|[“\"].*?[”\"]", "", rest))) <= known[name], (
                f"footnote {name}{rest}"
            )
    named = re.findall(r"(?:`|^|\.venv/bin/)footnote ([a-z]+)", text_of(path), re.MULTILINE)
    assert set(named) <= known.keys()


def test_settings_that_are_named_in_prose_exist() -> None:
    keys = {key for model in TABLES.values() for key in model.model_fields} | {"home"}
    for path in DOCS:
        for block in code_blocks(text_of(path), "toml"):
            check_keys(tomllib.loads(block))
        for variable in re.findall(r"\bFOOTNOTE_[A-Z_]+\b", text_of(path)):
            _, _, key = variable.partition("__")
            assert not key or key.lower() in keys | {"key"}, variable


def check_keys(values: dict[str, Any]) -> None:
    for table, content in values.items():
        model = TABLES.get(table)
        assert model is not None, table
        rows = (
            content
            if isinstance(content, list)
            else content.values()
            if table == "bases" and isinstance(content, dict)
            else [content]
        )
        for row in rows:
            assert row.keys() <= model.model_fields.keys(), row


# --- examples -------------------------------------------------------------------------------------------------------


def test_the_example_settings_are_settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = text_of(ROOT / "footnote.example.toml")
    (home / "footnote.toml").write_text(re.sub(r"(?m)^# (\w+ = )", r"\1", example), encoding="utf-8")
    monkeypatch.delenv("FOOTNOTE_CONFIG", raising=False)

    settings = load()

    assert list(settings.bases) == ["handbook", "salaries"]
    assert settings.home == home / ".footnote"
    assert set(tomllib.loads(example)) == {*TABLES, "home"} - {"source"}


def test_the_example_environment_is_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for line in text_of(ROOT / ".env.example").splitlines():
        if found := re.fullmatch(r"# ([A-Z_]+)=(\S+)", line):
            monkeypatch.setenv(found[1], found[2] if found[1] != "FOOTNOTE_CONFIG" else "")

    settings = load()

    assert (settings.retrieval.k, settings.logging.format, settings.home) == (8, "json", Path("/srv/footnote/home"))
    assert home.exists()


def test_the_procfile_starts_only_what_there_is() -> None:
    for process, name in re.findall(r"(?m)^(\w+): footnote (\w+)", text_of(ROOT / "Procfile")):
        assert process
        assert name in commands()
