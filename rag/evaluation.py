"""How good answers are on labelled questions (O5): pure measures, and the one walk over the questions that feeds them."""

from __future__ import annotations

import json
import math
import random
import re
import unicodedata
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

from rag.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

Item = TypeVar("Item")
SEED = 20_25
_NOT_CONTENT = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    id: str
    text: str
    title: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """`relevant` are the ids of documents that answer it, `answers` texts that a right answer holds one of."""

    id: str
    text: str
    relevant: frozenset[str] = frozenset()
    answers: tuple[str, ...] = ()
    answerable: bool = True
    history: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the system made of a question: documents, the best first, each once; the answer; how relevant the best passage was."""

    ranking: tuple[str, ...]
    answer: str
    cited: tuple[str, ...]
    relevance: float


@dataclass(frozen=True, slots=True)
class Report:
    """Means over the questions that a measure can be taken of; None where there is no such question."""

    documents: int
    questions: int
    mrr_10: float | None
    recall_5: float | None
    recall_10: float | None
    ndcg_10: float | None
    answer_containment: float | None
    abstention_auroc: float | None
    citation_precision: float | None
    seconds: float

    def as_json(self) -> dict[str, object]:
        names = {"mrr_10": "mrr@10", "recall_5": "recall@5", "recall_10": "recall@10", "ndcg_10": "ndcg@10"}
        values = ((names.get(name, name), getattr(self, name)) for name in self.__slots__)
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in values}


# --- labels ---------------------------------------------------------------------------------------------------------


def read_documents(path: Path) -> list[LabelledDocument]:
    """Raises BadSetting, naming file and line."""
    return [
        LabelledDocument(row["id"], row["text"], row.get("title", ""), row.get("lang", ""))
        for row in _rows(path, {"id": str, "text": str}, {"title": str, "lang": str})
    ]


def read_questions(path: Path) -> list[LabelledQuestion]:
    """Raises BadSetting, naming file and line."""
    optional = {"relevant": list, "answers": list, "answerable": bool, "history": list}
    return [
        LabelledQuestion(
            row["id"],
            row["text"],
            frozenset(row.get("relevant") or ()),
            tuple(row.get("answers") or ()),
            row.get("answerable", True),
            tuple(row.get("history") or ()),
        )
        for row in _rows(path, {"id": str, "text": str}, optional)
    ]


def read_examples(path: Path) -> tuple[list[str], list[str]]:
    """Questions that the documents answer, and others, from lines of {"text", "answerable"}. Raises BadSetting."""
    rows = list(_rows(path, {"text": str, "answerable": bool}, {}))
    answerable = [row["text"] for row in rows if row["answerable"]]
    unanswerable = [row["text"] for row in rows if not row["answerable"]]
    if not unanswerable:
        raise BadSetting(f"{path} has no question that is not answerable: at least one is needed to set a threshold.")
    return answerable, unanswerable


def _rows(path: Path, required: Mapping[str, type], optional: Mapping[str, type]) -> Iterator[Any]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path} cannot be read: {error}.") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _row(f"{path}, line {number}", line, required, optional)


def _row(where: str, line: str, required: Mapping[str, type], optional: Mapping[str, type]) -> Any:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadSetting(f"{where} is not JSON: {error}.") from error
    if not isinstance(row, dict):
        raise BadSetting(f"{where} is not an object: write {{...}}.")
    for name, kind in {**required, **optional}.items():
        if name in required and name not in row:
            raise BadSetting(f"{where} has no {name!r}.")
        if row.get(name) is not None and not isinstance(row[name], kind):
            raise BadSetting(f"{where}: {name!r} must be of type {kind.__name__}.")
    return row


def sample(items: Sequence[Item], number: int) -> list[Item]:
    """So many of the items, in their order, the same ones every time."""
    chosen = sorted(random.Random(SEED).sample(range(len(items)), min(number, len(items))))  # noqa: S311 - no cryptography
    return [items[index] for index in chosen]


def without_share(documents: Sequence[LabelledDocument], share: float) -> list[LabelledDocument]:
    """The documents less that share of them, the same ones every time."""
    return sample(documents, len(documents) - round(share * len(documents)))


# --- measures -------------------------------------------------------------------------------------------------------


def recall(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    return len(set(ranking[:k]) & set(relevant)) / len(relevant)


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    return next((1 / rank for rank, document in enumerate(ranking[:k], start=1) if document in relevant), 0.0)


def ndcg(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    gained = sum(1 / math.log2(rank + 1) for rank, document in enumerate(ranking[:k], start=1) if document in relevant)
    return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), k) + 1))


def contains(answer: str, golds: Sequence[str]) -> bool:
    """Whether one of the texts stands in the answer, spaces, punctuation and case aside."""
    said = _folded(answer)
    return any(gold in said for gold in map(_folded, golds) if gold)


def _folded(text: str) -> str:
    return _NOT_CONTENT.sub("", unicodedata.normalize("NFKC", text).casefold())


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """How often a score of `higher` is above one of `lower`; ties count half. None if either is empty."""
    if not higher or not lower:
        return None
    scores = sorted((score, is_higher) for of, is_higher in ((higher, True), (lower, False)) for score in of)
    ranks, start = 0.0, 0
    while start < len(scores):
        end = start
        while end < len(scores) and scores[end][0] == scores[start][0]:
            end += 1
        ranks += sum(is_higher for _, is_higher in scores[start:end]) * (start + end + 1) / 2
        start = end
    return (ranks - len(higher) * (len(higher) + 1) / 2) / (len(higher) * len(lower))


# --- the walk -------------------------------------------------------------------------------------------------------


async def evaluate(
    questions: Sequence[LabelledQuestion], documents: Collection[str], ask: Callable[[LabelledQuestion], Awaitable[Outcome]]
) -> Report:
    """`documents` are the ids of those that can be found: a question whose relevant ones were left out is unanswerable."""
    outcomes = [(question, await ask(question)) for question in questions]
    labelled = [(question.relevant & set(documents), outcome) for question, outcome in outcomes if question.relevant]
    found = [(relevant, outcome) for relevant, outcome in labelled if relevant]
    answered = [
        contains(outcome.answer, question.answers)
        for question, outcome in outcomes
        if question.answers and question.relevant & set(documents)
    ]
    unanswerable = [outcome for question, outcome in outcomes if not (question.answerable and question.relevant & set(documents))]
    cited = [document in relevant for relevant, outcome in labelled for document in outcome.cited]
    return Report(
        documents=len(documents),
        questions=len(questions),
        mrr_10=_mean([reciprocal_rank(outcome.ranking, relevant, 10) for relevant, outcome in found]),
        recall_5=_mean([recall(outcome.ranking, relevant, 5) for relevant, outcome in found]),
        recall_10=_mean([recall(outcome.ranking, relevant, 10) for relevant, outcome in found]),
        ndcg_10=_mean([ndcg(outcome.ranking, relevant, 10) for relevant, outcome in found]),
        answer_containment=_mean([float(held) for held in answered]),
        abstention_auroc=auroc([outcome.relevance for _, outcome in found], [outcome.relevance for outcome in unanswerable]),
        citation_precision=_mean([float(right) for right in cited]),
        seconds=0.0,
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
