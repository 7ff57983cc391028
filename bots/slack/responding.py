"""What only one person sees: by the address that Slack gave with what they did, or by name once that is no longer good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp

from bots.slack.web import LATER, called
from rag.errors import PostLater, PostRefused

if TYPE_CHECKING:
    from bots.slack.places import ReplyTo
    from bots.slack.render import Shown
    from bots.slack.web import Workspace
    from rag.types import Question

TOO_MANY = 429
_GONE = frozenset({404, 410})


async def respond(workspace: Workspace, question: Question, reply_to: ReplyTo, message: Shown) -> None:
    if reply_to.response_url and await sent(workspace, reply_to.response_url, message):
        return
    await called(
        workspace.client.chat_postEphemeral(
            channel=question.thread.place.channel,
            user=reply_to.user,
            text=message.text,
            blocks=list(message.blocks) or None,
            thread_ts=None if reply_to.private else reply_to.thread or None,
        )
    )


async def sent(workspace: Workspace, address: str, message: Shown | None, **more: Any) -> bool:
    """False where the address is no longer good: after half an hour, or five answers. Raises DeliveryError."""
    said = {"response_type": "ephemeral", "text": message.text, "blocks": list(message.blocks)} if message else {}
    session = workspace.client.session
    if session is None:
        return False
    try:
        async with session.post(address, json={**said, **more}) as answer:
            status, text = answer.status, await answer.text()
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise PostLater(f"Slack did not answer ({type(error).__name__}).", seconds=LATER, unsure=True) from error
    if status in _GONE:
        return False
    if status == TOO_MANY or status >= 500:  # noqa: PLR2004 - HTTP's
        raise PostLater(f"Slack asks to wait ({status}).", seconds=LATER, unsure=status != TOO_MANY)
    if status != 200:  # noqa: PLR2004 - HTTP's
        raise PostRefused(f"Slack refuses this ({text[:60]}).")
    return True
