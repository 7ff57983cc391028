"""What people do in the workspace, so that a journey reads like a conversation."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.fakes.slack import shown
from tests.fakes.slack.state import JSON, Channel, Message, User, new_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fakes.slack.delivery import Delivery
    from tests.fakes.slack.workspace import Workspace


@dataclass(frozen=True)
class Said:
    """A message, as a person can look at it and answer to it."""

    workspace: Workspace
    message: Message

    @property
    def ts(self) -> str:
        return self.message.ts

    @property
    def channel(self) -> Channel:
        return self.message.channel

    @property
    def shown(self) -> str:
        return self.workspace.shown(self.message)

    @property
    def text(self) -> str:
        return self.message.text

    @property
    def buttons(self) -> list[str]:
        return self.message.buttons

    @property
    def finished(self) -> bool:
        stream = self.message.stream
        return stream is None or not stream.open(self.workspace.slack.clock)

    @property
    def deleted(self) -> bool:
        return self.message.deleted

    @property
    def replies(self) -> list[Said]:
        """What our bot said in this thread, after this message."""
        thread = self.channel.thread(self.message.root)
        bot = self.workspace.bot
        return [Said(self.workspace, one) for one in thread if one.user is bot and float(one.ts) > float(self.ts)]

    @property
    def status(self) -> str:
        status = self.channel.statuses.get(self.message.root)
        return status.text if status and status.visible(self.workspace.slack.clock) else ""

    async def answered(self, times: int = 1, *, seconds: float = 20.0) -> Said:
        """The bot's `times`-th finished message in the thread, after this one."""

        def done() -> bool:
            return len([one for one in self.replies if one.finished]) >= times

        await self.workspace.slack.until(done, seconds=seconds, what=f"an answer to {self.shown!r}")
        return [one for one in self.replies if one.finished][times - 1]


@dataclass(frozen=True)
class Command:
    """A slash command that somebody gave, and what only they saw."""

    workspace: Workspace
    person: Person
    channel: Channel
    delivery: Delivery
    after: str

    @property
    def refused(self) -> bool:
        """`operation_timeout`: it was not acknowledged in three seconds."""
        return self.delivery.lost

    @property
    def responses(self) -> list[Said]:
        return [
            Said(self.workspace, one)
            for one in self.channel.messages
            if one.user is self.workspace.bot and float(one.ts) > float(self.after) and one.ephemeral_to == self.person.user.id
        ]

    async def answered(self, times: int = 1, *, seconds: float = 20.0) -> Said:
        await self.workspace.slack.until(lambda: len(self.responses) >= times, seconds=seconds, what="a response to the command")
        return self.responses[times - 1]


