"""An answer that grows in Slack: started, appended to, ended; a new message before Slack's limits of length and time (S5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bots.pieces import closing, cut, left_open, reopened
from bots.slack import render
from bots.slack.limits import MARKDOWN, SUM
from bots.slack.markdown import shown
from bots.slack.places import ReplyTo
from bots.slack.web import called, refused_with
from bots.surfaces import Notice, Part
from rag.code_spans import code_spans
from rag.errors import DeliveryError, PostLater, PostRefused
from rag.types import Post

if TYPE_CHECKING:
    from collections.abc import Callable

    from bots.pacing import Pace
    from bots.slack.actions import Buttons
    from bots.slack.web import Workspace
    from bots.surfaces import Note, Said
    from rag.types import Question

EVENT = "footnote_answer"
LONG, OLD = 7_000, 200.0  # characters and seconds from which on a new message begins at the next end of a line
ROOM = MARKDOWN - 200  # characters of a message, with room to close a block of code
OLDEST = 270.0  # seconds: Slack ends a stream after five minutes
ENDED = "message_not_in_streaming_state"


def metadata(question: str, part: Part) -> dict[str, Any]:
    """What tells whose answer a message shows, even after a crash."""
    return {"event_type": EVENT, "event_payload": {"question": question, "n": part.n, "of": part.of}}


class Stream:
    """`starts` and `appends` are what Slack lets a workspace do in a minute."""

    def __init__(  # noqa: PLR0913 - what a stream is made of
        self,
        workspace: Workspace,
        question: Question,
        note: Note,
        *,
        buttons: Buttons,
        starts: Pace,
        appends: Pace,
        now: Callable[[], float],
    ) -> None:
        self._workspace = workspace
        self._question = question
        self._reply_to = ReplyTo.of(question)
        self._note = note
        self._buttons = buttons
        self._starts = starts
        self._appends = appends
        self._now = now
        self._sent = ""  # all that is shown, in all messages
        self._from = 0  # where in it the newest message begins
        self._opening = ""  # the line of the block of code that the newest message goes on with
        self._message = ""
        self._messages = 0
        self._since = 0.0

    @property
    def begun(self) -> bool:
        return bool(self._messages)

    async def show(self, draft: str) -> None:
        text = render.growing(draft)
        if not text.startswith(self._sent):
            raise PostRefused("The draft does not go on as it was shown.")
        if len(text) == len(self._sent):
            return
        if not self._message:
            await self._start(text[len(self._sent) :])
            return
        if (end := self._turning(text)) is not None:
            await self._turn(text, end)
        elif self._appends.take():
            await self._append(text[len(self._sent) :])

    async def finish(self, said: Said) -> bool:
        """The rest and the footer end the stream, where it shows what the answer says."""
        if not self._message:
            return False
        text = "" if isinstance(said, Notice) else shown(said.text)
        rest = text[len(self._sent) :]
        footer = () if isinstance(said, Notice) else render.ending(said, self._buttons)
        if not text.startswith(self._sent) or len(text) - self._from + len(str(footer)) > min(MARKDOWN, SUM):
            await self._stop()
            return False
        part = Part(self._messages, self._messages)
        try:
            await self._call_stop(rest, blocks=list(footer), metadata=metadata(self._question.id, part))
        except DeliveryError as error:
            if refused_with(error) != ENDED:
                await self._stop()
            return False
        await self._closed()
        return True

    # --- steps ------------------------------------------------------------------------------------------------------

    async def _start(self, text: str) -> None:
        if not self._starts.take():
            raise PostLater("No more streams may be started in this minute.")
        reply_to, head = self._reply_to, reopened(self._opening, ROOM)
        text, since = text[: ROOM - len(head)], self._now()
        try:
            answer = await called(
                self._workspace.client.chat_startStream(
                    channel=self._question.thread.place.channel,
                    thread_ts=reply_to.thread,
                    recipient_team_id=reply_to.team,
                    recipient_user_id=reply_to.user,
                    markdown_text=head + text,
                )
            )
        except PostLater as later:
            self._starts.pause(later.seconds)
            raise
        self._message, self._since = str(answer["ts"]), since
        self._messages += 1
        self._from, self._sent = len(self._sent), self._sent + text
        await self._note(Post(self._message, open=True))

    async def _append(self, text: str) -> None:
        if not text:
            return
        channel = self._question.thread.place.channel
        try:
            await called(self._workspace.client.chat_appendStream(channel=channel, ts=self._message, markdown_text=text))
        except PostLater as later:
            if later.unsure:  # it may stand there: nothing can be added to what is not known
                raise
            self._appends.pause(later.seconds)
            return
        self._sent += text

    def _turning(self, text: str) -> int | None:
        """Where a new message begins, if one has to."""
        sent, age = len(self._sent), self._now() - self._since
        room = ROOM - len(self._opening) - (sent - self._from)
        if age > OLDEST or len(text) - sent > room:
            room = max(min(room, len(text) - sent), 0)
            return sent + (cut(text[sent:], room, self._code(sent)) if 0 < room < len(text) - sent else room)
        if age > OLD or len(text) - self._from > LONG:
            end = text.rfind("\n", sent) + 1
            if end and not any(start < end < stop for start, stop in code_spans(text[:end] + "\n")):
                return end
        return None

    def _code(self, end: int, text: str = "") -> str:
        """The opening line of the block of code that is open at this place of the text."""
        return left_open((text or self._sent)[self._from : end], self._opening)

    async def _turn(self, text: str, end: int) -> None:
        """A block of code that is cut is closed, and opened again in the next message."""
        opening = self._code(end, text)
        last = f"{text[len(self._sent) : end].rstrip()}{closing(opening)}"
        await self._call_stop(last, metadata=metadata(self._question.id, Part(self._messages, 0)))
        self._sent, self._opening = text[:end], opening
        await self._closed()
        if rest := text[end:]:
            await self._start(rest)

    async def _stop(self) -> None:
        """Without an answer; one that Slack has ended already is ended."""
        try:
            await self._call_stop("", metadata=metadata(self._question.id, Part(0, 0)))
        except DeliveryError as error:
            if refused_with(error) != ENDED:
                raise
        await self._closed()

    async def _closed(self) -> None:
        message, self._message = self._message, ""
        await self._note(Post(message))

    async def _call_stop(self, text: str, **more: Any) -> None:
        await called(
            self._workspace.client.chat_stopStream(
                channel=self._question.thread.place.channel, ts=self._message, markdown_text=text or None, **more
            )
        )
