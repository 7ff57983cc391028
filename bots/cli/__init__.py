"""The `footnote` command."""

from __future__ import annotations

import gc


def main() -> None:
    """Nothing else is imported before Ctrl-C is ours: it ends the program without a word, whenever it comes."""
    gc.disable()  # until all is loaded: what is loaded stays, and looking for garbage in it takes a tenth of the start
    try:
        from bots.cli.commands import main as run  # noqa: PLC0415 - see above

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
