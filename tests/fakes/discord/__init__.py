"""A strict Discord on this machine: REST and gateway as discord.py speaks them."""

from tests.fakes.discord.server import FakeDiscord

__all__ = ["FakeDiscord"]
