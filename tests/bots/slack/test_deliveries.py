"""Whatever Slack does with its events, each question is answered once, and nothing else is a question (S2, S3, S8, P3)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bots.access import Rules
from rag.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bots.slack.running import Bot
    from tests.fakes.slack import FakeSlack, Said


def dialog(slack: FakeSlack) -> list[str]:
    """What was said in #general, without the buttons."""
    return [line for line in slack.workspace.transcript().splitlines() if "[👍]" not in line]


async def all_settled(slack: FakeSlack, *said: Said) -> Sequence[Said]:
    answers = [await each.answered() for each in said]
    await slack.settles()
    return answers


@pytest.mark.parametrize("way", ["socket", "http"])
async def test_one_mention_that_slack_tells_twice_is_answered_once(slack: FakeSlack, bot: Bot, way: str) -> None:
    async with bot.over_http() if way == "http" else bot.running():
        await all_settled(slack, slack.workspace.person("Ana").says("@Footnote how do I deploy?"))

    told = [one.body["event"]["type"] for one in slack.courier.deliveries if "how do I" in str(one.body["event"].get("text"))]
    assert {"app_mention", "message"} <= set(told)
    assert dialog(slack) == ["Ana: @Footnote how do I deploy?", "    Footnote: About how do I deploy?"]
    assert bot.core.asked == ["how do I deploy?"]
    assert slack.refused == []


