"""The fake itself: slack_bolt and slack_sdk as they are talk to it, over sockets and over HTTP."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bots.slack.manifest import manifest
from tests.fakes.slack import FakeSlack, signed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Bot:
    """A bot that notes all it is told, and answers what `reply` says to every mention."""

    def __init__(self, slack: FakeSlack) -> None:
        self.events: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.retries: list[str] = []
        client = AsyncWebClient(slack.workspace.token, base_url=slack.api_url)
        self.app = AsyncApp(client=client, signing_secret=slack.app.signing_secret)
        self.app.event(re.compile(".*"))(self._event)
        self.app.command("/ask")(self._command)
        self.app.action(re.compile(".*"))(self._action)
        self.app.shortcut("ask_about_message")(self._action)

    async def _event(self, event: dict[str, Any], request: Any, say: Any) -> None:
        self.events.append(event)
        self.retries += request.headers.get("x-slack-retry-num", [])
        if event["type"] == "app_mention":
            await say(text="Here you are.", thread_ts=event.get("thread_ts") or event["ts"])

    async def _command(self, command: dict[str, Any], ack: Any, respond: Any) -> None:
        self.requests.append(command)
        await ack()
        await respond(f"You asked: {command['text']}")

    async def _action(self, body: dict[str, Any], ack: Any) -> None:
        self.requests.append(body)
        await ack()

    def kinds(self) -> list[str]:
        return sorted(event["type"] for event in self.events)


@asynccontextmanager
async def over_socket(slack: FakeSlack, sockets: int = 1) -> AsyncIterator[Bot]:
    bot = Bot(slack)
    handler = AsyncSocketModeHandler(bot.app, slack.app.app_token, ping_interval=1)
    await handler.connect_async()  # type: ignore[no-untyped-call] # theirs
    await slack.connected(sockets)
    try:
        yield bot
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call] # theirs


@asynccontextmanager
async def over_http(slack: FakeSlack) -> AsyncIterator[Bot]:
    bot = Bot(slack)
    runner = web.AppRunner(bot.app.web_app(path="/slack/events"))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.install(manifest("http"))
    slack.app.request_url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        yield bot
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("way", [over_socket, over_http])
async def test_a_mention_is_told_twice_and_a_message_once(slack: FakeSlack, way: Any) -> None:
    slack.replies_change_roots = False
    async with way(slack) as bot:
        ana = slack.workspace.person("Ana")
        asked = ana.says("@Footnote how do I roll back?")
        answer = await asked.answered()
        await slack.settles()
        mention, message = sorted(bot.events, key=lambda event: str(event["type"]))
        ana.says("Never mind.")
        await slack.settles()

    assert (mention["type"], message["type"]) == ("app_mention", "message")
    assert mention["ts"] == message["ts"]
    assert mention["client_msg_id"] == message["client_msg_id"]
    assert answer.shown == "Here you are."
    assert slack.workspace.transcript().splitlines() == [
        "Ana: @Footnote how do I roll back?",
        "    Footnote: Here you are.",
        "Ana: Never mind.",
    ]
    assert slack.refused == []


async def test_what_is_not_acknowledged_in_three_seconds_comes_again(slack: FakeSlack) -> None:
    async with over_socket(slack) as bot:
        never = slack.deliver("interactive", {"type": "unheard_of"})
        while never.attempts < 4:
            slack.clock.advance(301)
            await asyncio.sleep(0.01)
        slack.clock.advance(4)
        await slack.until(lambda: never.lost)

    assert never.attempts == 4
    assert bot.events == []


async def test_a_server_that_fails_over_http_is_asked_again_with_a_reason(slack: FakeSlack) -> None:
    async with over_http(slack) as bot:
        slack.app.request_url = slack.app.request_url.replace("/slack/events", "/elsewhere")
        slack.workspace.person("Ana").writes("Hello?")
        await slack.until(lambda: slack.courier.deliveries[0].attempts >= 2)
        slack.app.request_url = slack.app.request_url.replace("/elsewhere", "/slack/events")
        slack.clock.advance(61)
        await slack.until(lambda: slack.courier.deliveries[0].acknowledged)
        await slack.settles()

    assert slack.courier.deliveries[0].statuses == [404, 404, 200]
    assert bot.retries == ["2"]


async def test_an_event_can_be_delivered_twice_and_backwards(slack: FakeSlack) -> None:
    slack.replies_change_roots = False
    async with over_socket(slack) as bot:
        slack.courier.held = []
        ana = slack.workspace.person("Ana")
        for text in ("one", "two"):
            ana.writes(text)
        slack.faults.duplicates = 1.0
        slack.courier.release(backwards=True)
        await slack.settles()
        ana.writes("three")
        await slack.settles()

    assert [event["text"] for event in bot.events] == ["two", "one", "three", "three"]


async def test_events_go_to_one_socket_of_several(slack: FakeSlack) -> None:
    async with over_socket(slack) as first, over_socket(slack, 2) as second:
        for n in range(12):
            slack.workspace.person("Ana").writes(str(n))
        await slack.settles()

    assert len(first.events) + len(second.events) == 12
    assert first.events
    assert second.events


@pytest.mark.parametrize("politely", [True, False])
async def test_a_socket_that_was_dropped_is_opened_again_and_nothing_is_lost(slack: FakeSlack, *, politely: bool) -> None:
    slack.minute = 1.0
    async with over_socket(slack) as bot:
        await slack.drops_sockets(politely=politely)
        if not politely:
            await slack.until(lambda: not slack.courier.sockets)
        slack.workspace.person("Ana").writes("Still there?")
        await slack.until(lambda: bool(bot.events))

    assert bot.events[0]["text"] == "Still there?"


async def test_commands_buttons_and_shortcuts_arrive_and_answers_are_seen_by_one_person(slack: FakeSlack) -> None:
    ana, ben = slack.workspace.person("Ana"), slack.workspace.person("Ben")
    async with over_socket(slack) as bot:
        given = ana.commands("/ask", "is 1 < 2?")
        answer = await given.answered()
        question = ben.says("How do I deploy?")
        ana.uses_shortcut("ask_about_message", question)
        client = AsyncWebClient(slack.workspace.token, base_url=slack.api_url)
        button = {"type": "button", "action_id": "yes", "value": "1", "text": {"type": "plain_text", "text": "Yes"}}
        posted = await client.chat_postMessage(
            channel=slack.workspace.general.id, text="Sure?", blocks=[{"type": "actions", "elements": [button]}]
        )
        await slack.settles()
        message = slack.workspace.general.find(posted["ts"])
        assert message is not None
        ana.clicks(type(answer)(slack.workspace, message), "Yes")
        await slack.settles()

    assert given.delivery.acknowledged
    assert [request.get("type", "command") for request in bot.requests] == ["command", "message_action", "block_actions"]
    assert bot.requests[2]["actions"][0]["value"] == "1"
    assert answer.shown == "You asked: is 1 < 2?"
    assert "You asked" in slack.workspace.transcript(viewer=ana)
    assert "You asked" not in slack.workspace.transcript(viewer=ben)


async def test_reactions_edits_deletions_and_unfurls_are_events_of_their_own(slack: FakeSlack) -> None:
    async with over_socket(slack) as bot:
        ana = slack.workspace.person("Ana")
        said = ana.says("See https://example.com/a")
        ana.edits(said, "See nothing")
        ana.reacts(said, "+1")
        ana.unreacts(said, "+1")
        ana.deletes(said)
        await slack.settles()

    changed = [event for event in bot.events if event.get("subtype") == "message_changed"]
    assert sorted("edited" in event["message"] for event in changed) == [False, True]
    assert {event.get("subtype", event["type"]) for event in bot.events} == {
        "message",
        "message_changed",
        "reaction_added",
        "reaction_removed",
        "message_deleted",
    }


async def test_only_what_is_subscribed_allowed_and_where_the_bot_is_arrives(slack: FakeSlack) -> None:
    slack.install(manifest("mentions"))
    ana = slack.workspace.person("Ana")
    elsewhere = slack.workspace.channel("elsewhere", members=[ana], with_bot=False)
    async with over_socket(slack) as bot:
        ana.says("Nobody is asked.")
        ana.says("@Footnote are you here?", channel=elsewhere)
        ana.writes("And here?")
        ana.says("@Footnote now?")
        await slack.settles()

    assert sorted(event["text"] for event in bot.events if event["type"] == "app_mention") == [
        f"<@{slack.workspace.bot.id}> now?",
    ]
    assert [event["text"] for event in bot.events if event["type"] == "message"] == ["And here?"]


async def test_a_request_with_a_wrong_signature_or_an_old_one_is_seen_as_such(slack: FakeSlack) -> None:
    async with over_http(slack) as bot:
        body = '{"type":"url_verification","challenge":"c"}'
        statuses = []
        for headers in (
            signed(slack.app.signing_secret, body),
            signed("another secret", body),
            signed(slack.app.signing_secret, body, at=1.0),
        ):
            async with slack.http.post(
                slack.app.request_url, data=body, headers={**headers, "Content-Type": "application/json"}
            ) as answer:
                statuses.append(answer.status)

    assert statuses == [200, 401, 401]
    assert bot.events == []
