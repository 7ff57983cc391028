"""Which messages are questions for us, and what they ask (D1, D2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import discord

from bots.discord.history import SAID, files_of, words_of
from bots.discord.places import is_help_post
from rag.attached import content_alone

if TYPE_CHECKING:
    from collections.abc import Collection

Why: TypeAlias = Literal["mention", "reply", "direct", "follow-up", "aside", "post"]


@dataclass(frozen=True, slots=True)
class Hearing:
    """What is listened to. `forums` are channels whose new posts are answered."""

    content: bool = True
    follow_ups: bool = True
    direct: bool = False
    forums: Collection[str] = ()


def meant(message: discord.Message, me: discord.ClientUser, hearing: Hearing) -> Why | None:
    """Why a message is for us; None where it is not. A mention of everyone or of a role is none of us.

    "follow-up" says: in a thread, without a mention; whether it is one of ours is for the caller to know. "aside" is said
    there to somebody else.
    """
    is_bot = message.author.bot or message.webhook_id is not None  # two of them would talk forever (X4)
    if is_bot or message.type not in SAID:
        return None
    if message.guild is None:
        return "direct" if hearing.direct else None
    return _called(message, me) or (_uncalled(message, me, hearing) if hearing.content else None)


def is_thinking(message: discord.Message, me: discord.ClientUser) -> bool:
    """Ours, and nothing in it yet but that a command was acknowledged."""
    return message.author.id == me.id and message.flags.loading and message.interaction_metadata is not None


def _called(message: discord.Message, me: discord.ClientUser) -> Why | None:
    """A reply mentions whom it answers, too."""
    replied = _is_reply_to(message, me)
    if me in message.mentions and (not replied or f"{me.id}>" in message.content):
        return "mention"
    return "reply" if replied else None


def _uncalled(message: discord.Message, me: discord.ClientUser, hearing: Hearing) -> Why | None:
    room = message.channel
    if is_help_post(room) and message.id == room.id:
        return "post" if str(getattr(room, "parent_id", "")) in hearing.forums else None
    if hearing.follow_ups and isinstance(room, discord.Thread):
        return "aside" if _talks_to_others(message, me) else "follow-up"
    return None


def _is_reply_to(message: discord.Message, me: discord.ClientUser) -> bool:
    reference = message.reference
    if reference is None or reference.type is not discord.MessageReferenceType.reply:
        return False
    resolved = reference.resolved or reference.cached_message
    return isinstance(resolved, discord.Message) and resolved.author.id == me.id


def _talks_to_others(message: discord.Message, me: discord.ClientUser) -> bool:
    """People who mention or answer somebody else talk among themselves."""
    named = [user for user in message.mentions if user.id != me.id]
    replied = message.reference is not None and message.type is discord.MessageType.reply
    return bool(named or message.role_mentions or message.mention_everyone or replied)


async def asked(message: discord.Message, me: discord.ClientUser, most: int) -> str:
    """The question in words, attached texts below it, as far as a question may be that long; a post's title is part of it."""
    text = words_of(message, me.id)
    if is_help_post(message.channel) and message.id == message.channel.id:
        text = "\n\n".join(part for part in (getattr(message.channel, "name", ""), text) if part)
    return content_alone("\n\n".join(part for part in (text, await files_of(message, most - len(text))) if part))
