"""From events to questions: who asked, whether we are meant, whether they may; then the desk takes it (S2, S3, S8)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bots.access import Asker, Rules, authorize, refused
from bots.administering import is_command
from bots.slack.events import Changed, Deleted, Liked, Opened, Removed, Told, Where, read
from bots.slack.places import NAME, ReplyTo
from bots.slack.reading import files, said
from bots.slack.web import called
from rag.attached import content_alone
from rag.errors import DeliveryError
from rag.questions import is_question
from rag.types import Place, Question, Thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bots.access import Kind
    from bots.desk import Desk
    from bots.slack.events import Event
    from bots.slack.people import People
    from bots.slack.reading import Json
    from bots.slack.web import Workspace, Workspaces
    from rag.ports import Inbox

TALK = "talk"  # the one thread of what is said directly outside of threads
WORDS = 3  # a statement of more than so many by somebody who did not ask is said to other people
PROMPTS = ("What can you help me with?",)
MOST_PROMPTS = 4


@dataclass(frozen=True, slots=True)
class IntakeSettings:
    rules: Rules
    followups: bool = True
    edit_seconds: float = 600.0
    prompts: tuple[str, ...] = PROMPTS


class Intake:
    """`command` carries out what an admin says to us; `removed` is told when a workspace removes us."""

    def __init__(  # noqa: PLR0913 - one argument for each part, all by name
        self,
        *,
        desk: Desk,
        inbox: Inbox,
        workspaces: Workspaces,
        people: People,
        command: Callable[[Told, Thread, str], Awaitable[None]],
        removed: Callable[[Removed], Awaitable[None]],
        settings: IntakeSettings,
    ) -> None:
        self._desk = desk
        self._inbox = inbox
        self._workspaces = workspaces
        self._people = people
        self._command = command
        self._removed = removed
        self._settings = settings
        self._telling: dict[tuple[str, str, str], asyncio.Task[None]] = {}

    async def take(self, body: Json, me: str) -> None:
        """Returns once what was asked is kept, so that it may be acknowledged. Raises StoreError."""
        await self._handle(read(body, me), me)

    async def _handle(self, event: Event | None, me: str) -> None:
        match event:
            case Told():
                await self._told(event, me)
            case Changed():
                await self._changed(event, me)
            case Deleted():
                await self._desk.delete(place_of(event.where), event.message)
            case Liked():
                await self._liked(event)
            case Opened():
                await self._opened(event)
            case Removed():
                await self._removed(event)

    async def _told(self, told: Told, me: str) -> None:
        """Slack tells of a mention twice, at the same moment: the second one waits for what comes of the first."""
        key = (told.where.workspace, told.where.channel, told.message)
        task = self._telling.get(key)
        if task is None:
            task = self._telling[key] = asyncio.create_task(self._hear(told, me))
            task.add_done_callback(lambda _: self._telling.pop(key, None))
        await asyncio.shield(task)

    async def _hear(self, told: Told, me: str) -> None:
        thread = thread_of(told)
        addressed = told.mentioned or told.where.direct
        if not addressed and not await self._follows(told, thread, me):
            return
        asker = await self._asker(told)
        workspace = await self._workspaces.get(told.where.workspace)
        text = await self._text(told, workspace, me)
        if addressed and is_command(text):
            await self._give(told, asker, thread, text)
            return
        notice = ""
        if why := authorize(self._settings.rules, asker, "question"):
            notice = refused(why, text, await self._language(told)) if addressed else ""
            if not notice:
                return
        await self._desk.ask(await self._question(told, thread, text, notice))

    async def _follows(self, told: Told, thread: Thread, me: str) -> bool:
        """Whether what is said in a thread without a mention goes on with a talk with us (S3)."""
        if not self._settings.followups or not told.thread or not (askers := await self._inbox.askers(thread)):
            return False
        text = said(told.content)
        if is_question(text) and not told.speaks_to_others(me):
            return True
        if told.speaks_to_others(me) or (told.user not in askers and len(text.split()) > WORDS):
            await self._inbox.hush(thread)
        return False

    async def _give(self, told: Told, asker: Asker, thread: Thread, text: str) -> None:
        """A command, by mention: claimed as a question is, so that it is carried out once."""
        why = authorize(self._settings.rules, asker, "command")
        question = await self._question(told, thread, text, refused(why, "", await self._language(told)) if why else "")
        if why:
            await self._desk.ask(question)
        elif await self._inbox.claim(done(question)):
            await self._command(told, thread, text)

    async def _changed(self, changed: Changed, me: str) -> None:
        """An edit answers anew; one that calls us for the first time asks."""
        told = changed.told
        if changed.after > self._settings.edit_seconds:
            return
        place = place_of(told.where)
        if await self._inbox.asked(place, told.message) is None:
            if told.mentioned or told.where.direct:
                await self._told(told, me)
            return
        if authorize(self._settings.rules, await self._asker(told), "question"):
            return
        workspace = await self._workspaces.get(told.where.workspace)
        await self._desk.edit(place, told.message, await self._text(told, workspace, me))

    async def _liked(self, liked: Liked) -> None:
        place = place_of(liked.where)
        shown = await self._inbox.shown(place, liked.message)
        if shown is None or authorize(self._settings.rules, await self.asker(liked.where, liked.user), "button"):
            return
        await self._inbox.judge(shown.id, liked.user, liked.verdict)

    async def _opened(self, opened: Opened) -> None:
        prompts = [{"title": prompt[:75], "message": prompt} for prompt in self._settings.prompts[:MOST_PROMPTS]]
        try:
            client = (await self._workspaces.get(opened.where.workspace)).client
            thread = {"thread_ts": opened.thread} if opened.thread else {}
            await called(client.assistant_threads_setSuggestedPrompts(channel_id=opened.where.channel, prompts=prompts, **thread))
        except DeliveryError:
            return  # they are a convenience

    # --- parts of a question ----------------------------------------------------------------------------------------

    async def asker(self, where: Where, user: str, team: str = "") -> Asker:
        """Of whom Slack says nothing in time may do nothing where strangers may be."""
        profile = await self._people.profile(where.workspace, user)
        foreign = bool(team) and team != where.workspace
        return Asker(
            user,
            place_of(where),
            admin=profile.admin,
            bot=profile.bot,
            outsider=foreign or (profile.outsider if profile.known else where.shared),
            guest=profile.guest if profile.known else False,
            shared=where.shared,
        )

    async def may(self, where: Where, user: str, kind: Kind, text: str = "") -> str | None:
        """What is said to somebody who may not; None where they may."""
        why = authorize(self._settings.rules, await self.asker(where, user), kind)
        return refused(why, text, await self._people.language(where.workspace, user)) if why else None

    async def _language(self, told: Told) -> str:
        return await self._people.language(told.where.workspace, told.user)

    async def _asker(self, told: Told) -> Asker:
        return await self.asker(told.where, told.user, told.team)

    async def _text(self, told: Told, workspace: Workspace, me: str) -> str:
        content = told.words(me)
        text = await self._people.readable(workspace, said(content))
        return content_alone("\n\n".join(part for part in (text, await files(content, workspace)) if part))

    async def _question(self, told: Told, thread: Thread, text: str, notice: str) -> Question:
        reply_to = ReplyTo(told.root, told.message, told.user, told.team)
        return Question(
            "",
            thread,
            text,
            await self._people.name(told.where.workspace, told.user),
            person=told.user,
            message=told.message,
            gesture=told.gesture,
            reply_to=str(reply_to),
            language=await self._language(told),
            notice=notice,
            asked_at=datetime.fromtimestamp(float(told.message), UTC),
        )


def where_of(workspace: str, channel: str) -> Where:
    return Where(workspace, channel, channel.startswith("D"))


def place_of(where: Where) -> Place:
    return Place(NAME, where.workspace, where.channel, where.direct)


def thread_of(told: Told) -> Thread:
    """What is said directly, outside of threads, is one talk that goes on."""
    return Thread(place_of(told.where), told.thread or (TALK if told.where.direct else told.message))


def done(question: Question) -> Question:
    """To be claimed, and no more: nothing is answered."""
    return replace(question, state="delivered", notice=question.notice or "done")
