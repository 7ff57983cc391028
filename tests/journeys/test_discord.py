"""A stranger sets Footnote up in Discord as docs/discord.md tells, and people talk to it: the real command, the real core."""

from __future__ import annotations

import asyncio
import itertools
import re
import signal
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bots.cli.reference import commands
from tests.fakes.discord import FakeDiscord
from tests.fakes.slack import FakeSlack
from tests.journeys.terminal import said_until_it_listens

if TYPE_CHECKING:
    import subprocess
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tests.journeys.terminal import Terminal

pytestmark = pytest.mark.skipif("discord" not in commands(), reason="`footnote discord` is not there yet")

SECONDS = 60.0  # for what the real core does on a busy machine


@asynccontextmanager
async def serving(
    stranger: Terminal, fake: FakeDiscord, command: str = "discord", also: Callable[[], bool] = lambda: True
) -> AsyncIterator[list[str]]:
    """`footnote discord` in a process of its own; at the end it is asked to stop, and what it printed is given."""
    process = await asyncio.to_thread(stranger.start, command)
    printed: list[str] = []
    started = asyncio.create_task(asyncio.to_thread(said_until_it_listens, process))
    try:
        await fake.until(
            lambda: (any(session.begun for session in fake.gateway.live) and also()) or process.poll() is not None,
            seconds=SECONDS,
            what=f"footnote {command} to connect",
        )
        assert process.poll() is None, "it ended at once"
        await asyncio.wait([started], timeout=SECONDS)
        yield printed
    finally:
        printed += await stopped(process, started)


async def stopped(process: subprocess.Popen[bytes], started: asyncio.Task[bytes]) -> list[str]:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    said = await started
    out, err = await asyncio.to_thread(process.communicate, None, SECONDS)
    return [out.decode(), (said + err).decode(), str(process.returncode)]


@pytest.fixture
def docs(docs: Terminal, tmp_path: Path) -> Terminal:
    return docs.with_a_database_in(tmp_path)


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as fake:
        yield fake
    assert (fake.offences, fake.previews) == ([], [])


async def test_from_the_token_to_an_answer_with_its_sources_and_a_follow_up_in_its_thread(
    fake: FakeDiscord, docs: Terminal
) -> None:
    place = fake.guild()
    stranger = replace(
        docs, variables={**docs.variables, **fake.variables, "FOOTNOTE_DISCORD__FORUMS": f'["{place.forum("help").id}"]'}
    )
    ana, ben, ada = place.person("Ana"), place.person("Ben"), place.person("Ada", admin=True)
    checked = await asyncio.to_thread(stranger.run, "doctor", "discord")
    assert (checked.status, checked.err) == (0, "")
    assert "permissions=309237763136" in checked.out

    async with serving(stranger, fake) as printed:
        used = await ana.slash("ask", question="how do I make a run forget removed files?")
        answer = await used.answered(holding="SOURCES", seconds=SECONDS)
        await fake.until(lambda: bool(answer.buttons), seconds=SECONDS)
        await (await ana.clicks(answer, "Ask more in a thread")).answered()
        assert answer.thread is not None
        further = await ben.says("and which setting bounds that?", channel=answer.thread)
        await fake.until(lambda: bool(further.replies and further.replies[-1].buttons), seconds=SECONDS)
        _, post = await ben.posts(place.forum("help"), "PostgreSQL", "How do I use PostgreSQL instead of SQLite?")
        assert post is not None
        posted = await post.answered(holding="SOURCES", seconds=SECONDS)
        nothing = await ana.slash("ask", question="what is the capital of Mongolia?")
        abstained = await nothing.answered(seconds=SECONDS)
        await fake.until(lambda: bool(abstained.buttons), seconds=SECONDS)
        status = await (await ada.slash("status")).answered(holding="documents", seconds=SECONDS)
        refused = await (await ben.slash("reindex")).answered(seconds=SECONDS)

    assert "--allow-removals" in answer.text
    assert re.search(r"\n-# SOURCES:\n-# \[1\] .+", answer.text)
    assert "DATABASE_URL" in posted.text
    assert "SOURCES" not in abstained.text
    assert re.search(r"default: \d+ documents", status.text)
    assert refused.text == "Only admins may do this."
    assert fake.refusals == []
    assert printed[0] == ""
    assert "Footnote listens in Discord." in printed[1]
    assert "Traceback" not in printed[1]
    assert fake.token not in printed[1]
    assert printed[2] == "0"


