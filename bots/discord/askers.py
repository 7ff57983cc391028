"""Who does something in Discord, as authorisation and questions want it; the only place that makes questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import discord

from bots.access import Asker
from bots.administering import COMMANDS
from bots.discord.places import place_of, roles_of, seen
from rag.material import plain_name
from rag.types import Question

if TYPE_CHECKING:
    from bots.access import Kind
    from bots.discord.places import ReplyTo, Room
    from rag.types import Thread


def asker_of(who: discord.User | discord.Member, room: Room, held: discord.Permissions) -> Asker:
    """`held` are the permissions that Discord itself says they have in this place, never those of another server."""
    return Asker(
        str(who.id),
        place_of(room),
        admin=held.administrator or held.manage_guild,
        bot=who.bot,
        parent=str(getattr(room, "category_id", None) or ""),
    )


def kind_of(interaction: discord.Interaction) -> Kind:
    if interaction.type is discord.InteractionType.autocomplete:
        return "suggestion"
    if interaction.type in (discord.InteractionType.component, discord.InteractionType.modal_submit):
        return "button"
    command = interaction.command
    return "command" if command is not None and command.name in COMMANDS else "question"


def question_of(who: discord.User | discord.Member, thread: Thread, text: str, reply_to: ReplyTo, **more: Any) -> Question:
    return Question(
        "",
        thread,
        text,
        name_of(who),
        roles=roles_of(who),
        person=str(who.id),
        reply_to=reply_to.stored(),
        **more,
    )


def name_of(who: discord.User | discord.Member) -> str:
    """Names may be blank, or nothing but signs that are not shown."""
    return seen(plain_name(who.display_name)) or seen(plain_name(who.name)) or "somebody"
