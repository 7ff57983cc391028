"""A process that has just begun is not told yet what it may do: what it takes up is not given up over that (P3, D9)."""

from __future__ import annotations

from typing import Any

import discord
import pytest

from bots.discord.places import ReplyTo
from bots.discord.surface import DiscordSurface
from rag.errors import PostLater
from rag.types import Place, Question, Thread

CHANNEL: Any = {
    "id": "2",
    "type": 0,
    "name": "general",
    "position": 0,
    "permission_overwrites": [],
    "nsfw": False,
    "parent_id": None,
}


async def test_a_server_that_is_not_told_of_yet_is_waited_for() -> None:
    client = discord.Client(intents=discord.Intents(guilds=True))
    state: Any = client._connection
    state.user = discord.Object(9)
    guild = state._get_or_create_unavailable_guild(1)
    state._add_guild(guild)
    guild._add_channel(discord.TextChannel(state=state, guild=guild, data=CHANNEL))
    question = Question("1", Thread(Place("discord", "1", "2"), "2"), "how?", reply_to=ReplyTo(2).stored())

    with pytest.raises(PostLater, match="has not told yet"):
        await DiscordSurface(client).reach(question)
