"""Measure answers on labelled questions, through the whole system, settings and all."""

from __future__ import annotations

import hashlib
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from config.assembly import assemble
from rag.evaluation import (
    LabelledDocument,
    LabelledQuestion,
    Outcome,
    Report,
    evaluate,
    read_documents,
    read_questions,
    sample,
    without_share,
)
from rag.sources.given import GivenDocuments
from rag.types import Document, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from config.assembly import Footnote
    from config.settings import Settings

TERMINAL = Place("terminal")


BASE = "evaluation"
DEPTH = 20  # passages: enough for ten documents
NO_HURRY = 3600.0  # seconds: what the reranker thinks is measured, not how fast it thinks


@dataclass(frozen=True, slots=True)
class Exam:
    """What is measured: the documents and questions, and how many of each. Folders as in ../docs/evaluation.md."""

    documents: Path
    questions: Path
    leave_out: float = 0.0
    sample: int = 0


async def measure(settings: Settings, exam: Exam) -> Report:
    """Index the documents in a place of their own, ask the questions there, and remove it. Raises BadSetting."""
    started = time.monotonic()
    documents = without_share(read_documents(exam.documents / "corpus.jsonl"), exam.leave_out)
    questions = read_questions(exam.questions / "queries.jsonl")
    if exam.sample:
        questions = sample(questions, exam.sample)
    with tempfile.TemporaryDirectory(prefix="footnote-eval-") as home:
        async with assemble(apart(settings, Path(home)), given={BASE: [source_of(documents)]}, depth=DEPTH) as footnote:
            await footnote.indexer(BASE).run()

            async def ask(question: LabelledQuestion) -> Outcome:
                return await outcome_of(footnote, question)

            report = await evaluate(questions, [document.id for document in documents], ask)
    return replace(report, seconds=time.monotonic() - started)


def apart(settings: Settings, home: Path) -> Settings:
    """The same settings in another home, with no hurry and no routes."""
    retrieval = settings.retrieval.model_copy(update={"rerank_seconds": NO_HURRY, "threshold": 0.0})
    answering = settings.answering.model_copy(update={"deadline_seconds": NO_HURRY})
    return settings.model_copy(
        update={"home": home, "database_url": None, "routes": (), "retrieval": retrieval, "answering": answering}
    )


def source_of(documents: Sequence[LabelledDocument]) -> GivenDocuments:
    return GivenDocuments(
        [
            Document(
                document.id,
                document.title,
                document.text,
                hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest(),
                language=document.language,
            )
            for document in documents
        ]
    )


async def outcome_of(footnote: Footnote, question: LabelledQuestion) -> Outcome:
    answer, found = await footnote.conversation.examine(question.text, TERMINAL, list(question.history))
    ranking = tuple(dict.fromkeys(match.passage.document for match in found.ranked))
    cited = () if answer.abstained else tuple(source.document for source in answer.sources)
    return Outcome(ranking, "" if answer.abstained else answer.text, cited, found.relevance)
