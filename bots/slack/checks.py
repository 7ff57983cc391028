"""`footnote doctor slack`: what may be wrong with tokens, scopes and connections, each with what to do about it (S11)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bots.slack.manifest import NEEDED_SCOPES, OPTIONAL_SCOPES, THREAD_SCOPES
from rag.checking import Check
from rag.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

SECONDS = 10
GUIDE = "docs/slack.md"
_BOT, _APP = "the Bot User OAuth Token (api.slack.com/apps, OAuth & Permissions)", "an app-level token (Basic Information)"
_USER_PREFIXES = ("xoxp-", "xoxa-", "xoxc-", "xoxd-", "xoxs-")

_TOKEN_CODES = {
    "invalid_auth": "Slack does not know {name}: it is mistyped, or the app was deleted. Copy {kind} again.",
    "not_authed": "Slack does not know {name}: it is mistyped, or the app was deleted. Copy {kind} again.",
    "token_revoked": "{name} was revoked. Install the app to the workspace again, and copy {kind}.",
    "token_expired": "{name} has expired: turn token rotation off for the app, install it again, and copy {kind}.",
    "account_inactive": "{name} belongs to an app or a workspace that was removed. Install the app again, and copy {kind}.",
    "not_allowed_token_type": "{name} is a token of another kind. Copy {kind}.",
    "two_factor_setup_required": "The workspace of {name} asks for two-factor authentication first. Set it up there.",
    "ratelimited": "Slack asks to wait a minute before {name} is checked again.",
}


@dataclass(frozen=True, slots=True)
class Access:
    """What the settings give to reach Slack with. `oauth`: installed in workspaces of their own, without a token here."""

    bot_token: str = ""
    app_token: str = ""
    signing_secret: str = ""
    port: int | None = None
    oauth: bool = False
    client_secret: str = ""
    encryption_key: str = ""
    public_url: str = ""
    api_url: str = "https://slack.com/api/"
    channels: tuple[str, ...] = ()
    admins: tuple[str, ...] = ()
    ask_a_person: str = ""
    followups: str = "thread"

    @property
    def http(self) -> bool:
        return self.port is not None


def checks(access: Access) -> list[Check]:
    """In the order in which they make sense."""
    found = _Examination(access)
    way = [Check("Slack over HTTP", found.signing)] if access.http else [Check("Slack app token", found.app_token)]
    if access.oauth:
        way = [Check("Slack installations", found.installations), *way]
        return way if access.http else [*way, Check("Slack socket", found.socket, needs=("Slack app token",))]
    token = "Slack bot token"  # noqa: S105 - the name of a check
    return [
        Check(token, found.bot_token),
        *way,
        Check("Slack scopes", found.scopes, needs=(token,)),
        *([] if access.http else [Check("Slack socket", found.socket, needs=("Slack app token",))]),
        Check("Slack channels", found.channels, needs=(token, "Slack scopes")),
        *([Check("Slack people", found.people, needs=(token, "Slack scopes"))] if access.admins or access.ask_a_person else []),
    ]


@dataclass(slots=True)
class _Examination:
    """What one check learns serves the next ones."""

    access: Access
    granted: frozenset[str] = frozenset()
    bot: str = ""
    app: str = ""

    @property
    def client(self) -> AsyncWebClient:
        return self._client(self.access.bot_token)

    def _client(self, token: str) -> AsyncWebClient:
        return AsyncWebClient(token, base_url=self.access.api_url, timeout=SECONDS, retry_handlers=[])

    async def bot_token(self) -> str:
        token = self.access.bot_token
        _refuse("SLACK_BOT_TOKEN", token, "xoxb-", _BOT, other="SLACK_APP_TOKEN")
        answer = await self._called("SLACK_BOT_TOKEN", _BOT, self.client.auth_test())
        headers = {name.lower(): value for name, value in answer.headers.items()}
        self.granted = frozenset(scope.strip() for scope in str(headers.get("x-oauth-scopes", "")).split(",") if scope.strip())
        self.bot = str(answer.get("bot_id") or "")
        return f"@{answer['user']} in {answer['team']}"

    async def app_token(self) -> str:
        _refuse(
            "SLACK_APP_TOKEN", self.access.app_token, "xapp-", f"{_APP} with the scope connections:write", other="SLACK_BOT_TOKEN"
        )
        return ""

    async def signing(self) -> str:
        secret = self.access.signing_secret
        if not secret:
            raise BadSetting(
                "slack.port is set, but SLACK_SIGNING_SECRET is missing: without it anybody could send questions in Slack's name. "
                "Copy the Signing Secret (api.slack.com/apps, Basic Information), or leave slack.port out for Socket Mode."
            )
        if secret.startswith(("xox", "xapp-")):
            raise BadSetting("SLACK_SIGNING_SECRET is a token. Copy the Signing Secret (api.slack.com/apps, Basic Information).")
        return f"Slack has to reach port {self.access.port} as https://…/slack/events"

    async def installations(self) -> str:
        """What installing in many workspaces takes besides the client's id."""
        for name, value, what in (
            ("SLACK_CLIENT_SECRET", self.access.client_secret, "copy it (api.slack.com/apps, Basic Information)"),
            ("SLACK_ENCRYPTION_KEY", self.access.encryption_key, f"tokens are kept encrypted; {GUIDE} says how to make one"),
            ("slack.public_url", self.access.public_url, "name the address at which Slack reaches this process"),
        ):
            if not value:
                raise BadSetting(f"SLACK_CLIENT_ID is set, but {name} is missing: {what}.")
        return f"to install, open {self.access.public_url.rstrip('/')}/slack/install"

    async def scopes(self) -> str:
        missing = {scope: why for scope, why in NEEDED_SCOPES.items() if scope not in self.granted}
        if missing:
            raise BadSetting(
                f"The app lacks {_listed(missing)}. Add {_them(missing)} under OAuth & Permissions, Bot Token Scopes, and install "
                f"the app to the workspace again; or create the app anew from a manifest: see {GUIDE}."
            )
        optional = OPTIONAL_SCOPES | (THREAD_SCOPES if self.access.followups == "thread" else {})
        without = {scope: why for scope, why in optional.items() if scope not in self.granted}
        return f"it will do without {_listed(without)}" if without else f"{len(self.granted)} granted"

    async def socket(self) -> str:
        client = self._client(self.access.app_token)
        opened = await self._called(
            "SLACK_APP_TOKEN",
            f"{_APP} with the scope connections:write",
            client.apps_connections_open(app_token=self.access.app_token),
        )
        hello = await self._hello(str(opened["url"]))
        others = int(hello.get("num_connections", 1)) - 1
        self.app = str((hello.get("connection_info") or {}).get("app_id") or "")
        await self._one_app()
        if others:
            named = "1 other process is" if others == 1 else f"{others} other processes are"
            return f"opens; {named} connected to the same app, and each event goes to one of them only"
        return "opens"

    async def _hello(self, url: str) -> Mapping[str, Any]:
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        try:
            async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as session, session.ws_connect(url) as socket:
                while (hello := json.loads(await socket.receive_str())).get("type") != "hello":
                    pass
                return dict(hello)
        except (aiohttp.ClientError, TimeoutError, OSError, TypeError, ValueError) as error:
            raise BadSetting(
                f"Slack's API answers, but its WebSocket cannot be opened ({type(error).__name__}). Let this machine connect to "
                "wss://wss-primary.slack.com, or use HTTP: slack.port and SLACK_SIGNING_SECRET."
            ) from error

    async def _one_app(self) -> None:
        """Two apps' tokens each work by themselves, and nothing is ever answered."""
        if not (self.app and self.bot and "users:read" in self.granted):
            return
        answer = await self._called("SLACK_BOT_TOKEN", _BOT, self.client.bots_info(bot=self.bot))
        other = str((answer.get("bot") or {}).get("app_id") or "")
        if other and other != self.app:
            raise BadSetting(
                f"SLACK_APP_TOKEN belongs to the app {self.app}, SLACK_BOT_TOKEN to {other}. Copy both from the same app."
            )

    async def channels(self) -> str:
        answer = await self._called(
            "SLACK_BOT_TOKEN", _BOT, self.client.users_conversations(types="public_channel,private_channel", limit=1000)
        )
        names = {channel["id"]: channel["name"] for channel in answer["channels"]}
        absent = [channel for channel in self.access.channels if channel not in names]
        if absent:
            raise BadSetting(
                f"slack.channels names {', '.join(absent)}, where the bot is no member. Invite it there: /invite @its-name."
            )
        if not names:
            return "a member of none yet; invite it with /invite @its-name. Direct messages work already"
        first = ", ".join(f"#{name}" for name in list(names.values())[:5])
        return f"{first}{' …' if len(names) > 5 else ''}"  # noqa: PLR2004 - the five that are shown

    async def people(self) -> str:
        named = {"slack.admins": self.access.admins, "slack.ask_a_person": (self.access.ask_a_person,)}
        for setting, ids in named.items():
            for id in ids:  # noqa: A001 - the word for it
                await self._person(setting, id)
        return ""

    async def _person(self, setting: str, id: str) -> None:  # noqa: A002 - the word for it
        if not id or (setting == "slack.ask_a_person" and id.startswith("S")):
            return  # a user group, which needs a scope of its own to be looked up
        try:
            await self.client.users_info(user=id)
        except SlackApiError as error:
            if error.response.get("error") in ("user_not_found", "user_not_visible"):
                raise BadSetting(
                    f"{setting} names {id}, and nobody of the workspace has that id. Copy it from the profile (Copy member ID)."
                ) from error

    async def _called(self, name: str, kind: str, call: Awaitable[Any]) -> Any:
        try:
            return await call
        except SlackApiError as error:
            raise BadSetting(_explained(error, name, kind)) from error
        except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
            raise BadSetting(
                f"Slack cannot be reached at {self.access.api_url} ({type(error).__name__}). Is the network there, and a proxy set "
                "where one is needed?"
            ) from error


