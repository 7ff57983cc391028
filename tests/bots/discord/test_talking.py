"""D1 to D9: what people do in Discord, and what they see."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

from bots.access import LimitSettings, Rules
from bots.discord.heard import Hearing
from bots.discord.surface import DiscordSurface
from bots.wording import words
from rag.errors import ModelTimeout
from rag.types import Place, Question, Thread
from tests.fakes.discord.faults import Fault
from tests.fakes.discord.state import SEND

if TYPE_CHECKING:
    import pytest

    from tests.bots.discord.conftest import Bot
    from tests.fakes.discord import FakeDiscord


async def test_ask_thinks_at_once_and_answers_in_place(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    async with bot.running():
        bot.core.gate.clear()
        used = await place.person("Ana").slash("ask", question="how do I rotate my API key?")
        await used.acknowledged()
        await fake.until(lambda: bool(used.shown))
        assert used.shown[0].thinking
        bot.core.gate.set()
        answer = await used.answered(holding="About how do I rotate my API key?")
        await fake.until(lambda: bool(answer.buttons))

    assert fake.transcript(place.general).splitlines() == [
        "— #general",
        "Footnote: > how do I rotate my API key?",
        "    About how do I rotate my API key?",
        "    (👍 | 👎 | Ask more in a thread)",
    ]


async def test_a_mention_is_answered_as_a_reply(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    async with bot.running():
        said = await place.person("Ana").says("@Footnote how much leave?")
        answer = await said.answered(holding="About how much leave?")

    assert answer.message.reference is not None
    assert answer.message.reference["message_id"] == said.id
    assert bot.core.asked == ["how much leave?"]
    assert place.general.typing >= 1


async def test_is_typing_is_said_again_as_long_as_it_takes(fake: FakeDiscord, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DiscordSurface, "status_seconds", 0.1)  # in place of eight seconds: Discord's lasts ten
    place = fake.guild()
    async with bot.running() as desk:
        bot.core.gate.clear()
        said = await place.person("Ana").says("@Footnote slow?")
        await fake.until(lambda: place.general.typing >= 4)
        bot.core.gate.set()
        await said.answered(holding="About slow?")
        await desk.settled()
        typed = place.general.typing
        await asyncio.sleep(0.3)

    assert place.general.typing == typed, "it ends with the answer"


async def test_in_a_thread_on_the_answer_the_talk_goes_on_without_mentions(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana, ben = place.person("Ana"), place.person("Ben")
    async with bot.running():
        answer = await (await ana.slash("ask", question="leave?")).answered(holding="About leave?")
        await fake.until(lambda: bool(answer.buttons))
        await (await ana.clicks(answer, "Ask more in a thread")).answered()
        assert answer.thread is not None
        assert answer.thread.name == "leave?"
        said = await ben.says("and for part-timers?", channel=answer.thread)
        await said.answered(holding="About and for part-timers?")
        await ana.says("@Ben I think so too", channel=answer.thread)
        await ana.says("what do you think?", channel=answer.thread)
        last = await ana.says("@Footnote and in Spain?", channel=answer.thread)
        await last.answered(holding="About and in Spain?")
        thread = (await bot.inbox.shown(Place("discord", place.id, place.general.id), answer.id)).thread  # type: ignore[union-attr]
        turns = [turn.text for turn in await bot.memory.recall(thread, 10)]

    assert turns[0::2] == ["leave?", "and for part-timers?", "and in Spain?"]


async def test_a_reply_to_an_answer_goes_on_with_its_talk(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        first = await (await ana.says("@Footnote leave?")).answered(holding="About leave?")
        second = await ana.says("and in Spain?", to=first)
        await second.answered(holding="About and in Spain?")
        thread = (await bot.inbox.asked(Place("discord", place.id, place.general.id), second.id)).thread  # type: ignore[union-attr]

    assert len(await bot.memory.recall(thread, 10)) == 4


async def test_called_into_a_chain_of_replies_it_reads_it_upwards(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana, ben = place.person("Ana"), place.person("Ben")
    async with bot.running():
        first = await ana.says("The deploy failed with error 42")
        await ben.says("something else")
        second = await ben.says("same here", to=first)
        await (await ana.says("@Footnote what can we do?", to=second)).answered(holding="About what can we do?")

    history = [(turn.role, turn.speaker, turn.text) for turn in bot.core.histories[0]]  # type: ignore[attr-defined]
    assert history == [("user", "Ana", "The deploy failed with error 42"), ("user", "Ben", "same here")]


async def test_called_into_a_thread_it_reads_what_was_said_there(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana, ben = place.person("Ana"), place.person("Ben")
    async with bot.running():
        start = await ana.says("The deploy failed with error 42")
        thread = await ana.starts_thread("deploy", start)
        await ben.says("same here", channel=thread, files={"message.txt": b"Traceback: disk full"})
        await place.other_bot("CI").says("build 7 is red", channel=thread)
        called = await ana.says("@Footnote what can we do?", channel=thread)
        await called.answered(holding="About what can we do?")

    history = [(turn.role, turn.speaker, turn.text) for turn in bot.core.histories[0]]  # type: ignore[attr-defined]
    assert history == [
        ("user", "Ana", "The deploy failed with error 42"),
        ("user", "Ben", "same here\n\nmessage.txt:\nTraceback: disk full"),
        ("user", "CI", "build 7 is red"),
    ]


async def test_a_bare_mention_answers_what_the_thread_asked(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        thread = await ana.starts_thread("leave", await ana.says("How much leave do I have?"))
        await (await place.person("Ben").says("@Footnote", channel=thread)).answered(holding="About How much leave do I have?")


async def test_a_new_post_of_a_forum_is_answered_under_it_where_configured(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    forum, other = place.forum("help"), place.forum("showcase")
    bot.hearing = Hearing(forums=(forum.id,))
    async with bot.running():
        await place.person("Ana").posts(other, "Look", "what I made")
        _, said = await place.person("Ana").posts(forum, "Key rotation", "How often is it due?")
        assert said is not None
        await said.answered(holding="How often is it due?")
        await (await place.person("Ana").says("and by whom?", channel=said.channel)).answered(holding="About and by whom?")

    assert bot.core.asked == ["Key rotation\n\nHow often is it due?", "and by whom?"]
    assert fake.refusals == []


async def test_direct_messages_are_off_until_they_are_switched_on(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        await ana.writes("hello?")
        await (await ana.says("@Footnote here")).answered(holding="here")
    assert bot.core.asked == ["here"]

    bot.hearing = Hearing(direct=True)
    async with bot.running():
        await (await ana.writes("leave?")).answered(holding="About leave?")
        await (await ana.writes("and in Spain?")).answered(holding="About and in Spain?")


async def test_the_menu_of_a_message_asks_what_it_says(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    said = await place.person("Ana").says("Does anybody know how to rotate keys?")
    async with bot.running():
        await (await place.person("Ben").uses_menu("Ask the docs about this", said)).answered(holding="rotate keys")
        pasted = await place.person("Ana").says("", files={"message.txt": b"error 42: disk full"})
        await (await place.person("Ben").uses_menu("Ask the docs about this", pasted)).answered(holding="error 42")


async def test_an_answer_has_no_previews_however_it_was_asked_for(fake: FakeDiscord, bot: Bot) -> None:
    ana = fake.guild().person("Ana")
    async with bot.running():
        mentioned = await (await ana.says("@Footnote leave?")).answered(holding="About leave?")
        commanded = await (await ana.slash("ask", question="leave?")).answered(holding="About leave?")
        private = await (await ana.slash("ask", question="leave?", private=True)).answered(holding="About leave?")

    assert all(each.message.flags & 1 << 2 for each in (mentioned, commanded, private))


async def test_a_private_answer_is_seen_by_who_asked_alone(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    async with bot.running():
        used = await place.person("Ana").slash("ask", question="salary?", private=True)
        answer = await used.answered(holding="About salary?")
        await fake.until(lambda: bool(answer.buttons))

    assert used.private
    assert answer.text == "About salary?", "who asked it knows what was asked"
    assert "Ask more in a thread" not in fake.transcript()


async def test_what_was_asked_in_private_in_a_thread_is_no_history_for_the_others(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana, ben = place.person("Ana"), place.person("Ben")
    async with bot.running():
        thread = await ana.starts_thread("pay", await ana.says("pay day is the 25th"))
        await (await ana.says("@Footnote when is pay day?", channel=thread)).answered(holding="About when is pay day?")
        await (await ana.slash("ask", channel=thread, question="what do I earn?", private=True)).answered(holding="what do I earn?")
        await (await ana.slash("ask", channel=thread, question="and net?", private=True)).answered(holding="and net?")
        await (await ben.says("@Footnote what was asked?", channel=thread)).answered(holding="About what was asked?")
        own = await bot.memory.recall(Thread(bot.place(thread), f"{thread.id}-{ana.id}"), 10)
        common = await bot.memory.recall(Thread(bot.place(thread), thread.id), 10)

    assert [turn.text for turn in own if turn.role == "user"] == ["what do I earn?", "and net?"]
    assert [turn.text for turn in common if turn.role == "user"] == ["when is pay day?", "what was asked?"]
    assert [turn.text for turn in bot.core.histories[1]] == [  # type: ignore[attr-defined]
        "pay day is the 25th",
        "when is pay day?",
        "About when is pay day?",
    ]


async def test_a_courtesy_has_no_buttons(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.core.bases_of = lambda text: () if text == "thanks!" else ("handbook",)
    async with bot.running() as desk:
        thanked = await (await place.person("Ana").says("@Footnote thanks!")).answered(holding="About thanks!")
        asked = await (await place.person("Ana").says("@Footnote leave?")).answered(holding="About leave?")
        await desk.settled()

    assert (thanked.buttons, bool(asked.buttons)) == ([], True)


async def test_a_base_is_offered_and_asked_by_name(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.bases = ["handbook", "api", "salaries"]
    bot.choosable = lambda _place, _roles: ("handbook", "api")
    async with bot.running():
        assert await (await place.person("Ana").autocompletes("ask", "base", "a", question="x")).choices() == ["handbook", "api"]
        await (await place.person("Ana").slash("ask", question="404?", base="api")).answered(holding="About 404?")

    assert bot.core.bases == ["api"]


# --- streaming and length -------------------------------------------------------------------------------------------


async def test_an_answer_grows_by_edits(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.core.say = lambda _: "One sentence. Another sentence. And a third one."
    async with bot.running():
        used = await place.person("Ana").slash("ask", question="x")
        answer = await used.answered(holding="And a third one.")
        await fake.until(lambda: bool(answer.buttons))

    versions = answer.message.versions
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(versions))


async def test_a_long_answer_continues_in_further_messages(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.core.say = lambda _: "\n\n".join(f"{number} " + "字" * 900 for number in range(5))
    async with bot.running():
        used = await place.person("Ana").slash("ask", question="long?")
        await fake.until(lambda: len(used.shown) == 3 and bool(used.shown[-1].buttons))
        said = await place.person("Ana").says("@Footnote long?")
        await fake.until(lambda: len(said.replies) >= 3 and bool(said.replies[-1].buttons))

    for parts in (used.shown, said.replies[:3]):
        assert "".join(part.text for part in parts).count("字") == 4500
        assert [bool(part.buttons) for part in parts] == [False, False, True]


async def test_a_very_long_answer_is_a_beginning_and_a_file(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    whole = "\n\n".join(f"Paragraph {number}: " + "words " * 200 for number in range(40))
    bot.core.say = lambda _: whole
    async with bot.running():
        answer = await (await place.person("Ana").slash("ask", question="all?")).answered(holding="The whole answer is in the file")

    assert answer.files["answer.md"].decode().count("Paragraph") == 40


async def test_code_that_is_cut_is_closed_and_opened_again(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.core.say = lambda _: "```python\n" + "\n".join(f"print({number})" for number in range(300)) + "\n```"
    async with bot.running():
        used = await place.person("Ana").slash("ask", question="code?")
        await fake.until(lambda: bool(used.shown and used.shown[-1].buttons))

    assert len(used.shown) > 1
    assert all(part.text.removeprefix("> code?\n").startswith("```python\n") for part in used.shown)
    assert all(part.text.endswith("\n```") for part in used.shown)


async def test_nobody_is_called_and_nothing_unfurls(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.core.say = lambda _: f"@everyone <@{fake.owner.id}> see https://example.com/x and [this](https://example.com/y)"
    async with bot.running():
        answer = await (await place.person("Ana").slash("ask", question="x")).answered(holding="see")

    assert "<https://example.com/x>" in answer.text


# --- what goes wrong ------------------------------------------------------------------------------------------------


async def test_a_failure_is_said_plainly(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.core.say = lambda _: ModelTimeout("slow")
    async with bot.running():
        answer = await (await place.person("Ana").slash("ask", question="why?")).answered(holding="took too long")

    assert answer.buttons == []


async def test_after_its_token_died_the_answer_comes_by_the_channel(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    async with bot.running():
        bot.core.gate.clear()
        used = await place.person("Ana").slash("ask", question="slow?")
        await used.acknowledged()
        fake.clock.advance(16 * 60)
        bot.core.gate.set()
        answer = await used.answered(holding="About slow?")

    assert answer.id == used.interaction.response.id  # type: ignore[union-attr]
    assert ("webhook", 50027) in fake.refusals


async def test_a_locked_thread_costs_no_model(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        thread = await ana.starts_thread("old", await ana.says("old talk"))
        await fake.until(lambda: bot.app is not None and bot.app.get_channel(int(thread.id)) is not None)
        await place.lock(thread)
        await asyncio.sleep(0.05)
        await ana.says("@Footnote hello?", channel=thread)
        await (await ana.says("@Footnote here?")).answered(holding="here?")

    assert bot.core.asked == ["here?"]


async def test_a_thread_locked_meanwhile_ends_quietly(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running() as desk:
        thread = await ana.starts_thread("talk", await ana.says("talk"))
        bot.core.gate.clear()
        said = await ana.says("@Footnote hello?", channel=thread)
        await fake.until(lambda: bool(bot.core.asked))
        thread.locked = True
        bot.core.gate.set()
        await desk.settled()
        asked = await bot.inbox.asked(Place("discord", place.id, place.general.id), said.id)

    assert asked is not None
    assert asked.state == "failed"
    assert len(bot.core.asked) == 1


async def test_a_question_that_is_taken_up_before_discord_told_of_its_servers_is_not_given_up(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    thread = await ana.starts_thread("talk", await ana.says("talk"))
    said = await ana.says("@Footnote left?", channel=thread)
    asked = Question("", Thread(bot.place(thread), thread.id), "left?", "Ana", message=said.id, reply_to=f'{{"room":{thread.id}}}')
    await bot.inbox.claim(asked)
    fake.gateway.pause = 1.0
    async with bot.running():
        await said.answered(holding="About left?")


async def test_for_a_question_that_waits_in_a_thread_that_is_locked_meanwhile_no_model_is_paid(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running() as desk:
        thread = await ana.starts_thread("talk", await ana.says("talk"))
        bot.core.gate.clear()
        await ana.says("@Footnote first?", channel=thread)
        second = await ana.says("@Footnote second?", channel=thread)
        await fake.until(lambda: bool(bot.core.asked))
        while await bot.inbox.asked(bot.place(thread), second.id) is None:  # noqa: ASYNC110 - in the database
            await asyncio.sleep(0.02)
        await place.lock(thread)
        await asyncio.sleep(0.1)
        bot.core.gate.set()
        await desk.settled()
        asked = await bot.inbox.asked(bot.place(thread), second.id)

    assert asked is not None
    assert (asked.state, bot.core.asked) == ("failed", ["first?"])


async def test_where_it_may_not_write_no_model_is_paid(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    quiet = place.channel("announcements", denied={place.id: SEND})
    async with bot.running():
        await place.person("Ana").says("@Footnote hello?", channel=quiet)
        await (await place.person("Ana").says("@Footnote here?")).answered(holding="here?")

    assert bot.core.asked == ["here?"]


async def test_a_question_deleted_meanwhile_gets_no_answer_and_an_edited_one_a_new_one(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running() as desk:
        bot.core.gate.clear()
        gone = await ana.says("@Footnote gone?")
        await fake.until(lambda: "gone?" in bot.core.asked)
        await ana.deletes(gone)
        bot.core.gate.set()
        await desk.settled()
        said = await ana.says("@Footnote leave in Spain?")
        answer = await said.answered(holding="About leave in Spain?")
        await ana.edits(said, "@Footnote leave in France?")
        await fake.until(lambda: "About leave in France?" in answer.text)
        await ana.deletes(said)
        await fake.until(lambda: answer.message.deleted)

    assert gone.replies[0].id == answer.id if gone.replies else True
    assert "gone?" not in fake.transcript()


async def test_an_unfurled_link_is_no_edit(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        said = await ana.says("@Footnote what is https://example.com?")
        await said.answered(holding="About")
        await fake._tell_of("MESSAGE_UPDATE", said.message)
        await (await ana.says("@Footnote next?")).answered(holding="next?")

    assert len(bot.core.asked) == 2


async def test_bots_webhooks_system_messages_and_everyone_are_ignored(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        await place.other_bot("Other").says("@Footnote let us talk")
        await ana.says("@Footnote from a hook", application="77")
        await ana.says("@Footnote joined", type=7)
        await ana.says("@everyone and @here")
        await (await ana.says("@Footnote really?")).answered(holding="really?")

    assert bot.core.asked == ["really?"]


async def test_a_replayed_event_is_answered_once(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    fake.faults.replayed = 2
    async with bot.running():
        await (await ana.says("@Footnote once?")).answered(holding="once?")
        await fake.gateway.close(4000)
        await fake.until(lambda: fake.gateway.resumed == 1)
        await (await ana.says("@Footnote twice?")).answered(holding="twice?")

    assert bot.core.asked == ["once?", "twice?"]


async def test_a_post_that_fails_never_runs_the_model_again(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    fake.faults.planned.append(Fault("create", times=1, retry_after=0.05))
    fake.faults.planned.append(Fault("create", times=1, status=500, performed=True))
    async with bot.running():
        said = await place.person("Ana").says("@Footnote once?")
        await said.answered(holding="once?")
        await asyncio.sleep(0.1)

    assert len([one for one in said.replies if "once?" in one.text]) == 1
    assert bot.core.asked == ["once?"]


async def test_a_part_that_discord_broke_over_after_it_was_there_is_not_posted_again(
    fake: FakeDiscord, bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    """By an interaction's token: the library would post it again, and no nonce tells the two apart."""
    place = fake.guild()
    bot.core.say = lambda _: "\n\n".join(f"{number} " + "字" * 900 for number in range(5))
    fake.faults.planned.append(Fault("webhook", times=20, status=500, performed=True, chance=0.5))
    async with bot.running():
        used = await place.person("Ana").slash("ask", question="long?")
        await fake.until(lambda: len(used.shown) >= 3 and bool(used.shown[-1].buttons))
        await asyncio.sleep(0.2)

    assert "an error that should not be" not in caplog.text
    assert len(used.shown) == 3
    assert "".join(part.text for part in used.shown).count("字") == 4500


