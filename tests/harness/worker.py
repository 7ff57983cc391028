"""One process of Footnote whose answers are scripted: what a model is paid for is written where no kill takes it.

Started by `tests.harness.killing`, with everything it needs to know as one JSON object. Knows no platform: `tests.harness.slack`
and its like do.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bots.access import LimitSettings
from bots.desk import Desk, DeskSettings
from bots.serving import serve
from rag.errors import ModelTimeout
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from tests.fakes.desks import desk_for
from tests.fakes.surfaces import ScriptedCore
from tests.harness.broken import broken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag.ports import OnDraft
    from rag.types import Answer, Thread

NO_LIMITS = LimitSettings(4000, 0, 0, 0, 0)
EVERY, FAILING = 10, 20  # which answers are long, and at which the model fails


@dataclass(frozen=True, slots=True)
class Orders:
    platform: str
    world: Mapping[str, str]  # what the platform's own part must know
    database: str
    calls: str  # the file that tells what the model was paid for
    worker: int = 0
    long: int = 9_000  # characters of a long answer
    drafts: int = 6
    seconds: float = 0.2  # between two drafts
    lease: float = 2.0
    broken: str = ""


class PaidCore(ScriptedCore):
    """Says "Answer to …", in several drafts. Before each answer it notes whether one was stored already."""

    def __init__(self, memory: DatabaseMemory, inbox: DatabaseInbox, orders: Orders) -> None:
        super().__init__(memory, lambda text: answer_to(text.strip("?"), orders.long) or ModelTimeout("It took too long."))
        self._inbox = inbox
        self._orders = orders

    async def reply(self, thread: Thread, text: str, on_draft: OnDraft | None = None, *, question: str = "", **more: Any) -> Answer:
        call = uuid4().hex
        stored = await self._inbox.answer(question) is not None
        self._tell(call=call, name=text.strip("?"), worker=self._orders.worker, stored=stored)
        try:
            said = answer_to(text.strip("?"), self._orders.long) or "An answer that breaks off, since the model "
            for n in range(1, self._orders.drafts + 1):
                if on_draft:
                    on_draft(said[: len(said) * n // self._orders.drafts])
                await asyncio.sleep(self._orders.seconds)
            answer = await super().reply(thread, text, None, question=question, **more)
        except asyncio.CancelledError:
            self._tell(call=call, end="stopped")
            raise
        except ModelTimeout:
            self._tell(call=call, end="failed")
            raise
        self._tell(call=call, end="answered")
        return answer

    def _tell(self, **line: object) -> None:
        """In one piece, from however many processes."""
        file = os.open(self._orders.calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, (json.dumps({**line, "at": time.time()}) + "\n").encode())
        finally:
            os.close(file)


def answer_to(name: str, long: int) -> str:
    """ "" where the model fails: then an apology is what must be seen."""
    if int(name.lstrip("q")) % FAILING == FAILING - 7:
        return ""
    answer = f"Answer to {name}: all of it stands in the handbook, word by word, and nothing of it twice."
    if int(name.lstrip("q")) % EVERY != EVERY - 1:
        return answer
    lines = (f"Line {n} of the answer to {name} says what line {n} of the handbook says." for n in range(long))
    while len(answer) < long:
        answer += f"\n{next(lines)}"
    return answer


async def work(orders: Orders) -> None:
    platform: Any = import_module(f"tests.harness.{orders.platform}")
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(orders.database))
        kind, core = broken(orders.broken, Desk, PaidCore(DatabaseMemory(database), DatabaseInbox(database), orders))
        settings = DeskSettings(lease_seconds=orders.lease, sweep_seconds=0.3, drain_seconds=5.0, attempts=1_000)
        served = await stack.enter_async_context(platform.connected(orders.world, database))
        await serve([served], desk_for(database, core, settings, kind))


def main(arguments: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the harness ends us
    asyncio.run(work(Orders(**json.loads(arguments[0]))))


if __name__ == "__main__":
    main(sys.argv[1:])
