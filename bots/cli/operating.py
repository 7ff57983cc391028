"""Commands for the people who run Footnote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bots.cli.app import app, console, with_footnote
from rag.errors import BadQuestion
from rag.types import Place, Thread

if TYPE_CHECKING:
    from config.assembly import Footnote


@app.command("trace")
def trace(
    run: Annotated[str, typer.Argument(help="The id of a run, or the beginning of it; without one, the newest.")] = "",
    *,
    full: Annotated[bool, typer.Option("--full", help="Prompts, too, and every passage that was found.")] = False,
) -> None:
    """Show how an answer came about: history, queries, passages with their scores, citations."""

    async def show(footnote: Footnote) -> None:
        from bots.terminal.trace import print_run  # noqa: PLC0415 - loaded once there is something to show

        found = await footnote.memory.run(run) if run else await footnote.memory.last_run(None)
        if found is None:
            raise BadQuestion(f"There is no run {run!r}." if run else "Nothing has been asked yet.")
        print_run(found, console(), full=full)

    with_footnote(show)


@app.command("forget")
def forget(thread: Annotated[str, typer.Argument(help="The thread whose memory is deleted.")] = "main") -> None:
    """Delete what a thread of the terminal remembers."""

    async def delete(footnote: Footnote) -> None:
        from bots.commands import counted  # noqa: PLC0415 - loaded once there is something to show

        turns = await footnote.memory.forget(Thread(Place("terminal"), thread))
        console().print(f"Forgot {counted(turns, 'turn')} of thread {thread}." if turns else f"Thread {thread} held nothing.")

    with_footnote(delete)


@app.command("migrate")
def migrate() -> None:
    """Bring the database to this version's schema (every other command does so too)."""

    async def done(_: Footnote) -> None:
        console().print("The database is up to date.")

    with_footnote(done)
