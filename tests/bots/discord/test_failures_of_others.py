"""What broke other bots in Discord, where no journey shows it already."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bots.access import LimitSettings
from bots.discord.places import thread_name
from rag.types import Place
from tests.fakes.discord.faults import Fault

if TYPE_CHECKING:
    from tests.bots.discord.conftest import Bot
    from tests.fakes.discord import FakeDiscord


async def test_a_command_is_acknowledged_before_anything_is_looked_up(
    fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    gate = asyncio.Event()
    shown = bot.inbox.shown

    async def slow(*asked: str) -> object:
        await gate.wait()
        return await shown(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(bot.inbox, "shown", slow)
    async with bot.running():
        thread = await ana.starts_thread("leave", await ana.says("leave"))
        used = await ana.slash("ask", question="how much?", channel=thread)
        await used.acknowledged()
        assert bot.core.asked == []
        gate.set()
        await used.answered(holding="About how much?")


async def test_an_interaction_that_discord_no_longer_knows_is_one_line_in_the_log(
    fake: FakeDiscord, bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    fake.faults.planned.append(Fault("callback", code=10062))
    async with bot.running():
        await ana.slash("ask", question="late?")
        await fake.until(lambda: "answered too late" in caplog.text)
        await (await ana.slash("ask", question="again?")).answered(holding="About again?")

    assert bot.core.asked == ["again?"]
    assert [record.exc_info for record in caplog.records if "too late" in record.message] == [None]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (160004, "It is there already"),
        (160006, "too many open threads"),
        (50013, "I may not open a thread here"),
        (50001, "I may not"),
    ],
)
async def test_a_thread_that_cannot_be_opened_is_said_to_who_wanted_it_alone(
    fake: FakeDiscord, bot: Bot, code: int, told: str
) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        answer = await (await ana.slash("ask", question="x")).answered(holding="About x")
        await fake.until(lambda: bool(answer.buttons))
        fake.faults.planned.append(Fault("thread", code=code))
        before = fake.transcript()
        used = await ana.clicks(answer, "Ask more in a thread")
        said = await used.answered(holding=told)

    assert said.message.seen_by == ana.id
    assert fake.transcript(place.general).startswith(before)


async def test_an_answer_that_gets_no_thread_stays_where_it_is(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.threads = "always"
    fake.faults.planned.append(Fault("thread", code=160006))
    async with bot.running() as desk:
        said = await place.person("Ana").says("@Footnote leave?")
        await said.answered(holding="About leave?")
        await desk.settled()
        with_thread = await (await place.person("Ana").says("@Footnote and Spain?")).answered(holding="About and Spain?")
        await fake.until(lambda: with_thread.thread is not None)

    assert fake.transcript(place.general).count("About leave?") == 1


async def test_a_long_answer_is_one_turn_and_every_part_of_it_can_be_replied_to(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    fake.buckets.each = {}  # no waiting
    ana = place.person("Ana")
    bot.core.say = lambda question: "\n\n".join("字" * 900 for _ in range(5)) if question == "long?" else f"About {question}"
    async with bot.running():
        first = await ana.says("@Footnote long?")
        await fake.until(lambda: len(first.replies) == 3 and bool(first.replies[-1].buttons))
        parts = first.replies
        for part in parts:
            await (await ana.says(f"and {part.id}?", to=part)).answered(holding=f"About and {part.id}?")
        asked = await bot.inbox.asked(Place("discord", place.id, place.general.id), first.id)
        assert asked is not None
        turns = await bot.memory.recall(asked.thread, 20)

    assert [turn.role for turn in turns] == ["user", "assistant"] * 4
    assert turns[1].text.count("字") == 4500


async def test_a_long_paste_comes_as_a_file_without_a_type_and_is_read_up_to_a_limit(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    async with bot.running():
        said = await place.person("Ana").says(
            "@Footnote what is this?", files={"message.txt": b"log line\n" * 2000, "photo.png": b"\x89PNG"}
        )
        await said.answered(holding="About what is this?")

    assert bot.core.asked[0].startswith("what is this?\n\nmessage.txt:\nlog line\n")
    assert bot.core.asked[0].endswith("[…]")
    assert 3900 < len(bot.core.asked[0]) <= LimitSettings().question_characters
    assert "photo" not in bot.core.asked[0]


async def test_a_file_that_is_all_of_a_question_is_asked_without_its_name(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        await (await ana.says("@Footnote", files={"message.txt": b"when are\nlaptops replaced?"})).answered()
        several = await ana.says("@Footnote", files={"a.txt": b"one", "b.txt": b"two"})
        await several.answered()
        await (await ana.says("@Footnote", files={"large.txt": b"x" * 300_000})).answered()

    assert bot.core.asked == [
        "when are\nlaptops replaced?",
        "a.txt:\none\n\nb.txt:\ntwo",
        "large.txt:\n(not read: too large)",
    ]


async def test_what_is_said_while_the_connection_is_cut_is_answered_after_it(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        await fake.gateway.close(4000)
        said = await ana.says("@Footnote while you were away?")
        used = await ana.slash("ask", question="and this?")
        await said.answered(holding="while you were away?")
        await used.answered(holding="and this?")

    assert sorted(bot.core.asked) == ["and this?", "while you were away?"]


async def test_after_connecting_again_it_listens_on_and_tells_no_commands_anew(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        await fake.gateway.ask_to_reconnect()
        await fake.until(lambda: fake.gateway.resumed == 1)
        await (await ana.says("@Footnote once more?")).answered(holding="once more?")

    assert len(fake.syncs) == 1


async def test_twenty_answers_at_once_in_one_channel_are_complete_and_never_too_fast(
    fake: FakeDiscord, bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    place = fake.guild()
    fake.buckets.each = {"edit": (5, 0.5), "create": (5, 0.5)}  # Discord's, ten times as fast
    bot.core.say = lambda question: f"About {question} One sentence. Another sentence. The end."
    bot.core.gate.clear()
    async with bot.running():
        said = [await place.person(f"P{number}").says(f"@Footnote number {number}?") for number in range(20)]
        await fake.until(lambda: len(bot.core.asked) == 20 and bool(said[0].replies), what="drafts")
        bot.core.gate.set()
        await fake.until(lambda: len([one for one in said[0].replies if one.buttons]) == 20, what="twenty answers")
        answers = {one.message.reference["message_id"]: one for one in said[0].replies if one.message.reference}

    for number, one in enumerate(said):
        assert answers[one.id].text == f"About number {number}? One sentence. Another sentence. The end."
    assert fake.too_fast == []
    assert [record for record in caplog.records if "429" in record.message or "rate limit" in record.message] == []


@pytest.mark.parametrize("text", ["", " \n ", "x" * 300, "a\nb " * 100, "\u200b", "\u3164 \u2800"])
def test_a_thread_always_has_a_name_that_discord_takes(text: str) -> None:
    name = thread_name(text)

    assert 1 <= len(name) <= 100
    assert name == name.strip()
    assert "\n" not in name
    assert any(sign.isprintable() and sign not in " \u3164\u2800" for sign in name)


@pytest.mark.parametrize("name", ["\u200b", "\u3164", "\u202e\u2800"])
async def test_somebody_whose_name_is_not_shown_has_another_for_us(fake: FakeDiscord, bot: Bot, name: str) -> None:
    place = fake.guild()
    nobody = place.person(name)
    async with bot.running():
        thread = await nobody.starts_thread("x", await nobody.says("the deploy failed"))
        await (await place.person("Ana").says("@Footnote why?", channel=thread)).answered(holding="About why?")
        said = await nobody.says("@Footnote and now?", channel=thread)
        await said.answered(holding="About and now?")
        asked = await bot.inbox.asked(bot.place(thread), said.id)

    assert [turn.speaker for turn in bot.core.histories[0]] == ["somebody"]  # type: ignore[attr-defined]
    assert asked is not None
    assert asked.author == "somebody"
