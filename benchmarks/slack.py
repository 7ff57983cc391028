"""What Slack's side adds to an answer: to the first status, to the first text, and in processor time.

    python -m benchmarks.slack            fifty threads at once, a model of 30 tokens a second, then questions one after another

The bot runs in a process of its own over a real socket against the strict fake Slack of the tests; the model is scripted, so
that what is measured is ours: events, the desk, the database, the calls of Slack.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.talking import Model, Writing, noted, told
from bots.access import AskingLimits, LimitSettings, Rules
from bots.administering import Administration
from bots.desk import Desk, DeskSettings
from bots.pacing import Pace
from bots.serving import serve
from bots.slack.app import Keys, Office, SlackSettings, connected
from bots.slack.intake import IntakeSettings
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from tests.fakes.slack import FakeSlack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bots.delivery import Surface
    from tests.fakes.slack import Said

ROOT = Path(__file__).parents[1]
UNLIMITED = 1_000_000


@dataclass(frozen=True, slots=True)
class Orders:
    database: str
    api_url: str
    bot_token: str
    app_token: str
    notes: str
    tokens: int
    per_second: float  # 0: all at once
    thinking: float = 0.3  # seconds before the first token
    limits: bool = False
    at_once: int = 64


async def work(orders: Orders) -> None:
    async with Database(orders.database) as database:
        inbox, memory = DatabaseInbox(database), DatabaseMemory(database)
        model = Model(memory, Writing(orders.tokens, orders.per_second, orders.thinking))
        nothing: Any = None  # no commands are given
        office = Office(inbox, Administration(nothing), lambda _place: ())
        settings = SlackSettings(IntakeSettings(Rules()), api_url=orders.api_url)
        limits = AskingLimits(inbox, LimitSettings(4000, 0, 0, 0, 0))

        def desk(surfaces: Mapping[str, Surface[Any]]) -> Desk:
            return Desk(
                inbox=inbox,
                memory=memory,
                conversation=model,
                surfaces=surfaces,
                limits=limits,
                settings=DeskSettings(at_once=orders.at_once),
            )

        async with connected(Keys(orders.bot_token, orders.app_token), settings, office) as slack:
            if not orders.limits:
                slack.surface._starts = defaultdict(lambda: Pace(UNLIMITED))  # noqa: SLF001 - what we add, not what Slack allows
                slack.surface._appends = defaultdict(lambda: Pace(UNLIMITED))  # noqa: SLF001
            with noted(Path(orders.notes), model):
                await serve([slack], desk)


@dataclass(slots=True)
class Asked:
    said: Said
    at: float


class Bench:
    def __init__(self, slack: FakeSlack, folder: Path, **more: Any) -> None:
        self._slack = slack
        self._folder = folder
        self._more = more
        self.asked: list[Asked] = []
        self.notes: dict[str, Any] = {}

    async def run(self, questions: int, *, at_once: bool) -> None:
        slack = self._slack
        orders = Orders(
            f"sqlite:///{self._folder}/footnote.db",
            slack.api_url,
            slack.workspace.token,
            slack.app.app_token,
            str(self._folder / "notes"),
            **self._more,
        )
        command = [sys.executable, "-m", "benchmarks.slack", "--worker", json.dumps(asdict(orders))]
        process = subprocess.Popen(command, cwd=ROOT)  # noqa: S603, ASYNC220
        try:
            await slack.connected()
            people = [slack.workspace.person(f"P{n}") for n in range(min(questions, 50))]
            for n in range(questions):
                self.asked.append(Asked(people[n % len(people)].says(f"@Footnote q{n}?"), time.time()))
                if not at_once and n % 16 == 15:  # sixteen on the way
                    await self._answered(n - 16)
            await self._answered(questions - 1)
        finally:
            process.terminate()
            process.wait()
        self.notes = json.loads((self._folder / "notes").read_text())

    async def _answered(self, last: int) -> None:
        await self._slack.until(
            lambda: all(any(one.finished for one in each.said.replies) for each in self.asked[: last + 1]), seconds=300
        )

    def to_status(self) -> list[float]:
        at = {each.said.ts: each.at for each in self.asked}
        shown = {root: when for _, root, text, when in reversed(self._slack.statuses) if text}
        return [shown[root] - at[root] for root in at if root in shown]

    def to_text(self) -> list[float]:
        """From the model's first token to the request that starts the stream."""
        started = {call.arguments["thread_ts"]: call.at for call in reversed(self._slack.calls_of("chat.startStream"))}
        firsts = self.notes["firsts"]
        return [
            started[each.said.ts] - firsts[name]
            for each in self.asked
            if each.said.ts in started and (name := _name(each)) in firsts
        ]


def _name(asked: Asked) -> str:
    return asked.said.text.rpartition(" ")[2]


async def side_by_side(*, limits: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with FakeSlack(limits=limits) as slack:
            bench = Bench(slack, Path(folder), tokens=60, per_second=30.0, limits=limits)
            await bench.run(50, at_once=True)
            how = "Slack's limits" if limits else "no limits"
            told(f"event to status, 50 at once, {how}", bench.to_status())
            told(f"first token to first text, 50 at once, {how}", bench.to_text())
            print(f"{'processor time for each':55} {bench.notes['processor'] / 50 * 1000:6.1f} ms")


async def throughput(questions: int, *, streamed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with FakeSlack(limits=False) as slack:
            bench = Bench(slack, Path(folder), tokens=60, per_second=1000.0 if streamed else 0.0, thinking=0.0, at_once=16)
            await bench.run(questions, at_once=False)
            each = bench.notes["processor"] / questions
            how = "streamed" if streamed else "posted whole"
            print(f"{f'questions a second on one core, {how}':55} {1 / each:6.1f}   ({each * 1000:.1f} ms of processor each)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--questions", type=int, default=300)
    given = parser.parse_args()
    if given.worker:
        asyncio.run(work(Orders(**json.loads(given.worker))))
        return
    asyncio.run(side_by_side(limits=False))
    asyncio.run(side_by_side(limits=True))
    asyncio.run(throughput(given.questions, streamed=False))
    asyncio.run(throughput(given.questions, streamed=True))


if __name__ == "__main__":
    main()
