"""A thread that we are called into, read once (S4)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bots.slack.reading import files, said
from bots.slack.web import called
from rag.types import Turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bots.slack.people import People
    from bots.slack.places import ReplyTo
    from bots.slack.reading import Json
    from bots.slack.web import Workspace

Reading: TypeAlias = Literal["full", "limited"]
PAGE = {"full": 200, "limited": 15}
MOST = 1_000  # messages of one thread
_KEPT = frozenset({None, "", "file_share", "bot_message", "thread_broadcast", "me_message"})


async def replies(
    workspace: Workspace, channel: str, thread: str, *, reading: Reading = "full", since: str = ""
) -> AsyncIterator[Json]:
    """The thread's messages, oldest first. Raises DeliveryError."""
    cursor, read = "", 0
    while True:
        page: Any = await called(
            workspace.client.conversations_replies(
                channel=channel,
                ts=thread,
                limit=PAGE[reading],
                include_all_metadata=True,
                oldest=since or None,
                cursor=cursor or None,
            )
        )
        for message in page.get("messages") or []:
            read += 1
            yield message
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor or read >= MOST or reading == "limited":
            return


async def before(workspace: Workspace, people: People, channel: str, reply_to: ReplyTo, reading: Reading) -> list[Turn]:
    """What was said before the question. Another bot's words are never taken for our own (R5)."""
    turns = []
    async for message in replies(workspace, channel, reply_to.thread, reading=reading):
        if float(message["ts"]) >= float(reply_to.message):
            break
        if message.get("subtype") in _KEPT and (turn := await _turn(message, workspace, people)).text.strip():
            turns.append(turn)
    return turns


async def _turn(message: Json, workspace: Workspace, people: People) -> Turn:
    at = datetime.fromtimestamp(float(message["ts"]), UTC)
    text = await people.readable(workspace, said(message))
    if is_ours(message, workspace):
        return Turn("assistant", text, said_at=at)
    attached = await files(message, workspace)
    user = message.get("user") or ""
    named = await people.name(workspace.id, user) if user else ""
    speaker = named or (message.get("bot_profile") or {}).get("name") or message.get("username") or "bot"
    return Turn("user", "\n".join(part for part in (text, attached) if part), speaker, said_at=at)


def is_ours(message: Json, workspace: Workspace) -> bool:
    return message.get("user") == workspace.user or bool(workspace.bot and message.get("bot_id") == workspace.bot)
