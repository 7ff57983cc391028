"""What the fake Discord holds."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

JSON: TypeAlias = dict[str, Any]

EPOCH = 1_420_070_400_000
TEXT, DIRECT, PUBLIC_THREAD, PRIVATE_THREAD, FORUM = 0, 1, 11, 12, 15
DEFAULT, REPLY, COMMAND, STARTER, THREAD_CREATED, CONTEXT_MENU = 0, 19, 20, 21, 18, 23
EPHEMERAL, LOADING, HAS_THREAD, SUPPRESS_EMBEDS = 1 << 6, 1 << 7, 1 << 5, 1 << 2

VIEW, SEND, EMBED, ATTACH, HISTORY, REACT = 1 << 10, 1 << 11, 1 << 14, 1 << 15, 1 << 16, 1 << 6
PUBLIC_THREADS, THREAD_SEND, MANAGE_THREADS = 1 << 35, 1 << 38, 1 << 34
ADMINISTRATOR, MANAGE_GUILD, USE_COMMANDS = 1 << 3, 1 << 5, 1 << 31
EVERYBODY = VIEW | SEND | EMBED | ATTACH | HISTORY | REACT | PUBLIC_THREADS | THREAD_SEND | USE_COMMANDS
ALL = (1 << 53) - 1

_numbers = itertools.count(1)


def snowflake(now: float | None = None) -> str:
    """Ids sort by time."""
    milliseconds = int((time.time() if now is None else now) * 1000) - EPOCH
    return str((milliseconds << 22) | (next(_numbers) & 0x3FFFFF))


def at(id: str) -> float:  # noqa: A002 - the word for it
    return ((int(id) >> 22) + EPOCH) / 1000


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


@dataclass(eq=False)
class User:
    id: str
    name: str
    bot: bool = False

    def as_json(self) -> JSON:
        handle = self.name.lower().replace(" ", ".")
        return {
            "id": self.id,
            "username": handle,
            "discriminator": "0",
            "global_name": self.name,
            "avatar": None,
            "bot": self.bot,
            "public_flags": 0,
        }


@dataclass(eq=False)
class Role:
    id: str
    name: str
    permissions: int = 0

    def as_json(self) -> JSON:
        return {
            "id": self.id,
            "name": self.name,
            "permissions": str(self.permissions),
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "hoist": False,
            "position": 0,
            "managed": False,
            "mentionable": False,
            "flags": 0,
        }


@dataclass(eq=False)
class Member:
    user: User
    roles: list[str] = field(default_factory=list)
    nick: str | None = None

    def as_json(self, *, with_user: bool = True) -> JSON:
        body: JSON = {
            "roles": list(self.roles),
            "nick": self.nick,
            "joined_at": "2026-01-04T20:21:10.139000+00:00",
            "deaf": False,
            "mute": False,
            "flags": 0,
            "avatar": None,
        }
        return {**body, "user": self.user.as_json()} if with_user else body


@dataclass(eq=False)
class Channel:
    """A text or forum channel, a thread, or a direct one. `denied` are permissions taken from all but administrators."""

    id: str
    type: int
    name: str = ""
    guild: str = ""
    parent: str = ""
    owner: str = ""
    denied: dict[str, int] = field(default_factory=dict)  # role or member id -> permissions
    messages: list[Message] = field(default_factory=list)
    archived: bool = False
    locked: bool = False
    recipients: list[User] = field(default_factory=list)
    tags: list[JSON] = field(default_factory=list)
    applied_tags: list[str] = field(default_factory=list)
    typing: int = 0

    @property
    def is_thread(self) -> bool:
        return self.type in (PUBLIC_THREAD, PRIVATE_THREAD)

    def own_member(self) -> JSON:
        return {"id": self.id, "user_id": self.owner, "join_timestamp": iso(at(self.id)), "flags": 0}

    def find(self, id: str) -> Message | None:  # noqa: A002 - the word for it
        return next((message for message in self.messages if message.id == id and not message.deleted), None)

    def as_json(self) -> JSON:
        last = self.messages[-1].id if self.messages else None
        body: JSON = {"id": self.id, "type": self.type, "last_message_id": last}
        if self.type == DIRECT:
            return {**body, "recipients": [user.as_json() for user in self.recipients]}
        body |= {"guild_id": self.guild, "name": self.name, "parent_id": self.parent or None}
        if self.is_thread:
            return body | {
                "owner_id": self.owner,
                "message_count": len(self.messages),
                "member_count": 1,
                "rate_limit_per_user": 0,
                "applied_tags": list(self.applied_tags),
                "thread_metadata": {
                    "archived": self.archived,
                    "locked": self.locked,
                    "auto_archive_duration": 1440,
                    "archive_timestamp": iso(at(self.id)),
                    "create_timestamp": iso(at(self.id)),
                    "invitable": True,
                },
            }
        overwrites = [{"id": id_, "type": 0, "allow": "0", "deny": str(permissions)} for id_, permissions in self.denied.items()]
        more: JSON = {"position": 0, "permission_overwrites": overwrites, "nsfw": False, "topic": None, "rate_limit_per_user": 0}
        if self.type == FORUM:
            more |= {"available_tags": list(self.tags), "flags": 0, "default_reaction_emoji": None, "default_sort_order": None}
        return body | more


@dataclass(eq=False)
class Message:
    id: str
    channel: Channel
    author: User
    content: str = ""
    type: int = DEFAULT
    flags: int = 0
    embeds: list[JSON] = field(default_factory=list)
    components: list[JSON] = field(default_factory=list)
    attachments: list[JSON] = field(default_factory=list)
    mentions: list[User] = field(default_factory=list)
    mention_everyone: bool = False
    mention_roles: list[str] = field(default_factory=list)
    reference: JSON | None = None
    nonce: str | int | None = None
    application: str = ""  # the webhook's id, for what came through an interaction
    interaction: JSON | None = None
    seen_by: str = ""  # of an ephemeral message
    edited: float | None = None
    edits: list[float] = field(default_factory=list)
    deleted: bool = False
    pinged: list[str] = field(default_factory=list)
    thread: Channel | None = None
    versions: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)  # of versions

    def keep_version(self, now: float) -> None:
        self.versions.append(self.content)
        self.times.append(now)

    def as_json(self, guild_member: Member | None = None) -> JSON:
        body: JSON = {
            "id": self.id,
            "type": self.type,
            "channel_id": self.channel.id,
            "channel_type": self.channel.type,
            "author": self.author.as_json(),
            "content": self.content,
            "timestamp": iso(at(self.id)),
            "edited_timestamp": iso(self.edited) if self.edited else None,
            "tts": False,
            "mention_everyone": self.mention_everyone,
            "mentions": [user.as_json() for user in self.mentions],
            "mention_roles": list(self.mention_roles),
            "attachments": list(self.attachments),
            "embeds": list(self.embeds),
            "components": list(self.components),
            "pinned": False,
            "flags": self.flags | (HAS_THREAD if self.thread else 0),
        }
        if self.nonce is not None:
            body["nonce"] = self.nonce
        if self.channel.guild:
            body["guild_id"] = self.channel.guild
        if guild_member:
            body["member"] = guild_member.as_json(with_user=False)
        if self.application:
            body |= {"webhook_id": self.application, "application_id": self.application}
        if self.interaction:
            body["interaction_metadata"] = self.interaction
        if self.thread:
            body["thread"] = self.thread.as_json()
        return body | self._referenced()

    def _referenced(self) -> JSON:
        if self.reference is None:
            return {}
        target = self.channel.find(str(self.reference.get("message_id")))
        return {"message_reference": self.reference, "referenced_message": target.as_json() if target else None}


@dataclass(eq=False)
class Guild:
    id: str
    name: str
    owner: User
    members: dict[str, Member] = field(default_factory=dict)
    roles: dict[str, Role] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)

    def permissions(self, user: User, channel: Channel | None = None) -> int:
        if user is self.owner:
            return ALL
        member = self.members.get(user.id)
        if member is None:
            return 0
        held = [self.roles[self.id], *(self.roles[role] for role in member.roles)]
        allowed = 0
        for role in held:
            allowed |= role.permissions
        if allowed & ADMINISTRATOR:
            return ALL
        place = self.channels.get(channel.parent) if channel and channel.is_thread else channel
        for id_, denied in (place.denied if place else {}).items():
            if id_ in {user.id, *(role.id for role in held)}:
                allowed &= ~denied
        return allowed

    def as_json(self) -> JSON:
        return {
            "id": self.id,
            "name": self.name,
            "owner_id": self.owner.id,
            "roles": [role.as_json() for role in self.roles.values()],
            "emojis": [],
            "stickers": [],
            "features": [],
            "verification_level": 0,
            "default_message_notifications": 0,
            "explicit_content_filter": 0,
            "mfa_level": 0,
            "nsfw_level": 0,
            "premium_tier": 0,
            "premium_progress_bar_enabled": False,
            "preferred_locale": "en-US",
            "system_channel_flags": 0,
            "afk_timeout": 300,
            "member_count": len(self.members),
            "joined_at": "2026-01-04T20:21:10.139000+00:00",
            "large": False,
            "unavailable": False,
            "members": [member.as_json() for member in self.members.values() if member.user.bot],
            "channels": [channel.as_json() for channel in self.channels.values() if not channel.is_thread],
            "threads": [
                {**channel.as_json(), "member": channel.own_member()}
                for channel in self.channels.values()
                if channel.is_thread and not channel.archived
            ],
            "voice_states": [],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }


@dataclass(eq=False)
class Interaction:
    """Something a person did that waits for an answer: three seconds for the first word, fifteen minutes for the rest."""

    id: str
    token: str
    kind: int
    user: User
    channel: Channel
    began: float
    name: str = ""
    acknowledged: float | None = None
    deferred: bool = False  # thinking, and not answered yet
    response: Message | None = None
    source: Message | None = None  # of a component
    choices: list[JSON] | None = None
    modal: JSON | None = None
    followups: list[Message] = field(default_factory=list)
    ephemeral: bool = False
