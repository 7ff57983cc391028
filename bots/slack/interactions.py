"""Slash commands and the shortcut: acknowledged at once, then done (S2, S9)."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from logging import getLogger
from typing import TYPE_CHECKING, Any

from bots.slack import render
from bots.slack.intake import place_of, where_of
from bots.slack.manifest import ADMIN_COMMAND, ASK_COMMAND, ASK_SHORTCUT
from bots.slack.places import ReplyTo
from bots.slack.reading import files, said
from bots.slack.responding import sent
from bots.slack.web import called
from bots.wording import words
from rag.attached import content_alone
from rag.errors import FootnoteError, PostImpossible
from rag.types import Question, Thread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from bots.administering import Administration
    from bots.desk import Desk
    from bots.slack.clicks import Clicks
    from bots.slack.events import Told, Where
    from bots.slack.intake import Intake
    from bots.slack.people import People
    from bots.slack.reading import Json
    from bots.slack.render import Shown
    from bots.slack.web import Workspace, Workspaces
    from rag.ports import Inbox
    from rag.types import Place

    Bases = Callable[[Place], Sequence[str]]

log = getLogger(__name__)

PACE = 1.5  # seconds between two looks of a bar


class Interactions:
    """`bases` are those that may be spoken of in a place."""

    def __init__(  # noqa: PLR0913 - one argument for each part, all by name
        self,
        *,
        desk: Desk,
        inbox: Inbox,
        workspaces: Workspaces,
        people: People,
        administration: Administration,
        bases: Bases,
        clicks: Clicks,
    ) -> None:
        self._desk = desk
        self._inbox = inbox
        self._workspaces = workspaces
        self._people = people
        self._administration = administration
        self._bases = bases
        self._clicks = clicks
        self._tasks: set[asyncio.Task[None]] = set()
        self.intake: Intake  # given once it is made: each needs the other

    async def take(self, body: Json) -> Json | None:
        """What is shown at once to who did it. Raises StoreError."""
        if "command" in body:
            return await self._slash(body)
        if body.get("type") == "message_action" and body.get("callback_id") == ASK_SHORTCUT:
            await self._shortcut(body)
        if body.get("type") == "block_actions":
            for action in body.get("actions") or []:
                self._later(self._clicks.take(body, action))
        return None

    def _later(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(self._safely(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _safely(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except FootnoteError as error:
            log.warning("something that was asked for could not be done: %s", error)
        except Exception:
            log.exception("an error that should not be")

    async def finish(self, seconds: float) -> None:
        """What is under way comes to its end, or is ended."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # --- slash commands ---------------------------------------------------------------------------------------------

    async def _slash(self, body: Json) -> Json | None:
        where = where_of(str(body["team_id"]), str(body["channel_id"]))
        user, text = str(body["user_id"]), str(body.get("text") or "").strip()
        if body["command"] == ASK_COMMAND:
            return await self._ask(body, where, user, text)
        if body["command"] != ADMIN_COMMAND:
            return None
        if refusal := await self.intake.may(where, user, "command"):
            return ephemeral(refusal)
        if text.split()[:1] == ["reindex"]:
            self._later(self._reindex(body, where, user, text))
            return None
        thread = Thread(place_of(where), "talk") if where.direct else linked_thread(place_of(where), text)
        told = await self._administration.carry_out(
            text, bases=self._bases(place_of(where)), thread=thread, show=_nothing, pace=PACE
        )
        return shown(render.notice(told))

    async def _ask(self, body: Json, where: Where, user: str, text: str) -> Json:
        workspace = await self._workspaces.get(where.workspace)
        asked = await self._people.readable(workspace, text)
        if refusal := await self.intake.may(where, user, "question", asked):
            return ephemeral(refusal)
        language = await self._people.language(where.workspace, user)
        if not asked:
            return ephemeral(words("", language).no_question)
        id = f"ask-{body['trigger_id']}"  # noqa: A001 - the word for it
        reply_to = ReplyTo(user=user, team=where.workspace, response_url=str(body["response_url"]), private=True)
        name = await self._people.name(where.workspace, user)
        thread = Thread(place_of(where), id)
        now = datetime.now(UTC)
        question = Question("", thread, asked, name, person=user, message=id, reply_to=str(reply_to), asked_at=now)
        await self._desk.ask(replace(question, language=language))
        return ephemeral(words(asked, language).looking)

    async def _reindex(self, body: Json, where: Where, user: str, text: str) -> None:
        """The bar is shown in the channel, or to the admin alone where we may not write there."""
        workspace = await self._workspaces.get(where.workspace)
        bar = Bar(workspace, where.channel)
        try:
            await bar.show("…")
        except PostImpossible:
            bar = Bar(workspace, user)
        told = await self._carry_out(bar, place_of(where), None, text)
        await sent(workspace, str(body.get("response_url") or ""), render.notice(told))

    async def command(self, told: Told, thread: Thread, text: str) -> None:
        """By mention: shown in the thread."""
        workspace = await self._workspaces.get(told.where.workspace)
        bar = Bar(workspace, told.where.channel, told.root)
        self._later(self._carry_out(bar, place_of(told.where), thread, text))

    async def _carry_out(self, bar: Bar, place: Place, thread: Thread | None, text: str) -> str:
        try:
            told = await self._administration.carry_out(text, bases=self._bases(place), thread=thread, show=bar.show, pace=PACE)
        except FootnoteError as error:
            log.warning("a command failed: %s", error)
            told = error.user_message
        await bar.show(told)
        return told

    # --- the shortcut -----------------------------------------------------------------------------------------------

    async def _shortcut(self, body: Json) -> None:
        """Ask the docs about this: the chosen message is the question, and is answered in its thread."""
        message, user = body.get("message") or {}, str((body.get("user") or {}).get("id", ""))
        where = where_of(str((body.get("team") or {}).get("id", "")), str((body.get("channel") or {}).get("id", "")))
        workspace = await self._workspaces.get(where.workspace)
        text = await self._people.readable(workspace, said(message))
        text = content_alone("\n\n".join(part for part in (text, await files(message, workspace)) if part))
        response_url = str(body.get("response_url") or "")
        if refusal := await self.intake.may(where, user, "question", text):
            self._later(self._told(workspace, response_url, refusal))
            return
        ts, root = str(message.get("ts") or body.get("message_ts")), str(message.get("thread_ts") or message.get("ts"))
        reply_to = ReplyTo(root, ts, user, where.workspace, response_url)
        name = await self._people.name(where.workspace, user)
        id = f"shortcut-{body.get('action_ts') or body.get('trigger_id')}"  # noqa: A001 - the word for it
        question = Question("", Thread(place_of(where), root), text, name, person=user, message=id, reply_to=str(reply_to))
        await self._desk.ask(replace(question, language=await self._people.language(where.workspace, user)))

    async def _told(self, workspace: Workspace, response_url: str, text: str) -> None:
        await sent(workspace, response_url, render.notice(text))


