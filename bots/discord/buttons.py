"""Buttons below an answer. They hold all they need in their ids, so that they work after a restart too (D8)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self

import discord

from bots.discord.acknowledging import tell_failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from bots.discord.listening import Listener

VERDICTS = {"up": 1, "down": -1}
SHOWN = {"up": "👍", "down": "👎"}
_OURS = re.compile(r"footnote:(?:up|down|thread):(\d+)")


class Verdict(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"footnote:(?P<verdict>up|down):(?P<question>\d+)"):
    def __init__(self, verdict: str, question: str) -> None:
        super().__init__(
            discord.ui.Button(emoji=SHOWN[verdict], custom_id=f"footnote:{verdict}:{question}", style=discord.ButtonStyle.secondary)
        )
        self.verdict = VERDICTS[verdict]
        self.question = question

    @classmethod
    async def from_custom_id(cls, _: discord.Interaction, _item: discord.ui.Item[Any], match: re.Match[str], /) -> Self:
        return cls(match["verdict"], match["question"])

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        return is_listening(interaction) and await listener_of(interaction).may_use(interaction)

    async def callback(self, interaction: discord.Interaction) -> None:
        await _carry_out(interaction, listener_of(interaction).judged(interaction, self.question, self.verdict))


class GoOn(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"footnote:thread:(?P<question>\d+)"):
    """Opens a thread on the answer: there the talk goes on without mentions."""

    def __init__(self, question: str) -> None:
        super().__init__(
            discord.ui.Button(
                label="Ask more in a thread", custom_id=f"footnote:thread:{question}", style=discord.ButtonStyle.secondary
            )
        )
        self.question = question

    @classmethod
    async def from_custom_id(cls, _: discord.Interaction, _item: discord.ui.Item[Any], match: re.Match[str], /) -> Self:
        return cls(match["question"])

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        return is_listening(interaction) and await listener_of(interaction).may_use(interaction)

    async def callback(self, interaction: discord.Interaction) -> None:
        await _carry_out(interaction, listener_of(interaction).opened(interaction, self.question))


async def _carry_out(interaction: discord.Interaction, work: Awaitable[None]) -> None:
    try:
        await work
    except Exception as error:  # noqa: BLE001 - told, and logged
        await tell_failure(interaction, error)


def is_listening(interaction: discord.Interaction) -> bool:
    return getattr(interaction.client, "listener", None) is not None


def listener_of(interaction: discord.Interaction) -> Listener:
    listener: Listener | None = getattr(interaction.client, "listener", None)
    assert listener is not None  # noqa: S101 - see is_listening
    return listener


def below(question: str, *, thread: bool) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for verdict in VERDICTS:
        view.add_item(Verdict(verdict, question))
    if thread:
        view.add_item(GoOn(question))
    return view


def question_of(components: Sequence[object]) -> str:
    """The question whose answer a message shows, by its buttons; "" where it has none of ours."""
    for row in components:
        for child in getattr(row, "children", ()):
            if found := _OURS.fullmatch(getattr(child, "custom_id", None) or ""):
                return found[1]
    return ""
