"""Where something was said, in our words: threads and forum posts belong to the channel they are in."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias
from unicodedata import category

import discord

from rag.types import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rag.types import Question

PLATFORM = "discord"
THREAD_NAME = 100  # characters
UNSEEN = "\u2800\u3164\u115f\u1160\uffa0"  # letters by name, blank on the screen

Room: TypeAlias = "discord.abc.MessageableChannel | discord.interactions.InteractionChannel"


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """What is needed to answer, in a form that can be stored.

    `room` is the channel or thread in which it was asked. Of an interaction: `token` lives for fifteen minutes, `response`
    is the message that says "thinking", `private` that only who asked sees it.
    """

    room: int
    token: str = ""
    expires: float = 0.0
    response: int = 0
    private: bool = False

    def stored(self) -> str:
        return json.dumps({key: value for key, value in asdict(self).items() if value}, separators=(",", ":"))

    @classmethod
    def of(cls, question: Question) -> ReplyTo:
        return cls(**json.loads(question.reply_to))


def place_of(room: Room) -> Place:
    """Routes name channels: what is asked in a thread is asked in its channel."""
    if isinstance(room, discord.DMChannel | discord.GroupChannel):
        return Place(PLATFORM, channel=str(room.id), direct=True)
    if isinstance(room, discord.PartialMessageable):
        return Place(PLATFORM, str(room.guild_id or ""), str(room.id), direct=room.guild_id is None)
    channel = room.parent_id if isinstance(room, discord.Thread) else room.id
    return Place(PLATFORM, str(room.guild.id), str(channel))


def is_help_post(room: object) -> bool:
    """A post of a forum: a thread whose first message has its id."""
    return isinstance(room, discord.Thread) and isinstance(room.parent, discord.ForumChannel)


def refusal(room: Room) -> str:
    """Why nothing can be said there; "" where something can (D9)."""
    if isinstance(room, discord.DMChannel | discord.GroupChannel | discord.PartialMessageable):
        return ""
    held = room.permissions_for(room.guild.me) if room.guild.me is not None else discord.Permissions.none()
    if isinstance(room, discord.Thread):
        if room.locked and not held.manage_threads:
            return "the thread is locked"
        return "" if held.view_channel and held.send_messages_in_threads else "Send Messages in Threads is missing"
    return "" if held.view_channel and held.send_messages else "Send Messages is missing"


def roles_of(who: discord.User | discord.Member) -> tuple[str, ...]:
    return tuple(str(role.id) for role in who.roles) if isinstance(who, discord.Member) else ()


def thread_name(text: str) -> str:
    return seen(" ".join(text.split())[:THREAD_NAME]) or "Question"


def seen(text: str) -> str:
    """Without blanks around it; "" where nothing of it is shown."""
    text = text.strip()
    return text if any(sign not in UNSEEN and category(sign) not in {"Cc", "Cf", "Zs"} for sign in text) else ""


def leads_nowhere(setting: str, id_: str) -> str:
    told = f"{setting} names {id_}, which leads to no channel that the bot can see."
    return f"{told} Copy it again, or let the bot's role view the channel."


def unseen(client: discord.Client, named: Mapping[str, Iterable[str]]) -> list[str]:
    """What is wrong with channels that settings name, in sentences; nothing before all servers were told of."""
    if not client.is_ready() or any(guild.unavailable for guild in client.guilds):
        return []
    return [leads_nowhere(setting, id_) for setting, ids in named.items() for id_ in ids if not _is_seen(client, int(id_))]


def _is_seen(client: discord.Client, id_: int) -> bool:
    seen = client.get_channel(id_)
    if not isinstance(seen, discord.abc.GuildChannel):
        return False
    return seen.guild.me is None or seen.permissions_for(seen.guild.me).view_channel
