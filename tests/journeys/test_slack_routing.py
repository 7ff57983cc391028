"""Whom a base is for: routed by channel, workspace and direct message, and never shown anywhere else (R35-R37)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.fakes.slack import FakeSlack
from tests.journeys.test_slack import SECONDS, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.journeys.terminal import Terminal

HANDBOOK = """# Leave

Everybody has 27 days of leave a year. Five days of leave may be carried over into March.

# Working from home

Three days a week may be worked from home, agreed upon with the team.
"""
PAYROLL = """# Salary bands

A senior engineer earns between 84,000 and 97,000 kroner in band X7.

# Bonus

The bonus of band X7 is nine per cent, paid in April.
"""
DIARY = """# Coaching

Coaching talks are held by Mirka on Thursdays at four, in the room called Birch.
"""
CONFIG = """
[bases.handbook]
description = "How we work"
sources = ["handbook.md"]

[bases.payroll]
description = "Salaries"
sources = ["payroll.md"]

[bases.coaching]
description = "Coaching"
sources = ["coaching.md"]

[[routes]]
platform = "slack"
workspace = "{workspace}"
channel = "{channel}"
bases = ["payroll"]

[[routes]]
platform = "slack"
workspace = "{workspace}"
dm = true
bases = ["handbook", "coaching"]

[[routes]]
platform = "slack"
workspace = "T0SOMEWHERE"
bases = ["payroll", "coaching"]
"""
SECRETS = ("97,000", "X7", "nine per cent", "Mirka", "Birch", "payroll.md", "coaching.md", "Salary bands", "Coaching")
SALARY = "What does a senior engineer earn in band X7?"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as slack:
        yield slack


async def test_a_base_is_asked_where_it_is_routed_and_what_it_says_is_shown_nowhere_else(slack: FakeSlack, empty: Terminal) -> None:
    ana, ben = slack.workspace.person("Ana"), slack.workspace.person("Ben")
    private = slack.workspace.channel("salaries", kind="group", members=[ana])
    for name, text in (("handbook", HANDBOOK), ("payroll", PAYROLL), ("coaching", DIARY)):
        (empty.folder / f"{name}.md").write_text(text, encoding="utf-8")
    config = CONFIG.format(workspace=slack.workspace.id, channel=private.id)
    (empty.folder / "footnote.toml").write_text(config, encoding="utf-8")
    stranger = replace(empty, variables=slack.variables)
    indexed = await asyncio.to_thread(stranger.run, "index")
    assert (indexed.status, indexed.err) == (0, "")

    async with serving(stranger, slack):
        inside = await ana.says(f"@Footnote {SALARY}", channel=private).answered(seconds=SECONDS)
        bonus = await ana.says("@Footnote when is the bonus of band X7 paid?", channel=private).answered(seconds=SECONDS)
        leave_inside = await ana.says("@Footnote how many days of leave are there?", channel=private).answered(seconds=SECONDS)

        asked = ana.says(f"@Footnote {SALARY}")
        outside = await asked.answered(seconds=SECONDS)
        further = ben.says("and what is the bonus of band X7?", thread=asked)
        outside_too = await further.answered(seconds=SECONDS)
        leave = await ben.says("@Footnote how many days of leave are there?").answered(seconds=SECONDS)
        coaching = await ben.says("@Footnote who holds the coaching talks, and in which room?").answered(seconds=SECONDS)
        command = await ben.commands("/ask", SALARY).answered(2, seconds=SECONDS)

        directly = await ana.writes("Who holds the coaching talks, and in which room?").answered(seconds=SECONDS)
        salary_directly = await ana.writes(SALARY).answered(seconds=SECONDS)
        leave_directly = await ana.writes("How many days of leave are there?").answered(seconds=SECONDS)

        private.name = "pay-talk"
        renamed = await ana.says(f"@Footnote {SALARY}", channel=private).answered(seconds=SECONDS)
        await slack.settles()

    assert all("97,000" in answer.shown for answer in (inside, renamed))
    assert "April" in bonus.shown
    assert "27" in leave.shown
    assert "27" in leave_directly.shown
    assert "Mirka" in directly.shown
    assert "27" not in leave_inside.shown
    everywhere_else = [outside, outside_too, leave, coaching, command, leave_directly, salary_directly]
    for answer in everywhere_else[:5]:
        assert [secret for secret in SECRETS if secret in answer.shown.replace(SALARY, "")] == []
    for answer in everywhere_else[5:]:
        assert [secret for secret in SECRETS[:3] + SECRETS[5:6] if secret in answer.shown.replace(SALARY, "")] == []
    assert "97,000" not in slack.workspace.transcript(slack.workspace.general, viewer=ben)
    assert slack.refused == []


async def test_what_is_listed_for_an_admin_is_what_may_be_known_there(slack: FakeSlack, empty: Terminal) -> None:
    ada = slack.workspace.person("Ada", admin=True)
    private = slack.workspace.channel("salaries", kind="group", members=[ada])
    for name, text in (("handbook", HANDBOOK), ("payroll", PAYROLL), ("coaching", DIARY)):
        (empty.folder / f"{name}.md").write_text(text, encoding="utf-8")
    config = CONFIG.format(workspace=slack.workspace.id, channel=private.id)
    (empty.folder / "footnote.toml").write_text(config, encoding="utf-8")
    stranger = replace(empty, variables=slack.variables)
    assert (await asyncio.to_thread(stranger.run, "index")).status == 0

    async with serving(stranger, slack):
        here = await ada.commands("/footnote", "status").answered(seconds=SECONDS)
        there = await ada.commands("/footnote", "status", channel=private).answered(seconds=SECONDS)
        by_mention = await ada.says("@Footnote sources").answered(seconds=SECONDS)
        await slack.settles()

    assert "handbook" in here.shown
    assert "payroll" not in here.shown
    assert "payroll" in there.shown
    assert "payroll.md" not in by_mention.shown
    assert slack.refused == []


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ('bases = ["payrol"]', ("payrol", "handbook")),
        ('bases = ["handbook"]\n\n[[routes]]\nplatform = "slack"\nchannel = "C1"\nbases = ["payroll"]', ("C1",)),
    ],
)
def test_a_route_that_cannot_be_followed_stops_the_start(empty: Terminal, wrong: str, named: tuple[str, ...]) -> None:
    config = CONFIG.partition("[[routes]]")[0] + f'[[routes]]\nplatform = "slack"\nchannel = "C1"\n{wrong}\n'
    (empty.folder / "footnote.toml").write_text(config, encoding="utf-8")

    started = empty.run("slack", SLACK_BOT_TOKEN="xoxb-1", SLACK_APP_TOKEN="xapp-1")  # noqa: S106 - no token

    assert started.status in {1, 2}
    assert len(started.err.splitlines()) == 1
    assert all(name in started.err for name in named)
