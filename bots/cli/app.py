"""The command line: one boundary, which turns an error into one sentence and an exit status."""

from __future__ import annotations

import gc
import os
import sys
from importlib.metadata import version
from logging import getLogger
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.segment import Segment

from bots.terminal.wording import visible
from rag.errors import FootnoteError, RunCancelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator

    from rich.console import ConsoleOptions, RenderableType
    from rich.text import Text

    from config.assembly import Footnote

log = getLogger(__name__)

Result = TypeVar("Result")

PIPE_WIDTH = 150  # columns of a table that is read from a pipe or a file
INTERRUPTED = 130

app = typer.Typer(
    name="footnote",
    help="Answers questions from your own documents, with footnotes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def say_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it
    if asked:
        print(f"footnote {version('footnote')}")  # noqa: T201 - asked for
        raise typer.Exit


@app.callback()
def with_options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", is_eager=True, callback=say_version)
    ] = False,
) -> None:
    pass


def plain() -> bool:
    """Whether what we print is read by a program: then no colours, no bars."""
    return not sys.stdout.isatty()


class Interrupted(RunCancelled):
    """By whoever sits at the terminal, or by the system; what it says is shown, and the status tells who."""

    def __init__(self, sentence: str, number: int) -> None:
        super().__init__(sentence)
        self.status = 128 + number


class SafeConsole(Console):
    """Whatever is shown: nothing of it is obeyed by the terminal but what this library itself says."""

    def render_str(self, text: str, **how: Any) -> Text:
        """Before the library takes out a part of an escape sequence, which leaves the rest."""
        return super().render_str(visible(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            text = segment.text
            is_harmless = segment.control or (text.isascii() and text.isprintable())
            yield segment if is_harmless else Segment(visible(text), segment.style)


def console(*, stderr: bool = False) -> Console:
    to_program = not sys.stderr.isatty() if stderr else plain()
    return SafeConsole(
        stderr=stderr, soft_wrap=to_program, highlight=False, markup=False, emoji=False, width=PIPE_WIDTH if to_program else None
    )


def say_aside(text: str) -> None:
    """On standard error: titles, names and reasons may hold anything."""
    print(visible(text), file=sys.stderr, flush=True)  # noqa: T201 - the one place for it


def say_error(error: FootnoteError) -> None:
    say_aside(f"footnote: {error}")


def with_footnote(action: Callable[[Footnote], Awaitable[Result]], **given: Any) -> Result:
    """Assemble the system, do one thing with it, and close it."""
    # Loaded here: `--help` and a wrong option need none of it, and it takes a second.
    from bots.cli.logs import set_up_logs  # noqa: PLC0415
    from config.assembly import assemble  # noqa: PLC0415
    from config.settings import load  # noqa: PLC0415

    async def go() -> Result:
        settings = load(**given)
        set_up_logs(settings.logging)
        async with assemble(settings) as footnote:
            return await action(footnote)

    return run(go())


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Ctrl-C cancels the work, which then leaves all as it should be, and ends the program without a word."""
    import asyncio  # noqa: PLC0415 - see above

    gc.freeze()  # nor is what was loaded looked through later
    gc.enable()
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None  # before typer sees it, which has its own ideas


def main() -> None:
    take_any_text()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except FootnoteError as error:
        say_error(error)
        raise SystemExit(error.status if isinstance(error, Interrupted) else 1) from None
    except BrokenPipeError:
        # the reader of our output is gone: nothing is left to say, and the interpreter shall not try to at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except OSError as error:
        log.debug("unexpected", exc_info=True)
        where = f": {error.filename}" if error.filename else ""
        say_aside(f"footnote: {error.strerror or error}{where}.")
        raise SystemExit(1) from None
    except Exception as error:
        log.debug("unexpected", exc_info=True)
        told = " ".join(f"{type(error).__name__}: {error}".split())
        advice = "Please report it, with what FOOTNOTE_LOGGING__LEVEL=debug shows."
        say_aside(f"footnote: Something went wrong that should not ({told}). {advice}")
        raise SystemExit(1) from None


def take_any_text() -> None:
    """Whatever the locale, and whatever bytes come in or paths hold: nothing that is printed or read can fail over them.

    Where standard output or error is closed, what is printed there goes nowhere.
    """
    if sys.stdout is None or sys.stderr is None:
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - for as long as the program runs
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
