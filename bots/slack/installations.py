"""Many workspaces: installed by OAuth, their tokens kept encrypted, forgotten when they remove us (S10)."""

from __future__ import annotations

import json
import secrets
import time
from typing import TYPE_CHECKING, Any

from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from bots.slack.manifest import scopes
from bots.slack.places import NAME
from bots.slack.web import Workspace
from rag.errors import PostImpossible

if TYPE_CHECKING:
    from logging import Logger

    from bots.slack.events import Removed
    from rag.ports import Installations

REMEMBERED = 60.0  # seconds until another process's installing is seen
STATE_SECONDS = 600
STATES = "oauth-state"


class InstalledWorkspaces:
    """Each workspace's client, as it was installed."""

    def __init__(self, installations: Installations, client_id: str, client: AsyncWebClient) -> None:
        self._client = client
        self.store = Store(installations, client_id)
        self._known: dict[str, tuple[float, Workspace]] = {}

    @property
    def client(self) -> AsyncWebClient:
        return self._client

    async def get(self, id: str) -> Workspace:  # noqa: A002 - the word for it
        at, workspace = self._known.get(id, (0.0, None))
        if workspace is None or time.monotonic() - at > REMEMBERED:
            workspace = await self._read(id)
            self._known[id] = (time.monotonic(), workspace)
        return workspace

    async def removed(self, removed: Removed) -> None:
        await self.store.async_delete_all(enterprise_id=removed.enterprise or None, team_id=removed.workspace or None)
        self._known.pop(removed.workspace, None)

    async def _read(self, id: str) -> Workspace:  # noqa: A002 - the word for it
        bot = await self.store.async_find_bot(enterprise_id=None, team_id=id)
        if bot is None:
            self._known.pop(id, None)
            raise PostImpossible(f"Footnote is not installed in the workspace {id}.")
        given = self._client
        client = AsyncWebClient(
            bot.bot_token, base_url=given.base_url, timeout=given.timeout, session=given.session, retry_handlers=[]
        )
        return Workspace(id, client, bot.bot_user_id or "", bot.bot_id or "")


class Store(AsyncInstallationStore):
    """slack_sdk's own interface over ours. One installation for each workspace: what the bot needs, no person's token."""

    def __init__(self, installations: Installations, client_id: str) -> None:
        self._installations = installations
        self.client_id = client_id

    @property
    def logger(self) -> Logger:
        from logging import getLogger  # noqa: PLC0415

        return getLogger(__name__)

    async def async_save(self, installation: Installation) -> None:
        bot = installation.to_bot()
        kept = json.dumps(bot.to_dict(), default=str)
        await self._installations.keep(NAME, "", bot.team_id or bot.enterprise_id or "", "", kept)

    async def async_save_bot(self, bot: Bot) -> None:
        await self._installations.keep(NAME, "", bot.team_id or bot.enterprise_id or "", "", json.dumps(bot.to_dict(), default=str))

    async def async_find_bot(
        self, *, enterprise_id: str | None, team_id: str | None, is_enterprise_install: bool | None = False
    ) -> Bot | None:
        del is_enterprise_install
        kept = await self._installations.get(NAME, "", team_id or enterprise_id or "", "")
        return None if kept is None else _bot(json.loads(kept))

    async def async_find_installation(
        self,
        *,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None = None,
        is_enterprise_install: bool | None = False,
    ) -> Installation | None:
        del user_id
        bot = await self.async_find_bot(enterprise_id=enterprise_id, team_id=team_id, is_enterprise_install=is_enterprise_install)
        return None if bot is None else Installation(user_id="", team_id=bot.team_id, bot_token=bot.bot_token, bot_id=bot.bot_id)

    async def async_delete_bot(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        await self._installations.forget(NAME, "", team_id or enterprise_id or "")

    async def async_delete_installation(
        self, *, enterprise_id: str | None, team_id: str | None, user_id: str | None = None
    ) -> None:
        del user_id
        await self.async_delete_bot(enterprise_id=enterprise_id, team_id=team_id)

    async def async_delete_all(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        await self.async_delete_bot(enterprise_id=enterprise_id, team_id=team_id)


class States(AsyncOAuthStateStore):
    """Each good once, for ten minutes, whichever process gave it."""

    def __init__(self, installations: Installations) -> None:
        self._installations = installations

    async def async_issue(self, *args: Any, **kwargs: Any) -> str:
        del args, kwargs
        state = secrets.token_urlsafe(24)
        await self._installations.keep(STATES, "", state, "", str(time.time() + STATE_SECONDS))
        return state

    async def async_consume(self, state: str) -> bool:
        until = await self._installations.get(STATES, "", state, "")
        return until is not None and await self._installations.forget(STATES, "", state) and float(until) > time.time()


def _bot(kept: dict[str, Any]) -> Bot:
    return Bot(
        app_id=kept.get("app_id"),
        enterprise_id=kept.get("enterprise_id"),
        team_id=kept.get("team_id"),
        bot_token=kept["bot_token"],
        bot_id=kept.get("bot_id") or "",
        bot_user_id=kept.get("bot_user_id") or "",
        bot_scopes=kept.get("bot_scopes") or "",
        installed_at=time.time(),
    )


def oauth(workspaces: InstalledWorkspaces, client_id: str, client_secret: str, public_url: str) -> AsyncOAuthFlow:
    settings = AsyncOAuthSettings(
        client_id=client_id,
        client_secret=client_secret,
        scopes=list(scopes()),
        redirect_uri=f"{public_url.rstrip('/')}/slack/oauth_redirect" if public_url else None,
        installation_store=workspaces.store,
        installation_store_bot_only=True,
        state_store=States(workspaces.store._installations),  # noqa: SLF001 - the same ones
        install_page_rendering_enabled=True,
    )
    return AsyncOAuthFlow(settings=settings, client=workspaces.client)
