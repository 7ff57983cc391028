"""All that the harness knows of Slack: a strict workspace with everything going wrong in it, and how a worker serves it."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bots.access import Rules
from bots.administering import Administration
from bots.slack.app import Keys, Office, Slack, SlackSettings
from bots.slack.app import connected as slack_connected
from bots.slack.intake import IntakeSettings
from storage.inbox import DatabaseInbox
from tests.fakes.slack import FakeSlack
from tests.harness.judging import Seen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from storage.database import Database
    from tests.fakes.slack import Said
    from tests.fakes.slack.state import Message

OFTEN = 1_000_000
LONG = 9_000  # characters of an answer that takes more than one message


class World:
    long = LONG

    def __init__(self, slack: FakeSlack, threads: int) -> None:
        self._slack = slack
        self._ann = slack.workspace.person("Ann")
        self._roots: list[Said | None] = [None] * threads
        self._faults = 0

    @property
    def told(self) -> dict[str, str]:
        """What a worker has to know."""
        return {"api_url": self._slack.api_url, "bot": self._slack.workspace.token, "app": self._slack.app.app_token}

    @property
    def counts(self) -> dict[str, int]:
        return {"duplicates": sum(one.attempts > 1 for one in self._slack.courier.deliveries), "faults": self._faults}

    def trouble(self, seed: int, minute: float) -> None:
        """Events that come twice, rate limits, errors after the work was done, answers that are lost."""
        slack = self._slack
        slack.minute = minute
        slack.faults.chances = random.Random(seed)
        slack.faults.duplicates = 0.2
        for method in ("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.postMessage", "chat.update"):
            slack.fails(method, OFTEN, "ratelimited", retry_after=1, chance=0.06)
            slack.fails(method, OFTEN, "internal_error", performed=True, chance=0.04)
            slack.fails(method, OFTEN, hang_up=True, performed=True, chance=0.04)
        slack.fails("conversations.replies", OFTEN, "ratelimited", retry_after=1, chance=0.05)

    def calm(self) -> None:
        planned = self._slack.faults.planned
        self._faults += sum(OFTEN - fault.times for fault in planned)
        planned.clear()

    async def connected(self, processes: int, seconds: float) -> None:
        await self._slack.until(lambda: len(self._slack.courier.sockets) >= processes, seconds=seconds, what="a socket")

    async def cut(self, *, politely: bool) -> None:
        await self._slack.drops_sockets(politely=politely)

    async def ask(self, thread: int, name: str, claimed: object) -> None:  # noqa: ARG002 - for platforms that do not know
        """Returns once Slack knows that it was taken in."""
        said = self._ann.says(f"@{self._slack.workspace.bot.name} {name}?", thread=self._roots[thread])
        self._roots[thread] = self._roots[thread] or said
        await self._taken(said)

    async def _taken(self, said: Said) -> None:
        """What Slack gives up on after three retries it tells again an hour later (Delayed Events); here sooner."""
        courier = self._slack.courier
        mine = [one for one in courier.deliveries if one.kind == "events_api" and one.body["event"].get("ts") == said.ts]
        while not any(one.acknowledged for one in mine):
            for one in mine:
                if one.lost and courier.sockets:
                    one.lost = False
                    courier.again(one)
            await asyncio.sleep(0.05)

    def seen(self, names: Mapping[str, str]) -> list[list[Seen]]:
        """By thread. `names` tells the question that an id stands for."""
        return [[self._seen(message, names) for message in self._ours(root)] for root in self._roots]

    def _ours(self, root: Said | None) -> list[Message]:
        bot = self._slack.workspace.bot
        thread = root.channel.thread(root.message.root) if root else []
        return [message for message in thread if message.user is bot]

    def _seen(self, message: Message, names: Mapping[str, str]) -> Seen:
        about: Any = (message.metadata or {}).get("event_payload") or {}
        texts = [block["text"] for block in message.blocks if block["type"] == "markdown"]
        is_open = message.stream is not None and message.stream.open(self._slack.clock)
        return Seen(names.get(str(about.get("question")), ""), "\n".join(texts) or message.text, is_open)


@asynccontextmanager
async def world(threads: int) -> AsyncIterator[World]:
    async with FakeSlack() as slack:
        yield World(slack, threads)


@asynccontextmanager
async def connected(told: Mapping[str, str], database: Database) -> AsyncIterator[Slack]:
    """For a worker."""
    nothing: Any = None  # no commands are given
    office = Office(DatabaseInbox(database), Administration(nothing), lambda _place: ())
    settings = SlackSettings(IntakeSettings(Rules()), api_url=told["api_url"])
    async with slack_connected(Keys(told["bot"], told["app"]), settings, office) as slack:
        yield slack
