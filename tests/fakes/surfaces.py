# ruff: noqa: ARG002 - the signatures are the port's
"""A platform in memory that keeps what it shows, and fails where a test says so; and a core that answers by a script."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bots.surfaces import Found, Notice, Part
from rag.errors import DeliveryError, PostGone, PostRefused
from rag.footers import render
from rag.types import Answer, Post, Run, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bots.surfaces import Growing, Note, Said
    from bots.whispering import Whisper
    from rag.ports import Memory, OnDraft
    from rag.types import Question, Thread


@dataclass
class Shown:
    """A message of ours, as the platform holds it."""

    id: str
    thread: Thread
    text: str
    question: str
    part: Part
    open: bool = False


@dataclass
class Wall:
    """What people see. It outlives the processes that write on it, as a platform does."""

    messages: list[Shown] = field(default_factory=list)
    posted: int = 0

    def of(self, thread: Thread) -> list[str]:
        return [message.text for message in self.messages if message.thread == thread]

    def add(self, thread: Thread, text: str, question: str, part: Part, *, open: bool = False) -> Shown:  # noqa: A002
        self.posted += 1
        shown = Shown(f"m{self.posted}", thread, text, question, part, open)
        self.messages.append(shown)
        return shown

    def get(self, id: str) -> Shown:  # noqa: A002 - the word for it
        for message in self.messages:
            if message.id == id:
                return message
        raise PostGone("the message is gone")


class ScriptedSurface:
    """`failures` holds errors by what was to be done, each raised once; `performed` says that it was done all the same."""

    pace = 0.0
    status_seconds = 60.0

    def __init__(self, wall: Wall | None = None, *, drafts: bool = False, limit: int = 10_000) -> None:
        self.wall = wall or Wall()
        self.drafts = drafts
        self.limit = limit
        self.said_before: list[Turn] = []
        self.failures: list[tuple[str, DeliveryError]] = []
        self.performed = False
        self.whispering = False
        self.refused: set[str] = set()  # messages that are refused whenever they come
        self.calls: list[str] = []

    def _called(self, what: str) -> DeliveryError | None:
        self.calls.append(what)
        if self.failures and self.failures[0][0] == what:
            return self.failures.pop(0)[1]
        return None

    async def reach(self, question: Question) -> None:
        if error := self._called("reach"):
            raise error

    async def looking(self, question: Question) -> None:
        self.calls.append("looking")

    async def looked(self, question: Question) -> None:
        self.calls.append("looked")

    async def history(self, question: Question) -> Sequence[Turn]:
        if error := self._called("history"):
            raise error
        return self.said_before

    def growing(self, question: Question, note: Note) -> Growing | None:
        return GrowingText(self, question, note) if self.drafts else None

    def whisper(self, question: Question) -> Whisper | None:
        """Where a test says that nothing can be found again."""
        if not self.whispering:
            return None

        async def say(message: str, *, again: bool) -> None:
            await self.post(question, f"again: {message}" if again else message, Part(0, 0))

        return say

    def forms(self, question: Question, said: Said) -> list[list[str]]:
        text = said.text if isinstance(said, Notice) else render(said)
        rich = [text[at : at + self.limit] for at in range(0, len(text), self.limit)]
        return [rich, [f"plain: {part}" for part in rich]]

    async def post(self, question: Question, message: str, part: Part) -> str:
        error = PostRefused("refused") if message in self.refused else self._called("post")
        if error and not self.performed:
            raise error
        shown = self.wall.add(question.thread, message, question.id, part)
        await asyncio.sleep(0)
        if error:
            raise error
        return shown.id

    async def edit(self, question: Question, post: str, message: str, part: Part) -> None:
        if error := self._called("edit"):
            raise error
        shown = self.wall.get(post)
        assert not shown.open, "a stream must be closed before its message is edited"
        shown.text, shown.part, shown.question = message, part, question.id

    async def remove(self, question: Question, post: str) -> None:
        if error := self._called("remove"):
            raise error
        self.wall.messages.remove(self.wall.get(post))

    async def found(self, question: Question, noted: Sequence[Post]) -> Sequence[Found]:
        if error := self._called("found"):
            raise error
        ids = {post.message for post in noted}
        mine = [shown for shown in self.wall.messages if shown.id in ids or shown.question == question.id]
        for shown in mine:
            shown.open = False
        return [Found(shown.id, shown.part) for shown in mine]


class GrowingText:
    def __init__(self, surface: ScriptedSurface, question: Question, note: Note) -> None:
        self._surface = surface
        self._question = question
        self._note = note
        self._shown: Shown | None = None

    async def show(self, draft: str) -> None:
        error = self._surface._called("show")
        if error and not self._surface.performed:
            raise error
        if self._shown is None:
            shown = self._surface.wall.add(self._question.thread, draft, self._question.id, Part(0, 0), open=True)
            if error:
                raise error
            self._shown = shown
            await self._note(Post(shown.id, open=True))
        self._shown.text = draft

    async def finish(self, said: Said) -> bool:
        error = self._surface._called("finish")
        if self._shown is None:
            return False
        self._shown.open = False
        if error:
            raise error
        if isinstance(said, Notice) or not render(said).startswith(self._shown.text):
            return False
        self._shown.text, self._shown.part = render(said), Part(1, 1)
        await self._note(Post(self._shown.id))
        return True


class ScriptedCore:
    """Answers with what its function says, streams it in three drafts, and stores it as the real one does.

    `asked` holds what the model was paid for; `gate` keeps answers back until it is set.
    """

    def __init__(self, memory: Memory, say: Callable[[str], str | Exception] | None = None) -> None:
        self.memory = memory
        self.say = say or (lambda text: f"About {text}")
        self.bases_of: Callable[[str], tuple[str, ...]] = lambda _: ("handbook",)  # in which it was looked up
        self.asked: list[str] = []
        self.histories: list[object] = []
        self.bases: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.at_once = 0
        self.most_at_once = 0

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
    ) -> Answer:
        self.bases.append(base)
        self.asked.append(text)
        self.histories.append(history)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._replied(thread, Turn("user", text, speaker), on_draft, question)
        finally:
            self.at_once -= 1

    async def _replied(self, thread: Thread, asked: Turn, on_draft: OnDraft | None, question: str) -> Answer:
        said = self.say(asked.text)
        run = Run(f"run-{question}-{len(self.asked)}", "question", datetime.now(UTC), 0.0)
        if isinstance(said, Exception):
            await self.gate.wait()
            await self.memory.fail(thread, asked, str(said), run, question=question)
            raise said
        for end in (len(said) // 3, 2 * len(said) // 3, len(said)):
            if on_draft:
                on_draft(said[:end])
            await asyncio.sleep(0)
        await self.gate.wait()
        answer = Answer(said, bases=self.bases_of(asked.text), run=run.id)
        await self.memory.remember(thread, asked, answer, run, question=question)
        return answer
