"""`footnote doctor slack` names each thing that is wrong, and how to mend it (S11)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bots.cli.doctor import chosen, told
from bots.slack.checks import Access, checks
from bots.slack.manifest import manifest
from config.settings import load
from rag.checking import Finding, findings

if TYPE_CHECKING:
    from tests.fakes.slack import FakeSlack


def access(slack: FakeSlack, **more: Any) -> Access:
    return replace(Access(slack.workspace.token, slack.app.app_token, api_url=slack.api_url), **more)


async def found(given: Access) -> dict[str, Finding]:
    return {finding.name: finding async for finding in findings(checks(given))}


def problems(found: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.text for name, finding in found.items() if finding.is_problem}


async def test_where_all_is_well_it_says_what_it_found(slack: FakeSlack) -> None:
    report = await found(access(slack, admins=(slack.workspace.person("Ana").id,)))

    assert problems(report) == {}
    assert report["Slack bot token"].text == "@Footnote in Acme"
    assert report["Slack scopes"].text.endswith(" granted")
    assert report["Slack socket"].text == "opens"
    assert report["Slack channels"].text == "#general"
    assert not slack.courier.sockets


@pytest.mark.parametrize(
    ("token", "told"),
    [
        ("", "SLACK_BOT_TOKEN is missing. Copy the Bot User OAuth Token"),
        ("xapp-1-A0-1-fake", "SLACK_BOT_TOKEN holds what belongs into SLACK_APP_TOKEN. Swap the two."),
        ("xoxp-1-2", "SLACK_BOT_TOKEN is the token of a person."),
        ("xoxe.xoxb-1-2", "SLACK_BOT_TOKEN is a token that expires"),
        ("12345", "SLACK_BOT_TOKEN is no token of Slack's."),
        ("xoxb-1-2\n", "SLACK_BOT_TOKEN has a blank or a line break around it."),
        ("xoxb-mistyped", "Slack does not know SLACK_BOT_TOKEN: it is mistyped, or the app was deleted."),
    ],
)
async def test_each_wrong_bot_token_is_told_apart(slack: FakeSlack, token: str, told: str) -> None:
    wrong = problems(await found(access(slack, bot_token=token)))

    assert list(wrong) == ["Slack bot token"]
    assert wrong["Slack bot token"].startswith(told)


@pytest.mark.parametrize(
    ("token", "told"),
    [
        ("", "SLACK_APP_TOKEN is missing. Copy an app-level token"),
        ("xoxb-1-2", "SLACK_APP_TOKEN holds what belongs into SLACK_BOT_TOKEN. Swap the two."),
        ("12345", "SLACK_APP_TOKEN is no token of Slack's."),
    ],
)
async def test_each_wrong_app_token_is_told_apart(slack: FakeSlack, token: str, told: str) -> None:
    wrong = problems(await found(access(slack, app_token=token)))

    assert list(wrong) == ["Slack app token"]
    assert wrong["Slack app token"].startswith(told)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("token_revoked", "SLACK_BOT_TOKEN was revoked. Install the app"),
        ("account_inactive", "SLACK_BOT_TOKEN belongs to an app or a workspace that was removed."),
        ("token_expired", "SLACK_BOT_TOKEN has expired: turn token rotation off"),
        ("something_new", "Slack refuses SLACK_BOT_TOKEN (something_new)."),
    ],
)
async def test_a_token_that_was_good_once_is_told_as_such(slack: FakeSlack, code: str, told: str) -> None:
    slack.workspace.token_error = code

    assert problems(await found(access(slack)))["Slack bot token"].startswith(told)


async def test_an_app_token_that_is_unknown_or_may_not_connect_is_told_so(slack: FakeSlack) -> None:
    unknown = problems(await found(access(slack, app_token="xapp-mistyped")))  # noqa: S106 - a fake's
    slack.app.app_token_scopes = frozenset()
    powerless = problems(await found(access(slack)))

    assert unknown["Slack socket"].startswith("Slack does not know SLACK_APP_TOKEN")
    assert powerless["Slack socket"] == "SLACK_APP_TOKEN lacks connections:write. Make a new app-level token with it, and copy it."


async def test_tokens_of_two_apps_are_noticed(slack: FakeSlack) -> None:
    slack.workspace.bot.app_id = "A0ANOTHER"

    told = problems(await found(access(slack)))["Slack socket"]

    assert told == f"SLACK_APP_TOKEN belongs to the app {slack.app.id}, SLACK_BOT_TOKEN to A0ANOTHER. Copy both from the same app."


async def test_socket_mode_that_is_off_is_told(slack: FakeSlack) -> None:
    slack.app.socket_mode = False

    assert problems(await found(access(slack)))["Slack socket"].startswith("Socket Mode is off for this app. Turn it on")


async def test_a_socket_that_cannot_be_opened_is_told(slack: FakeSlack) -> None:
    slack.fails("/link", status=403)

    assert "its WebSocket cannot be opened" in problems(await found(access(slack)))["Slack socket"]


async def test_other_processes_on_the_same_app_are_mentioned(slack: FakeSlack) -> None:
    client = AsyncWebClient(base_url=slack.api_url)
    opened = await client.apps_connections_open(app_token=slack.app.app_token)
    async with slack.http.ws_connect(opened["url"]):
        report = await found(access(slack))

    assert report["Slack socket"].text.startswith("opens; 1 other process is connected to the same app")


async def test_missing_scopes_are_named_with_what_they_are_for(slack: FakeSlack) -> None:
    slack.workspace.scopes -= {"chat:write", "users:read"}

    report = await found(access(slack))

    assert problems(report)["Slack scopes"].startswith(
        "The app lacks chat:write (answers); users:read (names of people, and who is an admin or a guest). Add them under OAuth"
    )
    assert "Slack channels" not in report


async def test_without_scopes_that_are_optional_it_says_what_will_not_work(slack: FakeSlack) -> None:
    slack.install(manifest("mentions"))

    wants, does_without = await found(access(slack)), await found(access(slack, followups="mention"))

    assert problems(wants) == {}
    assert wants["Slack scopes"].text.startswith("it will do without channels:history (follow-ups without a mention")
    assert does_without["Slack scopes"].text.endswith(" granted")


async def test_channels_where_the_bot_is_not_are_named(slack: FakeSlack) -> None:
    alone = slack.workspace.channel("alone", with_bot=False)
    slack.workspace.general.members.clear()

    nowhere, wrong = await found(access(slack)), await found(access(slack, channels=(alone.id,)))

    assert nowhere["Slack channels"].text.startswith("a member of none yet; invite it with /invite")
    assert problems(wrong)["Slack channels"].startswith(f"slack.channels names {alone.id}, where the bot is no member.")


async def test_people_who_do_not_exist_are_named(slack: FakeSlack) -> None:
    admins = problems(await found(access(slack, admins=("U0NOBODY",))))
    person = problems(await found(access(slack, ask_a_person="U0NOBODY")))
    group = problems(await found(access(slack, ask_a_person="S0GROUP")))

    assert admins["Slack people"].startswith("slack.admins names U0NOBODY, and nobody of the workspace has that id.")
    assert person["Slack people"].startswith("slack.ask_a_person names U0NOBODY")
    assert group == {}


async def test_http_wants_a_signing_secret_and_no_app_token(slack: FakeSlack) -> None:
    without = await found(access(slack, app_token="", port=8080))
    token = await found(access(slack, app_token="", port=8080, signing_secret="xoxb-1"))  # noqa: S106 - a fake's
    right = await found(access(slack, app_token="", port=8080, signing_secret="0123"))  # noqa: S106 - a fake's

    assert problems(without)["Slack over HTTP"].startswith("slack.port is set, but SLACK_SIGNING_SECRET is missing")
    assert problems(token)["Slack over HTTP"].startswith("SLACK_SIGNING_SECRET is a token.")
    assert problems(right) == {}
    assert "Slack socket" not in right


async def test_a_slack_that_cannot_be_reached_is_told_with_its_address() -> None:
    report = await found(Access("xoxb-1", "xapp-1", api_url="http://127.0.0.1:1/api/"))

    assert problems(report)["Slack bot token"].startswith("Slack cannot be reached at http://127.0.0.1:1/api/")


MANY = {"oauth": True, "client_secret": "1", "encryption_key": "2", "public_url": "https://bot.example.com/"}


async def test_an_app_for_many_workspaces_needs_no_bot_token(slack: FakeSlack) -> None:
    report = await found(access(slack, bot_token="", **MANY))

    assert problems(report) == {}
    assert report["Slack installations"].text == "to install, open https://bot.example.com/slack/install"


@pytest.mark.parametrize(
    ("missing", "named"),
    [("client_secret", "SLACK_CLIENT_SECRET"), ("encryption_key", "SLACK_ENCRYPTION_KEY"), ("public_url", "slack.public_url")],
)
async def test_what_an_app_for_many_workspaces_lacks_is_named(slack: FakeSlack, missing: str, named: str) -> None:
    told = problems(await found(access(slack, bot_token="", **{**MANY, missing: ""})))

    assert told["Slack installations"].startswith(f"SLACK_CLIENT_ID is set, but {named} is missing")


async def test_no_token_is_ever_shown(slack: FakeSlack) -> None:
    secrets = {"bot_token": "xoxb-secret-1", "app_token": "xapp-secret-2", "signing_secret": "xoxb-secret-3"}

    for port in (None, 8080):
        report = await found(access(slack, **secrets, port=port))
        assert "secret-" not in " ".join(finding.text for finding in report.values())


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("home")
async def test_the_command_looks_at_slack_from_the_settings(
    slack: FakeSlack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**slack.variables, "FOOTNOTE_SLACK__CHANNELS": '["C0NOWHERE"]'}.items():
        monkeypatch.setenv(name, value)

    failed = await told(chosen("slack")(load()))

    assert failed == {"Slack channels"}
    assert capsys.readouterr().out.splitlines()[0] == "ok     Slack bot token: @Footnote in Acme"
