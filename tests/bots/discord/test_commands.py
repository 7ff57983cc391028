"""D7: what administrators ask of the bot in Discord."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bots.access import Rules
from bots.wording import words
from rag.errors import ModelTimeout
from rag.types import Progress

if TYPE_CHECKING:
    from tests.bots.discord.conftest import Bot
    from tests.fakes.discord import FakeDiscord


async def test_an_administrator_watches_the_bar_and_sees_how_it_ended(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.discord.listening.PACE", 0.05)
    place = fake.guild()
    bot.runs.stages = [Progress("handbook", state="indexing", found=10, done=done, passages=done) for done in (2, 5, 9)]
    bot.runs.pause = 0.2
    async with bot.running():
        used = await place.person("Ada", admin=True).slash("reindex")
        told = await used.answered(holding="3 added")

    assert used.private
    assert any("██████████░░░░░░░░░░` 50%" in version for version in told.message.versions)
    assert "not indexed: a.pdf: no text" in told.text


async def test_nobody_else_may_also_where_discord_shows_it_to_them(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    async with bot.running():
        for command in ("reindex", "cancel", "status", "sources", "forget"):
            refused = await place.person("Ana").slash(command)
            assert (await refused.answered()).text == "Only admins may do this."
            assert refused.private


async def test_who_is_named_in_the_settings_may(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    bot.rules = Rules(admins=frozenset({ana.id}))
    async with bot.running():
        assert "handbook: nothing indexed yet" in (await (await ana.slash("status")).answered()).text


async def test_a_thread_is_forgotten(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ada = place.person("Ada", admin=True)
    async with bot.running():
        thread = await ada.starts_thread("leave", await ada.says("leave"))
        await (await ada.says("@Footnote how much?", channel=thread)).answered(holding="how much?")
        told = await (await ada.slash("forget", channel=thread)).answered(holding="Forgot")
        nothing = await (await ada.slash("forget")).answered(holding="in the thread")

    assert told.text.startswith("Forgot ")
    assert nothing.text == "Say this in the thread that is to be forgotten."


async def test_commands_are_hidden_from_who_may_not_manage_the_server(fake: FakeDiscord, bot: Bot) -> None:
    fake.guild()
    async with bot.running():
        known = {command["name"]: command["default_member_permissions"] for command in fake.commands[""]}

    assert known["ask"] is None
    assert known["reindex"] == str(1 << 5)


async def test_a_very_long_list_is_cut_to_one_message(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.runs.broken = {"handbook"}
    bot.bases = ["handbook"]
    async with bot.running():
        told = await (await place.person("Ada", admin=True).slash("reindex")).answered(holding="handbook")

    assert len(told.text) <= 2000


@pytest.mark.parametrize("bases", [["handbook"], ["handbook", "engineering"]])
async def test_discord_lets_nobody_type_more_than_a_question_may_have(fake: FakeDiscord, bot: Bot, bases: list[str]) -> None:
    fake.guild()
    bot.bases = bases
    async with bot.running(longest=4000):
        [ask] = [command for command in fake.commands[""] if command["name"] == "ask"]

    options = {option["name"]: option for option in ask["options"]}
    assert list(options) == (["question", "base", "private"] if len(bases) > 1 else ["question", "private"])
    assert (options["question"]["min_length"], options["question"]["max_length"]) == (1, 4000)


async def test_what_is_said_besides_answers_is_in_the_language_of_who_used_a_command(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    german, ana = replace(place.person("German"), locale="es-ES"), place.person("Ana")
    bot.core.say = lambda _: ModelTimeout("It took too long.")
    async with bot.running():
        told = [await (await person.slash("ask", question="404?")).answered() for person in (german, ana)]

    assert told[0].text.endswith(words("", "es").failed)
    assert told[1].text.endswith(ModelTimeout.user_message)
