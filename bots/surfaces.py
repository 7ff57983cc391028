"""A platform as the desk and the delivery see it: what a surface shows, and how an answer on it is found again (S5, D4, P3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from rag.types import Answer, Post

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from bots.whispering import Whisper
    from rag.types import Question, Turn

Message = TypeVar("Message")  # one message's content, in the surface's own form
Note: TypeAlias = "Callable[[Post], Awaitable[None]]"


@dataclass(frozen=True, slots=True)
class Notice:
    """What is said in place of an answer: an apology, a refusal, a piece of advice."""

    text: str


Said: TypeAlias = Answer | Notice


@dataclass(frozen=True, slots=True)
class Part:
    """Which message of an answer: the n-th of so many. `n` 0: of a draft."""

    n: int
    of: int


@dataclass(frozen=True, slots=True)
class Found:
    """A message of ours in the thread that shows a question's answer, or a draft of it. No stream goes into it any more."""

    message: str
    part: Part


class Growing(Protocol):
    """A draft on its way. Its messages are noted as soon as their ids are known."""

    async def show(self, draft: str) -> None:
        """Show all the text so far. Raises DeliveryError: then no draft is shown any more."""
        ...

    async def finish(self, said: Said) -> bool:
        """End it as what is said, complete; False where that has to be edited in. No stream is open afterwards either way."""
        ...


class Surface(Protocol[Message]):
    """A platform, as the desk sees it. What it raises are DeliveryErrors."""

    @property
    def pace(self) -> float:
        """Seconds between one draft and the next."""
        ...

    @property
    def status_seconds(self) -> float:
        """How long "looking" is shown before it has to be said again."""
        ...

    async def reach(self, question: Question) -> None:
        """Raises PostImpossible where it is known that nothing can be shown, QuestionGone where nothing is to be: then no model
        is paid. Raises DeliveryError.
        """
        ...

    async def looking(self, question: Question) -> None:
        """Say that the question was seen and is being looked up. Best effort: raises nothing."""
        ...

    async def looked(self, question: Question) -> None:
        """Take that back. Best effort: raises nothing."""
        ...

    async def history(self, question: Question) -> Sequence[Turn]:
        """What was said in its thread before it, oldest first; () for a thread that begins with it. Raises DeliveryError."""
        ...

    def growing(self, question: Question, note: Note) -> Growing | None:
        """None where no draft can be shown, or none now."""
        ...

    def whisper(self, question: Question) -> Whisper | None:
        """How it is answered where no message can be found, changed or removed again. None: with messages that can."""
        ...

    def forms(self, question: Question, said: Said) -> Iterable[Sequence[Message]]:
        """The messages that say it, from the best form down to plain text."""
        ...

    async def post(self, question: Question, message: Message, part: Part) -> str:
        """The id of the new message, "" where the platform gives none. It carries the question's id and its part."""
        ...

    async def edit(self, question: Question, post: str, message: Message, part: Part) -> None: ...

    async def remove(self, question: Question, post: str) -> None: ...

    async def found(self, question: Question, noted: Sequence[Post]) -> Sequence[Found]:
        """Read the thread for messages that show this question's answer, noted or not, and close what is still open."""
        ...
