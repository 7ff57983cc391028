"""Who people are in Slack: their names, and what they may do. Asked once, then remembered for a while."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bots.slack.web import called
from rag.errors import DeliveryError

if TYPE_CHECKING:
    from bots.slack.web import Workspace, Workspaces

REMEMBERED = 600.0  # seconds
MOST = 5_000
PATIENCE = 1.5  # seconds: an event is to be acknowledged within three
_LONGEST_NAME = 60
_MENTION = re.compile(r"<@([UWB][A-Z0-9]+)(?:\|([^>]*))?>")
_CHANNEL = re.compile(r"<#([CG][A-Z0-9]+)\|?>")
_OTHER = re.compile(
    r"<(?:#[A-Z0-9]+\|([^>]*)|!subteam\^[A-Z0-9]+\|?([^>]*)|!(here|channel|everyone)(?:\|[^>]*)?|!date\^[^>|]*\|([^>]*))>"
)
_LINK = re.compile(r"<((?:https?|mailto|tel):[^>|]+)(?:\|([^>]*))?>")


@dataclass(frozen=True, slots=True)
class Profile:
    """`known` False: Slack did not say who this is, so the worst is taken for granted."""

    name: str = ""
    admin: bool = False
    guest: bool = True
    outsider: bool = True
    bot: bool = False
    language: str = ""
    known: bool = False


NOBODY = Profile()


class People:
    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces
        self._channels: dict[tuple[str, str], str] = {}
        self._known: dict[tuple[str, str], tuple[float, asyncio.Task[Profile]]] = {}

    async def profile(self, workspace: str, user: str) -> Profile:
        """Of whom Slack says nothing in time, nothing is known: that is asked again the next time."""
        key, now = (workspace, user), time.monotonic()
        asked, task = self._known.get(key, (0.0, None))
        if task is None or now - asked > REMEMBERED or task.cancelled():
            self._make_room()
            task = asyncio.create_task(self._asked(workspace, user))
            self._known[key] = (now, task)
        try:
            async with asyncio.timeout(PATIENCE):
                found = await asyncio.shield(task)
        except TimeoutError:
            return NOBODY
        if not found.known:
            self._known.pop(key, None)
        return found

    async def name(self, workspace: str, user: str) -> str:
        return (await self.profile(workspace, user)).name or user

    async def language(self, workspace: str, user: str) -> str:
        return (await self.profile(workspace, user)).language

    async def readable(self, workspace: Workspace, text: str) -> str:
        """Slack's mark-up as people see it: names for ids, addresses kept, entities decoded once (S7)."""
        ids = {match[1] for match in _MENTION.finditer(text) if not match[2]}
        names = dict(zip(ids, await asyncio.gather(*(self.name(workspace.id, id) for id in ids)), strict=True))  # noqa: A001 - the word for it
        text = _MENTION.sub(lambda match: f"@{match[2] or names[match[1]]}", text)
        text = await self._with_channels(workspace, text)
        text = _OTHER.sub(_named, text)
        text = _LINK.sub(lambda match: f"{match[2]} ({match[1]})" if match[2] and match[2] != match[1] else match[1], text)
        return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")

    async def _with_channels(self, workspace: Workspace, text: str) -> str:
        """A channel that Slack left without its name, and that may be looked at, is asked for once."""
        for key in {(workspace.id, match[1]) for match in _CHANNEL.finditer(text)} - self._channels.keys():
            self._channels[key] = await self._channel(workspace, key[1])
            while len(self._channels) > MOST:
                self._channels.pop(next(iter(self._channels)))
        return _CHANNEL.sub(lambda match: f"<#{match[1]}|{self._channels.get((workspace.id, match[1]), match[1])}>", text)

    async def _channel(self, workspace: Workspace, id: str) -> str:  # noqa: A002 - the word for it
        try:
            async with asyncio.timeout(PATIENCE):
                found: Any = (await called(workspace.client.conversations_info(channel=id))).get("channel")
        except (DeliveryError, TimeoutError):
            return id
        return str(found.get("name") or id)

    def _make_room(self) -> None:
        while len(self._known) >= MOST:
            self._known.pop(next(iter(self._known)))

    async def _asked(self, workspace: str, user: str) -> Profile:
        try:
            client = (await self._workspaces.get(workspace)).client
            found: Any = (await called(client.users_info(user=user, include_locale=True))).get("user")
        except DeliveryError:
            return NOBODY
        shown = found.get("profile") or {}
        name = shown.get("display_name") or shown.get("real_name") or found.get("real_name") or found.get("name") or ""
        return Profile(
            " ".join(str(name).split())[:_LONGEST_NAME],
            admin=bool(found.get("is_admin") or found.get("is_owner")),
            guest=bool(found.get("is_restricted") or found.get("is_ultra_restricted")),
            outsider=bool(found.get("is_stranger")) or found.get("team_id", workspace) != workspace,
            bot=bool(found.get("is_bot")),
            language=str(found.get("locale") or ""),
            known=True,
        )


def _named(match: re.Match[str]) -> str:
    channel, group, everybody, date = match.groups()
    return f"#{channel}" if channel else date or f"@{(group or everybody or 'group').lstrip('@')}"
