"""The first word of an interaction: in time, once, and with nothing lost around it, though processes die and others listen too."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from bots.discord.places import ReplyTo
from rag.errors import StoreUnavailable
from rag.types import Place, Question, Thread
from tests.fakes.discord.faults import Fault

if TYPE_CHECKING:
    from tests.bots.discord.conftest import Bot
    from tests.fakes.discord import FakeDiscord
    from tests.fakes.discord.places import Used

THINKING = 5


async def claimed(bot: Bot, used: Used, text: str, *, private: bool = False) -> Question:
    """As a process left it that was killed right after the claim."""
    interaction = used.interaction
    place = Place("discord", interaction.channel.guild, interaction.channel.id)
    reply_to = ReplyTo(int(interaction.channel.id), interaction.token, interaction.began + 900, private=private)
    asked = await bot.inbox.claim(
        Question("", Thread(place, interaction.id), text, "Ana", gesture=interaction.id, reply_to=reply_to.stored())
    )
    assert asked is not None
    return asked


async def acknowledged(fake: FakeDiscord, used: Used, *, private: bool = False) -> None:
    """By the process that was killed then."""
    interaction = used.interaction
    body = {"type": THINKING, "data": {"flags": 64 if private else 0}}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{fake.api_url}/interactions/{interaction.id}/{interaction.token}/callback", json=body) as answer,
    ):
        assert answer.ok


async def test_a_command_is_claimed_before_it_is_acknowledged(fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    place = fake.guild()
    seen: list[bool] = []
    claim = bot.inbox.claim

    async def watched(asked: Question, holder: str, **more: Any) -> Question | None:
        taken = await claim(asked, holder, **more)
        seen.extend(one.acknowledged is not None for one in fake.interactions.values())
        return taken

    monkeypatch.setattr(bot.inbox, "claim", watched)
    async with bot.running():
        await (await place.person("Ana").slash("ask", question="x")).answered(holding="About x")

    assert seen == [False]


async def test_a_database_that_is_slow_delays_no_first_word(fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    place = fake.guild()
    gate = asyncio.Event()
    claim = bot.inbox.claim

    async def slow(asked: Question, holder: str, **more: Any) -> Question | None:
        await gate.wait()
        return await claim(asked, holder, **more)

    monkeypatch.setattr(bot.inbox, "claim", slow)
    async with bot.running():
        used = await place.person("Ana").slash("ask", question="x")
        await used.acknowledged(seconds=2.9)
        gate.set()
        answer = await used.answered(holding="About x")

    assert used.interaction.response is answer.message


async def test_killed_after_the_claim_nothing_comes_and_no_model_is_paid_since_discord_said_so(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.discord.sending.FIRST_WORD", 0.0)
    place = fake.guild()
    async with bot.running() as desk:
        bot.dies()
        used = await place.person("Ana").slash("ask", question="x")
        asked = await claimed(bot, used, "x")
        await fake.until(lambda: ("webhook", 10015) in fake.refusals)
        await desk.settled()
        state = (await bot.inbox.question(asked.id)).state  # type: ignore[union-attr]

    assert (state, bot.core.asked, place.general.messages) == ("failed", [], [])


@pytest.mark.parametrize("private", [False, True])
async def test_killed_after_the_first_word_the_answer_comes_in_its_place(fake: FakeDiscord, bot: Bot, private: bool) -> None:  # noqa: FBT001
    place = fake.guild()
    async with bot.running():
        bot.dies()
        used = await place.person("Ana").slash("ask", question="x")
        await acknowledged(fake, used, private=private)
        await claimed(bot, used, "x", private=private)
        answer = await used.answered(holding="About x")
        await fake.until(lambda: bool(answer.buttons))

    assert [one.id for one in used.shown] == [answer.id]
    assert len([one for one in place.general.messages if one.author is fake.bot]) == 1


async def test_killed_after_the_first_word_and_its_token_dead_the_answer_comes_by_the_channel(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.discord.sending.TOKEN_SECONDS", 0.0)
    place = fake.guild()
    used = None
    async with bot.running():
        bot.dies()
        used = await place.person("Ana").slash("ask", question="x")
        await acknowledged(fake, used)
        fake.clock.advance(16 * 60)
        used.interaction.began -= 16 * 60
        await claimed(bot, used, "x")
        answer = await used.answered(holding="About x")

    assert [one.id for one in place.general.messages] == [answer.id]


async def test_who_takes_a_question_up_before_it_is_acknowledged_waits_for_that(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    async with bot.running() as desk:
        bot.dies()
        used = await place.person("Ana").slash("ask", question="x")
        await claimed(bot, used, "x")
        await fake.until(lambda: ("webhook", 10015) in fake.refusals)
        await acknowledged(fake, used)
        await used.answered(holding="About x")
        await desk.settled()

    assert len([one for one in place.general.messages if one.author is fake.bot]) == 1


async def test_two_processes_that_hear_the_same_answer_it_once_and_say_nothing_of_it(
    fake: FakeDiscord, bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    place = fake.guild()
    ana, ada = place.person("Ana"), place.person("Ada", admin=True)
    bot.bases = ["handbook", "api"]
    async with bot.running(), bot.running():
        used = await ana.slash("ask", question="x")
        answer = await used.answered(holding="About x")
        said = await ana.says("@Footnote y")
        await said.answered(holding="About y")
        await fake.until(lambda: bool(answer.buttons))
        assert (await (await ana.clicks(answer, "👍")).answered()).text == "👍 ✓"
        await (await ana.clicks(answer, "Ask more in a thread")).answered(holding="<#")
        await (await ana.slash("status")).answered(holding="Only admins")
        await (await ada.slash("status")).answered(holding="nothing indexed yet")
        assert await (await ana.autocompletes("ask", "base", "a", question="x")).choices() == ["handbook", "api"]
        await asyncio.sleep(0.2)

    assert sorted(bot.core.asked) == ["x", "y"]
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_verdict_is_acknowledged_before_it_is_kept(fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    gate = asyncio.Event()
    judge = bot.inbox.judge

    async def slow(*given: object) -> bool:
        await gate.wait()
        return await judge(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(bot.inbox, "judge", slow)
    async with bot.running():
        answer = await (await ana.slash("ask", question="x")).answered(holding="About x")
        await fake.until(lambda: bool(answer.buttons))
        used = await ana.clicks(answer, "👍")
        await used.acknowledged(seconds=1.0)
        gate.set()
        thanks = await used.answered()

    assert (thanks.text, thanks.message.seen_by) == ("👍 ✓", ana.id)
    assert answer.text == "> x\nAbout x"


@pytest.mark.parametrize("kept", [False, True])
async def test_a_command_is_taken_in_though_the_database_is_away_for_a_moment(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch, *, kept: bool
) -> None:
    claim, tries = bot.inbox.claim, 0

    async def away(asked: Question, holder: str = "", **more: Any) -> Question | None:
        nonlocal tries
        tries += 1
        taken = await claim(asked, holder, **more) if kept or tries > 2 else None
        if tries <= 2:
            raise StoreUnavailable("the database does not answer")
        return taken

    ana = fake.guild().person("Ana")
    async with bot.running():
        monkeypatch.setattr(bot.inbox, "claim", away)
        used = await ana.slash("ask", question="x")
        await used.answered(holding="About x")

    assert bot.core.asked == ["x"]
    assert len(used.shown) == 1
    assert not used.private


async def test_where_the_database_is_away_who_asked_is_told_and_the_log_has_one_line(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bots.discord.acknowledging.PAUSES", (0.05,))
    place = fake.guild()
    ana = place.person("Ana")

    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("the database does not answer")

    async with bot.running():
        answer = await (await ana.slash("ask", question="x")).answered(holding="About x")
        await fake.until(lambda: bool(answer.buttons))
        monkeypatch.setattr(bot.inbox, "claim", away)
        monkeypatch.setattr(bot.inbox, "judge", away)
        asked = await (await ana.slash("ask", question="y")).answered(holding="Something went wrong")
        judged = await (await ana.clicks(answer, "👍")).answered(holding="Something went wrong")

    assert asked.message.seen_by == judged.message.seen_by == ana.id
    assert answer.text == "> x\nAbout x", "the answer itself stays"
    told = [record for record in caplog.records if "could not be taken in" in record.message]
    assert [record.exc_info for record in told] == [None, None]


async def test_a_lost_reply_to_the_first_word_loses_no_answer(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    fake.faults.planned.append(Fault("callback", hang_up=True, performed=True))
    async with bot.running():
        used = await place.person("Ana").slash("ask", question="x")
        await used.answered(holding="About x")

    assert bot.core.asked == ["x"]
