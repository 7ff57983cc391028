"""Buttons below answers: feedback, Share with everyone, Ask a person (S2, S6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bots.slack import render
from bots.slack.actions import ASK_PERSON, FEEDBACK, SHARE, Buttons, opinion_of
from bots.slack.intake import done, where_of
from bots.slack.mrkdwn import escaped
from bots.slack.places import ReplyTo
from bots.slack.render import Shown
from bots.slack.responding import sent
from bots.slack.streams import metadata
from bots.slack.web import called
from bots.surfaces import Part
from rag.types import Post, Question

if TYPE_CHECKING:
    from bots.slack.intake import Intake
    from bots.slack.people import People
    from bots.slack.reading import Json
    from bots.slack.web import Workspace, Workspaces
    from rag.ports import Inbox


class Clicks:
    """`person` is who is called by Ask a person, "" nobody."""

    def __init__(self, *, inbox: Inbox, workspaces: Workspaces, people: People, person: str = "") -> None:
        self._inbox = inbox
        self._workspaces = workspaces
        self._people = people
        self._person = person
        self.intake: Intake  # given once it is made

    async def take(self, body: Json, action: Json) -> None:
        """A button holds no more than the question's id: what may be done with it is looked up."""
        user = str((body.get("user") or {}).get("id", ""))
        container = body.get("container") or {}
        channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
        where = where_of(str((body.get("team") or {}).get("id", "")), channel)
        value = str(action.get("value") or "")
        kind = action.get("action_id")
        if kind not in {FEEDBACK, SHARE, ASK_PERSON}:
            return
        opinion = opinion_of(value) if kind == FEEDBACK else None
        question = await self._inbox.question(opinion[0] if opinion else value)
        if question is None or (question.thread.place.workspace, question.thread.place.channel) != (where.workspace, channel):
            return
        workspace = await self._workspaces.get(where.workspace)
        response_url = str(body.get("response_url") or "")
        if refusal := await self.intake.may(where, user, "button"):
            await sent(workspace, response_url, render.notice(refusal))
        elif opinion:
            await self._inbox.judge(question.id, user, 1 if opinion[1] else -1)
        elif kind == SHARE:
            await self._share(workspace, question, user, response_url)
        elif kind == ASK_PERSON and self._person:
            await self._ask_person(workspace, question, user)

    async def _share(self, workspace: Workspace, question: Question, user: str, response_url: str) -> None:
        """A private answer is shown to all of the channel, once, by who asked."""
        answer = await self._inbox.answer(question.id)
        if answer is None or user != question.person or not await self._once("share", question):
            return
        channel, bold = question.thread.place.channel, f"*{escaped(question.author)}*: {escaped(question.text[:1000])}"
        asked: Json = {"type": "context", "elements": [{"type": "mrkdwn", "text": bold, "verbatim": True}]}
        first, *rest = render.messages(answer, Buttons(question.id))
        whole = [Shown(first.text, (asked, *first.blocks)), *rest]
        for n, message in enumerate(whole, start=1):
            posted = await self._post(workspace, channel, message, metadata=metadata(question.id, Part(n, len(whole))))
            await self._inbox.note(question.id, Post(posted))
        await sent(workspace, response_url, None, delete_original=True)

    async def _ask_person(self, workspace: Workspace, question: Question, user: str) -> None:
        """The one message that is meant to call somebody, once for each answer."""
        if not await self._once("person", question):
            return
        who = f"<@{self._person}>" if self._person[:1] in {"U", "W"} else f"<!subteam^{self._person}>"
        name = escaped(await self._people.name(workspace.id, user))
        thread = ReplyTo.of(question).thread
        call = Shown(f"{who}: {name} asks for a person's help here.")
        await self._post(workspace, question.thread.place.channel, call, thread_ts=thread)

    async def _once(self, what: str, question: Question) -> bool:
        mark = Question("", question.thread, what, person=question.person, message=f"{what}-{question.id}", reply_to="{}")
        return await self._inbox.claim(done(mark)) is not None

    async def _post(self, workspace: Workspace, channel: str, message: Shown, **more: Any) -> str:
        answer = await called(
            workspace.client.chat_postMessage(
                channel=channel,
                text=message.text,
                blocks=list(message.blocks) or None,
                unfurl_links=False,
                unfurl_media=False,
                **more,
            )
        )
        return str(answer["ts"])
