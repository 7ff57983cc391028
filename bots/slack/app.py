"""Footnote in Slack: over a socket, or over signed HTTP with the same ears (S1)."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from logging import getLogger
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import web
from slack_bolt import BoltResponse
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize

from bots.slack.clicks import Clicks
from bots.slack.installations import InstalledWorkspaces, oauth
from bots.slack.intake import Intake, IntakeSettings
from bots.slack.interactions import Interactions, ephemeral
from bots.slack.people import People
from bots.slack.places import NAME
from bots.slack.surface import SlackSurface
from bots.slack.web import OneWorkspace, called, refused_with, web_client, who_we_are
from rag.errors import BadSetting, DeliveryError, FootnoteError, PostImpossible, StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bots.administering import Administration
    from bots.desk import Desk
    from bots.slack.history import Reading
    from bots.slack.interactions import Bases
    from bots.slack.reading import Json
    from bots.slack.web import Workspaces
    from rag.ports import Inbox, Installations

log = getLogger(__name__)
# Bolt looks for a token in the environment by itself, and then warns that it is not used.
getLogger("slack_bolt.AsyncApp").addFilter(lambda record: "`token` will be unused" not in record.getMessage())

PATH = "/slack/events"
PING_SECONDS = 5.0
END_SECONDS = 10.0  # for commands that are under way


@dataclass(frozen=True, slots=True)
class Keys:
    """What Slack gave us. With a client's id and secret, tokens come by installing and `bot` is not needed."""

    bot: str = ""
    app: str = ""
    signing: str = ""
    client_id: str = ""
    client_secret: str = ""

    @property
    def many(self) -> bool:
        return bool(self.client_id and self.client_secret)


@dataclass(frozen=True, slots=True)
class SlackSettings:
    intake: IntakeSettings
    api_url: str = "https://slack.com/api/"
    port: int = 0  # 0: a socket is used
    host: str = "0.0.0.0"  # noqa: S104 - Slack calls from outside
    public_url: str = ""
    reading: Reading = "full"
    person: str = ""


@dataclass(frozen=True, slots=True)
class Office:
    """The parts of the running system that Slack needs."""

    inbox: Inbox
    administration: Administration
    bases: Bases
    installations: Installations | None = None


class Slack:
    name = NAME

    def __init__(
        self, keys: Keys, settings: SlackSettings, office: Office, workspaces: Workspaces, session: aiohttp.ClientSession
    ) -> None:
        self._keys = keys
        self._settings = settings
        self._office = office
        self._workspaces = workspaces
        self._client = web_client(None, settings.api_url, session)
        self._people = People(workspaces)
        self._surface = SlackSurface(workspaces, self._people, reading=settings.reading, person=settings.person)
        self._intake: Intake
        self._interactions: Interactions

    @property
    def surface(self) -> SlackSurface:
        return self._surface

    @asynccontextmanager
    async def listening(self, desk: Desk) -> AsyncIterator[None]:
        self._give_ears(desk)
        app = self._app()
        try:
            async with AsyncExitStack() as stack:
                if self._settings.port:
                    await stack.enter_async_context(self._http(app))
                if not self._settings.port or (self._keys.app and not self._keys.signing):
                    await stack.enter_async_context(self._socket(app))
                yield
        finally:
            await self._interactions.finish(END_SECONDS)

    def _give_ears(self, desk: Desk) -> None:
        office, person = self._office, self._settings.person
        clicks = Clicks(inbox=office.inbox, workspaces=self._workspaces, people=self._people, person=person)
        self._interactions = Interactions(
            desk=desk,
            inbox=office.inbox,
            workspaces=self._workspaces,
            people=self._people,
            administration=office.administration,
            bases=office.bases,
            clicks=clicks,
        )
        installed = self._workspaces if isinstance(self._workspaces, InstalledWorkspaces) else None
        self._intake = Intake(
            desk=desk,
            inbox=office.inbox,
            workspaces=self._workspaces,
            people=self._people,
            command=self._interactions.command,
            removed=installed.removed if installed else _kept,
            settings=self._settings.intake,
        )
        self._interactions.intake = clicks.intake = self._intake

    def _app(self) -> AsyncApp:
        flow = None
        if isinstance(self._workspaces, InstalledWorkspaces):
            flow = oauth(self._workspaces, self._keys.client_id, self._keys.client_secret, self._settings.public_url)
        app = AsyncApp(
            name="footnote",
            client=self._client,
            signing_secret=self._keys.signing,
            request_verification_enabled=bool(self._settings.port),
            authorize=_Known(self._workspaces),
            oauth_flow=flow,
        )
        app.use(self._take)
        return app

    async def _take(self, body: Json, context: Any) -> BoltResponse:
        """Everything that Slack sends comes through here; what is not kept is not acknowledged, so that it comes again."""
        try:
            if "event" in body:
                await self._intake.take(body, context.bot_user_id or "")
                return BoltResponse(status=200, body="")
            said = await self._interactions.take(body)
        except (StoreError, DeliveryError) as error:
            log.warning("what Slack sent could not be taken in: %s", error)
            if "command" not in body:
                return BoltResponse(status=503, body="")
            said = ephemeral(error.user_message)
        except FootnoteError as error:
            said = ephemeral(error.user_message)
        return BoltResponse(status=200, body=json.dumps(said) if said else "", headers={"content-type": ["application/json"]})

    @asynccontextmanager
    async def _socket(self, app: AsyncApp) -> AsyncIterator[None]:
        handler = AsyncSocketModeHandler(app, self._keys.app, web_client=self._client, ping_interval=PING_SECONDS)
        try:
            await handler.connect_async()  # type: ignore[no-untyped-call]  # the library's
            yield
        finally:
            await handler.close_async()  # type: ignore[no-untyped-call]  # the library's
            await handler.client.aiohttp_client_session.close()

    @asynccontextmanager
    async def _http(self, app: AsyncApp) -> AsyncIterator[None]:
        runner = web.AppRunner(
            app.server(port=self._settings.port, path=PATH).web_app, access_log=None, shutdown_timeout=END_SECONDS
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, self._settings.host, self._settings.port).start()
            yield
        except OSError as error:
            raise BadSetting(f"slack.port {self._settings.port} cannot be opened: {error.strerror or error}.") from error
        finally:
            await runner.cleanup()


