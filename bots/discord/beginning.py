"""The login at a start: what Discord says no with is told as what it is, and while it fails it is tried again for a while."""

from __future__ import annotations

import asyncio
import time
from logging import getLogger

import aiohttp
import discord
import yarl

from bots.discord.failing import BROKEN, LATER, UNAUTHORIZED
from rag.errors import BadSetting

log = getLogger(__name__)

PATIENCE = 300.0  # seconds for which Discord may fail at a start, or the way to it
PAUSE, LONGEST_PAUSE = 2.0, 30.0  # seconds before the next try; each pause is twice as long as the one before
LOGIN_REFUSED = "Discord refuses DISCORD_TOKEN. Reset the token in the developer portal (Bot, Token), and set it anew."
FAILURES = (discord.LoginFailure, discord.HTTPException, aiohttp.ClientError, OSError)


async def begin(client: discord.Client, token: str, api_url: str = "") -> None:
    """Raises BadSetting, where Discord fails or cannot be reached only once it did for long."""
    until, pause = time.monotonic() + PATIENCE, PAUSE
    while True:
        try:
            await log_in(client, token, api_url)
        except FAILURES as error:
            why = cannot_begin(error)
            if not _passes(error) or time.monotonic() + pause > until:
                raise why from error
            log.warning("%s It is tried again.", why)
            await client.http.close()  # each login opens a session of its own
            client.http.connector = discord.utils.MISSING
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        else:
            return


async def log_in(client: discord.Client, token: str, api_url: str = "") -> None:
    """Raises BadSetting, and `FAILURES`."""
    if api_url:
        await _point_at(api_url, token)
    await client.login(token)


def cannot_begin(error: Exception) -> BadSetting:
    """Only a 401 says something of the token."""
    if isinstance(error, discord.LoginFailure) or (isinstance(error, discord.HTTPException) and error.status == UNAUTHORIZED):
        return BadSetting(LOGIN_REFUSED)
    if not isinstance(error, discord.HTTPException):
        return BadSetting(
            f"Discord cannot be reached ({type(error).__name__}). Is the network there, and a proxy set where one is needed?"
        )
    if error.status >= BROKEN:
        return BadSetting(f"Discord fails just now, with status {error.status}. See https://discordstatus.com.")
    if error.status == LATER:
        return BadSetting("Discord asks to wait (status 429): too much was asked of it with this token, or from this address.")
    asked = yarl.URL(str(error.response.url)).path
    said = f"{error.status}, code {error.code}{f', {error.text}' if error.text else ''}"
    return BadSetting(f"Discord refuses {asked} ({said}). Look at the app and its bot in the developer portal.")


def _passes(error: Exception) -> bool:
    """Whether it may be over in a moment."""
    if isinstance(error, discord.HTTPException):
        return error.status >= BROKEN or error.status == LATER
    return isinstance(error, aiohttp.ServerDisconnectedError | OSError) and not isinstance(error, aiohttp.ClientSSLError)


async def _point_at(api_url: str, token: str) -> None:
    """Another server in Discord's place: a proxy, or one for tests. Its gateway's address is asked of it."""
    discord.http.Route.BASE = api_url.rstrip("/")
    asked = f"{discord.http.Route.BASE}/gateway/bot"
    try:
        async with aiohttp.ClientSession(headers={"Authorization": f"Bot {token}"}) as session, session.get(asked) as got:
            said = await got.json() if got.content_type == "application/json" else await got.text()
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise BadSetting(f"DISCORD_API_URL is {api_url}, and it cannot be reached there ({type(error).__name__}).") from error
    if not got.ok:
        raise discord.HTTPException(got, said)
    if not isinstance(said, dict) or "url" not in said:
        raise BadSetting(f"DISCORD_API_URL is {api_url}, and what answers there is not Discord.")
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(said["url"])
