"""One workspace: its people, its channels, what is said in them, and the events that tell the app of it."""

from __future__ import annotations

import html
import re
import uuid
from typing import TYPE_CHECKING, Any

from tests.fakes.slack import shown
from tests.fakes.slack.state import JSON, Channel, Kind, Message, User, new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.fakes.slack.people import Person
    from tests.fakes.slack.server import FakeSlack

URL = re.compile(r"https?://[^\s<>|]+")
_HISTORY = {"channel": "channels:history", "group": "groups:history", "im": "im:history", "mpim": "mpim:history"}
_MESSAGE = {"channel": "message.channels", "group": "message.groups", "im": "message.im", "mpim": "message.mpim"}


class Workspace:
    def __init__(self, slack: FakeSlack, name: str, *, team: str = "", bot: str = "", bot_name: str = "Footnote") -> None:
        self.slack = slack
        self.name = name
        self.id = team or new_id("T")
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.bot = self._user(User(bot or new_id("U"), bot_name, self.id, bot_id=new_id("B"), app_id=slack.app.id))
        self.token = f"xoxb-{self.id}-{self.bot.id}-fake"
        self.token_error = ""  # token_revoked, account_inactive
        self.scopes = frozenset(slack.app.scopes)
        self.views: dict[str, JSON] = {}
        self.homes: dict[str, JSON] = {}
        self._last_ts = 0
        self.general = self.channel("general")

    # --- who and where

    def _user(self, user: User) -> User:
        self.users[user.id] = user
        return user

    def person(self, name: str, **more: Any) -> Person:
        """The person of this name; a new one where there is none. Keywords are fields of User."""
        from tests.fakes.slack.people import Person  # noqa: PLC0415 - they hold each other

        known = next((user for user in self.users.values() if user.name == name and not user.bot_id), None)
        if known is None:
            fields = {"id": new_id("U"), "team": self.id, "email": f"{name.lower().replace(' ', '.')}@example.com", **more}
            known = self._user(User(name=name, **fields))
            self.general.members.append(known.id)
        return Person(self, known)

    def other_bot(self, name: str) -> Person:
        from tests.fakes.slack.people import Person  # noqa: PLC0415 - they hold each other

        user = self._user(User(new_id("U"), name, self.id, bot_id=new_id("B"), app_id=new_id("A")))
        self.general.members.append(user.id)
        return Person(self, user)

    def outsider(self, name: str, **more: Any) -> Person:
        """Somebody of another workspace, here through Slack Connect."""
        return self.person(name, team=new_id("T"), outsider=True, **more)

    def channel(
        self, name: str, *, kind: Kind = "channel", members: Iterable[Person] = (), with_bot: bool = True, **more: Any
    ) -> Channel:
        ids = [person.user.id for person in members] + ([self.bot.id] if with_bot else [])
        found = next((one for one in self.channels.values() if one.name == name and name), None)
        if found is None:
            letter = {"channel": "C", "group": "C", "mpim": "C", "im": "D"}[kind]
            found = Channel(more.pop("id", "") or new_id(letter), name, kind, self.id, **more)
            self.channels[found.id] = found
        found.members += [one for one in ids if one not in found.members]
        return found

    def direct(self, user: User) -> Channel:
        for channel in self.channels.values():
            if channel.kind == "im" and channel.members == [user.id, self.bot.id]:
                return channel
        channel = Channel(new_id("D"), "", "im", self.id, [user.id, self.bot.id])
        self.channels[channel.id] = channel
        return channel

    def name_of(self, id: str) -> str:  # noqa: A002 - the word for it
        if id in self.users:
            return self.users[id].name
        return self.channels[id].name if id in self.channels else id

    # --- what is said

    def next_ts(self) -> str:
        self._last_ts = max(self._last_ts + 1, int(self.slack.clock.now() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def written(self, text: str) -> str:
        """What somebody types, as Slack stores it: entities, ids of who and what is mentioned, addresses in brackets."""
        text = html.escape(text, quote=False)
        for user in sorted(self.users.values(), key=lambda one: -len(one.name)):
            text = re.sub(rf"@{re.escape(user.name)}\b", f"<@{user.id}>", text)
        for channel in self.channels.values():
            if channel.name:
                text = re.sub(rf"#{re.escape(channel.name)}\b", f"<#{channel.id}|{channel.name}>", text)
        text = re.sub(r"(?<![\w.])@(here|channel|everyone)\b", r"<!\1>", text)
        return URL.sub(lambda match: f"<{match[0]}>", text)

    def post(self, message: Message) -> Message:
        """Into the channel, and told to the app as Slack would tell it."""
        if message.thread_ts and (root := message.channel.find(message.thread_ts)) is not None:
            message.thread_ts = root.root
        message.versions.append(shown.message(message.text, message.blocks, self.name_of))
        message.channel.messages.append(message)
        message.channel.statuses.pop(message.root, None)
        if not message.ephemeral_to:
            self._tell_of(message)
        self.slack.changed()
        return message

    def say(self, user: User, text: str, channel: Channel, **more: Any) -> Message:
        ts = self.next_ts()
        message = Message(channel, ts, user, self.written(text), client_msg_id="" if user.bot_id else str(uuid.uuid4()), **more)
        if message.files:
            message.subtype = "file_share"
        if text and not message.blocks and not user.bot_id:
            message.blocks = [self._rich_text(message.text)]
        self.post(message)
        if "<http" in message.text and self.slack.unfurls:
            self.unfurl(message)
        return message

    def _rich_text(self, text: str) -> JSON:
        elements: list[JSON] = []
        for part in re.split(r"(<[^<>]+>)", text):
            if part.startswith("<@"):
                elements.append({"type": "user", "user_id": part[2:-1]})
            elif part.startswith("<#"):
                elements.append({"type": "channel", "channel_id": part[2:-1].partition("|")[0]})
            elif part.startswith("<!"):
                elements.append({"type": "broadcast", "range": part[2:-1]})
            elif part.startswith("<"):
                elements.append({"type": "link", "url": shown.decoded(part[1:-1])})
            elif part:
                elements.append({"type": "text", "text": shown.decoded(part)})
        return {
            "type": "rich_text",
            "block_id": uuid.uuid4().hex[:5],
            "elements": [{"type": "rich_text_section", "elements": elements}],
        }

    def change(self, message: Message, change: Callable[[Message], None], *, edited: bool, by: User | None = None) -> None:
        before = message.as_json()
        change(message)
        if edited:
            message.edited = {"user": (by or message.user).id, "ts": self.next_ts()}
        message.versions.append(shown.message(message.text, message.blocks, self.name_of))
        event = {"subtype": "message_changed", "hidden": True, "message": message.as_json(), "previous_message": before}
        self._message_event(message.channel, event, message)
        self.slack.changed()

    def unfurl(self, message: Message) -> None:
        """Slack fetches what is linked and shows it below: an event of its own."""
        address = (URL.findall(message.text) or ["https://example.com"])[0]
        preview: JSON = {"from_url": address, "original_url": address, "fallback": "A page", "title": "A page", "id": 1}
        self.change(message, lambda one: one.attachments.append(preview), edited=False)

    def delete(self, message: Message) -> None:
        before = message.as_json()
        message.deleted = True
        event = {"subtype": "message_deleted", "hidden": True, "deleted_ts": message.ts, "previous_message": before}
        self._message_event(message.channel, event, message)
        self.slack.changed()

    # --- what the app is told

    def _tell_of(self, message: Message) -> None:
        channel, user = message.channel, message.user
        events: list[JSON] = [message.as_json()]
        mentioned = f"<@{self.bot.id}>" in message.text and channel.kind != "im" and user is not self.bot
        if mentioned and self._may("app_mention", "app_mentions:read", channel):
            events.append({**message.as_json(), "type": "app_mention", "channel": channel.id, "event_ts": message.ts})
            events[-1].pop("subtype", None)
        self.slack.faults.chances.shuffle(events)
        for event in events:
            if event["type"] == "app_mention":
                self._event(event, channel, user)
            else:
                self._message_event(channel, event, message, ts=message.ts)
        root = message.channel.find(message.thread_ts) if message.thread_ts else None
        if root is not None and self.slack.replies_change_roots:
            self.change(root, lambda _: None, edited=False)

    def _message_event(self, channel: Channel, event: JSON, message: Message, *, ts: str = "") -> None:
        if not self._may(_MESSAGE[channel.kind], _HISTORY[channel.kind], channel):
            return
        at = ts or self.next_ts()
        whole = {**event, "type": "message", "channel": channel.id, "channel_type": channel.kind, "ts": at, "event_ts": at}
        if message.user.outsider:
            whole |= {"user_team": message.user.team, "source_team": message.user.team, "team": message.user.team}
        self._event(whole, channel, message.user)

    def _may(self, event: str, scope: str, channel: Channel | None = None) -> bool:
        member = channel is None or self.bot.id in channel.members
        return event in self.slack.app.events and scope in self.scopes and member and not self.token_error

    def _event(self, event: JSON, channel: Channel | None, user: User) -> None:
        body: JSON = {
            "token": "fake-verification-token",
            "team_id": self.id,
            "context_team_id": self.id,
            "api_app_id": self.slack.app.id,
            "event": event,
            "type": "event_callback",
            "event_id": new_id("Ev"),
            "event_time": int(self.slack.clock.now()),
            "authorizations": [{"enterprise_id": None, "team_id": self.id, "user_id": self.bot.id, "is_bot": True}],
            "is_ext_shared_channel": bool(channel and channel.ext_shared),
            "event_context": uuid.uuid4().hex,
        }
        if user.outsider:
            body["context_team_id"] = user.team
        self.slack.deliver("events_api", body)

    def tell(self, event: str, scope: str, body: JSON, user: User, channel: Channel | None = None) -> None:
        """Any other event."""
        if self._may(event, scope, channel):
            self._event({"type": event, "event_ts": self.next_ts(), **body}, channel, user)

    # --- what is seen

    def transcript(self, channel: Channel | None = None, viewer: Person | None = None) -> str:
        """The channel as its members see it, threads under their first message."""
        channel = channel or self.general
        lines: list[str] = []
        for message in channel.messages:
            if message.thread_ts or not self._sees(message, viewer):
                continue
            lines += self._lines(message, "")
            for reply in channel.messages:
                if reply.thread_ts == message.ts and self._sees(reply, viewer):
                    lines += self._lines(reply, "    ")
            status = channel.statuses.get(message.ts)
            if status and status.visible(self.slack.clock):
                lines.append(f"    ({self.bot.name} {status.text})")
        return "\n".join(lines)

    def _sees(self, message: Message, viewer: Person | None) -> bool:
        return not message.deleted and (not message.ephemeral_to or (viewer is not None and viewer.user.id == message.ephemeral_to))

    def _lines(self, message: Message, margin: str) -> list[str]:
        notes = [
            "only for you" if message.ephemeral_to else "",
            "edited" if message.edited else "",
            "still writing" if message.stream and message.stream.open(self.slack.clock) else "",
        ]
        told = ", ".join(note for note in notes if note)
        first, *rest = self.shown(message).split("\n")
        reactions = " ".join(f":{name}: {len(users)}" for name, users in message.reactions.items())
        named = "".join(f"\n{margin}  [file {file['name']}]" for file in message.files)
        head = f"{margin}{message.user.name}{f' ({told})' if told else ''}: {first}{named}"
        return [head, *(f"{margin}  {line}" for line in rest), *([f"{margin}  {reactions}"] if reactions else [])]

    def shown(self, message: Message) -> str:
        return shown.message(message.text, message.blocks, self.name_of)

    def pings(self, messages: Sequence[Message]) -> set[str]:
        return {ping for message in messages for ping in message.pings}
