"""The desk: questions in, answers out, each once and each thread's in order, over restarts and replicas (P3, P4, O6).

claim → acknowledge → the thread's next question under a lease → reply → stored → delivered. Every question ends in one answer
or one plain apology; a question whose process died is taken up by whichever process finds it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from logging import getLogger
from typing import TYPE_CHECKING, Any, Protocol, Self

from bots.answering import Answering
from bots.beside import Beside
from bots.delivery import Delivery
from bots.holding import Holding
from bots.retrying import is_hopeless, pause
from bots.surfaces import Notice
from bots.wording import words
from rag.errors import DeliveryError, PostImpossible, PostRefused, QuestionGone, StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType

    from bots.answering import Replies
    from bots.surfaces import Surface
    from rag.ports import Inbox, Limit, Memory
    from rag.types import Place, Question, Thread

log = getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DeskSettings:
    at_once: int = 32
    lease_seconds: float = 15.0
    sweep_seconds: float = 5.0
    too_old_seconds: float = 900.0
    drain_seconds: float = 20.0
    attempts: int = 5
    patience_seconds: float = 90.0


class Limits(Protocol):
    def of(self, question: Question) -> Limit:
        """What is said instead of an answer where a limit is reached (X3); "" where none is."""
        ...


class Desk:
    """`async with Desk(…) as desk`: inside, questions are taken; at the end, those in flight are finished or handed back."""

    def __init__(  # noqa: PLR0913 - one argument for each part, all by name
        self,
        *,
        inbox: Inbox,
        memory: Memory,
        conversation: Replies,
        surfaces: Mapping[str, Surface[Any]],
        limits: Limits | None = None,
        settings: DeskSettings | None = None,
    ) -> None:
        self._inbox = inbox
        self._surfaces = surfaces
        self._limits = limits
        self._settings = settings or DeskSettings()
        self._answering = Answering(inbox, memory, conversation, self._settings.too_old_seconds, self._settings.attempts)
        self._holding = Holding(inbox, self._settings.lease_seconds)
        self._slots = asyncio.Semaphore(self._settings.at_once)
        self._wanted: set[Thread] = set()
        self._threads: dict[Thread, asyncio.Task[None]] = {}
        self._beside = Beside()
        self._draining = False

    async def __aenter__(self) -> Self:
        """What an earlier process left undone is taken up at once, then whenever another process drops something."""
        self._beside.every(self._settings.sweep_seconds, self._sweep)
        self._beside.every(self._settings.lease_seconds / 3, self._holding.renew)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.drain()
        await self._beside.end()

    @property
    def busy(self) -> int:
        """How many questions are being answered here."""
        return len(self._holding)

    async def ask(self, question: Question, *, taken: Callable[[Question], Awaitable[None]] | None = None) -> bool:
        """Take a question in. False where it was taken in before: a retry, a double event or a replay (P3).

        `taken` is done once it is claimed, before anybody works on it. While draining it is left to the next process.
        """
        claimed = await self._claim(question, taken)
        if claimed is None:
            return False
        if not self._draining:
            if not claimed.notice:
                self._beside.do(self._surface(claimed).looking(claimed))
            self._work(claimed.thread)
        return True

    async def _claim(self, question: Question, taken: Callable[[Question], Awaitable[None]] | None) -> Question | None:
        limit = None if question.notice or self._limits is None else self._limits.of(question)
        if taken is None:
            return await self._inbox.claim(question, limit=limit)
        claimed = await self._inbox.claim(question, self._holding.holder, seconds=self._holding.seconds, limit=limit)
        if claimed is not None:
            await taken(claimed)
            await self._holding.hand_back(claimed.id)
        return claimed

    async def edit(self, place: Place, message: str, text: str) -> bool:
        """A person changed the question: it is answered anew, in place (S8)."""
        asked = await self._inbox.asked(place, message)
        if asked is None or asked.state == "cancelled" or not await self._inbox.revise(asked.id, text):
            return False
        self._holding.stop(asked.id)
        if not self._draining:
            self._work(asked.thread)
        return True

    async def delete(self, place: Place, message: str) -> bool:
        """The question is gone: its answer is stopped, or removed (S8)."""
        asked = await self._inbox.asked(place, message)
        if asked is None or not await self._inbox.withdraw(asked.id):
            return False
        if not self._holding.stop(asked.id):
            self._clear(asked)
        return True

    async def settled(self) -> None:
        """Until nothing is being worked on here."""
        while busy := [*self._threads.values(), *self._beside.tasks]:
            await asyncio.gather(*busy, return_exceptions=True)

    async def drain(self) -> None:
        """New questions are left to others; those in flight are finished within the limit, the rest handed back (O6)."""
        self._draining = True
        if busy := [*self._threads.values(), *self._beside.tasks]:
            await asyncio.wait(busy, timeout=self._settings.drain_seconds)
        await self._holding.stop_all()
        for thread in list(self._threads.values()):  # those that wait for a slot
            thread.cancel()
        await asyncio.gather(*self._threads.values(), return_exceptions=True)

    # --- one thread -------------------------------------------------------------------------------------------------

    def _work(self, thread: Thread) -> None:
        self._wanted.add(thread)
        if thread not in self._threads:
            self._threads[thread] = asyncio.create_task(self._serve(thread))

    async def _serve(self, thread: Thread) -> None:
        try:
            while thread in self._wanted:
                self._wanted.discard(thread)
                while not self._draining and await self._one(thread):
                    pass
        except StoreError as error:
            log.warning("the questions of a thread wait, since the database does not answer: %s", error)
        finally:
            self._wanted.discard(thread)
            del self._threads[thread]

    async def _one(self, thread: Thread) -> bool:
        """Answer the thread's next question, if it is ours to answer; whether there may be another."""
        async with self._slots:
            question = None if self._draining else await self._holding.next(thread)
            if question is None:
                return False
            await self._holding.work(question.id, asyncio.create_task(self._process(question)))
        return True

    async def _process(self, question: Question) -> None:
        """The boundary of one question: whatever goes wrong in it is said to who asked, or tried again, and logged."""
        surface, delivery = self._surface(question), self._delivery(question)
        looking = asyncio.create_task(self._looking(question))
        try:
            await self._answer(surface, question, delivery)
        except asyncio.CancelledError:
            await asyncio.shield(self._let_go(question, delivery))
            raise
        except QuestionGone as error:
            log.info("question %s ends here: %s", question.id, error)
            await self._gone(question)
        except PostImpossible as error:
            log.warning("question %s: nothing can be shown in its place: %s", question.id, error)
            await self._holding.finish(question.id, "failed", str(error))
        except (DeliveryError, StoreError) as error:
            await self._again(question, error, delivery)
        except Exception as error:
            log.exception("question %s: an error that should not be", question.id)
            await self._again(question, error, delivery)
        finally:
            looking.cancel()
            await surface.looked(question)

    def _delivery(self, question: Question) -> Delivery:
        return Delivery(
            self._surface(question),
            self._inbox,
            question,
            again=question.attempts > 1,
            patience=self._settings.patience_seconds,
            sure=partial(self._holding.sure, question.id),
        )

    async def _answer(self, surface: Surface[Any], question: Question, delivery: Delivery) -> None:
        said, outcome, failure = await self._answering.outcome(surface, question, delivery)
        try:
            await delivery.say(said)
        except PostRefused:  # in every form: who asked hears of it at least
            await delivery.say(Notice(words(question.text, question.language).failed))
            outcome, failure = "failed", "the platform refused every form of the answer"
        if not await self._holding.finish(question.id, outcome, failure):
            self._lost(question, delivery)

    async def _again(self, question: Question, error: Exception, delivery: Delivery) -> None:
        """What could not be shown is shown later, by anybody; what is stored is not answered again."""
        log.warning("question %s: delivery %d failed: %s", question.id, question.deliveries + 1, error)
        with suppress(StoreError):  # its lease runs out by itself
            if is_hopeless(question, error):
                ours = await self._holding.finish(question.id, "failed", str(error))
            else:
                ours = await self._holding.hand_back(question.id, seconds=pause(question, error), failed=True)
            if ours:
                return
        self._lost(question, delivery)

    async def _let_go(self, question: Question, delivery: Delivery) -> None:
        with suppress(StoreError):
            if self._draining and await self._holding.hand_back(question.id):
                return
        self._lost(question, delivery)

    def _lost(self, question: Question, delivery: Delivery) -> None:
        """It was edited or deleted, or another process took it over."""
        self._beside.do(self._settle(question, late=delivery.wrote >= self._holding.until(question.id)))

    async def _settle(self, question: Question, *, late: bool) -> None:
        """What was shown too late may cover what another process answered: once it is done, that is shown anew."""
        while True:
            with suppress(StoreError):
                now = await self._inbox.question(question.id)
                if now is not None and now.state == "cancelled":
                    self._clear(question)
                if not late or self._draining or now is None or now.state == "cancelled":
                    return
                if await self._inbox.reopen(question.id):
                    log.warning("question %s: what another process answered meanwhile is shown anew", question.id)
                    self._work(question.thread)
                    return
            await asyncio.sleep(self._settings.sweep_seconds)

    # --- the rest ---------------------------------------------------------------------------------------------------

    def _surface(self, question: Question) -> Surface[Any]:
        return self._surfaces[question.thread.place.platform]

    async def _gone(self, question: Question) -> None:
        with suppress(StoreError):  # its lease runs out by itself, and then it is looked for again
            await self._inbox.withdraw(question.id)
            self._clear(question)

    def _clear(self, question: Question) -> None:
        """Remove what shows the answer to a question that is gone."""
        patience = self._settings.patience_seconds
        self._beside.do(Delivery(self._surface(question), self._inbox, question, again=True, patience=patience).clear())

    async def _looking(self, question: Question) -> None:
        surface = self._surface(question)
        if question.notice:
            return
        while True:
            await surface.looking(question)
            await asyncio.sleep(surface.status_seconds)

    async def _sweep(self) -> None:
        """Threads with questions that nobody works on."""
        if self._draining:
            return
        for thread in await self._inbox.unfinished(list(self._surfaces)):
            self._work(thread)
