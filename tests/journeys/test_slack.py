"""A stranger sets Footnote up in Slack as docs/slack.md tells, and people talk to it: the real command, the real core."""

from __future__ import annotations

import asyncio
import re
import signal
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bots.cli.reference import commands
from tests.fakes.slack import FakeSlack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.journeys.terminal import Terminal

pytestmark = pytest.mark.skipif("slack" not in commands(), reason="`footnote slack` is not there yet")

SECONDS = 60.0  # for what the real core does on a busy machine


@asynccontextmanager
async def serving(stranger: Terminal, slack: FakeSlack) -> AsyncIterator[list[str]]:
    """`footnote slack` in a process of its own; at the end it is asked to stop, and what it printed is given."""
    process = await asyncio.to_thread(stranger.start, "slack")
    printed: list[str] = []
    try:
        await slack.until(
            lambda: bool(slack.courier.sockets) or process.poll() is not None, seconds=SECONDS, what="footnote slack to connect"
        )
        assert process.poll() is None, "footnote slack ended at once"
        yield printed
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        out, err = await asyncio.to_thread(process.communicate, None, SECONDS)
        printed += [out.decode(), err.decode(), str(process.returncode)]


@pytest.fixture
def docs(docs: Terminal, tmp_path: Path) -> Terminal:
    return docs.with_a_database_in(tmp_path)


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as slack:
        yield slack


async def test_from_the_tokens_to_an_answer_with_its_sources_and_a_follow_up(slack: FakeSlack, docs: Terminal) -> None:
    stranger = replace(docs, variables={**docs.variables, **slack.variables})
    ana, ben = slack.workspace.person("Ana", admin=True), slack.workspace.person("Ben")
    checked = await asyncio.to_thread(stranger.run, "doctor", "slack")
    assert (checked.status, checked.err) == (0, "")
    assert "ok     Slack bot token: @Footnote in Acme" in checked.out

    async with serving(stranger, slack) as printed:
        asked = ana.says("@Footnote how do I make a run forget removed files?")
        answer = await asked.answered(seconds=SECONDS)
        further = ben.says("and which setting bounds that?", thread=asked)
        await further.answered(seconds=SECONDS)
        alone = ben.writes("How do I use PostgreSQL instead of SQLite?")
        private = await alone.answered(seconds=SECONDS)
        nothing = ana.says("@Footnote what is the capital of Mongolia?")
        abstained = await nothing.answered(seconds=SECONDS)
        given = ana.commands("/footnote", "status")
        status = await given.answered(seconds=SECONDS)
        refused = await ben.commands("/footnote", "reindex").answered(seconds=SECONDS)
        await slack.settles()

    assert "--allow-removals" in answer.shown
    assert re.search(r"\nSOURCES:\n\[1\] .+", answer.shown)
    assert answer.buttons == ["👍", "👎"]
    assert "DATABASE_URL" in private.shown
    assert "SOURCES" not in abstained.shown
    assert re.search(r"default: \d+ documents", status.shown)
    assert refused.shown == "Only admins may do this."
    assert [one.shown.partition("\n")[0] for one in further.replies]
    assert slack.refused == []
    assert slack.workspace.pings([one.message for one in (answer, private, abstained)]) == set()
    assert printed[0] == ""
    assert "Footnote listens in Slack." in printed[1]
    assert "Traceback" not in printed[1]
    assert "warning" not in printed[1]
    assert slack.workspace.token not in printed[1]
    assert printed[2] == "0"


async def test_a_wrong_token_ends_the_start_with_one_clear_line(slack: FakeSlack, docs: Terminal) -> None:
    for name, value in (("SLACK_BOT_TOKEN", "xoxb-wrong"), ("SLACK_APP_TOKEN", "xapp-wrong"), ("SLACK_APP_TOKEN", "")):
        stranger = replace(docs, variables={**docs.variables, **slack.variables, name: value})
        started = await asyncio.to_thread(stranger.run, "slack")
        checked = await asyncio.to_thread(stranger.run, "doctor", "slack")

        assert started.status == checked.status == 1
        assert len(started.err.splitlines()) == 1
        assert name in started.err
        assert [line for line in checked.out.splitlines() if line.startswith("wrong") and name in line]
