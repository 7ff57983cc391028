"""What happens in Discord, as questions for the desk: messages, commands, buttons; who may is decided before anything else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from logging import getLogger
from typing import TYPE_CHECKING

import discord

from bots.access import Asker, authorize, refused
from bots.administering import COMMANDS
from bots.discord import heard
from bots.discord.failing import TokenDead, delivering
from bots.discord.places import ReplyTo, place_of, refusal, roles_of, thread_name
from bots.discord.render import cut
from rag.errors import DeliveryError
from rag.types import Question, Thread

if TYPE_CHECKING:
    from bots.access import Kind, Refusal, Rules
    from bots.administering import Administration
    from bots.desk import Desk
    from bots.discord.commands import Choosable
    from bots.discord.places import Room
    from rag.ports import Inbox
    from rag.types import Place

log = getLogger(__name__)

PACE = 2.0  # seconds between two looks at a run
EXISTS, TOO_MANY = 160004, 160006


@dataclass(frozen=True, slots=True)
class ListenSettings:
    rules: Rules
    hearing: heard.Hearing
    edit_seconds: float = 600.0


class Listener:
    def __init__(
        self, desk: Desk, inbox: Inbox, settings: ListenSettings, administration: Administration, choosable: Choosable
    ) -> None:
        self._desk = desk
        self._inbox = inbox
        self._settings = settings
        self._administration = administration
        self.choosable = choosable

    # --- messages ---------------------------------------------------------------------------------------------------

    async def message(self, message: discord.Message, me: discord.ClientUser) -> None:
        why = heard.meant(message, me, self._settings.hearing)
        if why is None:
            return
        room = message.channel
        thread = await self._thread_of(message)
        if why == "aside":
            await self._inbox.hush(thread)
            return
        if why == "follow-up" and not await self._inbox.askers(thread):
            return
        why_not = authorize(self._settings.rules, asker_of(message.author, room, discord.Permissions.none()), "question")
        if why_not == "bot" or (why_not and why not in ("mention", "reply", "direct")):
            return
        if unable := refusal(room):
            log.warning("a question in channel %s cannot be answered: %s", room.id, unable)
            return
        text = await heard.asked(message, me)
        if not text and not self._settings.hearing.content and why == "reply":
            return  # without the intent a reply to a command's answer comes empty
        await self._desk.ask(
            Question(
                "",
                thread,
                text,
                name_of(message.author),
                roles=roles_of(message.author),
                person=str(message.author.id),
                message=str(message.id),
                reply_to=ReplyTo(room.id).stored(),
                notice=refused(why_not, text) if why_not else "",
                asked_at=message.created_at,
            )
        )

    async def _thread_of(self, message: discord.Message) -> Thread:
        """What is said in a thread, in a direct talk or in answer to something belongs together."""
        if (thread := await self._thread_in(message.channel)) is not None:
            return thread
        place = place_of(message.channel)
        above = str(message.reference.message_id) if message.reference and message.reference.message_id else ""
        known = await self._known(place, above) if above else None
        return known or Thread(place, str(message.id))

    async def _known(self, place: Place, message: str) -> Thread | None:
        """The thread that a message belongs to, as a question or as what shows an answer."""
        question = await self._inbox.shown(place, message) or await self._inbox.asked(place, message)
        return question.thread if question else None

    async def edited(self, message: discord.Message, me: discord.ClientUser) -> None:
        """Only what a person edits: a preview that Discord adds changes no text and has no time of an edit (S8)."""
        if message.edited_at is None or message.author.bot:
            return
        if (message.edited_at - message.created_at).total_seconds() <= self._settings.edit_seconds:
            await self._desk.edit(place_of(message.channel), str(message.id), await heard.asked(message, me))

    async def deleted(self, room: Room, message: int) -> None:
        await self._desk.delete(place_of(room), str(message))

    # --- commands ---------------------------------------------------------------------------------------------------

    async def may_use(self, interaction: discord.Interaction) -> bool:
        """Asked for commands, menus, suggestions and buttons alike, before anything is done (X2)."""
        why_not = self.why_not(interaction)
        if why_not is None:
            return True
        if interaction.type is discord.InteractionType.autocomplete:
            await interaction.response.autocomplete([])
        else:
            told = refused(why_not, "") or "…"
            await interaction.response.send_message(told, ephemeral=True)
        return False

    def why_not(self, interaction: discord.Interaction) -> Refusal | None:
        if interaction.channel is None:
            return "channel"
        return authorize(
            self._settings.rules, asker_of(interaction.user, interaction.channel, interaction.permissions), kind_of(interaction)
        )

    async def asked(self, interaction: discord.Interaction, text: str, *, private: bool = False, base: str = "") -> None:
        """Acknowledged first: three seconds are little."""
        response = await interaction.response.defer(thinking=True, ephemeral=private)
        room = interaction.channel
        if room is None:
            return
        thread = await self._thread_in(room) or Thread(place_of(room), str(interaction.id))
        reply_to = ReplyTo(
            room.id,
            interaction.token,
            interaction.expires_at.timestamp(),
            response.message_id or 0 if response else 0,
            private,
        )
        await self._desk.ask(
            Question(
                "",
                thread,
                text,
                name_of(interaction.user),
                roles=roles_of(interaction.user),
                person=str(interaction.user.id),
                gesture=str(interaction.id),
                reply_to=reply_to.stored(),
                base=base,
                asked_at=interaction.created_at,
            )
        )

    async def commanded(self, interaction: discord.Interaction, said: str) -> None:
        """Only who gave the command sees how it goes: it names documents. A long run outlives the interaction's token."""
        await interaction.response.defer(thinking=True, ephemeral=True)
        room = interaction.channel
        if room is None:
            return
        bases = self.choosable(place_of(room), roles_of(interaction.user))
        show = Progress(interaction).show
        told = await self._administration.carry_out(said, bases=bases, thread=await self._thread_in(room), show=show, pace=PACE)
        with suppress(DeliveryError):
            await show(told)

    async def _thread_in(self, room: Room) -> Thread | None:
        """The thread that a command is given in, if it is given in one."""
        place = place_of(room)
        if place.direct:
            return Thread(place, str(room.id))
        if not isinstance(room, discord.Thread):
            return None
        return await self._known(place, str(room.id)) or Thread(place, str(room.id))

    # --- buttons ----------------------------------------------------------------------------------------------------

    async def judged(self, interaction: discord.Interaction, question: str, verdict: int) -> None:
        taken = await self._inbox.judge(question, str(interaction.user.id), verdict)
        shown = "👍" if verdict > 0 else "👎"
        await interaction.response.send_message(f"{shown} ✓" if taken else "This answer is not kept any more.", ephemeral=True)

    async def opened(self, interaction: discord.Interaction, name: str) -> None:
        """A thread on the answer. Where one is there already, or none more may be, that is said to who clicked."""
        message = interaction.message
        if message is None:
            return
        await interaction.response.defer(thinking=False, ephemeral=True)
        try:
            thread = await message.create_thread(name=thread_name(name), auto_archive_duration=1440)
        except discord.HTTPException as error:
            told = {
                EXISTS: f"It is there already: <#{message.id}>",
                TOO_MANY: "This server has too many open threads just now. Reply to the answer instead.",
            }.get(error.code, "I may not open a thread here. Reply to the answer instead.")
            await interaction.followup.send(told, ephemeral=True)
        else:
            await interaction.followup.send(f"<#{thread.id}>", ephemeral=True)


class Progress:
    """What a command says, in the message that only its giver sees; cut to one message, and left once its token died."""

    def __init__(self, interaction: discord.Interaction) -> None:
        self._interaction = interaction

    async def show(self, text: str) -> None:
        """Raises DeliveryError."""
        if self._interaction.is_expired():
            return
        with suppress(TokenDead), delivering(by_token=True):
            await self._interaction.edit_original_response(content=cut(text))


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


def name_of(who: discord.User | discord.Member) -> str:
    """Names may be blank, or nothing but signs that are not shown."""
    return who.display_name.strip() or who.name.strip() or "somebody"
