"""Ids of Slack and Discord in settings: a name where an id belongs would never be met, and nobody would be told."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator

_DISCORD: Final = re.compile(r"\d{15,21}")
_SLACK: Final = {
    "channel": (re.compile(r"[CGD][A-Z0-9]+"), "begins with C, G or D (in the channel's details, at the end)"),
    "person": (re.compile(r"[UW][A-Z0-9]+"), "begins with U or W (in the menu of a profile: Copy member ID)"),
    "person or group": (re.compile(r"[UWS][A-Z0-9]+"), "begins with U, W or S"),
    "workspace": (re.compile(r"[TE][A-Z0-9]+"), "begins with T or E"),
    "role": (re.compile(r"S[A-Z0-9]+"), "begins with S"),
}


def discord_id(value: str) -> str:
    """The id as it is; empty names nothing. Raises ValueError."""
    if value and not _DISCORD.fullmatch(value):
        raise ValueError(
            "an id of Discord has 15 to 21 digits: switch Developer Mode on (Settings, Advanced), and copy it by the menu Copy ID"
        )
    return value


def slack_id(kind: str, value: str) -> str:
    """The id as it is; empty names nothing. Raises ValueError."""
    form, told = _SLACK[kind]
    if value and not form.fullmatch(value):
        raise ValueError(f"this id of Slack {told}")
    return value


def place_id(platform: str, kind: str, value: str) -> str:
    """An id that a route names. Raises ValueError."""
    if platform == "discord":
        return discord_id(value)
    return slack_id(kind, value) if platform == "slack" else value


DiscordIds = tuple[Annotated[str, AfterValidator(discord_id)], ...]
SlackChannels = tuple[Annotated[str, AfterValidator(lambda value: slack_id("channel", value))], ...]
SlackPeople = tuple[Annotated[str, AfterValidator(lambda value: slack_id("person", value))], ...]
SlackCalled = Annotated[str, AfterValidator(lambda value: slack_id("person or group", value))]
