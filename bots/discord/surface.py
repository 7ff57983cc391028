"""Discord as the desk sees it: drafts by edits, answers as messages, found again by what they carry (D1, D4, D5, P3)."""

from __future__ import annotations

import asyncio
import io
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakValueDictionary

import discord

from bots.discord import buttons, history, render
from bots.discord.failing import TokenDead, delivering
from bots.discord.places import ReplyTo, refusal, thread_name
from bots.discord.sending import ByChannel, ByToken, ways
from bots.surfaces import Found, Notice, Part
from rag.errors import DeliveryError, PostGone, PostImpossible, PostLater, QuestionGone
from rag.types import Post

Threads: TypeAlias = Literal["offer", "always", "never"]

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from bots.discord.sending import Way
    from bots.surfaces import Growing, Note, Said
    from bots.whispering import Whisper
    from rag.types import Question, Turn

PACE = 1.5  # seconds between edits, and between drafts in one channel: five edits in five seconds are what Discord takes
TYPING = 8.0  # "is typing" goes away after ten seconds
LOOKED_BACK = 100  # messages that are looked through for one of ours
NONCE = 25  # characters


@dataclass(frozen=True, slots=True)
class Content:
    """One message: its text, whether it ends the answer (then the buttons are below it), and a file beside it."""

    text: str
    last: bool = False
    file: str = ""


