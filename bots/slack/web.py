"""Calls of Slack's Web API, with what goes wrong in our words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from rag.errors import BadSetting, DeliveryError, PostGone, PostImpossible, PostLater, PostRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from slack_sdk.web.async_slack_response import AsyncSlackResponse

SECONDS = 15  # for one call
LATER = 2.0  # seconds, where Slack does not say

_GONE = frozenset({"message_not_found", "cant_update_message", "cant_delete_message", "edit_window_closed"})
_IMPOSSIBLE = frozenset({
    *("account_inactive", "channel_is_limited_access", "channel_not_found", "cannot_reply_to_message", "invalid_auth"),
    *("invalid_thread_ts", "is_archived", "is_inactive", "messages_tab_disabled", "missing_scope", "no_permission", "not_authed"),
    *("not_in_channel", "org_login_required", "restricted_action", "restricted_action_non_threadable_channel"),
    *("restricted_action_read_only_channel", "restricted_action_thread_locked", "restricted_action_thread_only_channel"),
    *("team_access_not_granted", "team_not_found", "thread_not_found", "token_expired", "token_revoked", "user_not_found"),
    "not_allowed_token_type",
})  # fmt: skip
_LATER = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable", "team_added_to_org"})


@dataclass(frozen=True, slots=True)
class Workspace:
    """One workspace that we are installed in, and who we are there."""

    id: str
    client: AsyncWebClient
    user: str  # ours: `U…`
    bot: str = ""  # `B…`


class Workspaces(Protocol):
    async def get(self, id: str) -> Workspace:  # noqa: A002 - the word for it
        """Raises PostImpossible where we are not installed (any more)."""
        ...


class OneWorkspace:
    """All there is, where one token was given."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def get(self, id: str) -> Workspace:  # noqa: A002, ARG002 - the port's
        return self._workspace


def web_client(token: str | None, url: str, session: aiohttp.ClientSession) -> AsyncWebClient:
    """One that tries nothing again by itself: a message that was taken all the same would be posted twice."""
    return AsyncWebClient(token, base_url=url, timeout=SECONDS, session=session, retry_handlers=[])


async def who_we_are(client: AsyncWebClient) -> Workspace:
    """Raises BadSetting for a token that Slack does not take."""
    try:
        found: Any = (await called(client.auth_test())).data
    except PostImpossible as error:
        raise BadSetting(
            f"Slack does not take SLACK_BOT_TOKEN ({_code(error.__cause__)}). Copy the Bot User OAuth Token, xoxb-…, anew: see "
            "docs/slack.md."
        ) from error
    except DeliveryError as error:
        raise BadSetting(f"Slack cannot be reached to check SLACK_BOT_TOKEN: {error}") from error
    return Workspace(found["team_id"], client, found["user_id"], found.get("bot_id") or "")


async def called(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    """Raises DeliveryError."""
    try:
        return await call
    except SlackApiError as error:
        raise failure(error) from error
    except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise PostLater(f"Slack did not answer ({type(error).__name__}).", seconds=LATER, unsure=True) from error


def failure(error: SlackApiError) -> DeliveryError:
    code = _code(error)
    status = getattr(error.response, "status_code", 200)
    if code in {"ratelimited", "rate_limited", "message_limit_exceeded"} or status == 429:  # noqa: PLR2004 - HTTP's
        return PostLater(f"Slack asks to wait ({code}).", seconds=retry_after(error))
    if code in _LATER or status >= 500:  # noqa: PLR2004 - HTTP's
        return PostLater(f"Slack has a problem ({code or status}).", seconds=LATER, unsure=True)
    if code in _GONE:
        return PostGone(f"The message is not there any more ({code}).")
    if code in _IMPOSSIBLE:
        return PostImpossible(f"Slack lets nothing be said there ({code}).")
    return PostRefused(f"Slack refuses this ({code}).")


def retry_after(error: SlackApiError) -> float:
    headers = {name.lower(): value for name, value in (getattr(error.response, "headers", None) or {}).items()}
    try:
        return max(float(headers.get("retry-after", LATER)), 0.1)
    except ValueError:
        return LATER


def refused_with(error: DeliveryError) -> str:
    """Slack's code for it; "" where it was not Slack that spoke."""
    return _code(error.__cause__)


def _code(error: object) -> str:
    response = getattr(error, "response", None)
    data = getattr(response, "data", None) or response
    return str(data.get("error", "")) if isinstance(data, dict) else ""
