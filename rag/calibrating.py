"""A threshold for each base, found by what its own passages score, and kept with it (R34)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rag.abstaining import calibrate
from rag.condensing import as_asked
from rag.errors import ModelUnavailable
from rag.offtopic import questions_in
from rag.relevance import LEAST
from rag.tracing import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, MutableMapping, Sequence

    from rag.abstaining import Calibration
    from rag.ports import Catalog, PassageIndex
    from rag.retrieval import Retriever

OFF_TOPIC = "off-topic questions"
FALSE_ANSWERS = 0.1
SCALE = "relevance/2"  # changes whenever the same passage gets another relevance: thresholds of another scale mean nothing
# Thresholds right for bases of many kinds lie between these. What off-topic questions tell of a base is rough: those of a few
# documents share no word with them, those about everything answer some.
ROUGH = (LEAST, 0.42)
# On the scale of a reranker whose scores lie between 0 and 1. Nobody but its maker can measure that scale, so these are wide, and
# low: a question that passes wrongly still meets the language model, which may say that the passages do not answer it, while
# one that is cut wrongly meets nobody. A labelled file (`footnote calibrate FILE`) has no bounds.
ROUGH_RERANKED = (0.02, 0.3)
CHANGED = 0.1  # a base that grew or shrank by more than this share is calibrated anew


@dataclass(frozen=True, slots=True)
class Examples:
    """Questions that the documents answer, and questions that they do not; `source` says where these are from."""

    answerable: Sequence[str]
    unanswerable: Sequence[str]
    source: str


class Calibrator:
    """`thresholds` are those in use, by base: a new one counts at once.

    `scale` names what relevance is measured by: an absolute reranker has its own, and the retriever it.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what is asked, where a threshold is kept, and what it is of
        self,
        retriever: Retriever,
        index: PassageIndex,
        catalog: Catalog,
        thresholds: MutableMapping[str, float],
        scale: str = SCALE,
        rough: tuple[float, float] = ROUGH,
    ) -> None:
        self._retriever = retriever
        self._index = index
        self._catalog = catalog
        self._thresholds = thresholds
        self._scale = scale
        self._rough = rough

    async def load(self, bases: Iterable[str]) -> None:
        for base in bases:
            if kept := await self._catalog.remembered(_key(base)):
                self._thresholds[base] = float(str(kept["threshold"])) if kept.get("scale") == self._scale else self._rough[0]

    async def calibrate(self, base: str, examples: Examples, false_answers: float = FALSE_ANSWERS) -> Calibration:
        right = [await self._relevance(base, text) for text in examples.answerable]
        wrong = [await self._relevance(base, text) for text in examples.unanswerable]
        found = calibrate(right, wrong, false_answers, *([self._rough] if examples.source == OFF_TOPIC else []))
        kept = {
            "scale": self._scale,
            "threshold": found.threshold,
            "answered": None if math.isnan(found.answered) else found.answered,
            "false_answers": found.false_answers,
            "source": examples.source,
            "made_at": datetime.now(UTC).isoformat(),
            **await self._state(base),
        }
        await self._catalog.remember(_key(base), kept)
        self._thresholds[base] = found.threshold
        return found

    async def off_topic(self, base: str) -> Examples:
        """Questions in the base's languages that it will not answer."""
        return Examples((), questions_in(await self._index.languages(base)), OFF_TOPIC)

    async def calibrate_roughly(self, base: str) -> None:
        """From off-topic questions, unless it was calibrated from better ones, is much as it was then, or holds nothing.

        A calibration on another scale counts as none, whatever it was made from.
        """
        kept = await self._catalog.remembered(_key(base))
        known = kept is not None and kept.get("scale") == self._scale
        if kept and known and (kept.get("source") != OFF_TOPIC or _still_holds(kept, await self._state(base))):
            return
        if await self._index.size(base):
            await self.calibrate(base, await self.off_topic(base))

    async def _state(self, base: str) -> Mapping[str, object]:
        """What a threshold depends on: the build (another one has other vectors or terms), its languages, how much it holds."""
        languages = sorted(await self._index.languages(base))
        return {"build": await self._index.live(base), "languages": languages, "passages": await self._index.size(base)}

    async def _relevance(self, base: str, question: str) -> float:
        """Raises ModelUnavailable where the reranker whose scale it is gave no scores."""
        found = await self._retriever.find(as_asked(question), [base], Trace("calibration"))
        if self._scale != SCALE and found.ranked and not found.judged:
            raise ModelUnavailable(f"{self._scale} gave no scores: the threshold of base {base!r} stays as it is. Try again later.")
        return found.relevance


def _still_holds(kept: Mapping[str, object], now: Mapping[str, object]) -> bool:
    """Asking all the off-topic questions takes longer than to index a changed paragraph, and would tell the same."""
    if any(kept.get(name) != now[name] for name in ("build", "languages")):
        return False
    before, passages = float(str(kept["passages"])), float(str(now["passages"]))
    return abs(passages - before) <= CHANGED * before


def _key(base: str) -> str:
    return f"calibration {base}"
