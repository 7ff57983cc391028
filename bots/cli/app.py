"""The command line: one boundary, which turns an error into one sentence and an exit status."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console

from bots.cli.logs import set_up_logs
from config.assembly import assemble
from config.settings import load
from rag.errors import FootnoteError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from config.assembly import Footnote

Result = TypeVar("Result")

app = typer.Typer(
    name="footnote",
    help="Answers questions from your own documents, with footnotes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "terminal_width": 120},
)


def plain() -> bool:
    """Whether what we print is read by a program: then no colours, no bars."""
    return not sys.stdout.isatty()


def console() -> Console:
    return Console(soft_wrap=plain(), highlight=False)


def with_footnote(action: Callable[[Footnote], Awaitable[Result]], **given: Any) -> Result:
    """Assemble the system, do one thing with it, and close it."""

    async def go() -> Result:
        settings = load(**given)
        set_up_logs(settings.logging)
        async with assemble(settings) as footnote:
            return await action(footnote)

    return asyncio.run(go())


def main() -> None:
    try:
        app()
    except FootnoteError as error:
        print(f"footnote: {error}", file=sys.stderr)  # noqa: T201 - the one boundary
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone: nothing is left to say, and to whom
        raise SystemExit(0) from None


from bots.cli import asking, measuring, operating, supplying  # noqa: E402, F401 - they add their commands to `app`
