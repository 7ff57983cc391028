"""The commands that Discord shows, and what each does; they are told to Discord only when they changed (D1, D7, D10)."""

from __future__ import annotations

import hashlib
import json
from logging import LogRecord, getLogger
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from bots.discord.acknowledging import tell_failure
from bots.discord.failing import ACKNOWLEDGED, TOKEN_DEAD
from bots.discord.places import place_of, roles_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bots.access import Choosable
    from bots.discord.listening import Listener
    from rag.ports import Catalog

LONGEST = 6000  # characters of an option, as Discord takes them
CHOICES = 25
REMEMBERED = "discord.commands"


class Tree(app_commands.CommandTree[Any]):
    """Who may use a command is decided before any of it runs; what goes wrong in it is said to who used it."""

    listener: Listener | None = None

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        return self.listener is not None and await self.listener.may_use(interaction)

    @property
    def listening(self) -> Listener:
        """Within a command, which `interaction_check` let pass."""
        assert self.listener is not None  # noqa: S101 - as said
        return self.listener

    async def on_error(self, interaction: discord.Interaction, error: app_commands.AppCommandError, /) -> None:
        await tell_failure(interaction, error.original if isinstance(error, app_commands.CommandInvokeError) else error)


def is_news(record: LogRecord) -> bool:
    """A suggestion that came too late, or that another process gave, the library logs with all that it has."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, discord.HTTPException) and error.code in {*TOKEN_DEAD, ACKNOWLEDGED})


getLogger("discord.app_commands.tree").addFilter(is_news)


def add_asking(tree: Tree, choosable: Choosable, *, several: bool, direct: bool, longest: int = LONGEST) -> None:
    """`/ask`, and the same for a message. A choice of bases is offered only where there are `several`; Discord lets nobody type
    more than the `longest` question.
    """
    contexts = app_commands.allowed_contexts(guilds=True, dms=direct)

    async def suggested(interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        if interaction.channel is None:
            return []
        known = choosable(place_of(interaction.channel), roles_of(interaction.user))
        found = [base for base in known if typed.lower() in base.lower()]
        return [app_commands.Choice(name=base[:100], value=base) for base in found[:CHOICES]]

    async def ask_in(
        interaction: discord.Interaction,
        question: str,
        base: str = "",
        private: bool = False,  # noqa: FBT001, FBT002 - an option of the command
    ) -> None:
        await tree.listening.asked(interaction, question, private=private, base=base)

    async def ask(
        interaction: discord.Interaction,
        question: str,
        private: bool = False,  # noqa: FBT001, FBT002 - an option of the command
    ) -> None:
        await tree.listening.asked(interaction, question, private=private)

    asking: Any = ask_in if several else ask
    asking.__annotations__["question"] = app_commands.Range[str, 1, min(longest, LONGEST)]
    asking = contexts(app_commands.describe(question="What do you want to know?", private="Only you see the answer.")(asking))
    if several:
        asking = app_commands.autocomplete(base=suggested)(app_commands.describe(base="Where to look.")(asking))
    tree.command(name="ask", description="Ask the documents, and get an answer with its sources.")(asking)

    @tree.context_menu(name="Ask the docs about this")
    @contexts
    async def ask_about(interaction: discord.Interaction, message: discord.Message) -> None:
        await tree.listening.asked(interaction, "", about=message)


def add_administering(tree: Tree, bases: Sequence[str]) -> None:
    """Discord hides them from who may not manage the server; whether somebody may is decided by us all the same (D7)."""
    only = app_commands.default_permissions(manage_guild=True)

    async def suggested(_: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        found = [base for base in bases if typed.lower() in base.lower()]
        return [app_commands.Choice(name=base[:100], value=base) for base in found[:CHOICES]]

    def add(name: str, description: str, *, of_base: bool) -> None:
        async def of_one(interaction: discord.Interaction, base: str = "") -> None:
            await tree.listening.commanded(interaction, f"{name} {base}".strip())

        async def of_all(interaction: discord.Interaction) -> None:
            await tree.listening.commanded(interaction, name)

        command: app_commands.Command[Any, Any, Any]
        if of_base and len(bases) > 1:
            command = app_commands.Command(name=name, description=description, callback=of_one)
            command.autocomplete("base")(suggested)
        else:
            command = app_commands.Command(name=name, description=description, callback=of_all)
        tree.add_command(only(app_commands.guild_only(command)))

    add("reindex", "Bring the documents up to date, with live progress.", of_base=True)
    add("cancel", "Stop an update of the documents that is under way.", of_base=True)
    add("status", "What is indexed, and what is under way.", of_base=False)
    add("sources", "Every document, and those that could not be read.", of_base=True)
    add("forget", "In a thread: forget what was said in it.", of_base=False)


async def synchronise(tree: Tree, catalog: Catalog, application: int) -> bool:
    """Tell Discord of the commands if they are not those it was last told; whether it was told."""
    payload = [command.to_dict(tree) for command in tree.get_commands()]
    digest = hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()
    told = {"application": str(application), "digest": digest}
    if await catalog.remembered(REMEMBERED) == told:
        return False
    await tree.sync()
    await catalog.remember(REMEMBERED, told)
    return True
