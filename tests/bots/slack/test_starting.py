"""What Footnote refuses to start with in Slack, before it asks Slack anything (S1, S10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bots.slack.app import Keys
from rag.errors import BadSetting

if TYPE_CHECKING:
    from tests.bots.slack.running import Bot
    from tests.fakes.slack import FakeSlack

BOT, APP, SECRET = "xoxb-1", "xapp-1", "secret"


@pytest.mark.parametrize(
    ("keys", "port", "named"),
    [
        (Keys(BOT), 8080, "SLACK_SIGNING_SECRET is not"),
        (Keys(BOT, APP), 8080, "SLACK_SIGNING_SECRET is not"),
        (Keys(client_id="1", client_secret=SECRET), 8080, "SLACK_SIGNING_SECRET is not"),
        (Keys(BOT), 0, "SLACK_APP_TOKEN is missing"),
        (Keys(app=APP), 0, "SLACK_BOT_TOKEN is missing"),
        (Keys(signing=SECRET), 8080, "SLACK_BOT_TOKEN is missing"),
        (Keys(signing=SECRET, client_id="1", client_secret=SECRET), 8080, "SLACK_ENCRYPTION_KEY is not"),
    ],
)
async def test_what_is_missing_is_named_and_slack_is_not_asked(
    slack: FakeSlack, bot: Bot, keys: Keys, port: int, named: str
) -> None:
    with pytest.raises(BadSetting, match=named):
        async with bot.running(keys, port=port):
            pass

    assert slack.calls == []


async def test_a_port_that_is_taken_is_named(slack: FakeSlack, bot: Bot) -> None:
    keys = Keys(slack.workspace.token, signing=SECRET)

    with pytest.raises(BadSetting, match=f"slack.port {slack.port} cannot be opened"):
        async with bot.running(keys, port=slack.port):
            pass
