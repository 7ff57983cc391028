"""`footnote ask` and `footnote chat`."""

from __future__ import annotations

import json
import sys
import uuid
from typing import TYPE_CHECKING, Annotated

import typer

from bots.cli.app import app, console, plain, say_error, with_footnote
from rag.errors import BadQuestion, FootnoteError
from rag.types import Place, Thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from config.assembly import Footnote

TERMINAL = Place("terminal")
ThreadOption = Annotated[str, typer.Option("--thread", help="The thread to go on with; without it, each question is a new one.")]
ChatThreadOption = Annotated[str, typer.Option("--thread", help="The thread to go on with, or a new one by that name.")]


@app.command("ask")
def ask(
    question: Annotated[str, typer.Argument(help="The question; without one, questions are read from the pipe, one a line.")] = "",
    *,
    thread: ThreadOption = "",
    as_object: Annotated[bool, typer.Option("--json", help="Print one JSON object for each question.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show how the answer came about.")] = False,
    full: Annotated[bool, typer.Option("--full", help="With --trace: prompts, too, and every passage that was found.")] = False,
) -> None:
    """Ask one question, and get one answer with its sources."""

    async def answer(footnote: Footnote) -> bool:
        await footnote.check()
        asking = Asking(footnote, thread, as_object=as_object, trace=trace or full, full=full)
        if question.strip():
            await asking.one(question)
            return True
        return await asking.all(piped())

    if not with_footnote(answer):
        raise typer.Exit(1)


class Asking:
    """`footnote ask`, with its options."""

    def __init__(self, footnote: Footnote, thread: str, *, as_object: bool, trace: bool, full: bool) -> None:
        self._footnote = footnote
        self._thread = thread
        self._as_object = as_object
        self._trace = trace
        self._full = full

    async def one(self, text: str) -> None:
        from bots.terminal.chat import ask_once  # noqa: PLC0415 - loaded once there is something to show
        from bots.terminal.render import as_json  # noqa: PLC0415
        from bots.terminal.trace import print_run  # noqa: PLC0415

        where = Thread(TERMINAL, self._thread or f"ask-{uuid.uuid4()}")
        answer = await ask_once(self._footnote.conversation, where, text, console(), quiet=self._as_object)
        if self._as_object:
            print(json.dumps(as_json(answer), ensure_ascii=False), flush=True)  # noqa: T201 - for programs
        run = await self._footnote.memory.run(answer.run) if self._trace else None
        if run:
            print_run(run, console(stderr=self._as_object), full=self._full)

    async def all(self, questions: AsyncIterator[str]) -> bool:
        """One after the other; one that fails is said so, and the rest are asked. Whether all were answered."""
        asked, failed = 0, 0
        async for text in questions:
            if not text.strip():
                continue
            if asked and not self._as_object:
                console().print()
            asked += 1
            try:
                await self.one(text)
            except FootnoteError as error:
                failed += 1
                say_error(error)
                if self._as_object:
                    print(json.dumps({"error": str(error)}, ensure_ascii=False), flush=True)  # noqa: T201 - one a question
        if not asked:
            raise BadQuestion('There is no question. Ask one: footnote ask "How do I …?"')
        return not failed


async def piped() -> AsyncIterator[str]:
    from bots.terminal.lines import Lines  # noqa: PLC0415

    if sys.stdin is None or sys.stdin.isatty():
        return
    with Lines() as lines:
        while (line := await lines.next()) is not None:
            yield line


@app.command("chat")
def chat(*, thread: ChatThreadOption = "main") -> None:
    """Talk with the documents: the thread is remembered, also tomorrow. /help lists what else can be said."""

    async def talk(footnote: Footnote) -> None:
        import asyncio  # noqa: PLC0415

        from bots.terminal.chat import Chat  # noqa: PLC0415
        from bots.terminal.lines import Lines  # noqa: PLC0415

        await footnote.check()
        interactive = sys.stdin is not None and sys.stdin.isatty() and not plain()
        warming = asyncio.create_task(footnote.warm())  # while the first question is being typed
        try:
            with Lines(prompt="\n> " if interactive else None) as lines:
                await Chat(footnote, Thread(TERMINAL, thread), console(), lines, interactive=interactive).run()
        finally:
            warming.cancel()
            await asyncio.gather(warming, return_exceptions=True)

    with_footnote(talk)
