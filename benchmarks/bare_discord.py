"""What `benchmarks.in_discord` compares with: the smallest bot that discord.py can be, on the same fake server. It says that it
thinks and then a fixed text, remembers nothing, looks nothing up, and answers whatever it hears."""

from __future__ import annotations

import asyncio
import signal

import discord
from discord import app_commands

from bots.discord.app import point_at, without_voice


async def bare(api_url: str, token: str, text: str) -> None:
    without_voice()
    await point_at(api_url, token)
    client = discord.Client(intents=discord.Intents(guilds=True), guild_ready_timeout=0.05)
    tree = app_commands.CommandTree(client)

    @tree.command(name="ask", description="Ask.")
    async def _(interaction: discord.Interaction, question: str) -> None:  # noqa: ARG001 - as it is asked
        await interaction.response.defer(thinking=True)
        await interaction.edit_original_response(content=text)

    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with client:
        await client.login(token)
        await tree.sync()
        connection = asyncio.create_task(client.connect())
        await ended.wait()
        await client.close()
        await connection
