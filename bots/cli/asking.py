"""`footnote ask` and `footnote chat`."""

from __future__ import annotations

import json
import sys
import uuid
from typing import TYPE_CHECKING, Annotated

import typer

from bots.cli.app import app, console, plain, with_footnote
from bots.terminal.chat import Chat, ask_once
from bots.terminal.render import as_json
from bots.terminal.trace import print_run
from rag.errors import BadQuestion
from rag.types import Place, Thread

if TYPE_CHECKING:
    from config.assembly import Footnote

TERMINAL = Place("terminal")
ThreadOption = Annotated[str, typer.Option("--thread", help="The thread to go on with; without it, each `ask` is a new one.")]


@app.command("ask")
def ask(
    question: Annotated[str, typer.Argument(help="The question; without one, questions are read from the pipe, one a line.")] = "",
    *,
    thread: ThreadOption = "",
    as_object: Annotated[bool, typer.Option("--json", help="Print one JSON object for each question.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show how the answer came about.")] = False,
) -> None:
    """Ask one question, and get one answer with its sources."""
    questions = [question] if question.strip() else [line.strip() for line in piped() if line.strip()]
    if not questions:
        raise BadQuestion('There is no question. Ask one: footnote ask "How do I …?"')

    async def answer(footnote: Footnote) -> None:
        await footnote.check()
        for text in questions:
            where = Thread(TERMINAL, thread or f"ask-{uuid.uuid4()}")
            given = await ask_once(footnote.conversation, where, text, console(), quiet=as_object)
            if as_object:
                print(json.dumps(as_json(given), ensure_ascii=False))  # noqa: T201 - for programs
            run = await footnote.memory.run(given.run) if trace else None
            if run:
                print_run(run, console())

    with_footnote(answer)


def piped() -> list[str]:
    return [] if sys.stdin.isatty() else sys.stdin.read().splitlines()


@app.command("chat")
def chat(*, thread: ThreadOption = "main") -> None:
    """Talk with the documents: the thread is remembered, also tomorrow. /help lists what else can be said."""

    async def talk(footnote: Footnote) -> None:
        await footnote.check()
        await Chat(footnote, Thread(TERMINAL, thread), console(), interactive=sys.stdin.isatty() and not plain()).run()

    with_footnote(talk)