@dataclass(frozen=True)
class Person:
    workspace: Workspace
    user: User

    @property
    def name(self) -> str:
        return self.user.name

    @property
    def id(self) -> str:
        return self.user.id

    @property
    def dm(self) -> Channel:
        return self.workspace.direct(self.user)

    def says(self, text: str, *, channel: Channel | None = None, thread: Said | None = None, **more: Any) -> Said:
        """In a channel (#general unless another is named), or in the thread of a message."""
        place = thread.channel if thread else channel or self.workspace.general
        if self.user.id not in place.members:
            place.members.append(self.user.id)
        message = self.workspace.say(self.user, text, place, thread_ts=thread.message.root if thread else "", **more)
        return Said(self.workspace, message)

    def writes(self, text: str, *, thread: Said | None = None, **more: Any) -> Said:
        """To the bot directly."""
        return self.says(text, channel=self.dm, thread=thread, **more)

    def attaches(self, name: str, content: bytes, text: str = "", mimetype: str = "text/plain", **where: Any) -> Said:
        file = self.workspace.slack.keep_file(self.workspace, name, content, mimetype)
        return self.says(text, files=[file], **where)

    def edits(self, said: Said, text: str) -> None:
        written = self.workspace.written(text)

        def change(message: Message) -> None:
            message.text = written
            message.blocks = []

        self.workspace.change(said.message, change, edited=True, by=self.user)

    def deletes(self, said: Said) -> None:
        self.workspace.delete(said.message)

    def reacts(self, said: Said, name: str) -> None:
        said.message.reactions.setdefault(name, []).append(self.user.id)
        self._reaction("reaction_added", said, name)

    def unreacts(self, said: Said, name: str) -> None:
        said.message.reactions[name].remove(self.user.id)
        said.message.reactions = {key: users for key, users in said.message.reactions.items() if users}
        self._reaction("reaction_removed", said, name)

    def _reaction(self, event: str, said: Said, name: str) -> None:
        item = {"type": "message", "channel": said.channel.id, "ts": said.ts}
        body = {"user": self.user.id, "reaction": name, "item": item, "item_user": said.message.user.id}
        self.workspace.tell(event, "reactions:read", body, self.user, said.channel)
        self.workspace.slack.changed()

    def clicks(self, said: Said, button: str) -> Delivery:
        """The button that shows this text, or whose action has this id."""
        found = [
            action for text, action in shown.buttons(said.message.blocks) if button in (text, action["action_id"]) or button in text
        ]
        assert found, f"There is no button {button!r} among {said.buttons}."
        ts = self.workspace.next_ts()
        container = {
            "type": "message",
            "message_ts": said.ts,
            "channel_id": said.channel.id,
            "is_ephemeral": bool(said.message.ephemeral_to),
            **({"thread_ts": said.message.root} if said.message.thread_ts else {}),
        }
        body = {"container": container, "actions": [{**found[0], "action_ts": ts}], "message": said.message.as_json()}
        if said.message.ephemeral_to:
            body.pop("message")
        return self._interacts("block_actions", said.channel, body, said.message)

    def uses_shortcut(self, callback_id: str, said: Said) -> Delivery:
        """A message shortcut."""
        assert callback_id in self.workspace.slack.app.shortcuts, f"The app has no shortcut {callback_id}."
        body = {"callback_id": callback_id, "message_ts": said.ts, "message": said.message.as_json()}
        return self._interacts("message_action", said.channel, body, said.message)

    def submits(self, view: JSON, values: JSON) -> Delivery:
        body = {"view": {**view, "state": {"values": values}}, "response_urls": []}
        return self._interacts("view_submission", None, body, None)

    def _interacts(self, kind: str, channel: Channel | None, body: JSON, message: Message | None) -> Delivery:
        slack = self.workspace.slack
        whole: JSON = {
            "type": kind,
            "user": {"id": self.user.id, "username": self.name, "name": self.name, "team_id": self.user.team},
            "api_app_id": slack.app.id,
            "token": "fake-verification-token",
            "trigger_id": slack.trigger(self.workspace),
            "team": {"id": self.workspace.id, "domain": self.workspace.name.lower()},
            "enterprise": None,
            "is_enterprise_install": False,
            **body,
        }
        if channel is not None:
            whole["channel"] = {"id": channel.id, "name": channel.name or "directmessage"}
            whole["response_url"] = slack.response_url(self.workspace, channel, self.user, message)
        return slack.deliver("interactive", whole, retried=False)

    def commands(self, command: str, text: str = "", *, channel: Channel | None = None) -> Command:
        """`/ask how …`; the text reaches the app as Slack escapes it."""
        slack, place = self.workspace.slack, channel or self.workspace.general
        assert command in slack.app.commands, f"{command} is not a valid command."
        kinds = {"im": "directmessage", "group": "privategroup", "mpim": "mpdm"}
        body: JSON = {
            "token": "fake-verification-token",
            "team_id": self.workspace.id,
            "team_domain": self.workspace.name.lower(),
            "channel_id": place.id,
            "channel_name": kinds.get(place.kind, place.name),
            "user_id": self.user.id,
            "user_name": self.name.lower(),
            "command": command,
            "text": self.workspace.written(text),
            "api_app_id": slack.app.id,
            "is_enterprise_install": "false",
            "response_url": slack.response_url(self.workspace, place, self.user, None),
            "trigger_id": slack.trigger(self.workspace),
        }
        after = self.workspace.next_ts()
        delivery = slack.deliver("slash_commands", body, retried=False)
        return Command(self.workspace, self, place, delivery, after)

    def opens_messages_tab(self) -> None:
        body = {"user": self.user.id, "channel": self.dm.id, "tab": "messages"}
        self.workspace.tell("app_home_opened", "im:history", body, self.user)

    def opens_home_tab(self) -> None:
        body = {"user": self.user.id, "channel": self.dm.id, "tab": "home"}
        self.workspace.tell("app_home_opened", "im:history", body, self.user)

    def invites_bot(self, channel: Channel) -> None:
        channel.members.append(self.workspace.bot.id)
        body = {
            "user": self.workspace.bot.id,
            "channel": channel.id,
            "channel_type": "C",
            "team": self.workspace.id,
            "inviter": self.id,
        }
        self.workspace.tell("member_joined_channel", "channels:read", body, self.user, channel)

    def forwards(self, said: Said, text: str = "", **where: Any) -> Said:
        """A message shared from elsewhere: its text stands in an attachment only."""
        shared: JSON = {
            "is_share": True,
            "is_msg_unfurl": True,
            "author_id": said.message.user.id,
            "author_name": said.message.user.name,
            "channel_id": said.channel.id,
            "ts": said.ts,
            "text": said.message.text,
            "fallback": said.message.text,
            "files": said.message.files,
            "message_blocks": [{"message": {"blocks": said.message.blocks}}],
        }
        return self.says(text, attachments=[shared], **where)

    def pastes_table(self, rows: Sequence[Sequence[str]], text: str = "", **where: Any) -> Said:
        """The text lacks it: it stands in an attachment's block alone."""
        cells = [[{"type": "raw_text", "text": cell} for cell in row] for row in rows]
        attachment = {
            "id": 1,
            "blocks": [{"type": "table", "block_id": uuid.uuid4().hex[:5], "rows": cells}],
            "fallback": "[no preview]",
        }
        return self.says(text, attachments=[attachment], **where)


def alert(title: str, text: str) -> list[JSON]:
    """An alert as monitoring posts it: nothing in the text, all in an attachment."""
    return [{"color": "danger", "title": title, "text": text, "fallback": title, "id": int(new_id("1")[2:-1])}]
