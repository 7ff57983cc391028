"""What only who asked sees, and what nobody can read back: after a crash a platform does not tell whether it is there.

So each message is noted before it is said, and again once the platform has taken it. One that may have been said before, since
the process died in between or no answer came, is said once more, and says so: rather twice than never.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rag.errors import PostLater, PostRefused
from rag.types import Post

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag.ports import Inbox
    from rag.types import Question


class Whisper(Protocol):
    async def __call__(self, message: Any, *, again: bool) -> None:
        """Say it; with a remark that it may have been said before. Raises DeliveryError."""
        ...


class Whispers:
    """Those of one question. A mark stands for a message that has no id."""

    def __init__(self, whisper: Whisper, inbox: Inbox, question: Question) -> None:
        self._whisper = whisper
        self._inbox = inbox
        self._question = question
        self._begun: set[str] = set()
        self._said: set[str] = set()

    def known(self, noted: Iterable[Post]) -> None:
        """What a process before us noted."""
        for post in noted:
            (self._begun if post.open else self._said).add(post.message)

    async def say(self, message: object, form: int, n: int) -> None:
        mark = f"whisper-{self._question.id}-{form}-{n}"
        if mark in self._said:
            return
        again = mark in self._begun
        self._begun.add(mark)
        await self._inbox.note(self._question.id, Post(mark, open=True))
        try:
            await self._whisper(message, again=again)
        except PostRefused:
            await self._forget(mark)
            raise
        except PostLater as later:
            if not (later.unsure or again):
                await self._forget(mark)
            raise
        self._said.add(mark)
        await self._inbox.note(self._question.id, Post(mark))

    async def _forget(self, mark: str) -> None:
        self._begun.discard(mark)
        await self._inbox.unnote(self._question.id, mark)