async def test_a_file_that_is_all_of_a_question_is_asked_without_its_name(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        await all_settled(slack, slack.workspace.person("Ana").attaches("message.txt", b"how do I deploy?", "@Footnote"))

    assert bot.core.asked == ["how do I deploy?"]


async def test_events_that_come_twice_or_again_are_answered_once(slack: FakeSlack, bot: Bot) -> None:
    slack.faults.duplicates = 1.0
    async with bot.running():
        await all_settled(slack, slack.workspace.person("Ana").says("@Footnote how?"))
        for delivery in list(slack.courier.deliveries):
            slack.courier.again(delivery)
        await slack.settles()

    assert bot.core.asked == ["how?"]
    assert len(dialog(slack)) == 2


async def test_a_message_whose_first_delivery_was_lost_is_answered_when_it_comes_again(slack: FakeSlack, bot: Bot) -> None:
    slack.minute = 1.0
    asked = slack.workspace.person("Ana").says("@Footnote how?")
    await slack.until(lambda: all(one.attempts for one in slack.courier.deliveries))
    async with bot.running():
        await all_settled(slack, asked)

    assert all(one.attempts > 1 and one.acknowledged for one in slack.courier.deliveries if one.body["event"]["ts"] == asked.ts)
    assert bot.core.asked == ["how?"]


async def test_a_replay_after_a_restart_is_not_answered_again(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        await all_settled(slack, slack.workspace.person("Ana").says("@Footnote how?"))
    slack.clock.advance(3600)
    async with bot.running():
        for delivery in list(slack.courier.deliveries):
            slack.courier.again(delivery)
        await slack.settles()

    assert bot.core.asked == ["how?"]


async def test_one_gesture_that_becomes_two_messages_is_answered_once(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana = slack.workspace.person("Ana")
        first = ana.says("@Footnote how?")
        await all_settled(slack, first)
        body = {**slack.courier.deliveries[0].body, "event_id": "Ev0AGAIN"}
        body["event"] = {**body["event"], "ts": slack.workspace.next_ts(), "client_msg_id": first.message.client_msg_id}
        slack.deliver("events_api", body)
        await slack.settles()

    assert bot.core.asked == ["how?"]


@pytest.mark.parametrize("way", ["socket", "http"])
async def test_what_could_not_be_kept_is_not_acknowledged_and_answered_when_it_comes_again(
    slack: FakeSlack, bot: Bot, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    slack.minute = 0.5
    claim, failures = bot.inbox.claim, [1, 1]

    async def failing(asked: Any, **more: Any) -> Any:
        if failures:
            failures.pop()
            raise StoreUnavailable("The database cannot be reached.")
        return await claim(asked, **more)

    monkeypatch.setattr(bot.inbox, "claim", failing)
    async with bot.over_http() if way == "http" else bot.running():
        given = slack.workspace.person("Ana").commands("/ask", "how?")
        told = await given.answered()
        failures[:] = [1, 1]
        await all_settled(slack, slack.workspace.person("Ana").says("@Footnote how?"))

    assert told.shown == StoreUnavailable.user_message
    asked = [one for one in slack.courier.deliveries if one.kind == "events_api" and "how?" in str(one.body["event"].get("text"))]
    mine = [one for one in asked if one.body["event"]["user"] != slack.workspace.bot.id]
    assert all(one.acknowledged and one.attempts > 1 for one in mine)
    assert {status for one in mine for status in one.statuses} == ({200, 503} if way == "http" else set())
    assert bot.core.asked == ["how?"]


async def test_previews_and_replies_change_messages_and_ask_nothing(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana = slack.workspace.person("Ana")
        asked = ana.says("@Footnote is https://docs.example.com/x right?")
        await all_settled(slack, asked)
        slack.workspace.unfurl(asked.message)
        slack.workspace.person("Ben").says("Thanks!", thread=asked)
        await slack.settles()

    changes = [one for one in slack.courier.deliveries if one.body["event"].get("subtype") == "message_changed"]
    assert len(changes) >= 3
    assert bot.core.asked == ["is https://docs.example.com/x right?"]


async def test_a_message_that_looks_like_mark_up_is_answered_once(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        asked = slack.workspace.person("Ana").writes("<tag>の設定を教えて & <br/>?")
        await all_settled(slack, asked)

    assert bot.core.asked == ["<tag>の設定を教えて & <br/>?"]
    assert len(asked.replies) == 1


async def test_two_processes_share_the_events_and_answer_each_question_once(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running(), bot.running():
        people = [slack.workspace.person(name) for name in ("Ana", "Ben", "Cid")]
        said = [person.says(f"@Footnote question {n}?") for n in range(4) for person in people]
        await all_settled(slack, *said)

    assert sorted(bot.core.asked) == sorted(f"question {n}?" for n in range(4) for _ in people)
    assert [len(one.replies) for one in said] == [1] * 12


@pytest.mark.parametrize("politely", [True, False])
async def test_after_a_socket_was_cut_questions_are_answered(slack: FakeSlack, bot: Bot, *, politely: bool) -> None:
    slack.minute = 1.0
    async with bot.running():
        for n in range(2):
            await slack.drops_sockets(politely=politely)
            if not politely:
                await slack.until(lambda: not slack.courier.sockets)
            await all_settled(slack, slack.workspace.person("Ana").says(f"@Footnote question {n}?"))

    assert bot.core.asked == ["question 0?", "question 1?"]


async def test_a_process_that_gets_no_socket_ends_when_it_is_asked_to(slack: FakeSlack, bot: Bot) -> None:
    refused = slack.fails("/link", 999, status=503)

    async def run() -> None:
        async with bot.running():
            raise AssertionError("there is no socket")

    running = asyncio.create_task(run())
    await slack.until(lambda: refused.times < 999, what="an attempt to connect")
    running.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await running


async def test_both_events_of_a_mention_are_acknowledged_and_cost_one(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        await all_settled(slack, slack.workspace.person("Ana").says("@Footnote how?"))

    asked = [one for one in slack.courier.deliveries if one.body["event"].get("text", "").endswith("how?")]
    assert [(one.acknowledged, one.attempts) for one in asked] == [(True, 1)] * 2
    assert len(slack.calls_of("users.info")) == 1


async def test_events_that_come_late_and_backwards_are_answered_once_each(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        slack.courier.held = []
        said = [slack.workspace.person("Ana").says(f"@Footnote question {n}?") for n in range(3)]
        slack.clock.advance(480)
        slack.courier.release(backwards=True)
        await all_settled(slack, *said)

    assert sorted(bot.core.asked) == ["question 0?", "question 1?", "question 2?"]
    assert [len(one.replies) for one in said] == [1, 1, 1]


async def test_what_nobody_listens_to_is_acknowledged_at_once(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        unknown = [
            slack.deliver("events_api", {"type": "event_callback", "team_id": slack.workspace.id, "event": {"type": kind}})
            for kind in ("channel_rename", "app_context_changed", "something_new")
        ]
        await slack.settles()

    assert [(one.acknowledged, one.attempts) for one in unknown] == [(True, 1)] * 3


# --- who is meant, and who is not -----------------------------------------------------------------------------------


async def test_our_own_words_are_never_a_question(slack: FakeSlack, bot: Bot) -> None:
    bot.core.say = lambda _: "Should I, @Footnote, ask you something?"
    async with bot.running():
        await all_settled(slack, slack.workspace.person("Ana").says("@Footnote how?"))
        await asyncio.sleep(0.2)

    assert bot.core.asked == ["how?"]


async def test_two_bots_never_talk_to_each_other(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        other = slack.workspace.other_bot("Monitor")
        asked = slack.workspace.person("Ana").says("@Footnote how?")
        await all_settled(slack, asked)
        other.says("@Footnote what is the matter?")
        other.says("@Footnote and here?", thread=asked)
        other.says("What do you mean?", thread=asked)
        await slack.settles()

    assert bot.core.asked == ["how?"]


async def test_slackbot_is_not_answered(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        channel = slack.workspace.person("Ana").dm.id
        event = {"type": "message", "user": "USLACKBOT", "text": "Reminder: what is due?", "channel": channel}
        event |= {"channel_type": "im", "ts": slack.workspace.next_ts()}
        slack.deliver("events_api", {"type": "event_callback", "team_id": slack.workspace.id, "event": event})
        await slack.settles()

    assert bot.core.asked == []


async def test_a_mention_event_for_a_reply_that_mentions_nobody_is_no_mention(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        ana = slack.workspace.person("Ana")
        root = ana.says("Lunch?")
        event = {"type": "app_mention", "user": ana.id, "text": "I am hungry, who else?", "channel": root.channel.id}
        event |= {"ts": slack.workspace.next_ts(), "thread_ts": root.ts}
        slack.deliver("events_api", {"type": "event_callback", "team_id": slack.workspace.id, "event": event})
        await slack.settles()

    assert bot.core.asked == []


async def test_people_of_another_company_are_refused_once_and_cost_nothing(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        shared = slack.workspace.channel("shared", ext_shared=True)
        eve, ana = slack.workspace.outsider("Eve"), slack.workspace.person("Ana")
        said = [eve.says("@Footnote what do we earn?", channel=shared), ana.says("@Footnote what do we earn?", channel=shared)]
        said.append(eve.says("@Footnote and here?"))
        answers = await all_settled(slack, *said)

    assert bot.core.asked == []
    assert [answer.shown for answer in answers] == [
        "I answer only people of this workspace.",
        "People of other companies read along here, so I do not answer in this channel.",
        "I answer only people of this workspace.",
    ]


async def test_guests_are_refused(slack: FakeSlack, bot: Bot) -> None:
    async with bot.running():
        [answer] = await all_settled(slack, slack.workspace.person("Gil", guest=True).says("@Footnote how?"))

    assert bot.core.asked == []
    assert answer.shown == "I do not answer guests here."


async def test_a_channel_that_is_renamed_is_still_the_one_that_was_named(slack: FakeSlack, bot: Bot) -> None:
    bot.intake = replace(bot.intake, rules=Rules(channels=frozenset({slack.workspace.general.id})))
    async with bot.running():
        slack.workspace.general.name = "renamed"
        other = slack.workspace.channel("general-2")
        ana = slack.workspace.person("Ana")
        _, refused = await all_settled(slack, ana.says("@Footnote how?"), ana.says("@Footnote why?", channel=other))

    assert bot.core.asked == ["how?"]
    assert refused.shown == "I am not to be asked here."


async def test_two_workspaces_have_a_bot_each_and_neither_is_taken_for_the_other(slack: FakeSlack, bot: Bot) -> None:
    other = slack.add_workspace("Beta")
    client = AsyncWebClient(other.token, base_url=slack.api_url)
    assert (await client.auth_test())["user_id"] != slack.workspace.bot.id
    async with bot.running():
        await all_settled(slack, slack.workspace.person("Ana").says(f"@Footnote who is {other.bot.id}?"))

    assert bot.core.asked == [f"who is {other.bot.id}?"]
