"""Response addresses: good five times, for thirty minutes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web

from tests.fakes.slack.limits import LONGEST_TEXT, Refused, check_blocks
from tests.fakes.slack.state import JSON, Channel, Message, User, new_id

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack
    from tests.fakes.slack.workspace import Workspace

_USES, _SECONDS = 5, 1800.0


@dataclass(eq=False)
class _Address:
    workspace: Workspace
    channel: Channel
    user: User
    message: Message | None
    made: float
    used: int = 0


class Responses:
    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self._addresses: dict[str, _Address] = {}

    def address(self, workspace: Workspace, channel: Channel, user: User, message: Message | None) -> str:
        id = new_id("R")  # noqa: A001 - the word for it
        self._addresses[id] = _Address(workspace, channel, user, message, self.slack.clock.now())
        return f"{self.slack.base}/respond/{id}"

    async def take(self, request: web.Request) -> web.Response:
        address = self._addresses.get(request.match_info["id"])
        if address is None or self.slack.clock.now() - address.made > _SECONDS:
            return web.Response(status=404, text="expired_url")
        if address.used >= _USES:
            return web.Response(status=404, text="used_url")
        fault = self.slack.faults.take("response_url")
        if fault is not None:
            if fault.performed:
                self._show(address, await request.json())
            return web.Response(status=fault.status if fault.status >= 400 else 500, text=fault.error)
        address.used += 1
        try:
            self._show(address, await request.json())
        except Refused as refused:
            return web.Response(status=400, text=refused.error)
        return web.Response(text="ok")

    def shown(self, url: str, body: JSON) -> None:
        """What an acknowledgement carries is shown at once."""
        if address := self._addresses.get(url.rpartition("/")[2]):
            self._show(address, body)

    def _show(self, address: _Address, body: JSON) -> None:
        text, blocks = body.get("text") or "", body.get("blocks") or []
        if len(text) > LONGEST_TEXT:
            raise Refused("msg_too_long")
        if blocks:
            check_blocks(blocks)
        workspace, message = address.workspace, address.message
        if body.get("delete_original") and message is not None:
            message.deleted = True
            self.slack.changed()
            return
        if not (text.strip() or blocks):
            raise Refused("no_text")
        if body.get("replace_original") and message is not None:
            message.text, message.blocks = text, blocks
            message.versions.append(workspace.shown(message))
            self.slack.changed()
            return
        to = "" if body.get("response_type") == "in_channel" else address.user.id
        thread = body.get("thread_ts") or (message.root if message is not None and message.thread_ts else "")
        workspace.post(
            Message(address.channel, workspace.next_ts(), workspace.bot, text, blocks, thread_ts=thread, ephemeral_to=to)
        )
