"""How an answer is shown: growing at the platform's pace, then whole, in the best form that the platform takes (S5, D4).

The answer is stored before any of this: whatever fails here, no model runs again. What was posted is noted as soon as its id
is known; after a crash the thread is read before anything is posted (P3).
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from functools import partial
from logging import getLogger
from typing import TYPE_CHECKING, Any, TypeVar

from bots.drafts import Drafts
from bots.surfaces import Part
from bots.whispering import Whispers
from rag.errors import DeliveryError, PostGone, PostImpossible, PostLater, PostRefused
from rag.types import Post

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    from bots.surfaces import Growing, Said, Surface
    from rag.ports import Inbox, OnDraft
    from rag.types import Question

log = getLogger(__name__)

T = TypeVar("T")

MOST = 1_000  # messages of one answer
PLAINLY = 3  # deliveries that failed, from which on nothing but the plainest form is tried
PATIENCE = 90.0  # seconds to keep trying to post before the question is handed back


class Delivery:
    """One question's answer on its way to who asked. `again`: somebody may have shown some of it before."""

    def __init__(  # noqa: PLR0913 - all by name but what it is about
        self,
        surface: Surface[Any],
        inbox: Inbox,
        question: Question,
        *,
        again: bool,
        patience: float = PATIENCE,
        sure: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`sure` is asked before anything is shown; it raises DeliveryError where somebody else shows it by now."""
        self._surface = surface
        self._inbox = inbox
        self._question = question
        self._again = again
        self._patience = patience
        self._sure = sure
        self.wrote = 0.0  # when something was last shown, or may have been, by the clock of `time.monotonic`
        self._growing: Growing | None = None
        self._drafts: Drafts | None = None
        self._shown: list[str] = []  # messages of ours, in order
        whisper = surface.whisper(question)
        self._whispers = Whispers(whisper, inbox, question) if whisper else None

    @asynccontextmanager
    async def growing(self) -> AsyncIterator[OnDraft]:
        """Show drafts inside. After a crash there is none: what was shown before is edited once the answer is there."""
        if not self._again:
            self._growing = self._surface.growing(self._question, self._note)
        if self._growing is None:
            yield _ignore
            return
        self._drafts = Drafts(partial(self._show, self._growing), self._surface.pace)
        try:
            yield self._drafts.put
        finally:
            await self._drafts.stop()

    async def say(self, said: Said) -> None:
        """Raises DeliveryError where nothing of it could be shown; it may be tried again."""
        if self._again or (self._drafts is not None and self._drafts.unsure):
            await self._take_over()
        elif self._growing is not None and await self._grown(self._growing, said):
            return
        refusal: PostRefused | None = None
        for n, form in self._forms(said):
            try:
                await (self._lay_out(form) if self._whispers is None else self._say_softly(self._whispers, form, n))
            except PostRefused as error:
                log.warning("question %s: the platform refused a form of its answer: %s", self._question.id, error)
                refusal = error
            else:
                return
        raise refusal or PostRefused("There is nothing to show.")

    async def clear(self) -> None:
        """Nothing of it is shown any more. Raises DeliveryError where that cannot be done now."""
        for post in await self._inbox.posts(self._question.id):
            await self._take_away(post.message)

    def _forms(self, said: Said) -> Iterable[tuple[int, Sequence[Any]]]:
        """From the best one down. Where deliveries failed again and again, the plainest alone: platforms break over some."""
        forms = enumerate(self._surface.forms(self._question, said))
        return list(forms)[-1:] if self._question.deliveries >= PLAINLY else forms

    async def _take_over(self) -> None:
        """What the thread holds of the answer already, posted by a process that died before it could note it, is edited."""
        noted = await self._inbox.posts(self._question.id)
        if self._whispers is not None:
            self._whispers.known(noted)
            return
        found = await self._patiently(lambda: self._surface.found(self._question, noted))
        for each in sorted(found, key=lambda each: (each.part.n or MOST, each.message)):
            await self._note(Post(each.message))

    async def _show(self, growing: Growing, draft: str) -> None:
        await self._surely(lambda: growing.show(draft))

    async def _grown(self, growing: Growing, said: Said) -> bool:
        try:
            return await self._surely(lambda: growing.finish(said))
        except DeliveryError as error:
            log.warning("question %s: its stream could not be ended: %s", self._question.id, error)
            return False

    async def _lay_out(self, form: Sequence[object]) -> None:
        """Into the messages that are there, then into new ones; what is left over is removed."""
        for n, message in enumerate(form, start=1):
            part = Part(n, len(form))
            if n > len(self._shown):
                await self._add(message, part)
            else:
                await self._change(n - 1, message, part)
        for extra in self._shown[len(form) :]:
            await self._take_away(extra)
        del self._shown[len(form) :]

    async def _say_softly(self, whispers: Whispers, form: Sequence[object], at: int) -> None:
        for n, message in enumerate(form, start=1):
            await self._patiently(partial(whispers.say, message, at, n))

    async def _change(self, at: int, message: object, part: Part) -> None:
        old = self._shown[at]
        try:
            await self._patiently(lambda: self._surface.edit(self._question, old, message, part))
        except PostGone:  # somebody deleted it: what comes after it is deleted and said anew, so that the order is right
            await self._inbox.unnote(self._question.id, old)
            for following in self._shown[at + 1 :]:
                await self._take_away(following)
            del self._shown[at:]
            await self._add(message, part)

    async def _take_away(self, post: str) -> None:
        """What cannot be taken away now is tried again: left there, it would stand beside the answer for good."""
        with suppress(PostGone, PostRefused, PostImpossible):
            await self._patiently(lambda: self._surface.remove(self._question, post))
        await self._inbox.unnote(self._question.id, post)

    async def _add(self, message: object, part: Part) -> None:
        post = await self._patiently(lambda: self._surface.post(self._question, message, part), part)
        self._shown.append(post)
        if post:
            await self._inbox.note(self._question.id, Post(post))

    async def _patiently(self, work: Callable[[], Awaitable[Any]], part: Part | None = None) -> Any:
        """Try again what cannot be done now. What may have been posted all the same is looked for first."""
        until = asyncio.get_running_loop().time() + self._patience
        while True:
            try:
                return await self._surely(work)
            except PostLater as later:
                if asyncio.get_running_loop().time() + later.seconds > until:
                    raise
                await asyncio.sleep(later.seconds)
                if later.unsure and part is not None and (there := await self._patiently(lambda: self._there(part))):
                    return there

    async def _surely(self, work: Callable[[], Awaitable[T]]) -> T:
        if self._sure is not None:
            await self._sure()
        try:
            return await work()
        finally:
            self.wrote = time.monotonic()

    async def _there(self, part: Part) -> str:
        """Only a thread that could be read tells that a message is not there."""
        noted = [Post(message) for message in self._shown]
        for each in await self._surface.found(self._question, noted):
            if each.part == part and each.message not in self._shown:
                return each.message
        return ""

    async def _note(self, post: Post) -> None:
        if post.message not in self._shown:
            self._shown.append(post.message)
        await self._inbox.note(self._question.id, post)


def _ignore(_draft: str) -> None:
    pass