async def test_asked_to_stop_it_ends_well_and_a_question_left_is_answered_by_the_next_process(
    fake: FakeDiscord, docs: Terminal
) -> None:
    place = fake.guild()
    ana = place.person("Ana")
    stranger = replace(docs, variables={**docs.variables, **fake.variables, "FOOTNOTE_DESK__DRAIN_SECONDS": "1"})
    async with serving(stranger, fake) as first:
        used = await ana.slash("ask", question="how do I make a run forget removed files?")
        said = await ana.says("@Footnote how do I use PostgreSQL instead of SQLite?")
        await fake.until(lambda: bool(used.shown), seconds=SECONDS)
    async with serving(stranger, fake) as second:
        answer = await used.answered(holding="--allow-removals", seconds=SECONDS)
        other = await said.answered(holding="DATABASE_URL", seconds=SECONDS)
        await fake.until(lambda: bool(answer.buttons and other.buttons), seconds=SECONDS)

    assert [printed[2] for printed in (first, second)] == ["0", "0"]
    assert "Traceback" not in first[1] + second[1]
    assert len([one for one in said.replies if one.message.reference and one.message.reference["message_id"] == said.id]) == 1


async def test_the_core_at_work_keeps_no_heartbeat_waiting(fake: FakeDiscord, docs: Terminal) -> None:
    place = fake.guild()
    fake.gateway.heartbeat_milliseconds = 300
    async with serving(replace(docs, variables={**docs.variables, **fake.variables}), fake):
        used = [await place.person(f"P{number}").slash("ask", question=f"how do I use setting {number}?") for number in range(4)]
        for one in used:
            await one.answered(seconds=SECONDS)
        beats = list(fake.gateway.heartbeats)

    assert len(beats) > 1
    assert max(later - earlier for earlier, later in itertools.pairwise(beats)) < 5.0, "Discord gives up after ten seconds"


async def test_one_process_serves_slack_and_discord_and_neither_shows_what_was_asked_in_the_other(
    fake: FakeDiscord, docs: Terminal
) -> None:
    place = fake.guild()
    async with FakeSlack() as slack:
        stranger = replace(docs, variables={**docs.variables, **fake.variables, **slack.variables})
        async with serving(stranger, fake, "run", also=lambda: bool(slack.courier.sockets)) as printed:
            asked = slack.workspace.person("Ana").says("@Footnote how do I use PostgreSQL instead of SQLite?")
            used = await place.person("Ana").slash("ask", question="how do I make a run forget removed files?")
            in_slack = await asked.answered(seconds=SECONDS)
            in_discord = await used.answered(holding="SOURCES", seconds=SECONDS)
            await fake.until(lambda: bool(in_discord.buttons), seconds=SECONDS)
            await slack.settles()

        assert "DATABASE_URL" in in_slack.shown
        assert "--allow-removals" in in_discord.text
        assert len(asked.replies) == 1
        assert len(used.shown) == 1
        assert "PostgreSQL instead" not in fake.transcript()
        assert len([one for one in place.general.messages if one.author is fake.bot]) == 1
        assert slack.refused == []
    assert "Footnote listens in Slack and Discord." in printed[1]
    assert "Traceback" not in printed[1]
    assert printed[2] == "0"


async def test_a_wrong_token_and_a_missing_intent_end_the_start_with_one_clear_line(fake: FakeDiscord, docs: Terminal) -> None:
    fake.guild()
    wrong = replace(docs, variables={**docs.variables, **fake.variables, "DISCORD_TOKEN": "reset.since.then"})
    refused = await asyncio.to_thread(wrong.run, "discord")
    asked = list(fake.requests)
    of_another_kind = replace(docs, variables={**docs.variables, **fake.variables, "DISCORD_TOKEN": "0123456789abcdef" * 4})
    confused = await asyncio.to_thread(of_another_kind.run, "discord")
    assert fake.requests == asked, "it can be told without asking Discord"
    fake.gateway.disallowed |= 1 << 15
    closed = await asyncio.to_thread(replace(docs, variables={**docs.variables, **fake.variables}).run, "discord")

    for started, named in ((refused, "DISCORD_TOKEN"), (confused, "the public key"), (closed, "discord.message_content = false")):
        assert started.status == 1
        assert len(started.err.splitlines()) == 1
        assert named in started.err
