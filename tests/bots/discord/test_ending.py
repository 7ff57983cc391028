"""However a process of Footnote ends in Discord, nothing of it goes on, and nothing is told as a failure."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bots.discord.conftest import Bot
    from tests.fakes.discord import FakeDiscord


@pytest.fixture(autouse=True)
def _told_as_no_failure(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


def of_ours() -> list[str]:
    """What still runs of the client."""
    names = (getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks())
    return [name for name in names if name in {"_connect", "Absence.run"}]


async def test_it_ends_while_it_is_connecting_anew(fake: FakeDiscord, bot: Bot) -> None:
    fake.guild()
    async with bot.running():
        fake.gateway.answering.clear()
        await fake.gateway.close()
        await fake.until(lambda: fake.gateway.reached == 2)

    assert of_ours() == []
    fake.gateway.answering.set()


@pytest.mark.parametrize("turns", range(12))
async def test_it_ends_at_any_moment_of_connecting_anew(fake: FakeDiscord, bot: Bot, turns: int) -> None:
    """The library swallows what would end it in one of them."""
    fake.guild()
    async with bot.running():
        await fake.gateway.close()
        for _ in range(turns):
            await asyncio.sleep(0)

    assert of_ours() == []


async def test_it_ends_while_much_is_said(fake: FakeDiscord, bot: Bot) -> None:
    ana = fake.guild().person("Ana")
    async with bot.running():
        for number in range(20):
            await ana.says(f"{number}")

    assert of_ours() == []


async def test_what_the_library_tells_after_its_end_is_not_begun(fake: FakeDiscord, bot: Bot) -> None:
    fake.guild()
    async with bot.running():
        app = bot.app

    assert app is not None
    app.dispatch("ready")  # as it does a little after the last of the servers came
    assert of_ours() == []
