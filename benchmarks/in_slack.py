"""What Slack's side adds to an answer: to the first status, to the first text, and in processor time.

    python -m benchmarks.in_slack            fifty threads at once, a model of 30 tokens a second, then questions one after another

The bot runs in a process of its own over a real socket against the strict fake Slack of the tests; the model is scripted, so
that what is measured is ours: events, the desk, the database, the calls of Slack. The same is asked of the smallest bot that
slack-bolt can be (`benchmarks.bare_bolt`), by turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bare_bolt import bare
from benchmarks.reporting import Bar, machine, verdict
from benchmarks.talking import Model, Writing, noted, told
from bots.desk import DeskSettings
from bots.pacing import Pace
from bots.serving import serve
from storage.conversations import DatabaseMemory
from storage.database import Database
from tests.fakes.desks import desk_for
from tests.fakes.slack import FakeSlack
from tests.harness.slack import connected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fakes.slack import Said

ROOT = Path(__file__).parents[1]
UNLIMITED = 1_000_000
TURNS = 3


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
    bare: bool = False


async def work(orders: Orders) -> None:
    if orders.bare:
        text = Writing(orders.tokens, 0.0).whole
        await bare(orders.api_url, orders.bot_token, orders.app_token, orders.notes, text)
        return
    async with Database(orders.database) as database:
        model = Model(DatabaseMemory(database), Writing(orders.tokens, orders.per_second, orders.thinking))
        told = {"api_url": orders.api_url, "bot": orders.bot_token, "app": orders.app_token}
        async with connected(told, database) as slack:
            if not orders.limits:
                slack.surface._starts = defaultdict(lambda: Pace(UNLIMITED))  # noqa: SLF001 - what we add, not what Slack allows
                slack.surface._appends = defaultdict(lambda: Pace(UNLIMITED))  # noqa: SLF001
            with noted(Path(orders.notes), model):
                await serve([slack], desk_for(database, model, DeskSettings(at_once=orders.at_once)))


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
        command = [sys.executable, "-m", "benchmarks.in_slack", "--worker", json.dumps(asdict(orders))]
        process = subprocess.Popen(command, cwd=ROOT)  # noqa: S603, ASYNC220
        try:
            await slack.until(lambda: bool(slack.courier.sockets), seconds=120, what="a socket")
            people = [slack.workspace.person(f"P{n}") for n in range(min(questions, 50))]
            for n in range(questions):
                self.asked.append(Asked(people[n % len(people)].says(f"@Footnote q{n}?"), time.time()))
                if not at_once and n % 16 == 15:  # sixteen on the way
                    await self._answered(n - 16)
            await self._answered(questions - 1)
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, 60)
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


def p95(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


async def side_by_side(*, limits: bool = False, bare: bool = False) -> tuple[float, float]:
    """The p95 of both ways, in seconds; a bare bot streams nothing."""
    with tempfile.TemporaryDirectory() as folder:
        async with FakeSlack(limits=limits) as slack:
            bench = Bench(slack, Path(folder), tokens=60, per_second=30.0, limits=limits, bare=bare)
            await bench.run(50, at_once=True)
    how = "bare Bolt" if bare else "Slack's limits" if limits else "no limits"
    statuses, texts = bench.to_status(), bench.to_text()
    told(f"event to status, 50 at once, {how}", statuses)
    if texts:
        told(f"first token to first text, 50 at once, {how}", texts)
    return p95(statuses), p95(texts) if texts else 0.0


async def throughput(questions: int, *, streamed: bool = False, bare: bool = False) -> float:
    """Seconds of processor time for each question."""
    with tempfile.TemporaryDirectory() as folder:
        async with FakeSlack(limits=False) as slack:
            per_second = 1000.0 if streamed else 0.0
            bench = Bench(slack, Path(folder), tokens=60, per_second=per_second, thinking=0.0, at_once=16, bare=bare)
            await bench.run(questions, at_once=False)
    each = float(bench.notes["processor"]) / questions
    how = "bare Bolt" if bare else "streamed" if streamed else "posted whole"
    print(f"{f'questions a second on one core, {how}':60} {1 / each:6.1f}   ({each * 1000:.1f} ms of processor each)")
    return each


async def by_turns(questions: int) -> list[Bar]:
    """Of ours and of the bare bot the quickest of each, since other work on the machine only ever slows."""
    statuses, texts, bare_statuses, whole, bare_whole = [], [], [], [], []
    for _ in range(TURNS):
        bare_statuses.append((await side_by_side(bare=True))[0])
        for limits in (False, True):
            status, text = await side_by_side(limits=limits)
            statuses.append(status)
            texts.append(text)
        bare_whole.append(await throughput(questions, bare=True))
        whole.append(await throughput(questions))
    await throughput(questions, streamed=True)
    return [
        Bar("event to status, p95 in seconds, 50 at once", min(statuses), at_most=1.0),
        Bar("the same / bare Bolt's", min(statuses) / min(bare_statuses), at_most=3.0),
        Bar("first token to first text, p95 in seconds, 50 at once", min(texts), at_most=0.2),
        Bar("processor time of a question / bare Bolt's", min(whole) / min(bare_whole), at_most=3.0),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--questions", type=int, default=300)
    given = parser.parse_args()
    if given.worker:
        asyncio.run(work(Orders(**json.loads(given.worker))))
        return
    print(machine())
    verdict(asyncio.run(by_turns(given.questions)))


if __name__ == "__main__":
    main()
