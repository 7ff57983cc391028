"""The Web API's methods by name, each with the scopes it needs, and what a method is given."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.fakes.slack.limits import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fakes.slack.server import FakeSlack
    from tests.fakes.slack.state import JSON, Channel, Message, User
    from tests.fakes.slack.workspace import Workspace

    Handler: TypeAlias = Callable[["Call"], JSON]

SCOPES_OF_KINDS = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}


@dataclass
class Call:
    """One call: its arguments, whoever made it, and what came of it."""

    method: str
    arguments: JSON
    slack: FakeSlack = field(repr=False)
    at: float
    token: str = ""
    workspace: Workspace = field(init=False, repr=False)
    result: JSON = field(default_factory=dict)

    def get(self, name: str, default: Any = None) -> Any:
        value = self.arguments.get(name)
        return default if value is None else value

    def text(self, name: str) -> str:
        return str(self.arguments.get(name) or "")

    def required(self, *names: str) -> None:
        missing = [name for name in names if self.arguments.get(name) is None]
        if missing:
            messages = [f"[ERROR] missing required field: {name}" for name in missing]
            raise Refused("invalid_arguments", response_metadata={"messages": messages})

    def structure(self, name: str) -> Any:
        """An argument that may come as JSON in a string."""
        value = self.arguments.get(name)
        if isinstance(value, str):
            try:
                return json.loads(value)
            except ValueError:
                raise Refused(f"invalid_{name}_format") from None
        return value

    def flag(self, name: str) -> bool:
        return self.arguments.get(name) in (True, "true", "1", 1)

    def need(self, *scopes: str) -> None:
        """One of these scopes is enough."""
        if not any(scope in self.workspace.scopes for scope in scopes):
            raise Refused("missing_scope", needed=scopes[0], provided=",".join(sorted(self.workspace.scopes)))

    def channel(self, name: str = "channel", *, member: bool = True) -> Channel:
        channel = self.workspace.channels.get(self.text(name))
        bot = self.workspace.bot.id
        if channel is None or (bot not in channel.members and channel.kind != "channel"):
            user = self.workspace.users.get(self.text(name))
            if user is None or user.bot_id:
                raise Refused("channel_not_found")
            channel = self.workspace.direct(user)
        if member and bot not in channel.members:
            raise Refused("not_in_channel")
        if member and channel.archived:
            raise Refused("is_archived")
        return channel

    def user(self, name: str = "user") -> User:
        user = self.workspace.users.get(self.text(name))
        if user is None:
            raise Refused("user_not_found")
        return user

    def message(self, channel: Channel, name: str = "ts") -> Message:
        message = channel.find(self.text(name))
        if message is None or message.deleted:
            raise Refused("message_not_found")
        return message

    def own_message(self, channel: Channel, error: str) -> Message:
        message = self.message(channel)
        if message.user is not self.workspace.bot:
            raise Refused(error)
        return message

    def thread(self, channel: Channel, *, error: str = "thread_not_found", replies: bool = False) -> str:
        """The thread's root; "" where no thread is named. `replies`: any message of it names it."""
        value = self.arguments.get("thread_ts")
        if value is None:
            return ""
        if not isinstance(value, str) or not value.replace(".", "", 1).isdigit() or "." not in value:
            raise Refused("invalid_thread_ts")
        message = channel.find(value)
        if message is None or (message.deleted and not channel.thread(message.root)):
            raise Refused(error)
        if message.thread_ts and not replies:
            raise Refused("invalid_thread_ts")  # Slack takes it, and the message stands where nobody looks
        return message.root


@dataclass(frozen=True)
class Method:
    handler: Handler
    scopes: tuple[str, ...] = ()
    caller: str = "bot"  # bot, app, none


METHODS: dict[str, Method] = {}


def method(name: str, *scopes: str, caller: str = "bot") -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        METHODS[name] = Method(handler, scopes, caller)
        return handler

    return add
