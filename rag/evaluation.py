"""How well questions are answered, on labelled ones: measures of retrieval, answers, citations and abstention (O5)."""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.errors import first_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from rag.labelled import LabelledQuestion

DEPTH = 10

_SEPARATORS = re.compile(r"[\W_]+")
_UNSPACED = re.compile(r" ?([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]) ?")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question: documents as ranked (one may stand there several times), and how it was answered.

    `relevance` is that of the best passage, `cited` names the document of each citation that was shown.
    """

    documents: tuple[str, ...]
    relevance: float = 0.0
    answer: str = ""
    abstained: bool = False
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Each measure is a mean over the questions whose labels allow it, None where there are none.

    `documents` counts those indexed, `questions` those asked.
    """

    documents: int
    questions: int
    mrr: float | None
    recall_5: float | None
    recall_10: float | None
    ndcg: float | None
    answer_containment: float | None
    abstention_auroc: float | None
    citation_precision: float | None
    seconds: float

    def as_json(self) -> dict[str, int | float | None]:
        return {
            "documents": self.documents,
            "questions": self.questions,
            "mrr@10": _rounded(self.mrr),
            "recall@5": _rounded(self.recall_5),
            "recall@10": _rounded(self.recall_10),
            "ndcg@10": _rounded(self.ndcg),
            "answer_containment": _rounded(self.answer_containment),
            "abstention_auroc": _rounded(self.abstention_auroc),
            "citation_precision": _rounded(self.citation_precision),
            "seconds": round(self.seconds, 3),
        }


async def evaluate(
    questions: Sequence[LabelledQuestion],
    ask: Callable[[LabelledQuestion], Awaitable[Outcome]],
    *,
    indexed: Collection[str],
    at_once: int = 1,
    on_asked: Callable[[int], None] | None = None,
) -> Report:
    """Ask every question, `at_once` of them side by side. What is not `indexed` was left out and cannot be found."""
    started = time.perf_counter()
    free = asyncio.Semaphore(at_once)
    asked = 0

    async def one(question: LabelledQuestion) -> Outcome:
        nonlocal asked
        async with free:
            outcome = await ask(question)
        asked += 1
        if on_asked:
            on_asked(asked)
        return outcome

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(question)) for question in questions]
    except BaseExceptionGroup as failures:
        raise first_of(failures) from failures
    outcomes = [task.result() for task in tasks]
    return report(questions, outcomes, indexed=indexed, seconds=time.perf_counter() - started)


def report(
    questions: Sequence[LabelledQuestion], outcomes: Sequence[Outcome], *, indexed: Collection[str], seconds: float = 0.0
) -> Report:
    held = frozenset(indexed)
    pairs = [(question, question.relevant & held, outcome) for question, outcome in zip(questions, outcomes, strict=True)]
    ranked = [(tuple(dict.fromkeys(outcome.documents)), relevant) for _, relevant, outcome in pairs if relevant]
    answered = [
        (question.answers, outcome) for question, relevant, outcome in pairs if question.answers and _answerable(question, relevant)
    ]
    return Report(
        documents=len(held),
        questions=len(questions),
        mrr=_mean([reciprocal_rank(found, relevant) for found, relevant in ranked]),
        recall_5=_mean([recall(found, relevant, 5) for found, relevant in ranked]),
        recall_10=_mean([recall(found, relevant, DEPTH) for found, relevant in ranked]),
        ndcg=_mean([ndcg(found, relevant) for found, relevant in ranked]),
        answer_containment=_mean([float(not each.abstained and contains(each.answer, answers)) for answers, each in answered]),
        abstention_auroc=auroc(
            [outcome.relevance for question, relevant, outcome in pairs if _answerable(question, relevant)],
            [outcome.relevance for question, relevant, outcome in pairs if not _answerable(question, relevant)],
        ),
        citation_precision=_mean(
            [
                float(document in relevant)
                for question, relevant, outcome in pairs
                if question.relevant
                for document in outcome.cited
            ]
        ),
        seconds=seconds,
    )


def _answerable(question: LabelledQuestion, held: Collection[str]) -> bool:
    return question.answerable and (bool(held) or not question.relevant)


# --- measures -------------------------------------------------------------------------------------------------------


def reciprocal_rank(found: Sequence[str], relevant: Collection[str], depth: int = DEPTH) -> float:
    return next((1 / rank for rank, document in enumerate(found[:depth], 1) if document in relevant), 0.0)


def recall(found: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """The share of the relevant documents that is among the first."""
    return sum(document in relevant for document in found[:depth]) / len(relevant)


def ndcg(found: Sequence[str], relevant: Collection[str], depth: int = DEPTH) -> float:
    gain = sum(1 / math.log2(rank + 1) for rank, document in enumerate(found[:depth], 1) if document in relevant)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(depth, len(relevant)) + 1))


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """How often a positive scores higher than a negative, equal ones counted half; None where either is missing."""
    if not positive or not negative:
        return None
    ordered = sorted([(score, 1) for score in positive] + [(score, 0) for score in negative])
    wins = below = at = 0
    while at < len(ordered):
        same = [kind for score, kind in ordered[at : at + _run(ordered, at)]]
        positives = sum(same)
        negatives = len(same) - positives
        wins += positives * (2 * below + negatives)
        below += negatives
        at += len(same)
    return wins / (2 * len(positive) * len(negative))


def _run(ordered: Sequence[tuple[float, int]], at: int) -> int:
    """How many of the same score follow."""
    end = at
    while end < len(ordered) and ordered[end][0] == ordered[at][0]:
        end += 1
    return end - at


def contains(text: str, answers: Collection[str]) -> bool:
    """Whether one of the answers stands in the text as whole words, whatever the case, punctuation and spacing."""
    told = plain(text)
    return any(_stands_in(plain(answer), told) for answer in answers)


def _stands_in(answer: str, told: str) -> bool:
    at = told.find(answer) if answer else -1
    while at >= 0:
        before, after = told[at - 1 : at], told[at + len(answer) : at + len(answer) + 1]
        if not (_goes_on(before, answer[0]) or _goes_on(answer[-1], after)):
            return True
        at = told.find(answer, at + 1)
    return False


def _goes_on(one: str, next_one: str) -> bool:
    """Whether a word goes on from one character to the next: a character of a script without spaces ends any word."""
    return one.isalnum() and next_one.isalnum() and not (_UNSPACED.match(one) or _UNSPACED.match(next_one))


def plain(text: str) -> str:
    """As SQuAD compares: case, punctuation and spacing folded; no space next to a character of a script without spaces."""
    words = _SEPARATORS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return _UNSPACED.sub(r"\1", words)


# --- samples --------------------------------------------------------------------------------------------------------


def left_out(ids: Sequence[str], share: float, seed: int = 0) -> frozenset[str]:
    """This share of the documents, the same ones for the same seed, whatever their order."""
    chosen = random.Random(seed).sample(sorted(ids), round(len(ids) * share))  # noqa: S311 - a fixed choice, no secret
    return frozenset(chosen)


def sample(questions: Sequence[LabelledQuestion], count: int, seed: int = 0) -> list[LabelledQuestion]:
    """So many of the questions, the same ones for the same seed, in their own order."""
    if count >= len(questions):
        return list(questions)
    chosen = set(random.Random(seed).sample(range(len(questions)), count))  # noqa: S311 - a fixed choice, no secret
    return [question for at, question in enumerate(questions) if at in chosen]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
