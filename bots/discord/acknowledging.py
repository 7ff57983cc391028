"""The first word of an interaction: within three seconds, or Discord shows that the app did not respond (D1)."""

from __future__ import annotations

import asyncio
from logging import getLogger
from typing import TYPE_CHECKING, TypeVar

import aiohttp
import discord

from bots.discord.failing import SaidAlready, TokenDead, delivering
from bots.wording import words
from rag.errors import DeliveryError, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = getLogger(__name__)

PATIENCE = 2.0  # seconds that what comes before the first word may take
PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)  # seconds between two tries to take a command in

Said = TypeVar("Said")


class Missed(Exception):
    """Nothing can be said by this process first. `late`: nor by any other, Discord has told that the app did not respond."""

    def __init__(self, *, late: bool = False) -> None:
        super().__init__()
        self.late = late


async def first(word: Awaitable[Said]) -> Said:
    """Raises Missed where it came too late, or another process that heard the same was faster; that is a line in the log."""
    try:
        with delivering(by_token=True):
            return await word
    except TokenDead as error:
        log.warning("an interaction was answered too late, so Discord shows that the app did not respond")
        raise Missed(late=True) from error
    except SaidAlready as error:
        log.info("an interaction was acknowledged already, by another process or before its reply was lost")
        raise Missed from error
    except DeliveryError as error:
        log.warning("an interaction may not be acknowledged: %s", error)
        raise Missed from error


async def tell_failure(interaction: discord.Interaction, error: Exception) -> None:
    """The boundary of a command or a button: whoever used it hears that it failed, and the log why."""
    if isinstance(error, Missed):
        return
    if isinstance(error, StoreUnavailable):
        log.error("what was done in Discord could not be taken in: %s", error)
    else:
        log.error("an interaction failed", exc_info=error)
    told = words("", str(interaction.locale)).failed
    try:
        if not interaction.response.is_done():
            await interaction.response.send_message(told, ephemeral=True)
        elif interaction.type is discord.InteractionType.component:  # its message is the answer
            await interaction.followup.send(told, ephemeral=True)
        else:
            await interaction.edit_original_response(content=told)
    except (discord.DiscordException, aiohttp.ClientError, OSError) as failed:
        log.warning("who used a command could not be told that it failed: %s", type(failed).__name__)


class Acknowledgement:
    """Says that the app is thinking, once, whoever asks for it."""

    def __init__(self, interaction: discord.Interaction, *, private: bool) -> None:
        self._interaction = interaction
        self.private = private
        self._saying: asyncio.Task[int] | None = None
        self.late = False

    async def now(self) -> int:
        """The id of the message that says so; 0 where it is not known. Raises nothing."""
        if self._saying is None:
            self._saying = asyncio.create_task(self._say())
        return await asyncio.shield(self._saying)

    async def _say(self) -> int:
        try:
            response = await first(self._interaction.response.defer(thinking=True, ephemeral=self.private))
        except Missed as missed:
            self.late = missed.late
            return 0
        return response.message_id or 0 if response else 0


async def patiently(acknowledgement: Acknowledgement, claim: Callable[[], Awaitable[None]]) -> None:
    """Discord tells of a command once: while the database is away for a moment, it is not given up. Raises StoreUnavailable."""
    failed = 0
    while True:
        try:
            await claim()
            break
        except StoreUnavailable as error:
            if failed == len(PAUSES):
                raise
            log.warning("what was asked in Discord is taken in a moment later: %s", error)
            await asyncio.sleep(PAUSES[failed])
            failed += 1
    if failed:  # one that seemed to fail may have been kept; then the last was not, and nobody said anything yet
        await acknowledgement.now()
