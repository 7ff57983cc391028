"""One process of Footnote in Slack whose answers are scripted: what a model is paid for is written where no kill takes it.

Started by `tests.harness.killing`, with everything it needs to know as one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bots.access import AskingLimits, LimitSettings, Rules
from bots.administering import Administration
from bots.desk import Desk, DeskSettings
from bots.serving import serve
from bots.slack.app import Keys, Office, SlackSettings, connected
from bots.slack.intake import IntakeSettings
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from tests.fakes.surfaces import ScriptedCore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bots.delivery import Surface
    from rag.ports import OnDraft
    from rag.types import Answer, Thread

NO_LIMITS = LimitSettings(4000, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Orders:
    database: str
    api_url: str
    bot_token: str
    app_token: str
    paid: str  # the file that tells what the model was paid for
    drafts: int = 6
    seconds: float = 0.2  # between two drafts
    lease: float = 2.0


class PaidCore(ScriptedCore):
    """Says "Answer to …", in several drafts. Before each answer it notes whether one was stored already."""

    def __init__(self, memory: DatabaseMemory, inbox: DatabaseInbox, orders: Orders) -> None:
        super().__init__(memory, lambda text: answer_to(text.strip("?")))
        self._inbox = inbox
        self._orders = orders

    async def reply(self, thread: Thread, text: str, on_draft: OnDraft | None = None, *, question: str = "", **more: Any) -> Answer:
        stored = await self._inbox.answer(question) is not None
        write_down(Path(self._orders.paid), {"question": question, "stored": stored})
        said = self.say(text)
        assert isinstance(said, str)
        for n in range(1, self._orders.drafts + 1):
            if on_draft:
                on_draft(said[: len(said) * n // self._orders.drafts])
            await asyncio.sleep(self._orders.seconds)
        return await super().reply(thread, text, None, question=question, **more)


def answer_to(name: str) -> str:
    return f"Answer to {name}: all of it stands in the handbook, word by word, and nothing of it twice."


def write_down(path: Path, line: Mapping[str, object]) -> None:
    """In one piece, from however many processes."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, (json.dumps(line) + "\n").encode())
    finally:
        os.close(file)


async def work(orders: Orders) -> None:
    async with Database(orders.database) as database:
        inbox, memory = DatabaseInbox(database), DatabaseMemory(database)
        core = PaidCore(memory, inbox, orders)
        settings = SlackSettings(IntakeSettings(Rules()), api_url=orders.api_url)
        nothing: Any = None  # no commands are given
        office = Office(inbox, Administration(nothing), lambda _place: ())

        def desk(surfaces: Mapping[str, Surface[Any]]) -> Desk:
            return Desk(
                inbox=inbox,
                memory=memory,
                conversation=core,
                surfaces=surfaces,
                limits=AskingLimits(inbox, NO_LIMITS),
                settings=DeskSettings(lease_seconds=orders.lease, sweep_seconds=0.3, drain_seconds=5.0, attempts=1_000),
            )

        async with connected(Keys(orders.bot_token, orders.app_token), settings, office) as slack:
            await serve([slack], desk)


def main(arguments: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the harness ends us
    asyncio.run(work(Orders(**json.loads(arguments[0]))))


if __name__ == "__main__":
    main(sys.argv[1:])
