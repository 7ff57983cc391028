"""What `footnote doctor` looks at of Discord, from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bots.discord.checks import Access, checks

if TYPE_CHECKING:
    from config.settings import Settings
    from rag.checking import Check


def discord_checks(settings: Settings) -> list[Check]:
    table, token = settings.discord, settings.discord_token
    return checks(
        Access(
            token=token.get_secret_value() if token else "",
            api_url=settings.discord_api_url,
            message_content=table.message_content,
            channels=table.channels,
            forums=table.forums,
            admins=table.admins,
            threads=table.threads != "never",
        )
    )
