"""Measure answers on labelled questions, through the whole system, settings and all."""

from __future__ import annotations

import hashlib
import tempfile
import time
import uuid
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from config.assembly import assemble
from rag.errors import Unreadable
from rag.evaluation import Outcome, Report, evaluate, left_out, sample
from rag.labelled import read_documents, read_questions
from rag.sources.given import GivenDocuments
from rag.types import Document, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from config.assembly import Footnote
    from config.settings import Settings
    from rag.labelled import LabelledDocument, LabelledQuestion

TERMINAL = Place("terminal")


DEPTH = 20  # passages: enough for ten documents
AT_ONCE = 8  # questions: enough to keep the model workers busy
NO_HURRY = 3600.0  # seconds: what the reranker thinks is measured, not how fast it thinks


@dataclass(frozen=True, slots=True)
class Exam:
    """What is measured: the documents and questions, and how many of each. Folders as in ../docs/evaluation.md."""

    documents: Path
    questions: Path
    leave_out: float = 0.0
    sample: int = 0


async def measure(settings: Settings, exam: Exam) -> Report:
    """Index the documents in a place of their own, ask the questions there, and remove it; the reranker's vectors stay.

    The base has a name of its own: in Weaviate it stands beside the real ones, and beside other evaluations.

    Raises Unreadable.
    """
    started = time.monotonic()
    documents = read_documents(lines_of(exam.documents / "corpus.jsonl"))
    out = left_out([document.id for document in documents], exam.leave_out)
    documents = [document for document in documents if document.id not in out]
    questions = read_questions(lines_of(exam.questions / "queries.jsonl"))
    if exam.sample:
        questions = sample(questions, exam.sample)
    base = f"evaluation {uuid.uuid4().hex[:12]}"
    with tempfile.TemporaryDirectory(prefix="footnote-eval-") as home:
        async with assemble(
            apart(settings, Path(home)), given={base: [source_of(documents)]}, depth=DEPTH, cache=settings.home / "models"
        ) as footnote:
            try:
                await footnote.indexer(base).run()
                indexed = [document.id for document in documents]
                report = await evaluate(questions, partial(outcome_of, footnote), indexed=indexed, at_once=AT_ONCE)
            finally:
                await footnote.index.drop(base)
    return replace(report, seconds=time.monotonic() - started)


def lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise Unreadable(str(path), f"it cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise Unreadable(str(path), "it cannot be read (it is not UTF-8)") from error


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
    answer, found = await footnote.conversation.examine(question.text, TERMINAL, question.history)
    cited = () if answer.abstained else tuple(source.document for source in answer.sources)
    ranked = tuple(passage.document for match in found.ranked for passage in (match.passage, *match.copies))
    return Outcome(ranked, found.relevance, answer.text, answer.abstained, cited)
