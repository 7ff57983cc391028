"""One fake Slack a test, and a bot on a database of its own."""

from collections.abc import AsyncIterator

import pytest

from storage.database import Database
from tests.bots.slack.running import Bot
from tests.fakes.slack import FakeSlack


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as slack:
        yield slack


@pytest.fixture
async def bot(slack: FakeSlack, sqlite_url: str) -> AsyncIterator[Bot]:
    """Ends with nobody called, and no preview of a link that Slack would have fetched."""
    async with Database(sqlite_url) as database:
        yield Bot(slack, database)
    ours = [
        message
        for workspace in slack.workspaces.values()
        for channel in workspace.channels.values()
        for message in channel.messages
        if message.user is workspace.bot
    ]
    assert [message.previewed for message in ours if message.previewed] == []
