"""What can be told of a token without asking Discord: what else was copied from the portal in its place."""

from __future__ import annotations

import re

from rag.errors import BadSetting

GUIDE = "docs/discord.md"

_COPY = "Copy the token of the bot (discord.com/developers/applications, Bot, Reset Token)"
_OTHERS = (
    (re.compile(r"\d+"), "an application's id"),
    (re.compile(r"[0-9a-f]{64}"), "the public key"),
    (re.compile(r"[\w-]{32}"), "the client secret"),
)


def refuse(token: str) -> None:
    """What can be told from the token itself. Raises BadSetting."""
    if not token:
        raise BadSetting(f"DISCORD_TOKEN is missing. {_COPY}. See {GUIDE}.")
    if token != token.strip():
        raise BadSetting("DISCORD_TOKEN has a blank or a line break around it. Set it without.")
    if token[0] in "\"'":
        raise BadSetting("DISCORD_TOKEN has quotation marks around it. Set it without.")
    if token.lower().startswith("bot "):
        raise BadSetting("DISCORD_TOKEN begins with “Bot”. Set the token alone.")
    if kind := next((kind for pattern, kind in _OTHERS if pattern.fullmatch(token)), None):
        raise BadSetting(f"DISCORD_TOKEN is no token: it looks like {kind}. {_COPY}.")
    if token.count(".") != 2:  # noqa: PLR2004 - as Discord makes them
        raise BadSetting(f"DISCORD_TOKEN is no token of Discord's, which has two dots in it. {_COPY}.")
