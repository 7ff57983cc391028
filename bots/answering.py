"""What a question gets: its stored answer, a new one, or a notice that says why there is none."""

from __future__ import annotations

from datetime import UTC, datetime
from logging import getLogger
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from bots.surfaces import Notice
from bots.wording import apology, words
from rag.errors import DeliveryError, FootnoteError, IndexMissing, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bots.delivery import Delivery
    from bots.surfaces import Said, Surface
    from rag.ports import Inbox, Memory, OnDraft
    from rag.types import Answer, Question, QuestionState, Thread, Turn

log = getLogger(__name__)


STORE_TRIES = 3  # until who asked is told that the answer cannot be stored


class Replies(Protocol):
    """The core, as a desk needs it."""

    async def reply(  # noqa: PLR0913 - rag.conversation's
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
    ) -> Answer: ...


class Outcome(NamedTuple):
    """What is said, and the state that the question has once it was said."""

    said: Said
    state: QuestionState
    failure: str = ""


class Answering:
    def __init__(self, inbox: Inbox, memory: Memory, conversation: Replies, too_old: float, attempts: int) -> None:
        self._inbox = inbox
        self._memory = memory
        self._conversation = conversation
        self._too_old = too_old
        self._attempts = attempts

    async def outcome(self, surface: Surface[Any], question: Question, delivery: Delivery) -> Outcome:
        """A model is asked only where no answer is stored, and it can be shown. Raises StoreError and DeliveryError."""
        await surface.reach(question)
        if (stored := await self._stored(question)) is not None:
            return stored
        said = words(question.text, question.language)
        if question.notice:
            return Outcome(Notice(question.notice), "failed", "refused")
        if question.failure:
            return Outcome(Notice(said.failed), "failed", question.failure)
        if question.attempts > self._attempts:
            return Outcome(Notice(said.failed), "failed", f"taken up {question.attempts} times, and never answered")
        if question.taken_at is not None and (datetime.now(UTC) - question.taken_at).total_seconds() > self._too_old:
            return Outcome(Notice(said.too_old), "expired", "too old")
        return await self._new(surface, question, delivery)

    async def _stored(self, question: Question) -> Outcome | None:
        looked_for = question.attempts > 1 or question.state == "answered"
        answer = await self._inbox.answer(question.id) if looked_for else None
        return None if answer is None else Outcome(answer, "delivered")

    async def _new(self, surface: Surface[Any], question: Question, delivery: Delivery) -> Outcome:
        text, history = await self._with_history(surface, question)
        if not text:
            return Outcome(Notice(words("", question.language).no_question), "failed", "no question")
        try:
            async with delivery.growing() as show:
                answer = await self._conversation.reply(
                    question.thread,
                    text,
                    show,
                    speaker=question.author,
                    roles=question.roles,
                    history=history,
                    question=question.id,
                    base=question.base,
                )
        except IndexMissing as error:  # no second try makes one
            log.error("question %s: %s", question.id, error)  # noqa: TRY400 - it says all there is
            return Outcome(Notice(apology(error, text, question.language)), "failed", str(error))
        except StoreError as error:
            return await self._unless_stored(question, error)
        except FootnoteError as error:
            return Outcome(Notice(apology(error, text, question.language)), "failed", str(error))
        except Exception as error:  # a bug, of ours or a model's library: who asked hears of it all the same
            log.exception("question %s: an error that should not be", question.id)
            return Outcome(Notice(apology(None, text, question.language)), "failed", type(error).__name__)
        return Outcome(answer, "delivered")

    async def _unless_stored(self, question: Question, error: StoreError) -> Outcome:
        """An answer that could not be stored may be in a moment: the desk tries again, a few times, before anybody is told."""
        stored = await self._inbox.answer(question.id)  # somebody may have answered it, whom we had taken for dead
        if stored is not None:
            return Outcome(stored, "delivered")
        now = await self._inbox.question(question.id)
        if now is not None and not now.failure and question.deliveries + 1 < STORE_TRIES:
            raise error
        log.warning("question %s: a store failed while it was answered: %s", question.id, error)
        return Outcome(Notice(apology(error, question.text, question.language)), "failed", str(error))

    async def _with_history(self, surface: Surface[Any], question: Question) -> tuple[str, Sequence[Turn] | None]:
        """A thread that is not known is read once (S4). Called without a question, the thread's last one is meant."""
        text = question.text.strip()
        if text and await self._memory.recall(question.thread, 1):
            return text, None
        try:
            said = list(await surface.history(question))
        except DeliveryError as error:
            log.warning("question %s: its thread could not be read: %s", question.id, error)
            said = []
        if not text:
            while said and said[-1].role != "user":
                said.pop()
            text = said.pop().text if said else ""
        return text, said
