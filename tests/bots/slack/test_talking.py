"""What people do in Slack, and what comes of it: each way to ask, follow-ups, edits, feedback, commands (S2, S3, S6, S8, S9)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from bots.access import LimitSettings, Rules
from bots.wording import in_language
from rag.errors import StoreUnavailable
from rag.types import Progress
from storage.schema import feedback
from tests.fakes.slack import FakeSlack, Said

if TYPE_CHECKING:
    from tests.bots.slack.running import Bot


@pytest.fixture(autouse=True, params=["socket", "http"])
def way(request: pytest.FixtureRequest, bot: Bot) -> None:
    """All of this holds over a socket and over signed HTTP (S1)."""
    bot.way = request.param


async def verdicts(bot: Bot) -> list[int]:
    """How people judged answers."""
    rows = await bot.inbox._database.read(lambda connection: connection.execute(select(feedback.c.verdict)).all())
    return sorted(row.verdict for row in rows)


# --- follow-ups (S3) ------------------------------------------------------------------------------------------------


async def test_a_follow_up_needs_no_mention_until_people_talk_to_each_other(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana, ben = slack.workspace.person("Ana"), slack.workspace.person("Ben")
        asked = ana.says("@Footnote how do I deploy?")
        await asked.answered()
        await ben.says("and on staging?", thread=asked).answered()
        ben.says("@Ana did you see that?", thread=asked)
        await slack.settles()
        ana.says("I tried it yesterday and it worked for me.", thread=asked)
        await slack.settles()
        await ana.says("@Footnote and in production?", thread=asked).answered()
        ben.says("Where is Cid?")
        await slack.settles()

    assert bot.core.asked == ["how do I deploy?", "and on staging?", "and in production?"]


async def test_where_mentions_are_wanted_a_follow_up_needs_one(slack: FakeSlack, bot: Bot) -> None:
    bot.intake = replace(bot.intake, followups=False)
    async with bot.running():
        ana = slack.workspace.person("Ana")
        asked = ana.says("@Footnote how do I deploy?")
        await asked.answered()
        ana.says("and on staging?", thread=asked)
        await slack.settles()

    assert bot.core.asked == ["how do I deploy?"]


async def test_a_thread_that_nobody_asked_us_in_is_left_alone(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        root = slack.workspace.person("Ana").says("How do I deploy?")
        slack.workspace.person("Ben").says("Did you ask Cid?", thread=root)
        await slack.settles()

    assert bot.core.asked == []


async def test_a_bare_mention_answers_what_the_thread_asks(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        root = slack.workspace.person("Ana").says("How do I deploy?")
        await slack.workspace.person("Ben").says("@Footnote", thread=root).answered()
        await slack.settles()

    assert bot.core.asked == ["How do I deploy?"]


async def test_the_messages_tab_suggests_questions_and_answers_them(slack: FakeSlack, bot: Bot) -> None:
    bot.intake = replace(bot.intake, prompts=("How do I deploy?", "Who is on call?"))
    async with bot.running():
        ana = slack.workspace.person("Ana")
        ana.opens_messages_tab()
        ana.opens_home_tab()
        await slack.until(lambda: bool(ana.dm.prompts), what="suggested questions")
        await ana.writes(ana.dm.prompts["prompts"][1]["message"]).answered()
        await slack.settles()

    assert bot.core.asked == ["Who is on call?"]
    assert len(slack.calls_of("assistant.threads.setSuggestedPrompts")) == 1


async def test_the_shortcut_answers_the_chosen_message_in_its_thread(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        chosen = slack.workspace.person("Ana").says("The deploy fails with E42 &c.")
        slack.workspace.person("Ben").uses_shortcut("ask_about_message", chosen)
        await chosen.answered()
        await slack.settles()

    assert bot.core.asked == ["The deploy fails with E42 &c."]


# --- edits and deletions (S8) ---------------------------------------------------------------------------------------


async def test_an_edited_question_is_answered_anew_in_place(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana = slack.workspace.person("Ana")
        asked = ana.says("@Footnote how do I deply?")
        answer = await asked.answered()
        ana.edits(asked, "@Footnote how do I deploy?")
        await slack.until(lambda: "deploy?" in answer.shown, what="the new answer")
        await slack.settles()

    assert [one.shown for one in asked.replies] == ["About how do I deploy?\n[👍] [👎]"]
    assert bot.core.asked == ["how do I deply?", "how do I deploy?"]


async def test_an_edit_that_comes_too_late_changes_nothing(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana = slack.workspace.person("Ana")
        asked = ana.says("@Footnote how?")
        await asked.answered()
        slack.clock.advance(601)
        ana.edits(asked, "@Footnote why?")
        await slack.settles()

    assert bot.core.asked == ["how?"]


async def test_a_deleted_question_takes_its_answer_along(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana = slack.workspace.person("Ana")
        asked = ana.says("@Footnote how?")
        answer = await asked.answered()
        ana.deletes(asked)
        await slack.until(lambda: answer.deleted, what="the answer to go")
        await slack.settles()

    assert slack.workspace.transcript() == ""


async def test_a_question_that_is_deleted_while_it_is_answered_leaves_nothing(slack: FakeSlack, bot: Bot) -> None:
    bot.core.gate.clear()
    async with bot.running():
        ana = slack.workspace.person("Ana")
        asked = ana.says("@Footnote how?")
        await slack.until(lambda: bool(asked.replies), what="a stream")
        ana.deletes(asked)
        await slack.until(lambda: all(one.deleted for one in slack_answers(slack)), what="the stream to go")
        bot.core.gate.set()
        await slack.settles()

    assert [one for one in slack_answers(slack) if not one.deleted] == []


def slack_answers(slack: FakeSlack) -> list[Said]:
    return [Said(slack.workspace, one) for one in slack.workspace.general.messages if one.user is slack.workspace.bot]


# --- feedback (S6) --------------------------------------------------------------------------------------------------


async def test_buttons_and_reactions_say_how_an_answer_was_and_can_be_taken_back(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana, ben = slack.workspace.person("Ana"), slack.workspace.person("Ben")
        answer = await ana.says("@Footnote how?").answered()
        await slack.settles()
        ana.clicks(answer, "👍")
        ben.reacts(answer, "-1")
        ben.reacts(answer, "eyes")
        await slack.settles()
        assert await verdicts(bot) == [-1, 1]
        ana.clicks(answer, "👎")
        ben.unreacts(answer, "-1")
        await slack.settles()
        assert await verdicts(bot) == [-1]


async def test_thanks_are_answered_without_buttons(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        answer = await asked.answered()
        thanked = await slack.workspace.person("Ana").says("@Footnote thank you!", thread=asked).answered()
        await slack.settles()

    assert (answer.buttons, thanked.buttons) == (["👍", "👎"], [])


async def test_a_person_is_called_once_where_the_button_is_wanted(slack: FakeSlack, bot: Bot) -> None:
    cid = slack.workspace.person("Cid")
    async with bot.running(person=cid.id):
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        answer = await asked.answered()
        await slack.settles()
        slack.workspace.person("Ana").clicks(answer, "Ask a person")
        await slack.until(lambda: len(asked.replies) > 1, what="the call")
        slack.workspace.person("Ben").clicks(answer, "Ask a person")
        await slack.settles()

    assert [one.message.pings for one in asked.replies] == [(), (cid.id,)]
    assert asked.replies[1].shown == "@Cid: ana asks for a person's help here."


# --- commands (S9) --------------------------------------------------------------------------------------------------


async def test_admins_give_commands_and_watch_them(slack: FakeSlack, bot: Bot) -> None:
    bot.runs.stages = [Progress("handbook", found=10, done=n, passages=n, state="indexing", seconds=2.0) for n in (2, 9)]
    async with bot.running():
        ana = slack.workspace.person("Ana", admin=True)
        given = ana.commands("/footnote", "reindex")
        await slack.until(lambda: "3 added" in slack.workspace.transcript(), seconds=10, what="the end of the run")
        status = await ana.commands("/footnote", "status").answered()
        asked = ana.says("@Footnote status")
        told = await asked.answered()
        await slack.settles()

    assert not given.refused
    assert status.shown.startswith("handbook")
    assert told.shown.startswith("handbook")
    assert bot.core.asked == []


async def test_others_are_refused_in_plain_words_whatever_the_command_looks_like(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ben = slack.workspace.person("Ben")
        slash = await ben.commands("/footnote", "reindex").answered()
        mention = await ben.says("@Footnote reindex").answered()
        await slack.settles()

    assert (slash.shown, mention.shown) == ("Only admins may do this.", "Only admins may do this.")


async def test_people_who_are_named_may_give_commands(slack: FakeSlack, bot: Bot) -> None:
    ben = slack.workspace.person("Ben")
    bot.intake = replace(bot.intake, rules=Rules(admins=frozenset({ben.id})))
    async with bot.running():
        told = await ben.commands("/footnote", "help").answered()
        await slack.settles()

    assert "reindex" in told.shown


async def test_a_thread_is_forgotten_where_an_admin_says_so(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana = slack.workspace.person("Ana", admin=True)
        asked = ana.says("@Footnote how?")
        await asked.answered()
        told = await ana.says("@Footnote forget", thread=asked).answered()
        await slack.settles()

    assert told.shown == "Forgot 2 turns of this thread."


# --- the language of what is said besides answers ---------------------------------------------------------------------


async def test_what_is_said_besides_answers_is_in_the_language_that_slack_tells_where_two_words_do_not(
    slack: FakeSlack, bot: Bot
) -> None:
    bot.limits = LimitSettings(person_per_minute=1)
    async with bot.running():
        dora, ana = slack.workspace.person("Dora", locale="de-DE"), slack.workspace.person("Ana")
        for person in (dora, ana):
            await person.says("@Footnote deploy?").answered()
        told = [await person.says("@Footnote notice period?").answered() for person in (dora, ana)]
        told.append(await ana.says("@Footnote wie viele Tage Urlaub habe ich?").answered())
        asked = dora.commands("/ask", "notice period?")
        looking, _ = await asked.answered(), await asked.answered(2)
        empty = await dora.commands("/ask", "").answered()
        refused = await dora.commands("/footnote", "reindex").answered()
        await slack.settles()

    german, english = in_language("de"), in_language("en")
    assert [each.shown for each in told] == [german.person_limit, english.person_limit, german.person_limit]
    assert [each.shown for each in (looking, empty, refused)] == [german.looking, german.no_question, german.not_admin]


async def test_limits_count_commands_that_come_at_once(slack: FakeSlack, bot: Bot) -> None:
    bot.limits = LimitSettings(person_per_minute=3)
    async with bot.running():
        ana = slack.workspace.person("Ana")
        for n in range(12):
            ana.commands("/ask", f"number {n}?")
        await slack.settles()

    assert len(bot.core.asked) == 3


async def test_a_command_whose_bar_cannot_go_on_ends_in_words(slack: FakeSlack, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_arguments: object, **_more: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(bot.runs, "start_or_join", away)
    async with bot.running():
        given = slack.workspace.person("Ada", admin=True).commands("/footnote", "reindex handbook")
        told = await given.answered()
        await slack.settles()

    assert "I cannot reach my documents just now." in told.shown or "away" in told.shown
    assert "…" not in slack.workspace.transcript().splitlines()
