"""Reply in a thread: recall, route, condense, find, compose, cite, remember."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from logging import getLogger
from typing import TYPE_CHECKING, Final, NamedTuple

from rag.abstaining import abstention, wording
from rag.citing import cite
from rag.courtesies import besides_courtesies, courtesy_after
from rag.drafts import DraftCleaner, paced
from rag.errors import BadQuestion, DeadlineExceeded, ModelError
from rag.history import allowed, as_turns, bounded, language_of
from rag.retrieval import Found
from rag.text import well_formed
from rag.tracing import Trace
from rag.types import Answer, Thread, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.citing import Support
    from rag.composing import Composed, Composer
    from rag.condensing import Condenser
    from rag.ports import Memory, Observer, OnDraft
    from rag.retrieval import Retriever
    from rag.routing import Router
    from rag.types import Lookup, Place

log = getLogger(__name__)

_KEPT_FREE: Final = 0.1  # of a question's time, for an answer without the model


@dataclass(frozen=True, slots=True)
class ConversationSettings:
    """`draft_seconds` lie between two drafts at least."""

    history_turns: int = 12
    history_tokens: int = 2000
    deadline_seconds: float = 120.0
    question_characters: int = 4000
    allowed_hosts: tuple[str, ...] = ()
    draft_seconds: float = 0.1


class Asked(NamedTuple):
    """A question with all that its answer depends on."""

    thread: Thread
    text: str
    speaker: str
    roles: tuple[str, ...]
    history: tuple[Turn, ...]
    on_draft: OnDraft | None = None
    base: str = ""
    bases: tuple[str, ...] = ()
    language: str = ""
    ends_at: float | None = None  # by the event loop's clock


class Conversation:
    """The shared core: every platform asks through `reply`, and nothing else."""

    def __init__(  # noqa: PLR0913 - one argument for each part, all by name
        self,
        *,
        memory: Memory,
        router: Router,
        condenser: Condenser,
        retriever: Retriever,
        composer: Composer,
        support: Support,
        settings: ConversationSettings,
        degraded: Composer | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        """`degraded` answers while the composer's model fails; without one the error goes to whoever asked."""
        self._memory = memory
        self._router = router
        self._condenser = condenser
        self._retriever = retriever
        self._composer = composer
        self._degraded = degraded
        self._support = support
        self._settings = settings
        self._observers = observers

    async def reply(  # noqa: PLR0913 - the question, and what it may come with, by name
        self,
        thread: Thread,
        text: str,
        on_draft: OnDraft | None = None,
        *,
        speaker: str = "",
        roles: Sequence[str] = (),
        history: object = None,
        question: str = "",
        base: str = "",
    ) -> Answer:
        """Answer one question and remember both; `history` is what was said before in a thread not known yet (R3).

        Raises FootnoteError; the question is then stored with its failure, and no part of an answer is (R4).
        `question` is the id of one that an inbox holds: cancelled, it is left to who takes it up again. `base` was asked
        for by name.
        """
        text = self._checked(text)
        trace = Trace("question", self._observers)
        asked = Turn("user", text, speaker)
        ends_at = asyncio.get_running_loop().time() + self._settings.deadline_seconds
        try:
            async with asyncio.timeout_at(ends_at):
                said = await self._recall(thread, history, trace)
                whole = Asked(thread, text, speaker, tuple(roles), tuple(said), on_draft, base=base, ends_at=ends_at)
                answer, _ = await self._answer(whole, trace)
        except TimeoutError as error:
            late = DeadlineExceeded(f"The question took longer than {self._settings.deadline_seconds:g} s (deadline_seconds).")
            await self._memory.fail(thread, asked, str(late), trace.run(str(late)), question=question)
            raise late from error
        except BaseException as error:
            if not (question and isinstance(error, asyncio.CancelledError)):
                failure = f"{type(error).__name__}: {error}"
                await asyncio.shield(self._memory.fail(thread, asked, failure, trace.run(failure), question=question))
            raise
        await self._memory.remember(thread, asked, answer, trace.run(), question=question)
        return answer

    def _checked(self, text: str) -> str:
        text = well_formed(text).strip()
        if not text:
            raise BadQuestion("The question is empty. Ask it in words.")
        if len(text) > self._settings.question_characters:
            most = self._settings.question_characters
            raise BadQuestion(
                f"The question has {len(text)} characters, more than {most} (question_characters).",
                user_message=f"That question is too long for me: please ask it in at most {most} characters.",
            )
        return text

    async def examine(self, text: str, place: Place, history: object = None) -> tuple[Answer, Found]:
        """Answer as in `reply`, with what was found, and keep nothing: for evaluation and calibration."""
        said = bounded(as_turns(history), self._settings.history_turns, self._settings.history_tokens)
        asked = Asked(Thread(place, ""), self._checked(text), "", (), tuple(said))
        return await self._answer(asked, Trace("examination", self._observers))

    async def _answer(self, asked: Asked, trace: Trace) -> tuple[Answer, Found]:
        trace.notes |= {"question": asked.text, "speaker": asked.speaker, "thread": asked.thread.id}
        if courteous := courtesy_after(asked.text, asked.history):
            trace.notes |= {"courtesy": courteous.language, "answer": courteous.text, "abstained": False, "bases": []}
            return Answer(courteous.text, question=asked.text, language=courteous.language, run=trace.id), Found()
        asked = await self._placed(asked, trace)
        lookup = await self._condenser.standalone(asked.text, asked.history, trace)
        found = await self._retriever.find(lookup, asked.bases, trace, language=asked.language)
        if not found.ranked:
            await self._retriever.refuse_missing(asked.bases)
        answer = await self._written(asked, lookup, found, trace)
        trace.notes |= {"answer": answer.text, "abstained": answer.abstained, "bases": list(asked.bases)}
        answer = replace(
            answer, question=lookup.question, language=asked.language, bases=asked.bases, matches=found.matches, run=trace.id
        )
        return answer, found

    async def _recall(self, thread: Thread, history: object, trace: Trace) -> list[Turn]:
        with trace.step("recall") as notes:
            if given := as_turns(history):
                await self._memory.adopt(thread, given)
            turns = await self._memory.recall(thread, self._settings.history_turns)
            kept = bounded(turns, self._settings.history_turns, self._settings.history_tokens)
            notes["turns"] = len(kept)
        return kept

    async def _placed(self, asked: Asked, trace: Trace) -> Asked:
        """Where the question may be looked up, and what of the history may be seen there (R35, R37)."""
        with trace.step("route") as notes:
            bases = await self._router.route(asked.text, asked.thread.place, asked.roles, notes, base=asked.base)
            seen = tuple(besides_courtesies(allowed(asked.history, bases)))
            language = language_of(asked.text, seen, await self._retriever.languages(bases))
            notes |= {"bases": list(bases), "language": language, "withheld": len(asked.history) - len(seen)}
            notes["history"] = [f"{turn.speaker or turn.role}: {turn.text}" for turn in seen]
        return asked._replace(history=seen, bases=bases, language=language)

    async def _written(self, asked: Asked, lookup: Lookup, found: Found, trace: Trace) -> Answer:
        """No passage, no text or no verified citation: the documents do not say (R21, R33)."""
        if not found.matches:
            trace.notes["unanswered"] = "nothing relevant was found"
            return abstention(asked.language, found.nearest)
        composed, remark = await self._composed(asked, lookup, found, trace)
        with trace.step("cite") as notes:
            cited = await cite(
                composed.text,
                found.matches,
                composed.cited,
                support=self._support,
                hosts=self._settings.allowed_hosts,
                language=asked.language,
            )
            notes.update(cited.notes())
        if cited.abstained:
            trace.notes["unanswered"] = "no citation could be verified" if composed.text else "the writer found no answer"
            return replace(abstention(asked.language, found.nearest), remark=remark)
        return Answer(cited.text, cited.sources, intermediate=composed.intermediate, remark=remark)

    @property
    def _kept_free(self) -> float:
        return _KEPT_FREE * self._settings.deadline_seconds

    async def _composed(self, asked: Asked, lookup: Lookup, found: Found, trace: Trace) -> tuple[Composed, str]:
        """What was written, and what the reader is told of it.

        Where the model fails, even in the middle, what was shown until then is given up for a whole answer without it.
        """
        shown = None
        if asked.on_draft is not None:
            cleaner = DraftCleaner(found.matches, self._settings.allowed_hosts)
            shown = paced(asked.on_draft, cleaner.clean, self._settings.draft_seconds)
        compose = partial(self._composer.compose, asked.text, lookup, found.matches, asked.history, asked.language, trace)
        if self._degraded is None:
            return await compose(shown), ""
        try:
            return await compose(shown, None if asked.ends_at is None else asked.ends_at - self._kept_free), ""
        except (ModelError, DeadlineExceeded) as error:
            log.warning("run %s is answered without its model: %s", trace.id, type(error).__name__)
            trace.notes["degraded"] = f"{type(error).__name__}: {error}"
        degraded = self._degraded.compose(asked.text, lookup, found.matches, asked.history, asked.language, trace)
        return await degraded, wording(asked.language).by_rule
