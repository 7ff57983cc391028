"""Many workspaces on one Footnote: installed by OAuth, tokens encrypted, forgotten when they remove us (S10)."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from cryptography.fernet import Fernet

from bots.slack.app import PATH, Keys
from bots.slack.manifest import manifest
from rag.errors import BadSetting
from storage import schema
from storage.installations import DatabaseInstallations
from tests.bots.slack.running import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.bots.slack.running import Bot
    from tests.fakes.slack import FakeSlack, Workspace

# slack_sdk gives aiohttp its client's secret in a way that aiohttp will do without one day
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")


@pytest.fixture
def keys(slack: FakeSlack) -> Keys:
    app = slack.app
    return Keys(signing=app.signing_secret, client_id=app.client_id, client_secret=app.client_secret)


@asynccontextmanager
async def installable(slack: FakeSlack, bot: Bot, keys: Keys) -> AsyncIterator[str]:
    """Where people install from."""
    slack.install(manifest("http"))
    bot.installations = DatabaseInstallations(bot.database, Fernet.generate_key().decode())
    port = free_port()
    slack.app.request_url = f"http://127.0.0.1:{port}{PATH}"
    async with bot.running(keys, port=port, public_url=f"http://127.0.0.1:{port}"):
        yield f"http://127.0.0.1:{port}/slack"


async def install(slack: FakeSlack, workspace: Workspace, at: str) -> tuple[int, str]:
    """As a person does: the page with the button, Slack's own page, and back. The status, and the state that was used."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
        async with browser.get(f"{at}/install") as page:
            link = re.search(r'href="([^"]+authorize[^"]+)"', await page.text())
            cookies = {name: each.value for name, each in page.cookies.items()}
        assert link is not None
        asked = parse_qs(urlsplit(link[1].replace("&amp;", "&")).query)
        assert asked["client_id"] == [slack.app.client_id]
        back = {"code": slack.authorize(workspace), "state": asked["state"][0]}
        async with browser.get(f"{at}/oauth_redirect", params=back, cookies=cookies) as done:
            return done.status, asked["state"][0]


async def test_two_workspaces_install_it_and_each_is_answered_with_its_own_token(slack: FakeSlack, bot: Bot, keys: Keys) -> None:
    other = slack.add_workspace("Globex")
    async with installable(slack, bot, keys) as at:
        assert [(await install(slack, workspace, at))[0] for workspace in (slack.workspace, other)] == [200, 200]
        said = [workspace.person("Ana").says("@Footnote how?") for workspace in (slack.workspace, other)]
        answers = [(await one.answered()).shown for one in said]
        await slack.settles()

    assert [answer.partition("\n")[0] for answer in answers] == ["About how?"] * 2
    assert not slack.calls_of("auth.test")[2:], "an event asks Slack who we are"


async def test_tokens_are_encrypted_where_they_are_kept(slack: FakeSlack, bot: Bot, keys: Keys) -> None:
    async with installable(slack, bot, keys) as at:
        await install(slack, slack.workspace, at)

    rows = await bot.database.read(lambda connection: connection.execute(schema.installations.select()).all())
    assert [row.workspace for row in rows] == [slack.workspace.id]
    assert slack.workspace.token.encode() not in rows[0].secret


async def test_a_state_is_good_once(slack: FakeSlack, bot: Bot, keys: Keys) -> None:
    async with installable(slack, bot, keys) as at:
        status, state = await install(slack, slack.workspace, at)
        again = {"code": slack.authorize(slack.workspace), "state": state}
        cookies = {"slack-app-oauth-state": state}
        async with (
            aiohttp.ClientSession() as browser,
            browser.get(f"{at}/oauth_redirect", params=again, cookies=cookies) as replayed,
        ):
            assert (status, replayed.status) == (200, 401)


@pytest.mark.parametrize("event", ["app_uninstalled", "tokens_revoked"])
async def test_a_workspace_that_removes_it_is_forgotten(slack: FakeSlack, bot: Bot, keys: Keys, event: str) -> None:
    async with installable(slack, bot, keys) as at:
        await install(slack, slack.workspace, at)
        ana = slack.workspace.person("Ana")
        await ana.says("@Footnote how?").answered()
        tokens = {"tokens": {"bot": [slack.workspace.bot.id]}} if event == "tokens_revoked" else {}
        slack.workspace.tell(event, "chat:write", tokens, ana.user)
        await slack.settles()
        assert bot.installations is not None
        assert await bot.installations.get("slack", "", slack.workspace.id, "") is None
        before = len(slack.calls_of("chat.postMessage")) + len(slack.calls_of("chat.startStream"))
        ana.says("@Footnote and now?")
        await slack.settles()

    assert len(slack.calls_of("chat.postMessage")) + len(slack.calls_of("chat.startStream")) == before


async def test_without_a_key_to_encrypt_with_it_does_not_start(slack: FakeSlack, bot: Bot, keys: Keys) -> None:
    slack.install(manifest("http"))

    with pytest.raises(BadSetting, match="SLACK_ENCRYPTION_KEY is not"):
        async with bot.running(keys, port=free_port()):
            pass
