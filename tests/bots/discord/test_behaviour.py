"""The bot in simcord, a Discord in memory by other people than us: who sees a command, who is called, what a role opens, and what
hours do to buttons. It judges where our own fake, made by who made the bot, could share a mistake with it.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import discord
import pytest
import simcord

from bots.access import Rules
from bots.desk import Desk
from bots.discord.app import App
from bots.discord.heard import Hearing
from bots.discord.surface import DiscordSurface
from tests.bots.discord.conftest import QUICK, Bot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CONTENT = discord.Intents(message_content=True)
MANAGER = discord.Permissions(manage_guild=True)


@dataclass
class Talk:
    env: simcord.Env
    app: App
    desk: Desk
    guild: simcord.GuildHandle
    general: simcord.ChannelHandle

    def person(self, name: str, *roles: simcord.RoleHandle) -> simcord.MemberActor:
        return self.guild.add_member(self.env.create_user(name), roles=roles)

    @property
    def me(self) -> discord.ClientUser:
        assert self.app.user is not None
        return self.app.user

    async def settled(self) -> None:
        await self.desk.settled()
        await self.env.settle()


@asynccontextmanager
async def simulated(bot: Bot) -> AsyncIterator[Talk]:
    app = App(bot.catalog, bot.bases, bot.choosable, content=bot.hearing.content, direct=bot.hearing.direct)
    surface = DiscordSurface(app, threads=bot.threads)
    surface.pace = bot.pace
    desk = Desk(inbox=bot.inbox, memory=bot.memory, conversation=bot.core, surfaces={"discord": surface}, settings=QUICK)
    async with simcord.run(app, approved_intents=CONTENT) as env, desk:
        app.listen(bot.listener(desk))
        guild = env.create_guild("Acme")
        yield Talk(env, app, desk, guild, guild.create_text_channel("general"))
        app.listen(None)


def answer(used: simcord.InteractionResult) -> str:
    assert used.response is not None
    return used.response.content


async def test_a_command_is_answered_in_place(bot: Bot) -> None:
    async with simulated(bot) as talk:
        used = await talk.person("Ana").slash(talk.general, "ask", question="how much leave?")
        await talk.settled()

        assert answer(used) == "> how much leave?\nAbout how much leave?"
        assert (used.acknowledged, used.ephemeral, len(used.followups)) == (True, False, 0)


async def test_who_sees_a_command_is_up_to_discord_and_who_may_use_it_is_not(bot: Bot) -> None:
    async with simulated(bot) as talk:
        helpers = talk.guild.create_role("Helpers")
        ana, ben, ada = (
            talk.person("Ana"),
            talk.person("Ben", helpers),
            talk.person("Ada", talk.guild.create_role("M", permissions=MANAGER)),
        )
        assert ana.available_commands(talk.general) == ben.available_commands(talk.general) == ("ask",)
        assert {"reindex", "status", "forget"} <= set(ada.available_commands(talk.general))

        shown = {command.name: command for command in await talk.app.tree.fetch_commands()}
        talk.guild.set_command_permissions(shown["status"], {helpers: True})
        assert "status" in ben.available_commands(talk.general)
        assert answer(await ben.slash(talk.general, "status")) == "Only admins may do this."
        assert "nothing indexed yet" in answer(await ada.slash(talk.general, "status"))


async def test_nobody_is_called_whatever_an_answer_says(bot: Bot) -> None:
    async with simulated(bot) as talk:
        role = talk.guild.create_role("Staff")
        ana, ben = talk.person("Ana"), talk.person("Ben", role)
        bot.core.say = lambda _: f"@everyone @here {ben.mention} {role.mention} look"
        used = await ana.slash(talk.general, "ask", question="who?")
        said = await ana.send(talk.general, f"{talk.me.mention} who?")
        await talk.settled()

        assert used.response is not None
        for one in talk.general.history():
            stored = talk.env.backend.get_message(talk.general.id, one.id)
            if one.id != said.id:
                assert (stored.ping_user_ids, stored.ping_role_ids, stored.mention_everyone) == ([], [], False)


async def test_what_a_role_opens_to_the_bot_it_uses_and_elsewhere_it_costs_no_model(bot: Bot) -> None:
    async with simulated(bot) as talk:
        everyone = talk.guild.default_role
        quiet = talk.guild.create_text_channel("quiet", overwrites={everyone: discord.PermissionOverwrite(send_messages=False)})
        mine: Any = {
            everyone: discord.PermissionOverwrite(send_messages=False),
            talk.me: discord.PermissionOverwrite(send_messages=True),
        }
        opened = talk.guild.create_text_channel("opened", overwrites=mine)
        ada = talk.person("Ada", talk.guild.create_role("Admins", permissions=discord.Permissions(administrator=True)))
        for channel in (quiet, opened):
            await ada.send(channel, f"{talk.me.mention} in {channel.name}?")
            await talk.settled()

        assert bot.core.asked == ["in opened?"]
        assert [one.content for one in opened.history()][1:] == ["About in opened?"]


async def test_without_the_intent_what_discord_keeps_back_is_neither_read_nor_answered(bot: Bot) -> None:
    bot.hearing = Hearing(content=False)
    async with simulated(bot) as talk:
        ana = talk.person("Ana")
        me = talk.me.mention
        first = await ana.send(talk.general, f"{me} leave?")
        await talk.settled()
        reply = talk.general.history()[-1]
        await ana.send(talk.general, "and in Spain?", reply_to=reply)
        used = await ana.slash(talk.general, "ask", question="rest?")
        await talk.settled()
        assert used.response is not None
        await ana.send(talk.general, "a reply to a command's answer", reply_to=used.response.message)
        await ana.context_menu(talk.general, "Ask the docs about this", first)
        await talk.settled()

    assert bot.core.asked == ["leave?", "and in Spain?", "rest?", "leave?"]


async def test_buttons_work_hours_later_for_anybody_and_are_counted_once_for_each(bot: Bot) -> None:
    async with simulated(bot) as talk:
        ana, ben = talk.person("Ana"), talk.person("Ben")
        used = await ana.slash(talk.general, "ask", question="x")
        await talk.settled()
        assert used.response is not None
        await talk.env.advance_time(3 * 3600)
        up, down = (button["custom_id"] for button in used.response.components[0]["components"][:2])
        for person, custom_id in ((ana, up), (ana, down), (ben, up)):
            clicked = await person.click(used.response.message, custom_id=custom_id)
            await talk.settled()
            assert [(one.ephemeral, one.content[-1]) for one in clicked.followups] == [(True, "✓")]

        assert answer(used) == "> x\nAbout x"


async def test_a_thread_is_opened_on_the_answer_and_the_talk_goes_on_in_it(bot: Bot) -> None:
    async with simulated(bot) as talk:
        ana = talk.person("Ana")
        used = await ana.slash(talk.general, "ask", question="how much leave?")
        await talk.settled()
        assert used.response is not None
        await ana.click(used.response.message, label="Ask more in a thread")
        await talk.settled()
        (thread,) = talk.general.threads
        await ana.send(thread, "and in Spain?")
        await talk.settled()

        assert thread.name == "how much leave?"
        assert bot.core.asked == ["how much leave?", "and in Spain?"]
        assert thread.history()[-1].content == "About and in Spain?"


async def test_suggestions_are_25_at_most_and_none_for_who_may_not_ask(bot: Bot) -> None:
    bot.bases = [f"base-{number:02}" for number in range(26)]
    async with simulated(bot) as talk:
        ana = talk.person("Ana")
        offered = await ana.autocomplete(talk.general, "ask", "base", "BASE", question="x")
        narrowed = await ana.autocomplete(talk.general, "ask", "base", "25", question="x")
        bot.rules = Rules(channels=frozenset({"1"}))
        talk.app.listen(bot.listener(talk.desk))
        refused = await talk.person("Ana").autocomplete(talk.general, "ask", "base", "", question="x")

    assert [choice["value"] for choice in offered] == list(bot.bases)[:25]
    assert [choice["value"] for choice in narrowed] == ["base-25"]
    assert refused == []


@pytest.mark.parametrize("direct", [False, True])
async def test_direct_talks_offer_a_command_only_where_they_are_switched_on(bot: Bot, direct: bool) -> None:  # noqa: FBT001
    bot.hearing = Hearing(direct=direct)
    async with simulated(bot) as talk:
        user = talk.env.create_user("Ana")
        talk.guild.add_member(user)
        assert user.available_commands() == (("ask",) if direct else ())
        await user.send_dm("leave?")
        await talk.settled()

    assert bot.core.asked == (["leave?"] if direct else [])
