"""The fake's Web API refuses what Slack refuses, with Slack's codes, as slack_sdk sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tests.fakes.slack import FakeSlack, Person, Said


@pytest.fixture
def client(slack: FakeSlack) -> AsyncWebClient:
    return AsyncWebClient(slack.workspace.token, base_url=slack.api_url)


@pytest.fixture
def ana(slack: FakeSlack) -> Person:
    return slack.workspace.person("Ana")


async def code_of(call: Awaitable[Any]) -> str:
    """What the call is refused with; "" where it is not."""
    try:
        await call
    except SlackApiError as error:
        return str(error.response["error"])
    return ""


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def markdown(text: str) -> dict[str, Any]:
    return {"type": "markdown", "text": text}


def button(**more: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "Yes"}, **more}


# --- limits of a message --------------------------------------------------------------------------------------------

OPINION = {"text": {"type": "plain_text", "text": "Good"}, "value": "1"}


@pytest.mark.parametrize(
    ("blocks", "code"),
    [
        ([section("x" * 3000)], ""),
        ([section("x" * 3001)], "invalid_blocks"),
        ([section("")], "invalid_blocks"),
        ([markdown("x" * 12_000)], ""),
        ([markdown("x" * 12_001)], "invalid_blocks"),
        ([markdown("x" * 7000), markdown("x" * 6201)], "msg_blocks_too_long"),
        ([{"type": "divider"}] * 51, "invalid_blocks"),
        ([{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}], "invalid_blocks"),
        ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "invalid_blocks"),
        ([{"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 11}], "invalid_blocks"),
        ([{"type": "actions", "elements": [button(value="x" * 2001)]}], "invalid_blocks"),
        ([{"type": "actions", "elements": [button(url="https://example.com/" + "x" * 3000)]}], "invalid_blocks"),
        ([{"type": "actions", "elements": [button(), button()]}], "invalid_blocks"),
        ([{"type": "actions", "elements": [button(text={"type": "plain_text", "text": "x" * 76})]}], "invalid_blocks"),
        (
            [
                {
                    "type": "context_actions",
                    "elements": [
                        {"type": "feedback_buttons", "action_id": "f", "positive_button": OPINION, "negative_button": OPINION}
                    ],
                }
            ],
            "",
        ),
        ([{"type": "context_actions", "elements": [{"type": "feedback_buttons", "action_id": "f"}]}], "invalid_blocks"),
        ([{"type": "section", "block_id": "x" * 256, "text": {"type": "mrkdwn", "text": "x"}}], "invalid_blocks"),
        ([{"type": "unheard_of"}], "invalid_blocks"),
        ([{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101}], "invalid_blocks"),
        ([{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}] * 2, "invalid_blocks"),
    ],
)
async def test_blocks_over_a_limit_are_refused(
    slack: FakeSlack, client: AsyncWebClient, blocks: list[dict[str, Any]], code: str
) -> None:
    assert await code_of(client.chat_postMessage(channel=slack.workspace.general.id, text="x", blocks=blocks)) == code


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"text": "x"}, ""),
        ({"text": ""}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"markdown_text": "x", "text": "x"}, "markdown_text_conflict"),
        ({"text": "x", "thread_ts": ""}, "invalid_thread_ts"),
        ({"text": "x", "thread_ts": "1700000000.000001"}, "thread_not_found"),
        ({"text": "x", "metadata": {"event_type": "a"}}, "invalid_metadata_format"),
        ({"text": "x", "channel": "C0NOWHERE"}, "channel_not_found"),
    ],
)
async def test_messages_that_cannot_be_are_refused(
    slack: FakeSlack, client: AsyncWebClient, more: dict[str, Any], code: str
) -> None:
    call = client.api_call("chat.postMessage", json={"channel": slack.workspace.general.id, **more})

    assert await code_of(call) == code


async def test_the_bot_writes_only_where_it_is(slack: FakeSlack, client: AsyncWebClient, ana: Person) -> None:
    public = slack.workspace.channel("elsewhere", members=[ana], with_bot=False)
    private = slack.workspace.channel("secret", kind="group", members=[ana], with_bot=False)
    old = slack.workspace.channel("old", archived=True)

    codes = [await code_of(client.chat_postMessage(channel=place.id, text="x")) for place in (public, private, old)]

    assert codes == ["not_in_channel", "channel_not_found", "is_archived"]
    assert (
        await code_of(client.chat_postEphemeral(channel=slack.workspace.general.id, user="U0NOBODY", text="x"))
        == "user_not_in_channel"
    )


async def test_only_our_own_messages_are_changed_and_deleted(slack: FakeSlack, client: AsyncWebClient, ana: Person) -> None:
    said = ana.says("Mine.")
    channel = said.channel.id
    ours = await client.chat_postMessage(channel=channel, text="Ours.")

    assert await code_of(client.chat_update(channel=channel, ts=said.ts, text="x")) == "cant_update_message"
    assert await code_of(client.chat_delete(channel=channel, ts=said.ts)) == "cant_delete_message"
    assert await code_of(client.chat_update(channel=channel, ts=ours["ts"], text="x" * 4001)) == "msg_too_long"
    assert await code_of(client.chat_update(channel=channel, ts="1.000001", text="x")) == "message_not_found"
    await client.chat_update(channel=channel, ts=ours["ts"], text="Better.")
    assert slack.workspace.transcript() == "Ana: Mine.\nFootnote (edited): Better."
    await client.chat_delete(channel=channel, ts=ours["ts"])
    assert slack.workspace.transcript() == "Ana: Mine."


# --- streams --------------------------------------------------------------------------------------------------------


async def test_a_stream_grows_and_ends(slack: FakeSlack, client: AsyncWebClient, ana: Person) -> None:
    asked = ana.says("@Footnote how?")
    stream = await client.chat_stream(
        channel=asked.channel.id, thread_ts=asked.ts, recipient_team_id=slack.workspace.id, recipient_user_id=ana.id, buffer_size=1
    )
    await stream.append(markdown_text="Run **this")
    [growing] = asked.replies
    assert not growing.finished
    assert "still writing" in slack.workspace.transcript()
    await stream.append(markdown_text="** now.")
    feedback = {"type": "feedback_buttons", "action_id": "f", "positive_button": OPINION, "negative_button": OPINION}
    await stream.stop(
        blocks=[{"type": "context_actions", "elements": [feedback]}],
        metadata={"event_type": "answer", "event_payload": {"id": "q"}},
    )

    assert growing.finished
    assert growing.shown == "Run this now.\n[Good] [Good]"
    found = await client.conversations_replies(channel=asked.channel.id, ts=asked.ts, include_all_metadata=True)
    assert found["messages"][1]["metadata"]["event_payload"] == {"id": "q"}
    without = await client.conversations_replies(channel=asked.channel.id, ts=asked.ts)
    assert "metadata" not in without["messages"][1]


async def test_a_stream_outside_of_a_direct_message_names_who_it_is_for(
    slack: FakeSlack, client: AsyncWebClient, ana: Person
) -> None:
    asked, direct = ana.says("@Footnote how?"), ana.writes("How?")
    place: dict[str, Any] = {"channel": asked.channel.id, "thread_ts": asked.ts}

    assert await code_of(client.chat_startStream(**place)) == "missing_recipient_team_id"
    assert await code_of(client.chat_startStream(**place, recipient_team_id=slack.workspace.id)) == "missing_recipient_user_id"
    assert await code_of(client.chat_startStream(channel=asked.channel.id, thread_ts="")) == "missing_recipient_team_id"
    assert await code_of(client.chat_startStream(channel=direct.channel.id, thread_ts="")) == "invalid_thread_ts"
    assert await code_of(client.chat_startStream(channel=direct.channel.id, thread_ts=direct.ts)) == ""


async def started(client: AsyncWebClient, said: Said, text: str = "So far") -> dict[str, Any]:
    stream = await client.chat_startStream(channel=said.channel.id, thread_ts=said.ts, markdown_text=text)
    return {"channel": said.channel.id, "ts": str(stream["ts"])}


async def test_a_stream_ends_by_itself_after_five_minutes(slack: FakeSlack, client: AsyncWebClient, ana: Person) -> None:
    asked = ana.writes("How?")
    place = await started(client, asked)
    slack.clock.advance(299)
    assert await code_of(client.chat_appendStream(**place, markdown_text=" good")) == ""
    assert await code_of(client.chat_update(**place, text="x")) == "streaming_state_conflict"
    slack.clock.advance(2)
    assert await code_of(client.chat_appendStream(**place, markdown_text=" more")) == "message_not_in_streaming_state"
    assert await code_of(client.chat_stopStream(**place)) == "message_not_in_streaming_state"
    assert await code_of(client.chat_update(**place, text="The whole.")) == ""
    assert asked.replies[0].shown == "The whole."


async def test_a_stream_takes_no_more_than_one_block_holds(slack: FakeSlack, client: AsyncWebClient, ana: Person) -> None:
    place = await started(client, ana.writes("How?"), "x" * 11_000)

    assert await code_of(client.chat_appendStream(**place, markdown_text="x" * 1001)) == "msg_too_long"
    assert await code_of(client.chat_appendStream(**place, markdown_text="")) == "no_text"
    assert await code_of(client.chat_appendStream(**place, chunks=[{"type": "what"}])) == "invalid_chunks"
    assert await code_of(client.chat_stopStream(**place, blocks=[section("x" * 2500)])) == "msg_blocks_too_long"
    assert await code_of(client.chat_stopStream(**place)) == ""
    assert slack.workspace.users


# --- status and prompts ---------------------------------------------------------------------------------------------


async def test_a_status_is_shown_until_something_is_posted_or_two_minutes_are_over(
    slack: FakeSlack, client: AsyncWebClient, ana: Person
) -> None:
    asked, other = ana.says("@Footnote how?"), ana.says("@Footnote why?")
    for said in (asked, other):
        await client.assistant_threads_setStatus(channel_id=said.channel.id, thread_ts=said.ts, status="is searching …")
    assert (asked.status, other.status) == ("is searching …", "is searching …")
    await client.chat_postMessage(channel=asked.channel.id, thread_ts=asked.ts, text="So.")
    assert (asked.status, other.status) == ("", "is searching …")
    slack.clock.advance(121)
    assert other.status == ""


async def test_prompts_stand_in_direct_messages_only(slack: FakeSlack, client: AsyncWebClient, ana: Person) -> None:
    prompts = [{"title": "What?", "message": "What can you do?"}]

    await client.assistant_threads_setSuggestedPrompts(channel_id=ana.dm.id, prompts=prompts)

    assert ana.dm.prompts["prompts"] == prompts
    refused = client.assistant_threads_setSuggestedPrompts(channel_id=slack.workspace.general.id, prompts=prompts)
    assert await code_of(refused) == "invalid_arguments"


# --- tokens and scopes ----------------------------------------------------------------------------------------------


async def test_each_wrong_token_is_told_as_such(slack: FakeSlack) -> None:
    async def codes(token: str | None) -> list[str]:
        client = AsyncWebClient(token, base_url=slack.api_url)
        return [await code_of(client.auth_test()), await code_of(client.apps_connections_open(app_token=token or ""))]

    bot, app = slack.workspace.token, slack.app.app_token
    assert await codes(None) == ["not_authed", "not_authed"]
    assert await codes("xoxb-wrong") == ["invalid_auth", "invalid_auth"]
    assert await codes(app) == ["not_allowed_token_type", ""]
    assert await codes(bot) == ["", "not_allowed_token_type"]
    for code in ("token_revoked", "account_inactive"):
        slack.workspace.token_error = code
        assert (await codes(bot))[0] == code
    slack.app.app_token_scopes = frozenset()
    assert (await codes(app))[1] == "missing_scope"


async def test_a_missing_scope_is_named(slack: FakeSlack, client: AsyncWebClient, ana: Person) -> None:
    said = ana.says("Hello.")
    slack.workspace.scopes -= {"channels:history", "users:read"}

    with pytest.raises(SlackApiError) as refused:
        await client.conversations_replies(channel=said.channel.id, ts=said.ts)

    assert (refused.value.response["error"], refused.value.response["needed"]) == ("missing_scope", "channels:history")
    assert await code_of(client.users_info(user=ana.id)) == "missing_scope"
    assert "users:read" not in (await client.auth_test()).headers["x-oauth-scopes"].split(",")


# --- reading --------------------------------------------------------------------------------------------------------


async def test_a_thread_is_read_page_by_page(client: AsyncWebClient, ana: Person) -> None:
    root = ana.says("0")
    for n in range(1, 5):
        ana.says(str(n), thread=root)
    ana.says("elsewhere")

    texts, cursor = [], ""
    while True:
        page = await client.conversations_replies(channel=root.channel.id, ts=root.ts, limit=2, cursor=cursor)
        texts.append([message["text"] for message in page["messages"]])
        cursor = page["response_metadata"]["next_cursor"]
        if not cursor:
            break

    assert texts == [["0", "1"], ["2", "3"], ["4"]]
    assert await code_of(client.conversations_replies(channel=root.channel.id, ts="1.000001")) == "thread_not_found"


async def test_an_app_outside_of_the_marketplace_reads_once_a_minute(slack: FakeSlack, client: AsyncWebClient, ana: Person) -> None:
    slack.app.marketplace = False
    root = ana.says("0")
    for n in range(1, 20):
        ana.says(str(n), thread=root)

    page = await client.conversations_replies(channel=root.channel.id, ts=root.ts, limit=100)

    assert len(page["messages"]) == 15
    assert await code_of(client.conversations_replies(channel=root.channel.id, ts=root.ts)) == "ratelimited"


async def test_a_file_is_read_with_the_token_alone(slack: FakeSlack, client: AsyncWebClient, ana: Person) -> None:
    said = ana.attaches("notes.txt", b"Remember.", "See this")
    address = said.message.files[0]["url_private_download"]
    assert client.token

    async with slack.http.get(address, headers={"Authorization": f"Bearer {client.token}"}) as answer:
        assert await answer.read() == b"Remember."
    async with slack.http.get(address) as answer:
        assert "Sign in" in await answer.text()


# --- rates and faults -----------------------------------------------------------------------------------------------


async def test_too_many_calls_in_a_minute_are_refused_with_when_to_try_again(
    slack: FakeSlack, client: AsyncWebClient, ana: Person
) -> None:
    for _ in range(20):
        await started(client, ana.writes("How?"))

    with pytest.raises(SlackApiError) as refused:
        await started(client, ana.writes("How?"))

    assert refused.value.response.status_code == 429
    assert 50 <= int(refused.value.response.headers["Retry-After"]) <= 60
    slack.clock.advance(60)
    await started(client, ana.writes("How?"))


async def test_faults_happen_as_planned(slack: FakeSlack, client: AsyncWebClient) -> None:
    channel = slack.workspace.general.id
    slack.fails("chat.postMessage", 2, "ratelimited", retry_after=7)
    slack.fails("chat.postMessage", 1, "fatal_error")
    slack.fails("chat.postMessage", 1, status=503)

    codes = [await code_of(client.chat_postMessage(channel=channel, text="x")) for _ in range(5)]

    assert codes == ["ratelimited", "ratelimited", "fatal_error", "internal_error", ""]
    assert slack.refused == []


async def test_a_call_can_do_its_work_and_lose_its_answer(slack: FakeSlack, client: AsyncWebClient) -> None:
    client.retry_handlers.clear()
    slack.fails("chat.postMessage", hang_up=True, performed=True)

    with pytest.raises(Exception, match="disconnected"):
        await client.chat_postMessage(channel=slack.workspace.general.id, text="There.")

    assert slack.workspace.transcript() == "Footnote: There."


# --- what is seen ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "shown", "pings"),
    [
        ({"text": "Hi <@{ana}> &amp; <https://a.example/x|all>"}, "Hi @Ana & all <https://a.example/x>", {"{ana}"}),
        ({"text": "<!here> see <#{general}>"}, "@here see #general", {"here"}),
        (
            {"markdown_text": "# Steps\n\n1. **Run** `a`\n2. [go](https://a.example)"},
            "Steps\n1. Run `a`\n2. go <https://a.example>",
            set(),
        ),
        ({"markdown_text": "- a\n  - b\n\n```py\nx < 1\n```"}, "• a\n  • b\n```\nx < 1\n```", set()),
        ({"markdown_text": "| a | b |\n|---|---|\n| 1 | 2 |"}, "a | b\n1 | 2", set()),
        ({"markdown_text": "**太字**です @here `@channel`"}, "太字です @here `@channel`", {"here"}),
        ({"markdown_text": "a&lt;b&gt; &lt;!channel&gt;"}, "a<b> <!channel>", set()),
        ({"markdown_text": "<!channel> <@{ana}>"}, "@channel @Ana", {"channel", "{ana}"}),
        ({"markdown_text": "**これは太字。**次"}, "**これは太字。**次", set()),
    ],
)
async def test_what_is_posted_is_shown_as_slack_shows_it(
    slack: FakeSlack, client: AsyncWebClient, content: dict[str, Any], shown: str, pings: set[str]
) -> None:
    ana = slack.workspace.person("Ana")
    ids = {"{ana}": ana.id, "{general}": slack.workspace.general.id}

    def filled(text: str) -> Any:
        for name, value in ids.items():
            text = text.replace(name, value)
        return text

    await client.chat_postMessage(channel=slack.workspace.general.id, **{key: filled(value) for key, value in content.items()})

    message = slack.workspace.general.messages[-1]
    assert slack.workspace.shown(message) == shown
    assert set(message.pings) == {filled(ping) for ping in pings}


async def test_a_preview_that_slack_would_fetch_is_noted(slack: FakeSlack, client: AsyncWebClient) -> None:
    channel = slack.workspace.general.id
    await client.chat_postMessage(channel=channel, text="https://a.example/?d=secret")
    await client.chat_postMessage(channel=channel, text="https://a.example/", unfurl_links=False, unfurl_media=False)

    assert [message.previewed for message in slack.workspace.general.messages] == [("https://a.example/?d=secret",), ()]


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")  # slack_sdk uses it
async def test_an_installation_is_handed_out_once(slack: FakeSlack) -> None:
    other = slack.add_workspace("Beta")
    client, code = AsyncWebClient(base_url=slack.api_url), slack.authorize(other)
    given = {"client_id": slack.app.client_id, "client_secret": slack.app.client_secret, "code": code}

    installed = await client.oauth_v2_access(**given)

    assert (installed["access_token"], installed["team"]["id"]) == (other.token, other.id)
    assert await code_of(client.oauth_v2_access(**given)) == "invalid_code"
    assert await code_of(AsyncWebClient(other.token, base_url=slack.api_url).auth_test()) == ""


async def test_people_of_other_companies_and_guests_are_told_apart(slack: FakeSlack, client: AsyncWebClient) -> None:
    eve, guest = slack.workspace.outsider("Eve"), slack.workspace.person("Gil", guest=True)

    stranger, restricted = await client.users_info(user=eve.id), await client.users_info(user=guest.id)

    assert stranger["user"]["team_id"] != slack.workspace.id
    assert stranger["user"]["is_stranger"]
    assert restricted["user"]["is_restricted"]
