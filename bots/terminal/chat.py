"""Talk in the terminal: the answer grows, then stands with its sources."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from rich.live import Live
from rich.text import Text

from bots.commands import counted, progressing, sources_of, summary
from bots.terminal.render import as_text, growing, show
from bots.terminal.trace import print_run
from bots.terminal.wording import visible
from rag.errors import FootnoteError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.status import Status

    from rag.conversation import Conversation
    from rag.ports import Catalog, Memory, OnProgress, PassageIndex
    from rag.types import Answer, Progress, Thread

HELP = """\
Ask a question in any language; ask on in the same thread, and it is understood.
/reindex     bring the index up to date
/sources     what is indexed
/trace       how the last answer came about; /trace ID how that one did; /trace --full with the prompts
/forget      forget this thread
/help        this
/quit        leave, as Ctrl-D does"""
FULL = "--full"


class Assembled(Protocol):
    """What a chat needs of the running system."""

    conversation: Conversation
    memory: Memory
    catalog: Catalog
    index: PassageIndex

    @property
    def names(self) -> Sequence[str]: ...

    async def bring_up_to_date(self, base: str, on_progress: OnProgress | None = None) -> Progress: ...


class Input(Protocol):
    async def next(self) -> str | None:
        """The next line; None at the end."""
        ...


async def ask_once(conversation: Conversation, thread: Thread, text: str, console: Console, *, quiet: bool = False) -> Answer:
    """Ask, show the answer as it grows where that can be seen, then the whole of it."""
    if quiet:
        return await conversation.reply(thread, text)
    if not console.is_terminal:
        answer = await conversation.reply(thread, text)
        console.print(Text(as_text(answer)), soft_wrap=True)
        return answer
    with Live(Text("searching …", style="dim"), console=console, transient=True, refresh_per_second=12) as live:
        answer = await conversation.reply(thread, text, lambda draft: live.update(growing(draft, console.height)))
    show(answer, console)
    return answer


class Chat:
    def __init__(self, footnote: Assembled, thread: Thread, console: Console, lines: Input, *, interactive: bool) -> None:
        self._footnote = footnote
        self._thread = thread
        self._console = console
        self._lines = lines
        self._interactive = interactive
        self._first = True
        self._commands = {
            "/reindex": self._reindex,
            "/sources": self._sources,
            "/trace": self._trace,
            "/forget": self._forget,
            "/help": self._help,
        }

    async def run(self) -> None:
        """Until the input ends. A question that fails is said so, and the talk goes on."""
        if self._interactive:
            await self._greet()
        while (line := await self._lines.next()) is not None:
            said = line.strip()
            if said in {"/quit", "/exit"}:
                return
            if said:
                self._separate()
                await self._take(said)

    def _separate(self) -> None:
        """In a pipe, an empty line between one answer and the next."""
        if not self._interactive and not self._first:
            self._console.print()
        self._first = False

    async def _take(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        try:
            if word in self._commands:
                await self._commands[word](rest.strip())
            elif word.startswith("/") and word[1:].isalpha():
                self._say(f"There is no {word}. /help lists what there is.")
            else:
                await ask_once(self._footnote.conversation, self._thread, line, self._console)
        except FootnoteError as error:
            self._say(f"{error.user_message}\n({error})")

    def _say(self, text: str) -> None:
        self._console.print(Text(visible(text)), soft_wrap=True)

    async def _greet(self) -> None:
        for base in self._footnote.names:
            self._say((await sources_of(self._footnote.index, self._footnote.catalog, base)).headline)
        turns = await self._footnote.memory.recall(self._thread, 1000)
        if turns:
            self._say(f"Thread {self._thread.id} goes on with its {counted(len(turns), 'turn')}; /forget begins anew.")
        self._say("Ask a question, or /help.")

    async def _help(self, _: str) -> None:
        self._say(HELP)

    async def _reindex(self, _: str) -> None:
        for base in self._footnote.names:
            try:
                await self._reindex_base(base)
            except FootnoteError as error:  # the other bases are brought up to date all the same
                self._say(str(error))

    async def _reindex_base(self, base: str) -> None:
        if self._console.is_terminal:
            with self._console.status(f"indexing {base} …") as status:
                progress = await self._footnote.bring_up_to_date(base, partial(show_progress, status))
        else:
            progress = await self._footnote.bring_up_to_date(base)
        for problem in progress.problems:
            self._say(f"not indexed: {problem.document}: {problem.reason}")
        self._say(summary(progress))

    async def _sources(self, _: str) -> None:
        for base in self._footnote.names:
            known = await sources_of(self._footnote.index, self._footnote.catalog, base)
            self._say(known.headline)
            for entry in known.entries:
                self._say(f"  {entry.document}: {entry.title}, {counted(entry.passages, 'passage')}")
            for problem in known.problems:
                self._say(f"  not indexed: {problem.document}: {problem.reason}")

    async def _trace(self, rest: str) -> None:
        words = [word for word in rest.split() if word != FULL]
        memory = self._footnote.memory
        found = await memory.run(words[0]) if words else await memory.last_run(self._thread)
        if found is None:
            self._say(f"There is no run {words[0]}." if words else "Nothing has been asked in this thread yet.")
        else:
            print_run(found, self._console, full=FULL in rest.split())

    async def _forget(self, _: str) -> None:
        turns = await self._footnote.memory.forget(self._thread)
        self._say(f"Forgot {counted(turns, 'turn')}." if turns else "There was nothing to forget.")


def show_progress(status: Status, now: Progress) -> None:
    status.update(progressing(now))
