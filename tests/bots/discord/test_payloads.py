"""What Discord really sent: a recorded mention is answered, a button that is not ours changes nothing.

The recordings lack some fields that the library cannot do without; what the gateway always sends is filled in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.discord.gateway import GUILD_MESSAGES
from tests.fakes.discord.state import Message

if TYPE_CHECKING:
    from tests.bots.discord.conftest import Bot
    from tests.fakes.discord import FakeDiscord
    from tests.fakes.discord.places import Place

PATH = Path(__file__).parents[4] / "shared" / "payloads" / "discord" / "channel.json"

pytestmark = pytest.mark.skipif(not PATH.exists(), reason="the recorded payloads are not here")


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def as_recorded(fake: FakeDiscord) -> Place:
    """The fake with the ids of the recording."""
    ids = recorded()
    del fake.users[fake.bot.id]
    fake.bot.id = ids["applicationId"]
    fake.users[fake.bot.id] = fake.bot
    place = fake.guild("Recorded", id=ids["guildId"])
    place.channel("talk", id=ids["channelId"])
    return place


def whole(body: dict[str, Any]) -> dict[str, Any]:
    users = [*body.get("mentions", []), *(body[key] for key in ("author", "user") if key in body)]
    for user in users:
        user["avatar"] = None
    if "joined_at" in body:
        body |= {"deaf": False, "mute": False, "flags": 0, "avatar": None}
    if "member" in body:
        body["member"] = whole(body["member"])
    return body


async def test_a_recorded_mention_is_answered(fake: FakeDiscord, bot: Bot) -> None:
    place = as_recorded(fake)
    said, talk = recorded()["mention"]["data"], place.channel("talk")
    talk.messages.append(Message(said["id"], talk, place.person("Ana").user, said["content"]))
    async with bot.running():
        await fake.gateway.tell("MESSAGE_CREATE", whole(said), intent=GUILD_MESSAGES)
        await fake.until(lambda: "About Test" in fake.transcript(place.channel("talk")))

    assert bot.core.asked == ["Test"]


async def test_an_event_that_cannot_be_read_ends_nothing(fake: FakeDiscord, bot: Bot, caplog: pytest.LogCaptureFixture) -> None:
    place = as_recorded(fake)
    async with bot.running():
        await fake.gateway.tell("MESSAGE_CREATE", recorded()["mention"]["data"], intent=GUILD_MESSAGES)
        await fake.until(lambda: fake.gateway.identified == 2)
        await (await place.person("Ana").says("@Footnote next?", channel=place.channel("talk"))).answered(holding="next?")

    assert "the connection to Discord broke" in caplog.text


async def test_a_recorded_click_on_a_button_that_is_not_ours_changes_nothing(fake: FakeDiscord, bot: Bot) -> None:
    place = as_recorded(fake)
    said = await place.person("Ana").says("here", channel=place.channel("talk"))
    click = {**recorded()["channel_post_action"], "attachment_size_limit": 1024, "entitlements": [], "app_permissions": "0"}
    click["channel"] = place.channel("talk").as_json()
    click["member"] = whole(click["member"])
    click |= {"message": {**said.message.as_json(), **click["message"]}, "authorizing_integration_owners": {}, "context": 0}
    async with bot.running():
        await fake.gateway.tell("INTERACTION_CREATE", click)
        await (await place.person("Ana").says("@Footnote next?", channel=place.channel("talk"))).answered(holding="next?")

    assert bot.core.asked == ["next?"]
