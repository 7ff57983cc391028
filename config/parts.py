"""Settings as the parts of the system take them: each table becomes the frozen settings of one part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from config.tables import BaseTable, SourceTable
from rag.composing import ComposeSettings
from rag.condensing import CondenseSettings
from rag.conversation import ConversationSettings
from rag.errors import BadSetting
from rag.indexing import IndexSettings
from rag.intake import IntakeSettings
from rag.prompting import Prompts
from rag.retrieval import RetrievalSettings
from rag.routing import Base, Route, Routes
from rag.sources.files import FileSource
from rag.sources.reading import ReadLimits
from rag.splitting import SplitSettings
from rag.types import Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from config.settings import Settings
    from config.tables import RouteTable
    from rag.ports import DocumentSource
    from rag.sources.readers import Readers

MEGA = 1_000_000


def sources_from(settings: Settings, base: BaseTable, readers: Readers) -> list[DocumentSource]:
    tables = [SourceTable(path=source) if isinstance(source, str) else source for source in base.sources]
    return [
        FileSource(
            settings.root,
            [table.path],
            link=table.link,
            limits=reading_limits(settings),
            readers=readers,
            expandable=table.expandable,
        )
        for table in tables
    ]


def reading_limits(settings: Settings) -> ReadLimits:
    table = settings.indexing
    return ReadLimits(
        file_bytes=table.max_file_mb * MEGA, characters=table.max_text_mb * MEGA, pages=table.max_pages, seconds=table.read_seconds
    )


def splitting(settings: Settings) -> SplitSettings:
    table = settings.indexing
    if table.size_min > table.size_max:
        raise BadSetting(f"indexing.size_min is {table.size_min}, more than indexing.size_max, {table.size_max}.")
    return SplitSettings(table.size_min, table.size_max, table.unit, table.overlap)


def indexing(settings: Settings) -> IndexSettings:
    table = settings.indexing
    return IndexSettings(table.max_removed, IntakeSettings(publish_seconds=table.publish_seconds))


def retrieving(settings: Settings, thresholds: Mapping[str, float], depth: int = 0) -> RetrievalSettings:
    table = settings.retrieval
    return RetrievalSettings(
        alpha=table.alpha,
        coverage=table.coverage,
        candidates=table.candidates,
        k=table.k,
        rerank_k=table.rerank_k,
        rerank_seconds=table.rerank_seconds,
        threshold=table.threshold,
        thresholds=thresholds,
        expansion=table.expansion,
        context_size=table.context_size,
        token_budget=table.token_budget,
        depth=depth,
    )


def condensing(settings: Settings) -> CondenseSettings:
    return CondenseSettings(condense=settings.answering.condense, seconds=settings.answering.condense_seconds)


def composing(settings: Settings) -> ComposeSettings:
    table = settings.answering
    return ComposeSettings(
        strategy=table.strategy,
        answer_question=table.answer_question,
        sampling=Sampling(table.temperature, table.top_p, table.top_k, table.max_tokens, table.call_seconds),
        token_max=table.token_max,
        keep_intermediate=table.keep_intermediate,
    )


def conversing(settings: Settings) -> ConversationSettings:
    table = settings.answering
    return ConversationSettings(
        history_turns=table.history_turns,
        history_tokens=table.history_tokens,
        deadline_seconds=table.deadline_seconds,
        question_characters=settings.limits.question_characters,
        allowed_hosts=table.allowed_hosts,
    )


def prompts_from(settings: Settings) -> Prompts:
    return Prompts.load(settings.root / settings.answering.prompts if settings.answering.prompts else None)


def routes_from(settings: Settings, bases: Mapping[str, BaseTable]) -> Routes:
    return Routes(
        [Base(name, table.description, table.restricted, table.default) for name, table in bases.items()],
        [route_from(number, table) for number, table in enumerate(settings.routes)],
    )


def route_from(number: int, table: RouteTable) -> Route:
    if table.workspace and table.guild:
        raise BadSetting(f"routes.{number} names a workspace and a guild, and they are the same thing. Keep one.")
    return Route(table.bases, table.platform, table.workspace or table.guild, table.channel, table.role, table.dm)
