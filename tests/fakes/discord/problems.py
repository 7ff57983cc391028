"""What Discord says no with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from tests.fakes.discord.state import JSON

NOTHING = 204
SAID = {
    0: (401, "401: Unauthorized"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10008: (404, "Unknown Message"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    30034: (429, "You've reached the max number of daily application command creates (200)"),
    30046: (429, "Maximum number of edits to messages older than 1 hour reached"),
    40005: (413, "Request entity too large"),
    40058: (403, "Cannot message this thread until after the post author has sent an initial message"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50013: (403, "Missing Permissions"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50035: (400, "Invalid Form Body"),
    50083: (400, "Thread is archived"),
    160004: (400, "A thread has already been created for this message"),
    160005: (403, "Thread is locked"),
    160006: (400, "Maximum number of active threads reached"),
}


class Refused(Exception):
    def __init__(self, code: int, *, errors: JSON | None = None, status: int | None = None) -> None:
        super().__init__(code)
        self.code, self.errors, self.status = code, errors, status or SAID[code][0]

    def response(self) -> web.Response:
        body: JSON = {"code": self.code, "message": SAID[self.code][1]}
        if self.errors:
            body["errors"] = self.errors
        return as_json(body, status=self.status)


def field(name: str, code: str, message: str) -> Refused:
    return Refused(50035, errors={name: {"_errors": [{"code": code, "message": message}]}})


def as_json(body: object, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """discord.py wants exactly this content type, without a charset, and none where there is nothing to read."""
    if status == NOTHING:
        return web.Response(status=status, headers={"Via": "1.1 fake", **(headers or {})})
    return web.Response(
        body=json.dumps(body).encode(),
        status=status,
        headers={"Content-Type": "application/json", "Via": "1.1 fake", **(headers or {})},
    )
