"""The `footnote` command."""

from bots.cli.app import main

__all__ = ["main"]
