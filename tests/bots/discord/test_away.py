"""What was said while nobody listened is answered once somebody does: after a lost session, and by the next process (D10, P3)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import make_url

from bots.discord.away import REMEMBERED
from bots.discord.heard import Hearing
from bots.wording import words
from rag.errors import StoreUnavailable
from storage.database import Database
from storage.local_index import LocalIndex
from tests.bots.discord.conftest import Bot
from tests.bots.discord.test_acknowledging import acknowledged, claimed
from tests.fakes.discord.faults import Fault
from tests.fakes.discord.state import HISTORY
from tests.fakes.gate import gates

if TYPE_CHECKING:
    from pathlib import Path

    from rag.types import Question
    from tests.fakes.discord import FakeDiscord
    from tests.fakes.discord.places import Said


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.discord.away.EVERY", 0.1)
    monkeypatch.setattr("bots.discord.away.LATER", 0.1)


async def heard(bot: Bot, *direct: str) -> None:
    """That somebody listened is noted, these direct talks with it."""
    async with asyncio.timeout(10):
        known: Any = None
        while known is None or not {*direct} <= {*known["direct"]}:
            await asyncio.sleep(0.05)
            known = await bot.catalog.remembered(REMEMBERED)


async def until(bot: Bot, said: Said, state: str) -> None:
    """That the question is in this state."""
    async with asyncio.timeout(10):
        asked: Question | None = None
        while asked is None or asked.state != state:
            await asyncio.sleep(0.05)
            asked = await bot.inbox.asked(bot.place(said.channel), said.id)


async def test_what_is_said_between_two_processes_is_answered_by_the_next(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.hearing = Hearing(direct=True, forums=(place.forum("help").id,))
    ana = place.person("Ana")
    async with bot.running():
        thread = await ana.starts_thread("leave", await ana.says("leave"))
        await (await ana.says("@Footnote how much?", channel=thread)).answered(holding="About how much?")
        await (await ana.writes("direct?")).answered(holding="About direct?")
        await heard(bot, ana.dm.id)
    mentioned = await ana.says("@Footnote are you there?")
    followed = await ana.says("and in Spain?", channel=thread)
    direct = await ana.writes("and you?")
    _, post = await ana.posts(place.forum("help"), "Keys", "How often?")
    assert post is not None
    async with bot.running():
        await mentioned.answered(holding="About are you there?")
        await followed.answered(holding="About and in Spain?")
        await direct.answered(holding="About and you?")
        await post.answered(holding="How often?")

    assert sorted(bot.core.asked) == sorted(
        ["how much?", "direct?", "are you there?", "and in Spain?", "and you?", "Keys\n\nHow often?"]
    )


async def test_what_is_said_while_a_session_is_lost_is_answered_in_order_and_what_was_answered_is_not_again(
    fake: FakeDiscord, bot: Bot
) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        thread = await ana.starts_thread("leave", await ana.says("leave"))
        await (await ana.says("@Footnote first?", channel=thread)).answered(holding="About first?")
        await heard(bot)
        await fake.gateway.forget()
        said = [await ana.says(f"number {number}?", channel=thread) for number in range(3)]
        await ana.says("not for the bot")
        await said[-1].answered(holding="About number 2?")

    assert bot.core.asked == ["first?", "number 0?", "number 1?", "number 2?"]
    assert fake.gateway.identified == 2


async def test_roles_count_for_what_is_read_later(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana", "Staff")
    async with bot.running():
        await heard(bot)
    said = await ana.says("@Footnote salary?")
    async with bot.running():
        await said.answered(holding="About salary?")
        asked = await bot.inbox.asked(bot.place(place.general), said.id)

    assert asked is not None
    assert place.role("Staff").id in asked.roles


async def test_who_never_listened_missed_nothing_and_a_long_absence_is_not_made_up_for(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    fake.clock.advance(-3000)
    await ana.says("@Footnote before you came?")
    fake.clock.advance(3000)
    async with bot.running():
        await heard(bot)
        assert bot.core.asked == []
    await bot.catalog.remember(REMEMBERED, {"until": time.time() - 3600, "direct": []})
    fake.clock.advance(-1200)
    await ana.says("@Footnote twenty minutes ago?")
    fake.clock.advance(1200)
    said = await ana.says("@Footnote just now?")
    async with bot.running():
        await said.answered(holding="About just now?")

    assert bot.core.asked == ["just now?"]


async def test_a_channel_that_cannot_be_read_and_a_database_that_is_away_keep_nothing_else_from_being_made_up_for(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fake.guild()
    closed = place.channel("closed", denied={place.id: HISTORY})
    ana = place.person("Ana")
    async with bot.running():
        await heard(bot)
    said = await ana.says("@Footnote here?")
    await ana.says("@Footnote or here?", channel=closed)
    remembered, away = bot.catalog.remembered, [True, True]

    async def sometimes(key: str) -> object:
        if key == REMEMBERED and away:
            away.pop()
            raise StoreUnavailable("away")
        return await remembered(key)

    monkeypatch.setattr(bot.catalog, "remembered", sometimes)
    fake.faults.planned.append(Fault("history", times=2, hang_up=True))
    async with bot.running():
        await said.answered(holding="About here?")

    assert (bot.core.asked, away) == (["here?"], [])


async def test_a_room_that_may_not_be_read_is_left_out(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        await heard(bot)
    said = await ana.says("@Footnote here?", channel=place.channel("other"))
    await ana.says("@Footnote or here?")  # the last to speak is read first
    fake.faults.planned.append(Fault("history", code=50001))
    async with bot.running():
        await said.answered(holding="About here?")

    assert bot.core.asked == ["here?"]


async def test_what_is_said_while_the_database_is_away_is_taken_in_once_it_is_back(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    claim = bot.inbox.claim
    away = True

    async def sometimes(asked: Question, **more: Any) -> Question | None:
        if away:
            raise StoreUnavailable("the database does not answer")
        return await claim(asked, **more)

    monkeypatch.setattr(bot.inbox, "claim", sometimes)
    async with bot.running():
        await heard(bot)
        said = await ana.says("@Footnote are you there?")
        await fake.until(lambda: "read again once the database answers" in caplog.text)
        away = False
        await said.answered(holding="About are you there?")

    assert [record.exc_info for record in caplog.records if "database" in record.message] == [None] * len(
        [record for record in caplog.records if "database" in record.message]
    )


async def test_a_question_that_is_deleted_between_two_processes_gets_nothing_and_costs_no_model(
    fake: FakeDiscord, bot: Bot
) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        bot.core.gate.clear()
        begun = await ana.says("@Footnote begun?")
        await fake.until(lambda: bot.core.asked == ["begun?"])
        waits = await ana.says("@Footnote and this?", to=begun)
        await until(bot, waits, "waiting")
        bot.dies()
    bot.core.gate.set()
    bot.core.asked.clear()
    for said in (begun, waits):
        await ana.deletes(said)
    async with bot.running():
        await (await ana.says("@Footnote are you there?")).answered(holding="About are you there?")
        for said in (begun, waits):
            await until(bot, said, "cancelled")

    assert bot.core.asked == ["are you there?"]
    assert len([one for one in place.general.messages if one.author is fake.bot and not one.deleted]) == 1


async def test_a_question_whose_deletion_nobody_tells_of_gets_nothing(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        bot.core.gate.clear()
        said = await ana.says("@Footnote how?")
        await fake.until(lambda: bot.core.asked == ["how?"])
        said.message.deleted = True  # the event is lost
        bot.core.gate.set()
        await until(bot, said, "cancelled")

    assert [one.content for one in place.general.messages if one.author is fake.bot] == []


async def test_a_postgresql_that_goes_away_and_comes_back_costs_no_mention(
    fake: FakeDiscord, tmp_path: Path, postgres_with_tables: str
) -> None:
    address = make_url(postgres_with_tables)
    place = fake.guild()
    ana = place.person("Ana")
    async with gates(address.port or 5432) as (gate,):
        url = address.set(port=gate.port).render_as_string(hide_password=False)
        async with Database(url) as database, LocalIndex(tmp_path / "index") as index:
            bot = Bot(fake, database, index)
            await bot.catalog.remember(REMEMBERED, {"until": time.time(), "direct": []})
            async with bot.running():
                first = await ana.says("@Footnote first?")
                await first.answered(holding="About first?")
                await until(bot, first, "delivered")  # what is shown need not be stored yet
                await gate.shut()
                used = await ana.slash("ask", question="by command?")
                said = await ana.says("@Footnote are you there?")
                await used.answered(holding="Something went wrong", seconds=60)
                await gate.open()
                await said.answered(holding="About are you there?", seconds=60)

    assert bot.core.asked == ["first?", "are you there?"]


async def test_who_used_a_command_that_was_acknowledged_and_then_lost_is_told_so(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.discord.app.CLAIMED_SECONDS", 0.3)
    ana = fake.guild().person("Ana")
    async with bot.running():
        await ana.says("@Footnote hello?")
        await heard(bot)
    lost, kept = await ana.slash("ask", question="lost"), await ana.slash("ask", question="kept")
    for used in (lost, kept):
        await acknowledged(fake, used)
    await claimed(bot, kept, "kept")
    async with bot.running():
        told = await lost.answered(holding="went wrong")
        await kept.answered(holding="About kept")

    assert told.text == words("").failed
    assert len(lost.shown) == len(kept.shown) == 1
    assert bot.core.asked == ["hello?", "kept"]
