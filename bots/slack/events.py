"""What Slack tells us, in our words: what people said, changed, deleted, and how they liked it. All else is nothing to us."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from bots.slack.reading import Json

_PEOPLE = frozenset({None, "", "file_share", "thread_broadcast", "me_message"})
_SLACKS_OWN = frozenset({"USLACKBOT", "USLACK"})
_OTHERS = re.compile(r"<(?:@([UWB][A-Z0-9]+)|!subteam)")
_SKIN = re.compile(r"::skin-tone-\d$")
_VERDICTS = {"+1": 1, "thumbsup": 1, "-1": -1, "thumbsdown": -1}


@dataclass(frozen=True, slots=True)
class Where:
    workspace: str
    channel: str
    direct: bool = False
    shared: bool = False  # with another company


@dataclass(frozen=True, slots=True)
class Told:
    """What a person said. `thread` is the first message's id, "" outside of threads; `team` is the person's own workspace."""

    where: Where
    message: str
    thread: str
    user: str
    team: str
    gesture: str
    content: Json
    mentioned: bool

    @property
    def root(self) -> str:
        return self.thread or self.message

    def speaks_to_others(self, me: str) -> bool:
        """Whether it calls somebody else, or a group."""
        return any(match[1] != me for match in _OTHERS.finditer(str(self.content.get("text") or "")))

    def words(self, me: str) -> Json:
        """Its content without the mention of us."""
        text = re.sub(rf"<@{re.escape(me)}(?:\|[^>]*)?>[ ,:]*", "", str(self.content.get("text") or "")).strip()
        without: Json = {"text": text}
        if not text and not self.content.get("attachments"):
            without["blocks"] = []  # they only say the same
        return {**self.content, **without}


@dataclass(frozen=True, slots=True)
class Changed:
    """A person's own change of what they said; `after` in seconds."""

    told: Told
    after: float


@dataclass(frozen=True, slots=True)
class Deleted:
    where: Where
    message: str


@dataclass(frozen=True, slots=True)
class Liked:
    """A reaction to a message: 1 or -1; 0 where it was taken back."""

    where: Where
    message: str
    user: str
    verdict: int


@dataclass(frozen=True, slots=True)
class Opened:
    """Somebody opened the messages tab, or a thread of the older kind of assistants."""

    where: Where
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Removed:
    """We were taken out of a workspace, or an enterprise."""

    workspace: str
    enterprise: str = ""


Event: TypeAlias = Told | Changed | Deleted | Liked | Opened | Removed


def read(body: Json, me: str) -> Event | None:  # noqa: PLR0911 - one for each kind
    event: Json = body.get("event") or {}
    match event.get("type"):
        case "app_mention" | "message":
            return _message(body, event, me)
        case "reaction_added" | "reaction_removed":
            return _liked(body, event)
        case "app_home_opened" if event.get("tab") == "messages":
            return Opened(_where(body, {**event, "channel_type": "im"}))
        case "assistant_thread_started":
            thread = event.get("assistant_thread") or {}
            where = _where(body, {"channel": thread.get("channel_id", ""), "channel_type": "im"})
            return Opened(where, str(thread.get("thread_ts") or ""))
        case "app_uninstalled":
            return Removed(workspace_of(body), str(body.get("enterprise_id") or ""))
        case "tokens_revoked" if (event.get("tokens") or {}).get("bot"):
            return Removed(workspace_of(body), str(body.get("enterprise_id") or ""))
        case _:
            return None


def workspace_of(body: Json) -> str:
    """The workspace that we are installed in: in a shared channel the event may come from another one."""
    for authorization in body.get("authorizations") or []:
        if authorization.get("team_id"):
            return str(authorization["team_id"])
    return str(body.get("team_id") or "")


def _where(body: Json, event: Json) -> Where:
    channel = str(event.get("channel") or "")
    direct = event.get("channel_type") == "im" or channel.startswith("D")
    return Where(workspace_of(body), channel, direct, bool(body.get("is_ext_shared_channel")))


def _message(body: Json, event: Json, me: str) -> Event | None:
    where = _where(body, event)
    if event.get("subtype") == "message_deleted":
        return Deleted(where, str(event.get("deleted_ts") or ""))
    if event.get("subtype") == "message_changed":
        return _changed(where, event, me)
    return _told(where, event, me)


def _told(where: Where, message: Json, me: str) -> Told | None:
    """None for what no person said: bots, our own words, joins, whatever Slack itself says (X4)."""
    user = str(message.get("user") or "")
    if message.get("subtype") not in _PEOPLE or message.get("bot_id") or message.get("hidden") or user in {"", me, *_SLACKS_OWN}:
        return None
    text = str(message.get("text") or "")
    return Told(
        where,
        str(message.get("ts") or ""),
        str(message.get("thread_ts") or ""),
        user,
        str(message.get("user_team") or message.get("source_team") or message.get("team") or where.workspace),
        str(message.get("client_msg_id") or ""),
        message,
        f"<@{me}>" in text or f"<@{me}|" in text,
    )


def _changed(where: Where, event: Json, me: str) -> Changed | Deleted | None:
    """A preview, a reply below it or a bot changes a message, too: only a person's own edit of the text counts (S8)."""
    new, old = event.get("message") or {}, event.get("previous_message") or {}
    if new.get("subtype") == "tombstone":
        return Deleted(where, str(new.get("ts") or ""))
    edited: Any = new.get("edited") or {}
    told = _told(where, new, me)
    if told is None or not edited or edited == old.get("edited") or edited.get("user", told.user) != told.user:
        return None
    if old and new.get("text") == old.get("text"):
        return None
    return Changed(told, float(edited.get("ts") or told.message) - float(told.message))


def _liked(body: Json, event: Json) -> Liked | None:
    item = event.get("item") or {}
    verdict = _VERDICTS.get(_SKIN.sub("", str(event.get("reaction") or "")))
    if item.get("type") != "message" or verdict is None:
        return None
    where = _where(body, {"channel": item.get("channel")})
    added = event.get("type") == "reaction_added"
    return Liked(where, str(item.get("ts") or ""), str(event.get("user") or ""), verdict if added else 0)