class Bar:
    """A message that shows how a command stands."""

    def __init__(self, workspace: Workspace, channel: str, thread: str = "") -> None:
        self._workspace = workspace
        self._channel = channel
        self._thread = thread
        self._message = ""

    async def show(self, text: str) -> None:
        client, message = self._workspace.client, render.notice(text)
        blocks = list(message.blocks)
        if self._message:
            await called(client.chat_update(channel=self._channel, ts=self._message, text=message.text, blocks=blocks))
            return
        answer = await called(
            client.chat_postMessage(
                channel=self._channel,
                thread_ts=self._thread or None,
                text=message.text,
                blocks=blocks,
                unfurl_links=False,
                unfurl_media=False,
            )
        )
        self._channel, self._message = str(answer["channel"]), str(answer["ts"])


def linked_thread(place: Place, text: str) -> Thread | None:
    """The thread that a link of Slack leads to, as in /footnote forget https://….slack.com/archives/C1/p1700000000000100."""
    found = re.search(rf"/archives/{re.escape(place.channel)}/p(\d{{10}})(\d{{6}})(?:\?\S*?thread_ts=([\d.]+))?", text)
    return Thread(place, found[3] or f"{found[1]}.{found[2]}") if found else None


def ephemeral(text: str) -> Json:
    return shown(render.notice(text))


def shown(message: Shown) -> Json:
    return {"response_type": "ephemeral", "text": message.text, "blocks": list(message.blocks)}


async def _nothing(_text: str) -> None:
    pass
