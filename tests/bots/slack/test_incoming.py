"""What people write reaches the core as they see it: decoded once, names for ids, and what stands outside of the text (S4, S7)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import aiohttp
import pytest

from bots.slack.history import before
from bots.slack.people import NOBODY, People
from bots.slack.places import ReplyTo
from bots.slack.reading import files, said
from bots.slack.web import OneWorkspace, Workspace, web_client, who_we_are
from rag.errors import PostLater
from tests.fakes.slack import FakeSlack, Said, alert

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from rag.types import Turn


@pytest.fixture
async def workspace(slack: FakeSlack) -> AsyncIterator[Workspace]:
    async with aiohttp.ClientSession() as session:
        yield await who_we_are(web_client(slack.workspace.token, slack.api_url, session))


@pytest.fixture
def people(workspace: Workspace) -> People:
    return People(OneWorkspace(workspace))


async def thread_before(workspace: Workspace, people: People, asked: Said) -> list[Turn]:
    reply_to = ReplyTo(thread=asked.message.root, message=asked.ts)
    return await before(workspace, people, asked.channel.id, reply_to, "full")


# --- text -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ("&amp;lt; stays an entity", "&lt; stays an entity"),
        ("it's “so” &#39; here", "it's “so” &#39; here"),
        ("see <https://a.example/?x=1&amp;y=2>", "see https://a.example/?x=1&y=2"),
        ("see <https://a.example/x|the guide>", "see the guide (https://a.example/x)"),
        ("see <http://a.example|a.example>", "see a.example (http://a.example)"),
        ("mail <mailto:ops@a.example|ops@a.example>", "mail ops@a.example (mailto:ops@a.example)"),
        ("in <#C0123ABCD|general>", "in #general"),
        ("<!here> and <!subteam^S0123ABCD|@ops>", "@here and @ops"),
        ("due <!date^1392734382^{date}|18 Feb 2014>", "due 18 Feb 2014"),
        ("no <tag> here", "no <tag> here"),
    ],
)
async def test_slacks_mark_up_is_decoded_once(workspace: Workspace, people: People, written: str, read: str) -> None:
    assert await people.readable(workspace, written) == read


async def test_people_are_named_and_looked_up_once(slack: FakeSlack, workspace: Workspace, people: People) -> None:
    ana, ben = slack.workspace.person("Ana"), slack.workspace.person("Ben")

    for _ in range(5):
        text = await people.readable(workspace, f"<@{ana.id}> asked <@{ben.id}|Benny> and <@{workspace.user}>")

    assert text == "@ana asked @Benny and @footnote"
    assert len(slack.calls_of("users.info")) == 2


async def test_a_channel_without_its_name_is_looked_up_once_where_that_is_allowed(
    slack: FakeSlack, workspace: Workspace, people: People
) -> None:
    secret = slack.workspace.channel("secret", kind="group", with_bot=False)

    for _ in range(3):
        text = await people.readable(workspace, f"see <#{slack.workspace.general.id}> and <#{secret.id}|>")

    assert text == f"see #general and #{secret.id}"
    assert len(slack.calls_of("conversations.info")) == 2


async def test_somebody_whom_slack_does_not_know_is_called_by_the_id_and_trusted_with_nothing(
    workspace: Workspace, people: People
) -> None:
    assert await people.readable(workspace, "<@U0UNKNOWN> left") == "@U0UNKNOWN left"
    assert await people.profile(workspace.id, "U0UNKNOWN") == NOBODY
    assert NOBODY.outsider
    assert NOBODY.guest
    assert not NOBODY.admin


async def test_a_slow_slack_does_not_keep_an_event_from_being_acknowledged(
    slack: FakeSlack, workspace: Workspace, people: People
) -> None:
    slack.fails("users.info", seconds=30)
    started = time.monotonic()

    assert await people.profile(workspace.id, slack.workspace.person("Ana").id) == NOBODY
    assert time.monotonic() - started < 3


# --- what stands outside of the text --------------------------------------------------------------------------------


def test_an_alert_is_read_though_its_text_is_empty() -> None:
    message = {
        "text": "",
        "attachments": [*alert("Disk full", "db-1 has 2 % left"), {"fields": [{"title": "Host", "value": "db-1"}]}],
    }

    assert said(message) == "Disk full\ndb-1 has 2 % left\nHost: db-1"


def test_blocks_are_read_where_there_is_no_text() -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Deploy failed"}},
        {"type": "section", "fields": [{"type": "mrkdwn", "text": "*Service* web"}]},
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "exit code 1"}]}]},
        {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Retry"}}]},
    ]

    assert said({"blocks": blocks}) == "Deploy failed\n*Service* web\nexit code 1"


def test_what_another_bot_posts_without_blocks_or_text_is_nothing() -> None:
    assert said({"bot_id": "B1"}) == ""


async def test_a_forwarded_message_keeps_its_text_and_names_its_files(slack: FakeSlack) -> None:
    ana, ben = slack.workspace.person("Ana"), slack.workspace.person("Ben")
    original = ana.attaches("log.txt", b"boom", "The deploy fails with E42")
    message = ben.forwards(original, "what is this?").message.as_json()

    assert said(message) == "what is this?\n(forwarded from Ana:)\nThe deploy fails with E42\n(file: log.txt)"


async def test_a_pasted_table_is_read(slack: FakeSlack) -> None:
    message = slack.workspace.person("Ana").pastes_table([["name", "port"], ["web", "80"]], "which is wrong?").message.as_json()

    assert said(message) == "which is wrong?\nname | port\nweb | 80"


async def test_the_preview_of_a_link_is_not_taken_for_what_was_said(slack: FakeSlack) -> None:
    said_one = slack.workspace.person("Ana").says("see https://a.example/x")

    assert said(said_one.message.as_json()) == "see <https://a.example/x>"
    assert said_one.message.attachments


async def test_a_text_file_is_read_and_what_was_not_read_is_named(slack: FakeSlack, workspace: Workspace) -> None:
    ana = slack.workspace.person("Ana")
    text = ana.attaches("notes.txt", b"Remember the milk.").message.as_json()
    picture = ana.attaches("plan.png", b"\x89PNG", mimetype="image/png").message.as_json()

    assert await files(text, workspace) == "(attached file notes.txt:)\nRemember the milk."
    assert await files(picture, workspace) == "(attached file plan.png, not read)"
    slack.workspace.scopes -= {"files:read"}
    assert await files(text, workspace) == "(attached file notes.txt, not read)"


async def test_our_token_is_sent_to_slack_alone(slack: FakeSlack, workspace: Workspace) -> None:
    async with FakeSlack() as elsewhere:
        strange = elsewhere.keep_file(slack.workspace, "x.txt", b"bait", "text/plain")

        assert await files({"files": [strange]}, workspace) == "(attached file x.txt, not read)"


# --- threads --------------------------------------------------------------------------------------------------------


async def test_a_thread_is_read_with_our_own_words_and_everybodys_names(
    slack: FakeSlack, workspace: Workspace, people: People
) -> None:
    ana, monitor = slack.workspace.person("Ana"), slack.workspace.other_bot("Monitor")
    root = monitor.says("", attachments=alert("Disk full", "db-1"))
    await workspace.client.chat_postMessage(
        channel=root.channel.id,
        thread_ts=root.ts,
        text="Whole answer: first block, second block.",
        blocks=[{"type": "markdown", "text": "Whole answer: first block,"}, {"type": "markdown", "text": "second block."}],
    )
    ana.says("Thanks @Footnote, https://a.example", thread=root)
    asked = ana.says("@Footnote and now?", thread=root)

    turns = await thread_before(workspace, people, asked)

    assert [(turn.role, turn.speaker, turn.text) for turn in turns] == [
        ("user", "monitor", "Disk full\ndb-1"),
        ("assistant", "", "Whole answer: first block, second block."),
        ("user", "ana", "Thanks @footnote, https://a.example"),
    ]


async def test_a_long_thread_is_read_page_by_page_and_people_are_asked_for_once(
    slack: FakeSlack, workspace: Workspace, people: People
) -> None:
    ana = slack.workspace.person("Ana")
    root = ana.says("0")
    for n in range(1, 450):
        ana.says(str(n), thread=root)
    asked = ana.says("@Footnote?", thread=root)

    turns = await thread_before(workspace, people, asked)

    assert [turn.text for turn in turns] == [str(n) for n in range(450)]
    assert len(slack.calls_of("conversations.replies")) == 3
    assert len(slack.calls_of("users.info")) == 1


async def test_a_rate_limit_on_reading_is_told_as_something_for_later(
    slack: FakeSlack, workspace: Workspace, people: People
) -> None:
    slack.app.marketplace = False
    root = slack.workspace.person("Ana").says("0")
    asked = slack.workspace.person("Ben").says("@Footnote?", thread=root)

    assert len(await thread_before(workspace, people, asked)) == 1
    with pytest.raises(PostLater) as later:
        await thread_before(workspace, people, asked)
    assert later.value.seconds > 50
