"""The desk: questions in, answers out, each once and each thread's in order, over restarts and replicas (P3, P4, O6).

claim → acknowledge → the thread's next question under a lease → reply → stored → delivered. Every question ends in one answer
or one plain apology; a question whose process died is taken up by whichever process finds it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from logging import getLogger
from typing import TYPE_CHECKING, Any, Protocol, Self
from uuid import uuid4

from bots.answering import Answering
from bots.delivery import Delivery
from bots.retrying import is_hopeless, pause
from bots.surfaces import Notice
from bots.wording import words
from rag.errors import DeliveryError, FootnoteError, PostImpossible, PostRefused, StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType

    from bots.answering import Replies
    from bots.surfaces import Surface
    from rag.ports import Inbox, Memory
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
    async def notice(self, question: Question) -> str:
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
        self._holder = uuid4().hex
        self._slots = asyncio.Semaphore(self._settings.at_once)
        self._wanted: set[Thread] = set()
        self._threads: dict[Thread, asyncio.Task[None]] = {}
        self._held: dict[str, asyncio.Task[None]] = {}
        self._background: list[asyncio.Task[None]] = []
        self._greetings: set[asyncio.Task[None]] = set()
        self._draining = False

    async def __aenter__(self) -> Self:
        """What an earlier process left undone is taken up at once, then whenever another process drops something."""
        self._background = [
            asyncio.create_task(self._every(self._settings.sweep_seconds, self._sweep)),
            asyncio.create_task(self._every(self._settings.lease_seconds / 3, self._renew)),
        ]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.drain()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    @property
    def busy(self) -> int:
        """How many questions are being answered here."""
        return len(self._held)

    async def ask(self, question: Question, *, taken: Callable[[Question], Awaitable[None]] | None = None) -> bool:
        """Take a question in. False where it was taken in before: a retry, a double event or a replay (P3).

        `taken` is done once it is claimed, before anybody works on it. While draining it is left to the next process.
        """
        notice = question.notice or (await self._limits.notice(question) if self._limits else "")
        claimed = await self._claim(replace(question, notice=notice), taken)
        if claimed is None:
            return False
        if not self._draining:
            if not notice:
                greeting = asyncio.create_task(self._surface(claimed).looking(claimed))
                self._greetings.add(greeting)
                greeting.add_done_callback(self._greetings.discard)
            self._work(claimed.thread)
        return True

    async def _claim(self, question: Question, taken: Callable[[Question], Awaitable[None]] | None) -> Question | None:
        if taken is None:
            return await self._inbox.claim(question)
        if (claimed := await self._inbox.claim(question, self._holder, seconds=self._settings.lease_seconds)) is not None:
            await taken(claimed)
            await self._inbox.hand_back(claimed.id, self._holder)
        return claimed

    async def edit(self, place: Place, message: str, text: str) -> bool:
        """A person changed the question: it is answered anew, in place (S8)."""
        asked = await self._inbox.asked(place, message)
        if asked is None or asked.state == "cancelled" or not await self._inbox.revise(asked.id, text):
            return False
        self._stop(asked.id)
        if not self._draining:
            self._work(asked.thread)
        return True

    async def delete(self, place: Place, message: str) -> bool:
        """The question is gone: its answer is stopped, or removed (S8)."""
        asked = await self._inbox.asked(place, message)
        if asked is None or not await self._inbox.withdraw(asked.id):
            return False
        if not self._stop(asked.id):
            await self._clear(asked)
        return True

    async def settled(self) -> None:
        """Until nothing is being worked on here."""
        while self._threads:
            await asyncio.gather(*self._threads.values(), return_exceptions=True)

    async def drain(self) -> None:
        """New questions are left to others; those in flight are finished within the limit, the rest handed back (O6)."""
        self._draining = True
        if self._threads:
            await asyncio.wait(self._threads.values(), timeout=self._settings.drain_seconds)
        for task in list(self._held.values()):
            task.cancel()
        for thread in list(self._threads.values()):  # those that wait for a slot
            thread.cancel()
        await asyncio.gather(*self._held.values(), *self._threads.values(), return_exceptions=True)

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
            question = (
                None if self._draining else await self._inbox.next(thread, self._holder, seconds=self._settings.lease_seconds)
            )
            if question is None:
                return False
            task = asyncio.create_task(self._process(question))
            self._held[question.id] = task
            try:
                await asyncio.wait([task])
            finally:
                self._held.pop(question.id, None)
        return True

    async def _process(self, question: Question) -> None:
        """The boundary of one question: whatever goes wrong in it is said to who asked, or tried again, and logged."""
        surface = self._surface(question)
        looking = asyncio.create_task(self._looking(question))
        try:
            await self._answer(surface, question)
        except asyncio.CancelledError:
            await asyncio.shield(self._let_go(question))
            raise
        except PostImpossible as error:
            log.warning("question %s: nothing can be shown in its place: %s", question.id, error)
            await self._finish(question, "failed", str(error))
        except (DeliveryError, StoreError) as error:
            await self._again(question, error)
        except Exception as error:
            log.exception("question %s: an error that should not be", question.id)
            await self._again(question, error)
        finally:
            looking.cancel()
            await surface.looked(question)

    async def _answer(self, surface: Surface[Any], question: Question) -> None:
        again = question.attempts > 1
        delivery = Delivery(surface, self._inbox, question, again=again, patience=self._settings.patience_seconds)
        said, outcome, failure = await self._answering.outcome(surface, question, delivery)
        try:
            await delivery.say(said)
        except PostRefused:  # in every form: who asked hears of it at least
            await delivery.say(Notice(words(question.text, question.language).failed))
            outcome, failure = "failed", "the platform refused every form of the answer"
        if not await self._finish(question, outcome, failure):
            await self._clear_if_withdrawn(question)

    async def _finish(self, question: Question, outcome: Any, failure: str = "") -> bool:
        self._held.pop(question.id, None)  # from here on it is not renewed, so not found missing either
        return await self._inbox.finish(question.id, self._holder, outcome, failure)

    async def _again(self, question: Question, error: Exception) -> None:
        """What could not be shown is shown later, by anybody; what is stored is not answered again."""
        log.warning("question %s: delivery %d failed: %s", question.id, question.deliveries + 1, error)
        with suppress(StoreError):  # its lease runs out by itself
            if is_hopeless(question, error):
                await self._finish(question, "failed", str(error))
            else:
                await self._inbox.hand_back(question.id, self._holder, seconds=pause(question, error), failed=True)

    async def _let_go(self, question: Question) -> None:
        with suppress(FootnoteError):
            if self._draining:
                await self._inbox.hand_back(question.id, self._holder)
            await self._clear_if_withdrawn(question)

    # --- the rest ---------------------------------------------------------------------------------------------------

    def _surface(self, question: Question) -> Surface[Any]:
        return self._surfaces[question.thread.place.platform]

    def _stop(self, id: str) -> bool:  # noqa: A002 - the word for it
        task = self._held.get(id)
        return task is not None and task.cancel()

    async def _clear_if_withdrawn(self, question: Question) -> None:
        asked = await self._inbox.asked(question.thread.place, question.message) if question.message else None
        if asked is not None and asked.state == "cancelled":
            await self._clear(question)

    async def _clear(self, question: Question) -> None:
        """Remove what shows the answer to a question that is gone."""
        surface = self._surface(question)
        for post in await self._inbox.posts(question.id):
            with suppress(DeliveryError):
                await surface.remove(question, post.message)
            await self._inbox.unnote(question.id, post.message)

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

    async def _renew(self) -> None:
        """What is no longer ours was edited, deleted or taken over: stop working on it."""
        held = list(self._held)
        if not held:
            return
        still = await self._inbox.renew(self._holder, held, seconds=self._settings.lease_seconds)
        for id in set(held) - still:  # noqa: A001 - the word for it
            self._stop(id)

    async def _every(self, seconds: float, work: Callable[[], Any]) -> None:
        while True:
            try:
                await work()
            except FootnoteError as error:
                log.warning("%s", error)
            except Exception:
                log.exception("an error that should not be")
            await asyncio.sleep(seconds)
