"""What may be wrong with a set-up before anybody asks (O2): settings, home, database, models, stores, sources, index."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import TYPE_CHECKING

from config.models import cohere_client, openai_client, providers
from config.parts import prompts_from, routes_from, sources_from, splitting
from config.stores import check_index
from config.tables import BaseTable
from rag.checking import Check
from rag.errors import BadSetting, IndexMissing
from rag.sources.readers import Readers
from rag.types import Prompt, Sampling
from storage.database import check_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.assembly import Footnote
    from config.models import Providers
    from config.settings import Settings

BEFORE = ("settings", "prompts", "home", "database", "passage index")  # without these nothing can be assembled


def checks_of(settings: Settings) -> list[Check]:
    """What can be told without assembling anything. A store or a model that is added adds its own here."""
    return [
        Check("settings", partial(_settings, settings)),
        Check("prompts", partial(_prompts, settings)),
        Check("home", partial(asyncio.to_thread, _home, settings)),
        Check("database", partial(check_schema, settings.database), ("home",)),
        Check("passage index", partial(check_index, settings), ("home",)),
        *_model_checks(settings),
    ]


def base_checks(footnote: Footnote) -> list[Check]:
    """What the running system tells of each base."""
    return [check for name in footnote.bases for check in _of_base(footnote, name)]


# --- settings and places --------------------------------------------------------------------------------------------


async def _settings(settings: Settings) -> str:
    used = providers(settings)
    splitting(settings)
    routes = routes_from(settings, settings.bases or {"default": BaseTable()})
    if warnings := routes.warnings():
        raise BadSetting(warnings[0])
    where = f"{settings.config}, " if settings.config else "no footnote.toml, "
    return f"{where}answers by {used.writer or 'extracts'}, vectors by {used.embedder or settings.models.embedder}"


async def _prompts(settings: Settings) -> str:
    prompts_from(settings)
    return settings.answering.prompts or "built in"


def _home(settings: Settings) -> str:
    """Makes nothing that stays: the nearest folder that there is must let itself be written to."""
    home = settings.home.absolute()
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return str(home)
    except OSError as error:
        raise BadSetting(
            f"{there} cannot be written to ({error.strerror}). Make it writable, or name another folder in FOOTNOTE_HOME."
        ) from error


# --- models ---------------------------------------------------------------------------------------------------------


def _model_checks(settings: Settings) -> Iterator[Check]:
    try:
        used = providers(settings)
    except BadSetting:
        return  # the check of the settings tells it
    yield from _cohere_checks(settings, used)
    if used.writer == "openai":
        yield Check("OpenAI-compatible writer", partial(_openai_writer, settings, settings.models.openai_writer))
    if used.condenser == "openai" and settings.models.openai_condenser:
        yield Check("OpenAI-compatible condenser", partial(_openai_writer, settings, settings.models.openai_condenser))
    if used.embedder == "openai":
        yield Check("OpenAI-compatible embedder", partial(_openai_embedder, settings))


def _cohere_checks(settings: Settings, used: Providers) -> Iterator[Check]:
    table = settings.models
    models = {
        "writer": ("chat", table.cohere_writer, used.writer),
        "condenser": ("chat", table.cohere_condenser, used.condenser),
        "embedder": ("embed", table.cohere_embedder, used.embedder),
        "reranker": ("rerank", table.cohere_reranker, used.reranker),
    }
    asked = {name: (kind, model) for name, (kind, model, provider) in models.items() if provider == "cohere"}
    if asked:
        yield Check("Cohere's key", partial(_cohere_key, settings))
    for name, (kind, model) in asked.items():
        yield Check(f"Cohere's {name}", partial(_cohere_model, settings, model, kind), ("Cohere's key",))


async def _cohere_key(settings: Settings) -> str:
    from rag.models.cohere.asking import check_key  # noqa: PLC0415 - the SDK is loaded where it is used

    async with AsyncExitStack() as stack:
        await check_key(await cohere_client(settings, stack))
    return "accepted"


async def _cohere_model(settings: Settings, model: str, kind: str) -> str:
    from rag.models.cohere.asking import check_model  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        await check_model(await cohere_client(settings, stack), model, kind)
    return model


async def _openai_writer(settings: Settings, model: str) -> str:
    """A few tokens tell more than a list of models would, which not every server has."""
    from rag.models.openai_compatible.writer import OpenAIWriter  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        writer = OpenAIWriter(await openai_client(settings, stack), model, is_openai=not settings.openai_base_url)
        async with aclosing(writer.write(Prompt("", "Say: ready", sampling=Sampling(max_tokens=16, seconds=15.0)))) as pieces:
            await anext(pieces)
    return model


async def _openai_embedder(settings: Settings) -> str:
    from rag.models.openai_compatible.embedder import KNOWN, dimension_of  # noqa: PLC0415

    model, wanted = settings.models.openai_embedder, settings.models.dimension
    async with AsyncExitStack() as stack:
        found = await dimension_of(await openai_client(settings, stack), model)
    if wanted and wanted != found and model not in KNOWN:
        raise BadSetting(f"{model} gives vectors of {found} numbers, and models.dimension is {wanted}. Set it to {found}.")
    return f"{model}, {wanted or found} numbers"


# --- bases ----------------------------------------------------------------------------------------------------------


def _of_base(footnote: Footnote, name: str) -> Iterator[Check]:
    yield Check(f"sources of {name}", partial(_sources, footnote, name))
    yield Check(f"index of {name}", partial(_index, footnote, name))


async def _sources(footnote: Footnote, name: str) -> str:
    table, settings = footnote.bases[name], footnote.settings
    if not table.sources:
        where = f"Name them in {settings.config}." if settings.bases else "Run: footnote index PATH"
        raise BadSetting(f"The base {name!r} has no sources. {where}")
    documents = 0
    for path, source in zip(table.sources, sources_from(settings, table, Readers(1)), strict=True):
        found, problems = await source.list()
        if not found:
            why = f": {problems[0].reason}" if problems else ": there is no file of a known format"
            shown = path if isinstance(path, str) else path.path
            raise BadSetting(f"The source {shown!r} of base {name!r} has nothing to index{why}. Correct it, or take it out.")
        documents += len(found)
    return f"{documents:,} documents"


async def _index(footnote: Footnote, name: str) -> str:
    await footnote.check_base(name)
    passages = await footnote.index.size(name)
    if not passages:
        raise IndexMissing(f"Nothing of base {name!r} has been indexed yet. Run: footnote index --base {name}")
    return f"{passages:,} passages"
