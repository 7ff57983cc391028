"""Payloads that were recorded in a real workspace: each is acknowledged, the questions are answered, the rest is ignored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.slack.state import Message, User

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bots.slack.running import Bot
    from tests.fakes.slack import FakeSlack

FOLDER = Path(__file__).parents[4] / "shared" / "payloads" / "slack"
KINDS = {"event_callback": "events_api", "block_actions": "interactive", "view_submission": "interactive"}
# What is asked, in the files' order; all else asks nothing of us.
ASKED = {
    "actions-reactions.json": ["Test"],
    "channel-mention.json": ["Can you see the name of this channel: #elsewhere?"],
    "dm.json": ["Hey", "Hey!"],
    "mention.json": ["Hey"],
    "slash-commands.json": [],
}


def payloads(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for body in json.loads((FOLDER / name).read_text(encoding="utf-8")).values():
        if isinstance(body, dict) and ("command" in body or body.get("type") in KINDS):
            yield "slash_commands" if "command" in body else KINDS[body["type"]], body


def recorded_in(slack: FakeSlack, name: str) -> None:
    """The workspace that they were recorded in, as far as they show it, in place of Acme."""
    content = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    bodies = [body for _, body in payloads(name)]
    team = next(body.get("team_id") or body["team"]["id"] for body in bodies)
    workspace = slack.add_workspace("Recorded", team=team, bot=content["botUserId"])
    slack.workspace = workspace
    channels = {"C00FAKECHAN1": "recorded", "C00FAKECHAN2": "elsewhere", "C00FAKECHAN3": "support-agent-dev"}
    for user in ("U00FAKEUSER1", "U00FAKEUSER2"):
        workspace.users[user] = User(user, user, team)
    for id, title in channels.items():  # noqa: A001 - the word for it
        workspace.channel(title, id=id).members += ["U00FAKEUSER1", "U00FAKEUSER2"]
    direct = workspace.direct(workspace.users["U00FAKEUSER1"])
    direct.id = content.get("dmChannelId", direct.id)
    workspace.channels[direct.id] = direct
    for body in bodies:
        put_in_place(slack, body.get("event") or {})


def put_in_place(slack: FakeSlack, event: dict[str, Any]) -> None:
    """A message that is told of stands in its channel."""
    channel = slack.workspace.channels.get(event.get("channel", ""))
    if channel is not None and event.get("ts") and channel.find(event["ts"]) is None:
        user = slack.workspace.users[event["user"]]
        message = Message(channel, event["ts"], user, event["text"], thread_ts=event.get("thread_ts", ""))
        channel.messages.append(message)


@pytest.mark.skipif(not FOLDER.exists(), reason="the recorded payloads are not here")
@pytest.mark.parametrize("way", ["socket", "http"])
@pytest.mark.parametrize("name", ASKED)
async def test_recorded_payloads_are_acknowledged_and_only_questions_are_answered(
    slack: FakeSlack, bot: Bot, name: str, way: str
) -> None:
    recorded_in(slack, name)
    async with bot.over_http() if way == "http" else bot.running():
        deliveries = [slack.deliver(kind, body) for kind, body in payloads(name)]
        await slack.until(lambda: all(one.done for one in deliveries))
        await slack.settles()

    assert [(one.acknowledged, one.attempts) for one in deliveries] == [(True, 1)] * len(deliveries)
    assert sorted(bot.core.asked) == sorted(ASKED[name])
    assert slack.refused == []
