"""Measure answers on labelled questions, and calibrate when not to answer: through the whole system, settings and all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from config.assembly import calibration_key
from rag.abstaining import calibrate
from rag.condensing import as_asked
from rag.offtopic import questions_in
from rag.tracing import Trace
from rag.types import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from config.assembly import Footnote
    from rag.abstaining import Calibration

TERMINAL = Place("terminal")
OFF_TOPIC = "off-topic questions"
FALSE_ANSWERS = 0.1


@dataclass(frozen=True, slots=True)
class Examples:
    """Questions that the documents answer, and questions that they do not; `source` says where these are from."""

    answerable: Sequence[str]
    unanswerable: Sequence[str]
    source: str


async def calibrate_base(footnote: Footnote, base: str, examples: Examples, false_answers: float) -> Calibration:
    """Set the base's threshold, and keep it with the base (R34)."""
    right = [await relevance(footnote, base, text) for text in examples.answerable]
    wrong = [await relevance(footnote, base, text) for text in examples.unanswerable]
    found = calibrate(right, wrong, false_answers)
    kept = {
        "threshold": found.threshold,
        "answered": None if math.isnan(found.answered) else found.answered,
        "false_answers": found.false_answers,
        "source": examples.source,
        "made_at": datetime.now(UTC).isoformat(),
    }
    await footnote.catalog.remember(calibration_key(base), kept)
    footnote.thresholds[base] = found.threshold
    return found


async def relevance(footnote: Footnote, base: str, question: str) -> float:
    return (await footnote.retriever.find(as_asked(question), [base], Trace("calibration"))).relevance


async def calibrate_roughly(footnote: Footnote, base: str) -> None:
    """From off-topic questions, unless it was calibrated from better ones."""
    kept = await footnote.catalog.remembered(calibration_key(base))
    if kept is None or kept.get("source") == OFF_TOPIC:
        questions = questions_in(await footnote.index.languages(base))
        await calibrate_base(footnote, base, Examples((), questions, OFF_TOPIC), FALSE_ANSWERS)
