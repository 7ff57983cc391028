"""One fake Slack a test."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.slack import FakeSlack


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as slack:
        yield slack
