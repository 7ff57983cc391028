"""Whatever Slack refuses, loses or ends, each answer is there in the end, whole, once, and paid for once (S5, S6, P3)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bots.desk import DeskSettings
from config.tables import Logging
from rag.errors import ModelUnavailable
from storage.schema import questions

if TYPE_CHECKING:
    from tests.bots.slack.running import Bot
    from tests.fakes.slack import FakeSlack, Said

LONG = "".join(f"Step {n}: run **make** and look at `log {n}`.\n\n" for n in range(40))
BUTTONS = "\n[👍] [👎]"


def words(shown: str) -> list[str]:
    return shown.replace(BUTTONS, "").split()


async def growing(asked: Said) -> Said:
    """The answer on its way: a stream that is open."""
    await asked.workspace.slack.until(lambda: any(not one.finished for one in asked.replies), what="a stream")
    return next(one for one in asked.replies if not one.finished)


async def test_a_stream_that_slack_ends_after_five_minutes_becomes_the_whole_answer(slack: FakeSlack, bot: Bot) -> None:
    bot.core.say = lambda _: LONG
    bot.core.gate.clear()
    async with bot.running():
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        await growing(asked)
        slack.clock.advance(301)
        bot.core.gate.set()
        await slack.until(lambda: "Step 39" in asked.replies[-1].shown, what="the end of the answer")
        await slack.settles()

    assert len(asked.replies) == 1
    assert words(asked.replies[0].shown) == LONG.replace("**", "").split()
    assert bot.core.asked == ["how?"]


@pytest.mark.parametrize("code", ["msg_too_long", "invalid_blocks", "msg_blocks_too_long", "message_not_in_streaming_state"])
async def test_an_end_of_a_stream_that_is_refused_costs_nothing(slack: FakeSlack, bot: Bot, code: str) -> None:
    slack.fails("chat.stopStream", error=code)
    async with bot.running():
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        await slack.until(lambda: any("👍" in one.buttons for one in asked.replies if one.finished))
        await slack.settles()

    assert [one.shown for one in asked.replies] == [f"About how?{BUTTONS}"]
    assert bot.core.asked == ["how?"]


@pytest.mark.parametrize("code", ["invalid_blocks", "msg_blocks_too_long", "msg_too_long"])
async def test_blocks_that_are_refused_become_plain_text_and_no_model_runs_again(slack: FakeSlack, bot: Bot, code: str) -> None:
    slack.fails("chat.startStream", 9, error="internal_error")
    slack.fails("chat.postMessage", error=code)
    async with bot.running():
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        answer = await asked.answered()
        await slack.settles()

    assert answer.shown == "About how?"
    assert answer.message.blocks == []
    assert bot.core.asked == ["how?"]


async def test_more_answers_than_streams_may_begin_are_posted_whole(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        said = [slack.workspace.person(f"P{n}").says("@Footnote how?") for n in range(24)]
        for one in said:
            await one.answered()
        await slack.settles()

    assert [len(one.replies) for one in said] == [1] * 24
    assert ("chat.startStream", "ratelimited") not in slack.refused


async def test_a_rate_limit_delays_an_answer_and_loses_none_of_it(slack: FakeSlack, bot: Bot) -> None:
    bot.core.say = lambda _: LONG
    slack.fails("chat.appendStream", 2, "ratelimited", retry_after=1)
    slack.fails("chat.stopStream", 1, "ratelimited", retry_after=1)
    async with bot.running():
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        await slack.until(lambda: any("👍" in one.buttons for one in asked.replies if one.finished))
        await slack.settles()

    assert words(" ".join(one.shown for one in asked.replies)) == LONG.replace("**", "").split()
    assert bot.core.asked == ["how?"]


async def test_a_post_whose_answer_was_lost_is_not_posted_twice(slack: FakeSlack, bot: Bot) -> None:
    slack.fails("chat.startStream", 9, error="internal_error")
    slack.fails("chat.postMessage", hang_up=True, performed=True)
    async with bot.running():
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        await asked.answered()
        await asyncio.sleep(2.5)
        await slack.settles()

    assert [one.shown for one in asked.replies] == [f"About how?{BUTTONS}"]


async def test_a_stream_that_a_dead_process_left_open_is_ended_and_becomes_the_answer(slack: FakeSlack, bot: Bot) -> None:
    bot.core.gate.clear()
    bot.desk_settings = DeskSettings(lease_seconds=1.0, sweep_seconds=0.1, drain_seconds=0.0, patience_seconds=1.0)
    dead = slack.fails("chat.stopStream", 99, "internal_error")
    async with bot.running():
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        await growing(asked)
    assert not asked.replies[0].finished
    slack.faults.planned.remove(dead)
    bot.core.gate.set()
    async with bot.running():
        await slack.until(lambda: any("👍" in one.buttons for one in asked.replies), what="the answer")
        await slack.settles()

    assert [one.shown for one in asked.replies] == [f"About how?{BUTTONS}"]


async def test_what_goes_wrong_is_said(slack: FakeSlack, bot: Bot) -> None:
    bot.core.say = lambda text: ModelUnavailable("down") if "model" in text else RuntimeError("a bug with a secret")
    async with bot.running():
        ana = slack.workspace.person("Ana")
        model, bug = ana.says("@Footnote is the model there?"), ana.says("@Footnote is there a bug?")
        answers = [(await one.answered()).shown for one in (model, bug)]
        await slack.settles()

    assert answers[0].startswith("The language model I write with cannot be reached just now.")
    assert answers[1].startswith("Something went wrong on my side")
    assert "secret" not in slack.workspace.transcript()
    assert (model.status, bug.status) == ("", "")


async def test_a_status_is_shown_for_each_thread_and_taken_back(slack: FakeSlack, bot: Bot) -> None:
    bot.core.gate.clear()
    bot.core.say = lambda text: ModelUnavailable("down") if "fail" in text else "So."
    async with bot.running():
        ana = slack.workspace.person("Ana")
        one, two = ana.says("@Footnote how?"), ana.says("@Footnote why does it fail?")
        await slack.until(lambda: bool(one.status and two.status), what="two statuses")
        bot.core.gate.set()
        await one.answered()
        await two.answered()
        await slack.settles()

    assert (one.status, two.status) == ("", "")


async def test_a_status_that_cannot_be_set_costs_no_answer(slack: FakeSlack, bot: Bot) -> None:
    slack.fails("assistant.threads.setStatus", 99, "missing_scope")
    async with bot.running():
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        assert (await asked.answered()).shown.startswith("About how?")


async def test_a_slow_answer_is_never_announced_as_a_failure(slack: FakeSlack, bot: Bot) -> None:
    bot.core.gate.clear()
    async with bot.running():
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        stream = await growing(asked)
        slack.clock.advance(240)
        await asyncio.sleep(0.3)
        bot.core.gate.set()
        await asked.answered()
        await slack.settles()

    assert not [version for version in stream.message.versions if "wrong" in version]
    assert len(asked.replies) == 1


# --- direct messages, commands --------------------------------------------------------------------------------------


async def test_a_direct_message_is_answered_in_its_thread(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        asked = slack.workspace.person("Ana").writes("how?")
        await asked.answered()
        await slack.settles()

    assert asked.replies[0].message.thread_ts == asked.ts
    assert slack.refused == []


@pytest.mark.parametrize("way", ["socket", "http"])
async def test_a_private_question_is_acknowledged_at_once_and_its_answer_stays_private(
    slack: FakeSlack, bot: Bot, way: str
) -> None:
    bot.way = way
    ana, ben = slack.workspace.person("Ana"), slack.workspace.person("Ben")
    bot.core.gate.clear()
    async with bot.running():
        given = ana.commands("/ask", "what is <b>?")
        await slack.until(lambda: given.delivery.acknowledged)
        slack.clock.advance(60)
        bot.core.gate.set()
        answer = await given.answered(2)
        await slack.settles()
        assert "About what is <b>?" in answer.shown
        assert "About what" not in slack.workspace.transcript(viewer=ben)
        assert "About what" in slack.workspace.transcript(viewer=ana)
        ana.clicks(answer, "Share with everyone")
        await slack.until(lambda: "About what" in slack.workspace.transcript(viewer=ben), what="the shared answer")
        await slack.settles()

    assert not given.refused
    assert bot.core.asked == ["what is <b>?"]


async def test_a_private_answer_is_not_shown_again_after_a_crash(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        given = slack.workspace.person("Ana").commands("/ask", "how?")
        await given.answered(2)
        await slack.settles()
    undone = questions.update().values(state="answered")
    await bot.database.write(lambda connection: connection.execute(undone))
    async with bot.running():
        async with asyncio.timeout(10):
            while await bot.inbox.unfinished(["slack"]):  # noqa: ASYNC110 - what stands in the database
                await asyncio.sleep(0.05)
        await slack.settles()

    assert [one.shown.splitlines()[0] for one in given.responses] == ["Looking in the documents …", "About how?"]


async def test_a_private_answer_whose_taking_is_unknown_is_shown_again_and_says_so(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        slack.fails("response_url", status=500, performed=True)
        given = slack.workspace.person("Ana").commands("/ask", "how?")
        answer = await given.answered(3)
        await slack.settles()

    remark, text, *_ = answer.shown.splitlines()
    assert (remark, text) == ("You may have seen this already: I was interrupted while I said it.", "About how?")
    assert bot.core.asked == ["how?"]


async def test_the_answer_goes_to_the_thread_that_was_asked_in(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana = slack.workspace.person("Ana")
        root = ana.says("The deploy fails.")
        ana.says("With E42.", thread=root)
        asked = ana.says("@Footnote why?", thread=root)
        await asked.answered()
        await slack.settles()

    assert asked.replies[0].message.thread_ts == root.ts
    assert slack.workspace.transcript().splitlines()[:4] == [
        "Ana: The deploy fails.",
        "    Ana: With E42.",
        "    Ana: @Footnote why?",
        "    Footnote: About why?",
    ]
    turns = bot.core.histories[0]
    assert isinstance(turns, list)
    assert [(turn.role, turn.text) for turn in turns] == [("user", "The deploy fails."), ("user", "With E42.")]


# --- safety ---------------------------------------------------------------------------------------------------------


async def test_an_answer_pings_nobody_while_it_is_written_nor_afterwards(slack: FakeSlack, bot: Bot) -> None:
    ana = slack.workspace.person("Ana")
    bot.core.say = lambda _: f"<!channel> <@{ana.id}> @here and @everyone: `<!here>` https://docs.example.com/?d=1"
    async with bot.running():
        for asked in (ana.says("@Footnote how?"), ana.writes("how?")):
            await asked.answered()
            await slack.settles()
            assert slack.workspace.pings([one.message for one in asked.replies]) == set()
        given = ana.commands("/ask", "how?")
        await given.answered(2)

    assert slack.workspace.pings([one.message for one in given.responses]) == set()


async def test_no_token_and_no_word_of_anybody_is_logged_at_any_level(
    slack: FakeSlack, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    from bots.cli.logs import set_up_logs  # noqa: PLC0415 - it changes what is logged

    set_up_logs(Logging(level="debug"))
    bot.core.say = lambda _: RuntimeError("xyzzy-model") if len(bot.core.asked) > 1 else "xyzzy-answer"
    async with bot.running():
        for n in range(2):
            asked = slack.workspace.person("Ana").says(f"@Footnote xyzzy-question {n}?")
            await asked.answered()
        slack.fails("users.info", 9, "xyzzy")
        await slack.settles()

    logged = capsys.readouterr().err
    assert logged
    assert [secret for secret in ("xyzzy", slack.workspace.token, slack.app.app_token, "ticket") if secret in logged] == []
