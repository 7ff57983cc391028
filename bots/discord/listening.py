"""What happens in Discord, as questions for the desk: messages, commands, buttons; who may is decided before anything else."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from logging import getLogger
from typing import TYPE_CHECKING

import discord

from bots.access import authorize, refused
from bots.discord import heard
from bots.discord.acknowledging import PATIENCE, Acknowledgement, Missed, first, patiently
from bots.discord.askers import asker_of, kind_of, question_of
from bots.discord.failing import TokenDead, delivering
from bots.discord.places import ReplyTo, place_of, refusal, roles_of, thread_name
from bots.discord.render import cut
from bots.wording import words
from rag.errors import DeliveryError
from rag.types import Thread

if TYPE_CHECKING:
    from bots.access import Choosable, Refusal, Rules
    from bots.administering import Administration
    from bots.desk import Desk
    from bots.discord.places import Room
    from rag.ports import Inbox
    from rag.types import Place, Question

log = getLogger(__name__)

PACE = 2.0  # seconds between two looks at a run
EXISTS, TOO_MANY = 160004, 160006


@dataclass(frozen=True, slots=True)
class ListenSettings:
    rules: Rules
    hearing: heard.Hearing
    edit_seconds: float = 600.0
    longest: int = 4000  # characters of a question, its files included


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
        text = await heard.asked(message, me, self._settings.longest)
        if not text and not self._settings.hearing.content and why == "reply":
            return  # without the intent a reply to a command's answer comes empty
        await self._desk.ask(
            question_of(
                message.author,
                thread,
                text,
                ReplyTo(room.id),
                message=str(message.id),
                notice=refused(why_not, text) if why_not else "",
                asked_at=message.created_at,
            )
        )

    async def left_thinking(self, message: discord.Message) -> None:
        """A command that a process acknowledged and was killed before it had claimed it; what was asked nobody can read.

        Claimed now, so that whoever may still claim it, or did, is the only one to answer it.
        """
        told = message.interaction_metadata
        if told is None:
            return
        thread = await self._thread_in(message.channel) or Thread(place_of(message.channel), str(told.id))
        reply_to = ReplyTo(message.channel.id, response=message.id)
        failed = question_of(
            told.user, thread, "", reply_to, gesture=str(told.id), notice=words("").failed, asked_at=told.created_at
        )
        await self._desk.ask(failed)

    def is_meant(self, message: discord.Message, me: discord.ClientUser) -> bool:
        return heard.meant(message, me, self._settings.hearing) is not None

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
            text = await heard.asked(message, me, self._settings.longest)
            await self._desk.edit(place_of(message.channel), str(message.id), text)

    async def deleted(self, room: Room, message: int) -> None:
        await self._desk.delete(place_of(room), str(message))

    # --- commands ---------------------------------------------------------------------------------------------------

    async def may_use(self, interaction: discord.Interaction) -> bool:
        """Asked for commands, menus, suggestions and buttons alike, before anything is done (X2)."""
        why_not = self.why_not(interaction)
        if why_not is None:
            return True
        with suppress(Missed):
            if interaction.type is discord.InteractionType.autocomplete:
                await first(interaction.response.autocomplete([]))
            else:
                await first(interaction.response.send_message(refused(why_not, "", str(interaction.locale)) or "…", ephemeral=True))
        return False

    def why_not(self, interaction: discord.Interaction) -> Refusal | None:
        if interaction.channel is None:
            return "channel"
        return authorize(
            self._settings.rules, asker_of(interaction.user, interaction.channel, interaction.permissions), kind_of(interaction)
        )

    async def asked(
        self,
        interaction: discord.Interaction,
        text: str,
        *,
        about: discord.Message | None = None,
        private: bool = False,
        base: str = "",
    ) -> None:
        """Claimed, then acknowledged, so that no kill between loses it; but acknowledged within three seconds in any case."""
        acknowledgement = Acknowledgement(interaction, private=private)
        claiming = asyncio.create_task(
            patiently(acknowledgement, lambda: self._claim(interaction, text, about, base, acknowledgement))
        )
        done, _ = await asyncio.wait({claiming}, timeout=PATIENCE)
        if not done:
            await acknowledgement.now()
        await claiming

    async def _claim(
        self,
        interaction: discord.Interaction,
        text: str,
        about: discord.Message | None,
        base: str,
        acknowledgement: Acknowledgement,
    ) -> None:
        room, me = interaction.channel, interaction.client.user
        if room is None or me is None:
            return
        if about is not None:
            text = await heard.asked(about, me, self._settings.longest)
        thread = await self._thread_of_command(interaction, room, private=acknowledgement.private)
        reply_to = ReplyTo(room.id, interaction.token, interaction.expires_at.timestamp(), private=acknowledgement.private)

        async def taken(question: Question) -> None:
            response = await acknowledgement.now()
            if acknowledgement.late:  # who asked was told so by Discord, and asks again
                await self._inbox.withdraw(question.id)
            elif response:
                await self._inbox.readdress(question.id, replace(reply_to, response=response).stored())

        await self._desk.ask(
            question_of(
                interaction.user,
                thread,
                text,
                reply_to,
                gesture=str(interaction.id),
                base=base,
                language=str(interaction.locale),
                asked_at=interaction.created_at,
            ),
            taken=taken,
        )

    async def _thread_of_command(self, interaction: discord.Interaction, room: Room, *, private: bool) -> Thread:
        """What only one person sees is a talk of its own: the others of the thread never get it as history."""
        if private and isinstance(room, discord.Thread):
            return Thread(place_of(room), f"{room.id}-{interaction.user.id}")
        return await self._thread_in(room) or Thread(place_of(room), str(interaction.id))

    async def commanded(self, interaction: discord.Interaction, said: str) -> None:
        """Only who gave the command sees how it goes: it names documents. A long run outlives the interaction's token."""
        room = interaction.channel
        if room is None:
            return
        await first(interaction.response.defer(thinking=True, ephemeral=True))
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
        await first(interaction.response.defer(thinking=False, ephemeral=True))
        taken = await self._inbox.judge(question, str(interaction.user.id), verdict)
        shown = "👍" if verdict > 0 else "👎"
        await interaction.followup.send(f"{shown} ✓" if taken else "This answer is not kept any more.", ephemeral=True)

    async def opened(self, interaction: discord.Interaction, question: str) -> None:
        """A thread on the answer. Where one is there already, or none more may be, that is said to who clicked."""
        message = interaction.message
        if message is None:
            return
        await first(interaction.response.defer(thinking=False, ephemeral=True))
        asked = await self._inbox.question(question)
        try:
            thread = await message.create_thread(name=thread_name(asked.text if asked else ""), auto_archive_duration=1440)
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
