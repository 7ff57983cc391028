"""The `footnote` command."""

from __future__ import annotations


def main() -> None:
    """Nothing else is imported before Ctrl-C is ours: it ends the program without a word, whenever it comes."""
    try:
        from bots.cli.commands import main as run  # noqa: PLC0415 - see above

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
