"""Slack as the desk sees it: status, streams, messages, and what is found again of them after a crash (S5, P3)."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bots.pacing import Pace
from bots.slack import history, render
from bots.slack.actions import Buttons
from bots.slack.places import ReplyTo
from bots.slack.render import Shown
from bots.slack.responding import respond
from bots.slack.streams import ENDED, EVENT, Stream, metadata
from bots.slack.web import called, refused_with
from bots.surfaces import Found, Notice, Part
from bots.wording import words
from rag.courtesies import courtesy
from rag.errors import DeliveryError, PostGone, PostImpossible, PostRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bots.slack.history import Reading
    from bots.slack.people import People
    from bots.slack.reading import Json
    from bots.slack.web import Workspace, Workspaces
    from bots.surfaces import Growing, Note, Said
    from bots.whispering import Whisper
    from rag.types import Post, Question, Turn

STARTS, APPENDS = 18, 95  # a minute; Slack counts 20 and 100
SHORTEST = 0.7  # seconds between two drafts of the only stream
STATUS = "is looking in the documents …"
REMEMBERED = 2_000  # questions whose status is known
CONFLICT = "streaming_state_conflict"


@dataclass(slots=True)
class Status:
    """Whether "looking" is shown for a question, and whether it may be: Slack takes it away with the first message."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    shown: float = 0.0
    over: bool = False