async def test_what_discord_broke_over_is_looked_for_and_goes_on_at_once(
    fake: FakeDiscord, bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    place = fake.guild()
    bot.core.say = lambda _: "\n\n".join(f"{number} " + "字" * 900 for number in range(5))
    fake.faults.planned.append(Fault("webhook", times=1, status=502, performed=True))
    async with bot.running():
        used = await place.person("Ana").slash("ask", question="long?")
        await fake.until(lambda: len(used.shown) == 3 and bool(used.shown[-1].buttons))

    assert "an error that should not be" not in caplog.text
    assert (bot.core.asked, len(used.shown)) == (["long?"], 3)


# --- who may --------------------------------------------------------------------------------------------------------


async def test_who_may_not_ask_is_told_in_private_and_gets_no_suggestions(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.rules = Rules(channels=frozenset({"1"}))
    bot.bases = ["handbook", "api"]
    async with bot.running():
        used = await place.person("Ana").slash("ask", question="x")
        told = await used.answered()
        assert await (await place.person("Ana").autocompletes("ask", "base", "", question="x")).choices() == []

    assert (told.text, used.private) == ("I am not to be asked here.", True)
    assert bot.core.asked == []


async def test_who_may_not_ask_may_not_click_either(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        answer = await (await ana.slash("ask", question="x")).answered(holding="About x")
        await fake.until(lambda: bool(answer.buttons))
    bot.rules = Rules(channels=frozenset({"1"}))
    async with bot.running():
        told = [await (await ana.clicks(answer, button)).answered() for button in ("👍", "Ask more in a thread")]
        asked = await bot.inbox.shown(bot.place(place.general), answer.id)

    assert [one.text for one in told] == ["I am not to be asked here."] * 2
    assert all(one.message.seen_by == ana.id for one in told)
    assert asked is not None
    assert answer.thread is None


async def test_limits_are_said_in_a_friendly_way(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    bot.limits = LimitSettings(person_per_minute=1)
    async with bot.running():
        await (await place.person("Ana").says("@Footnote one?")).answered(holding="one?")
        await (await place.person("Ana").says("@Footnote what about the second one?")).answered(holding="give me a minute")

    assert bot.core.asked == ["one?"]


async def test_a_command_in_a_direct_message_is_refused_where_they_are_off_though_discord_still_shows_it(
    fake: FakeDiscord, bot: Bot
) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    bot.hearing, bot.rules = Hearing(direct=True), Rules(direct=False)  # as Discord was told before it was switched off
    async with bot.running():
        refused = await (await ana.slash("ask", question="how?", channel=ana.dm)).answered()

    assert refused.text == words("").not_here
    assert bot.core.asked == []


async def test_limits_count_commands_that_come_at_once(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana, ben = place.person("Ana"), place.person("Ben")
    for who, limits in ((ana, LimitSettings(person_per_minute=3)), (ben, LimitSettings(answers_per_day=5))):
        bot.limits = limits
        async with bot.running():
            used = [await who.slash("ask", question=f"number {n}?", private=bool(n % 2)) for n in range(12)]
            told = [await each.answered() for each in used]
        assert len([each for each in told if "About number" in each.text]) == (3 if who is ana else 2)  # two are left of the five


# --- feedback, restart, intents -------------------------------------------------------------------------------------


async def test_feedback_works_after_a_restart_and_is_kept_with_the_answer(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        answer = await (await ana.slash("ask", question="x")).answered(holding="About x")
        await fake.until(lambda: bool(answer.buttons))
    async with bot.running():
        thanks = await (await ana.clicks(answer, "👎")).answered()

    assert thanks.text == "👎 ✓"


async def test_commands_are_told_to_discord_only_when_they_changed(fake: FakeDiscord, bot: Bot) -> None:
    fake.guild()
    for _ in range(2):
        async with bot.running():
            pass
    assert len(fake.syncs) == 1
    bot.bases = ["handbook", "api"]
    async with bot.running():
        pass
    assert len(fake.syncs) == 2


async def test_without_the_intent_mentions_commands_and_replies_work(
    fake: FakeDiscord, bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    bot.hearing = Hearing(content=False)
    async with bot.running():
        answer = await (await ana.says("@Footnote leave?")).answered(holding="About leave?")
        await (await ana.says("and in Spain?", to=answer)).answered(holding="and in Spain?")
        await (await ana.slash("ask", question="x")).answered(holding="About x")

    assert "The Message Content intent is off" in caplog.text


async def test_a_question_left_by_a_killed_process_is_answered_once(fake: FakeDiscord, bot: Bot) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    async with bot.running():
        bot.core.gate.clear()
        used = await ana.slash("ask", question="left?")
        said = await ana.says("@Footnote also left?")
        await fake.until(lambda: len(bot.core.asked) == 2)
    bot.core.gate.set()
    async with bot.running():
        await used.answered(holding="About left?")
        await said.answered(holding="About also left?")

    assert len([one for one in said.replies if "also left?" in one.text]) == 1