class DiscordSurface:
    status_seconds = TYPING

    def __init__(self, client: discord.Client, *, threads: Threads = "offer") -> None:
        """`threads` says whether an answer in a channel gets one: by a button, at once, or not at all."""
        self._client = client
        self._threads = threads
        self.pace = PACE
        self._began = discord.utils.utcnow()
        self._lanes: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()
        self._busy: dict[int, float] = {}  # a room, and until when no draft is shown there
        self._of: dict[str, int] = {}  # how many messages a question's answer has
        self._thinking: dict[str, int] = {}  # a question's message that says so, where it was found later

    # --- before the answer ------------------------------------------------------------------------------------------

    async def reach(self, question: Question) -> None:
        reply_to = self._reply_to(question)
        if not reply_to.token:
            room = await ByChannel(self._client, reply_to.room).room()
            if isinstance(room, discord.abc.GuildChannel | discord.Thread) and room.guild.me is None:
                raise PostLater("Discord has not told yet what may be done on this server.")  # a process that just began
            if why := refusal(room):
                raise PostImpossible(f"Nothing can be written there: {why}.")
            await self._look_at(question, reply_to)
            return
        if not reply_to.response:  # the process that took it in died before it could note that
            for way in ways(self._client, reply_to):
                with suppress(TokenDead):
                    if isinstance(way, ByToken):
                        self._thinking[question.id] = await way.first()
                        return
            await self.found(question, ())

    async def _look_at(self, question: Question, reply_to: ReplyTo) -> None:
        """What was taken in by a process before us may have been deleted while nobody was told of it (D9)."""
        heard_here = question.attempts <= 1 and question.taken_at is not None and question.taken_at >= self._began
        if not question.message or heard_here:
            return
        try:
            await ByChannel(self._client, reply_to.room).look_at(int(question.message))
        except PostGone as error:
            raise QuestionGone("It was deleted while nobody was told of it.") from error
        except PostImpossible:  # without Read Message History
            return

    async def looking(self, question: Question) -> None:
        reply_to = ReplyTo.of(question)
        if reply_to.token:  # Discord says "is thinking" all the time
            return
        with suppress(DeliveryError):
            room = await ByChannel(self._client, reply_to.room).room()
            with delivering():
                await room.typing()

    async def looked(self, question: Question) -> None:
        self._of.pop(question.id, None)
        self._thinking.pop(question.id, None)

    async def history(self, question: Question) -> Sequence[Turn]:
        reply_to = ReplyTo.of(question)
        asked = _asked(question)
        if self._client.user is None or not asked:
            return ()
        room = await ByChannel(self._client, reply_to.room).room()
        if reply_to.token and not isinstance(room, discord.Thread | discord.DMChannel):
            return ()  # a command in a channel begins anew
        with delivering():
            said = await history.before(room, discord.Object(asked), self._client.user.id)
        return said  # noqa: RET504 - returned inside, mypy would miss a return

    # --- showing ----------------------------------------------------------------------------------------------------

    def growing(self, question: Question, note: Note) -> Growing | None:
        return Draft(self, question, note)

    def whisper(self, question: Question) -> Whisper | None:
        del question
        return None  # all that is said can be found again, by its nonce or by its token

    def forms(self, question: Question, said: Said) -> Iterable[Sequence[Content]]:
        if isinstance(said, Notice):
            yield [Content(text) for text in render.growing(said.text)]
            return
        heading = self.heading(question)
        texts = render.messages(said, heading)
        judged = bool(said.bases)  # a courtesy is looked up nowhere, and has nothing to be judged
        whole = [Content(text, last=judged and at == len(texts)) for at, text in enumerate(texts, start=1)]
        if len(texts) > render.MESSAGES:
            yield [Content(render.with_more_in_file(said, heading), last=True, file=render.whole(said))]
        yield whole
        yield [Content(content.text) for content in whole]

    async def post(self, question: Question, message: Content, part: Part) -> str:
        self._of[question.id] = part.of
        reply_to = self._reply_to(question)
        if reply_to.response and part.n == 1:  # it says "thinking" so far
            await self.edit(question, str(reply_to.response), message, part)
            return str(reply_to.response)
        nonce = f"{question.id}.{part.n}.{part.of}"[-NONCE:]
        asked = int(question.message or 0) if part.n == 1 else 0
        sent = {**self._sent(question, message), "suppress_embeds": True}
        post = str(await self._by(reply_to, "post", lambda way: way.send(nonce, asked, **sent)))
        await self._ended(question, post, message)
        return post

    async def edit(self, question: Question, post: str, message: Content, part: Part) -> None:
        self._of[question.id] = part.of
        changed = self._changed(question, message)
        await self._by(self._reply_to(question), "edit", lambda way: way.edit(int(post), **changed))
        await self._ended(question, post, message)

    async def remove(self, question: Question, post: str) -> None:
        await self._by(self._reply_to(question), "remove", lambda way: way.delete(int(post)))

    async def _by(self, reply_to: ReplyTo, kind: str, work: Callable[[Way], Awaitable[Any]]) -> Any:
        for way in ways(self._client, reply_to):
            with suppress(TokenDead):
                async with self._lane(reply_to.room, kind) if isinstance(way, ByChannel) else nullcontext():
                    return await work(way)
        raise PostImpossible("Only who asked may see the answer, and the interaction is over.")

    # --- after a crash ----------------------------------------------------------------------------------------------

    async def found(self, question: Question, noted: Sequence[Post]) -> Sequence[Found]:
        """What is noted is there, or found missing when it is edited. What is not noted carries the question's id in its
        nonce or its buttons, names the interaction, or is our reply to the question."""
        reply_to = self._reply_to(question)
        ids = {int(post.message) for post in noted} | ({reply_to.response} if reply_to.response else set())
        after = _asked(question)
        if after and not reply_to.private:
            room = await ByChannel(self._client, reply_to.room).room()
            with delivering():
                async for message in room.history(limit=LOOKED_BACK, after=discord.Object(after - 1)):
                    if message.author == self._client.user and self._shows(message, question):
                        ids.add(message.id)
                        if _is_of(message, question):
                            self._thinking.setdefault(question.id, message.id)
        of = max(len(ids), self._of.get(question.id, 0))
        return [Found(str(id_), Part(n, of)) for n, id_ in enumerate(sorted(ids), start=1)]

    @staticmethod
    def _shows(message: discord.Message, question: Question) -> bool:
        if str(message.nonce or "").partition(".")[0] == question.id or buttons.question_of(message.components) == question.id:
            return True
        if _is_of(message, question):
            return True
        reference = message.reference
        return bool(question.message) and reference is not None and str(reference.message_id) == question.message

    def _reply_to(self, question: Question) -> ReplyTo:
        reply_to = ReplyTo.of(question)
        return replace(reply_to, response=reply_to.response or self._thinking.get(question.id, 0))

    # --- the rest ---------------------------------------------------------------------------------------------------

    def _lane(self, room: int, kind: str) -> asyncio.Lock:
        """One request of a kind at a time in a room: of several on their way, the library cannot tell which are too many."""
        return self._lanes.setdefault((room, kind), asyncio.Lock())

    @staticmethod
    def heading(question: Question) -> str:
        """Discord shows others who used a command, and not what was asked with it."""
        reply_to = ReplyTo.of(question)
        seen = reply_to.token and not reply_to.private and not question.thread.place.direct
        return render.quoted(question.text) if seen and question.text.strip() else ""

    def room_is_free(self, question: Question) -> bool:
        """Whether a draft may be shown there now; then none may for a while. Interactions have a limit of their own."""
        reply_to = self._reply_to(question)
        if reply_to.token:
            return True
        now = time.monotonic()
        waited_for = any(self._lane(reply_to.room, kind).locked() for kind in ("post", "edit"))
        if waited_for or self._busy.get(reply_to.room, 0.0) > now:
            return False
        self._busy = {room: until for room, until in self._busy.items() if until > now}
        self._busy[reply_to.room] = now + self.pace
        return True

    def _sent(self, question: Question, message: Content) -> dict[str, Any]:
        sent: dict[str, Any] = {"content": message.text}
        if message.last:
            sent["view"] = buttons.below(question.id, thread=self._threads == "offer" and self._may_have_thread(question))
        if message.file:
            sent["file"] = _file(message)
        return sent

    def _changed(self, question: Question, message: Content) -> dict[str, Any]:
        changed = {"view": None, **self._sent(question, message)}
        file = changed.pop("file", None)
        return {**changed, "attachments": [file] if file else []}

    def _may_have_thread(self, question: Question) -> bool:
        reply_to = self._reply_to(question)
        return not reply_to.private and isinstance(self._client.get_channel(reply_to.room), discord.TextChannel)

    async def _ended(self, question: Question, post: str, message: Content) -> None:
        """Best effort: a thread that is there already is the one that is wanted."""
        room = self._client.get_channel(self._reply_to(question).room)
        if message.last and self._threads == "always" and self._may_have_thread(question) and isinstance(room, discord.TextChannel):
            with suppress(DeliveryError), delivering():
                await room.get_partial_message(int(post)).create_thread(name=thread_name(question.text), auto_archive_duration=1440)