class SlackSurface:
    status_seconds = 80.0  # Slack takes a status away after two minutes

    def __init__(self, workspaces: Workspaces, people: People, *, reading: Reading = "full", person: str = "") -> None:
        self._workspaces = workspaces
        self._people = people
        self._reading = reading
        self._person = bool(person)
        self._starts: dict[str, Pace] = defaultdict(lambda: Pace(STARTS))
        self._appends: dict[str, Pace] = defaultdict(lambda: Pace(APPENDS))
        self._statuses: OrderedDict[str, Status] = OrderedDict()
        self._streams: set[str] = set()
        self.now: Callable[[], float] = time.monotonic

    @property
    def pace(self) -> float:
        """So that all streams together stay under what Slack takes."""
        return SHORTEST * max(1, len(self._streams))

    # --- before the answer ------------------------------------------------------------------------------------------

    async def reach(self, question: Question) -> None:
        """Slack tells with the first message whether one may be posted."""

    async def looking(self, question: Question) -> None:
        reply_to, status = ReplyTo.of(question), self._status(question)
        if reply_to.private:
            return
        async with status.lock:
            if status.over or self.now() - status.shown < self.status_seconds / 2:
                return
            status.shown = self.now()
            with suppress(DeliveryError):
                await self._set_status(question, reply_to, STATUS)

    async def looked(self, question: Question) -> None:
        status = self._status(question)
        self._streams.discard(question.id)
        async with status.lock:
            if status.shown and not status.over:
                with suppress(DeliveryError):
                    await self._set_status(question, ReplyTo.of(question), "")
            status.over = True

    async def _set_status(self, question: Question, reply_to: ReplyTo, text: str) -> None:
        client = (await self._at(question)).client
        await called(
            client.assistant_threads_setStatus(channel_id=question.thread.place.channel, thread_ts=reply_to.thread, status=text)
        )

    def _status(self, question: Question) -> Status:
        status = self._statuses.setdefault(question.id, Status())
        self._statuses.move_to_end(question.id)
        while len(self._statuses) > REMEMBERED:
            self._statuses.popitem(last=False)
        return status

    async def _said_something(self, question: Question) -> None:
        """From here on a status would stay for nothing; one that is on its way arrives before the message does."""
        status = self._status(question)
        async with status.lock:
            status.over = True

    async def history(self, question: Question) -> Sequence[Turn]:
        reply_to = ReplyTo.of(question)
        if reply_to.begins:
            return ()
        workspace = await self._at(question)
        return await history.before(workspace, self._people, question.thread.place.channel, reply_to, self._reading)

    # --- showing ----------------------------------------------------------------------------------------------------

    def growing(self, question: Question, note: Note) -> Growing | None:
        return None if ReplyTo.of(question).private else _Opening(self, question, note)

    async def stream(self, question: Question, note: Note) -> Stream:
        await self._said_something(question)
        workspace = await self._at(question)
        self._streams.add(question.id)
        starts, appends = self._starts[workspace.id], self._appends[workspace.id]
        buttons = self._buttons(question)
        return Stream(workspace, question, note, buttons=buttons, starts=starts, appends=appends, now=self.now)

    def whisper(self, question: Question) -> Whisper | None:
        """What is asked in private: Slack lets nobody read it back."""
        reply_to = ReplyTo.of(question)
        if not reply_to.private:
            return None

        async def say(message: Shown, *, again: bool) -> None:
            shown = render.remarked(message, words(question.text, question.language).again) if again else message
            await respond(await self._at(question), question, reply_to, shown)

        return say

    def forms(self, question: Question, said: Said) -> Iterable[Sequence[Shown]]:
        if isinstance(said, Notice):
            notice = render.notice(said.text)
            yield [notice]
            yield [Shown(notice.text)]
        else:
            yield from render.forms(said, self._buttons(question))

    def _buttons(self, question: Question) -> Buttons:
        """To a greeting or to thanks nothing is answered that could be good or bad."""
        if courtesy(question.text):
            return Buttons()
        private = ReplyTo.of(question).private
        return Buttons(question.id, share=private and not question.thread.place.direct, person=self._person and not private)

    async def post(self, question: Question, message: Shown, part: Part) -> str:
        reply_to = ReplyTo.of(question)
        await self._said_something(question)
        workspace = await self._at(question)
        try:
            answer = await called(
                workspace.client.chat_postMessage(
                    channel=question.thread.place.channel,
                    thread_ts=reply_to.thread,
                    text=message.text,
                    blocks=list(message.blocks) or None,
                    metadata=metadata(question.id, part),
                    unfurl_links=False,
                    unfurl_media=False,
                )
            )
        except PostImpossible:
            if not reply_to.response_url:
                raise
            notice = render.notice(words(question.text, question.language).invite)
            await respond(workspace, question, reply_to, notice)
            return ""
        return str(answer["ts"])

    async def edit(self, question: Question, post: str, message: Shown, part: Part) -> None:
        workspace, channel = await self._at(question), question.thread.place.channel
        for last in (False, True):
            try:
                await called(
                    workspace.client.chat_update(
                        channel=channel,
                        ts=post,
                        text=message.text,
                        blocks=list(message.blocks),
                        metadata=metadata(question.id, part),
                    )
                )
            except PostRefused as error:
                if last or refused_with(error) != CONFLICT:
                    raise
                await self._close(workspace, channel, post)
            else:
                return

    async def remove(self, question: Question, post: str) -> None:
        workspace, channel = await self._at(question), question.thread.place.channel
        try:
            await called(workspace.client.chat_delete(channel=channel, ts=post))
        except PostRefused as error:
            if refused_with(error) != CONFLICT:
                raise
            await self._close(workspace, channel, post)
            await called(workspace.client.chat_delete(channel=channel, ts=post))

    # --- after a crash ----------------------------------------------------------------------------------------------

    async def found(self, question: Question, noted: Sequence[Post]) -> Sequence[Found]:
        """Those that carry the question's id, those that were noted, and a stream of ours that nobody noted."""
        reply_to, workspace = ReplyTo.of(question), await self._at(question)
        parts = dict.fromkeys((post.message for post in noted), Part(0, 0))
        still_open = {post.message for post in noted if post.open}
        channel = question.thread.place.channel
        with suppress(PostImpossible, PostRefused):  # without the scope to read, what was noted is all that is known
            async for message in history.replies(
                workspace, channel, reply_to.thread, reading=self._reading, since=reply_to.message
            ):
                if not history.is_ours(message, workspace) or float(message["ts"]) <= float(reply_to.message):
                    continue
                carried = _carried(message)
                if carried is None:
                    still_open.add(message["ts"])
                if carried is None or carried[0] == question.id or message["ts"] in parts:
                    parts[message["ts"]] = carried[1] if carried else Part(0, 0)
        for post in sorted(still_open):
            await self._close(workspace, channel, post)
        return [Found(post, part) for post, part in parts.items()]

    async def _close(self, workspace: Workspace, channel: str, message: str) -> None:
        """A stream that a dead process left open can be neither edited nor deleted."""
        try:
            await called(workspace.client.chat_stopStream(channel=channel, ts=message))
        except PostGone:
            return
        except PostRefused as error:
            if refused_with(error) != ENDED:
                raise

    async def _at(self, question: Question) -> Workspace:
        return await self._workspaces.get(question.thread.place.workspace)


class _Opening:
    """A stream that begins with the first draft."""

    def __init__(self, surface: SlackSurface, question: Question, note: Note) -> None:
        self._surface = surface
        self._question = question
        self._note = note
        self._stream: Stream | None = None

    async def show(self, draft: str) -> None:
        if self._stream is None:
            self._stream = await self._surface.stream(self._question, self._note)
        await self._stream.show(draft)

    async def finish(self, said: Said) -> bool:
        return self._stream is not None and await self._stream.finish(said)


def _carried(message: Json) -> tuple[str, Part] | None:
    """The question whose answer a message says it shows, and which part of it."""
    about: Any = message.get("metadata") or {}
    payload = about.get("event_payload") or {}
    if not str(about.get("event_type", "")).startswith(EVENT.partition("_")[0]):
        return None
    return str(payload.get("question", "")), Part(int(payload.get("n", 0)), int(payload.get("of", 0)))