def _refuse(name: str, token: str, prefix: str, kind: str, *, other: str) -> None:
    """What can be told from the token itself."""
    if not token:
        raise BadSetting(f"{name} is missing. Copy {kind}; it begins with {prefix}. See {GUIDE}.")
    if token != token.strip():
        raise BadSetting(f"{name} has a blank or a line break around it. Set it without.")
    if token.startswith(prefix):
        return
    if token.startswith("xapp-" if prefix == "xoxb-" else "xoxb-"):
        raise BadSetting(f"{name} holds what belongs into {other}. Swap the two.")
    if token.startswith(_USER_PREFIXES):
        raise BadSetting(f"{name} is the token of a person. Copy {kind} instead; it begins with {prefix}.")
    if token.startswith("xoxe"):
        raise BadSetting(f"{name} is a token that expires: turn token rotation off for the app, install it again, and copy {kind}.")
    raise BadSetting(f"{name} is no token of Slack's. Copy {kind}; it begins with {prefix}.")


def _explained(error: SlackApiError, name: str, kind: str) -> str:
    code = str(error.response.get("error", ""))
    if code == "missing_scope":
        needed = error.response.get("needed") or "a scope"
        where = "Make a new app-level token with it" if needed == "connections:write" else "Add it, install the app again"
        return f"{name} lacks {needed}. {where}, and copy it."
    if code == "too_many_websockets":
        return "Ten processes are connected to this app already, which is Slack's limit. Stop some of them."
    if "socket_mode" in code:
        return "Socket Mode is off for this app. Turn it on (api.slack.com/apps, Socket Mode), or use HTTP: slack.port."
    return _TOKEN_CODES.get(code, f"Slack refuses {{name}} ({code or 'without a reason'}). See {GUIDE}.").format(
        name=name, kind=kind
    )


def _listed(scopes: Mapping[str, str]) -> str:
    return "; ".join(f"{scope} ({why})" for scope, why in scopes.items())


def _them(scopes: Mapping[str, str]) -> str:
    return "it" if len(scopes) == 1 else "them"