class _Known(AsyncAuthorize):
    """Whose token an event is answered with. No call of Slack is made for it."""

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def __call__(self, *, context: Any, enterprise_id: str | None, team_id: str | None, user_id: str | None, **_: Any) -> Any:  # noqa: ARG002 - the library's
        try:
            workspace = await self._workspaces.get(team_id or enterprise_id or "")
        except PostImpossible:
            return None
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id or workspace.id,
            bot_user_id=workspace.user,
            bot_id=workspace.bot,
            bot_token=workspace.client.token,
        )


@asynccontextmanager
async def connected(keys: Keys, settings: SlackSettings, office: Office) -> AsyncIterator[Slack]:
    """Raises BadSetting for what Slack does not take, before anything is listened to."""
    check(keys, settings, office)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
        client = web_client(keys.bot or None, settings.api_url, session)
        workspaces: Workspaces
        if keys.many:
            assert office.installations is not None  # noqa: S101 - checked above
            workspaces = InstalledWorkspaces(office.installations, keys.client_id, client)
        else:
            workspaces = OneWorkspace(await who_we_are(client))
        if not settings.port:
            await _socket_opens(keys, client)
        yield Slack(keys, settings, office, workspaces, session)


def check(keys: Keys, settings: SlackSettings, office: Office) -> None:
    """What can be known without asking Slack."""
    if settings.port and not keys.signing:
        raise BadSetting(
            "slack.port is set, and SLACK_SIGNING_SECRET is not: without it anybody could speak as Slack. Set it, or no port."
        )
    if not settings.port and not keys.app:
        raise BadSetting(
            "SLACK_APP_TOKEN is missing: make an app-level token, xapp-…, with connections:write; or set slack.port and "
            "SLACK_SIGNING_SECRET to listen over HTTP. See docs/slack.md."
        )
    if not keys.many and not keys.bot:
        raise BadSetting(
            "SLACK_BOT_TOKEN is missing: install the app in your workspace, and copy its token, xoxb-…. See docs/slack.md."
        )
    if keys.many and office.installations is None:
        raise BadSetting(
            "SLACK_CLIENT_ID is set, and SLACK_ENCRYPTION_KEY is not: tokens of many workspaces are kept encrypted. Make one: "
            "python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
        )


async def _socket_opens(keys: Keys, client: Any) -> None:
    """Bolt itself would try for ever with a wrong token."""
    try:
        await called(client.apps_connections_open(app_token=keys.app))
    except DeliveryError as error:
        code = refused_with(error)
        if not code:
            log.warning("Slack cannot be reached yet: %s", error)
            return
        raise BadSetting(
            f"Slack opens no socket for SLACK_APP_TOKEN ({code}). It must be an app-level token, xapp-…, with connections:write, "
            "and Socket Mode must be on. See docs/slack.md."
        ) from error


async def _kept(_removed: object) -> None:
    """The one token that we have stands in the settings."""
