"""What Discord and the way to it can say no with, as errors of ours: the only place that knows its codes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp
import discord

from rag.errors import PostGone, PostImpossible, PostLater, PostRefused, QuestionGone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag.errors import DeliveryError

GONE = {10008, 30046}  # an unknown message; one that is too old to be edited again
OVER = 50027
TOKEN_DEAD = {10015, 10062, OVER}  # an unknown webhook or interaction; its token's fifteen minutes are over
# no access, no permission, not in this kind of channel; archived, locked; unknown channel; post without a first message
NOWHERE = {10003, 10004, 40058, 50001, 50007, 50013, 50024, 50083, 160005}
ACKNOWLEDGED = 40060
REPLIED_TO_NOTHING = "MESSAGE_REFERENCE_UNKNOWN_MESSAGE"
UNAUTHORIZED, LATER, BROKEN = 401, 429, 500


class TokenDead(Exception):
    """An interaction can no longer be answered by its own token; `over`: since its time has passed."""

    def __init__(self, *, over: bool) -> None:
        super().__init__()
        self.over = over


class SaidAlready(Exception):
    """An interaction was acknowledged before."""


@contextmanager
def delivering(*, by_token: bool = False) -> Iterator[None]:
    """Raises DeliveryErrors in place of the library's errors; TokenDead and SaidAlready where an interaction's token is used."""
    try:
        yield
    except discord.HTTPException as error:
        if by_token and error.code in TOKEN_DEAD:
            raise TokenDead(over=error.code == OVER) from error
        if by_token and error.code == ACKNOWLEDGED:
            raise SaidAlready from error
        raise told(error) from error
    except discord.RateLimited as error:
        raise PostLater("Discord asks to wait.", seconds=error.retry_after) from error
    except (aiohttp.ClientError, OSError, TimeoutError, RuntimeError) as error:  # RuntimeError: the session is closed
        raise PostLater(f"Discord cannot be reached ({type(error).__name__}).", seconds=2.0, unsure=True) from error
    except discord.DiscordException as error:
        raise PostRefused(f"discord.py refused a message: {type(error).__name__}.") from error


def told(error: discord.HTTPException) -> DeliveryError:
    said = f"Discord said {error.status}, code {error.code}"
    if REPLIED_TO_NOTHING in str(getattr(error, "_errors", "")):  # in public there are only its words; none where a page came back
        return QuestionGone(f"{said}: the question is gone.")
    if error.code in GONE:
        return PostGone(f"{said}: the message is gone.")
    if error.code in NOWHERE or error.status == UNAUTHORIZED:
        return PostImpossible(f"{said}: nothing can be written there.")
    if error.status == LATER:
        return PostLater(f"{said}: too many requests.", seconds=5.0)
    if error.status >= BROKEN:
        return PostLater(f"{said}.", seconds=2.0, unsure=True)
    return PostRefused(f"{said}: a message was refused.")