class Draft:
    """An answer that grows by edits. The ends of it are edited in as the answer that is stored, so nothing is finished here."""

    def __init__(self, surface: DiscordSurface, question: Question, note: Note) -> None:
        self._surface = surface
        self._question = question
        self._note = note
        self._shown: list[tuple[str, str]] = []  # message, text

    async def show(self, draft: str) -> None:
        texts = render.growing(draft, self._surface.heading(self._question))[: render.MESSAGES]
        if not draft.strip() or not self._surface.room_is_free(self._question):
            return
        for n, text in enumerate(texts, start=1):
            part = Part(n, 0)
            if n > len(self._shown):
                post = await self._surface.post(self._question, Content(text), part)
                self._shown.append((post, text))
                await self._note(Post(post))
            elif self._shown[n - 1][1] != text:
                await self._surface.edit(self._question, self._shown[n - 1][0], Content(text), part)
                self._shown[n - 1] = (self._shown[n - 1][0], text)

    async def finish(self, said: Said) -> bool:
        del said
        return False


def _asked(question: Question) -> int:
    """The id of what asked it: ids of Discord sort by time."""
    return int(question.message or question.gesture or 0)


def _is_of(message: discord.Message, question: Question) -> bool:
    """Whether it answers the interaction that asked."""
    metadata = message.interaction_metadata
    return bool(question.gesture) and metadata is not None and str(metadata.id) == question.gesture


def _file(message: Content) -> discord.File:
    return discord.File(io.BytesIO(message.file.encode()), filename="answer.md")
