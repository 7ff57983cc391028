"""What the fake workspace holds."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tests.fakes.slack import shown
from tests.fakes.slack.limits import STATUS_SECONDS, STREAM_SECONDS

if TYPE_CHECKING:
    from tests.fakes.clock import Clock

JSON: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["channel", "group", "im", "mpim"]

_numbers = itertools.count(1)


def new_id(letter: str) -> str:
    return f"{letter}0{next(_numbers):07d}F"


@dataclass(eq=False)
class User:
    """A member: a person, our bot, another bot, or somebody from another workspace."""

    id: str
    name: str
    team: str
    bot_id: str = ""
    app_id: str = ""
    admin: bool = False
    owner: bool = False
    guest: bool = False
    single_channel_guest: bool = False
    outsider: bool = False
    deleted: bool = False
    email: str = ""
    locale: str = "en-US"

    def as_json(self) -> JSON:
        handle = self.name.lower().replace(" ", ".")
        profile: JSON = {"real_name": self.name, "display_name": handle}
        if self.email:
            profile["email"] = self.email
        return {
            "id": self.id,
            "team_id": self.team,
            "name": handle,
            "real_name": self.name,
            "deleted": self.deleted,
            "is_bot": bool(self.bot_id),
            "is_admin": self.admin or self.owner,
            "is_owner": self.owner,
            "is_primary_owner": False,
            "is_restricted": self.guest or self.single_channel_guest,
            "is_ultra_restricted": self.single_channel_guest,
            "is_stranger": self.outsider,
            "profile": profile,
        }


@dataclass(eq=False)
class Channel:
    id: str
    name: str
    kind: Kind
    team: str
    members: list[str] = field(default_factory=list)
    archived: bool = False
    ext_shared: bool = False
    messages: list[Message] = field(default_factory=list)
    statuses: dict[str, Status] = field(default_factory=dict)
    prompts: JSON = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> JSON:
        return {
            "id": self.id,
            "name": self.name,
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_im": self.kind == "im",
            "is_mpim": self.kind == "mpim",
            "is_private": self.kind != "channel",
            "is_archived": self.archived,
            "is_ext_shared": self.ext_shared,
            "is_shared": self.ext_shared,
            "is_org_shared": False,
            "context_team_id": self.team,
            "num_members": len(self.members),
            **({"user": self.members[0]} if self.kind == "im" else {}),
        }

    def find(self, ts: str) -> Message | None:
        return next((one for one in self.messages if one.ts == ts and not one.ephemeral_to), None)

    def thread(self, root: str) -> list[Message]:
        """The root and its replies, as they stand, without what was deleted."""
        return [one for one in self.messages if root in (one.ts, one.thread_ts) and not one.ephemeral_to and not one.deleted]


@dataclass(frozen=True)
class Status:
    text: str
    at: float
    loading: tuple[str, ...] = ()

    def visible(self, clock: Clock) -> bool:
        return bool(self.text) and clock.now() - self.at < STATUS_SECONDS


@dataclass
class Stream:
    started: float
    recipient: str = ""
    stopped: bool = False
    tasks: list[JSON] = field(default_factory=list)

    def open(self, clock: Clock) -> bool:
        return not self.stopped and clock.now() - self.started < STREAM_SECONDS


@dataclass(eq=False)
class Message:
    channel: Channel
    ts: str
    user: User
    text: str
    blocks: list[JSON] = field(default_factory=list)
    attachments: list[JSON] = field(default_factory=list)
    files: list[JSON] = field(default_factory=list)
    thread_ts: str = ""
    broadcast: bool = False
    client_msg_id: str = ""
    subtype: str = ""
    metadata: JSON | None = None
    edited: JSON | None = None
    deleted: bool = False
    ephemeral_to: str = ""
    reactions: dict[str, list[str]] = field(default_factory=dict)
    stream: Stream | None = None
    versions: list[str] = field(default_factory=list)
    previewed: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        return self.thread_ts or self.ts

    @property
    def pings(self) -> tuple[str, ...]:
        return shown.pings(self.text, self.blocks)

    @property
    def buttons(self) -> list[str]:
        return [text for text, _ in shown.buttons(self.blocks)]

    def as_json(self, *, metadata: bool = False) -> JSON:
        said: JSON = {"type": "message", "user": self.user.id, "ts": self.ts, "text": self.text, "team": self.user.team}
        optional: JSON = {
            "blocks": self.blocks,
            "attachments": self.attachments,
            "files": self.files,
            "subtype": self.subtype,
            "client_msg_id": self.client_msg_id,
            "edited": self.edited,
            "bot_id": self.user.bot_id,
            "app_id": self.user.app_id,
            "metadata": self.metadata if metadata else None,
        }
        said.update({key: value for key, value in optional.items() if value})
        if self.user.bot_id:
            said["bot_profile"] = {
                "id": self.user.bot_id,
                "app_id": self.user.app_id,
                "name": self.user.name,
                "team_id": self.user.team,
            }
        if self.reactions:
            said["reactions"] = [{"name": name, "users": users, "count": len(users)} for name, users in self.reactions.items()]
        return said | self._threading()

    def _threading(self) -> JSON:
        if self.thread_ts:
            root = self.channel.find(self.thread_ts)
            return {"thread_ts": self.thread_ts, **({"parent_user_id": root.user.id} if root else {})}
        replies = [one for one in self.channel.messages if one.thread_ts == self.ts and not one.ephemeral_to and not one.deleted]
        if not replies:
            return {}
        return {"thread_ts": self.ts, "reply_count": len(replies), "latest_reply": replies[-1].ts, "subscribed": False}


@dataclass
class App:
    """What the app's owner set up at Slack: one app, installed in one or several workspaces."""

    id: str = field(default_factory=lambda: new_id("A"))
    app_token: str = "xapp-1-A0-1-fake"  # noqa: S105 - a fake's
    app_token_scopes: frozenset[str] = frozenset({"connections:write"})
    signing_secret: str = "fake-signing-secret"  # noqa: S105 - a fake's
    client_id: str = "111.222"
    client_secret: str = "fake-client-secret"  # noqa: S105 - a fake's
    socket_mode: bool = True
    request_url: str = ""  # of events, commands and interactions alike
    events: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    shortcuts: frozenset[str] = frozenset()
    marketplace: bool = True  # False: conversations.replies and .history once a minute, 15 messages each
