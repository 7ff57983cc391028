"""Questions to processes that are killed at random moments, with everything else going wrong as well; and what came of it.

    python -m tests.harness.killing                                    one process on SQLite, 200 questions, 50 kills
    python -m tests.harness.killing --processes 2 --database postgresql://…   (postgresql alone: a temporary server)

Injected: events that come twice, rate limits, errors of Slack after it did what was asked, answers that are lost, sockets
that are cut. Counted in the end: final answers and apologies in each thread, their order, and what the model was paid for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from storage.database import Database
from tests.databases import _programs, _server
from tests.fakes.slack import FakeSlack
from tests.harness.worker import Orders, answer_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fakes.slack import Person, Said
    from tests.fakes.slack.state import Message

ROOT = Path(__file__).parents[2]
OFTEN = 1_000_000
APOLOGIES = ("Something went wrong", "I was away")
_NUMBER = re.compile(r"Answer to (q\d+):")


@dataclass(frozen=True, slots=True)
class Plan:
    database: str
    questions: int = 200
    threads: int = 20
    kills: int = 50
    processes: int = 1
    seed: int = 1
    minute: float = 4.0  # how long Slack's minute lasts: its limits, and its retries
    longest: float = 2.0  # seconds between two kills, after the process is connected
    pause: float = 20.0  # at most, before a thread's next question
    patience: float = 120.0


@dataclass(slots=True)
class Outcome:
    """What people see in the end, and what it cost."""

    questions: int = 0
    answers: int = 0
    apologies: int = 0
    missing: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)  # messages of ours that are neither
    disordered: int = 0  # threads
    still_open: int = 0  # streams
    paid: int = 0
    paid_though_stored: int = 0
    kills: int = 0
    duplicates: int = 0
    faults: int = 0
    cuts: int = 0
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return (
            self.answers + self.apologies == self.questions
            and not (self.missing or self.doubled or self.unfinished)
            and not any((self.disordered, self.still_open, self.paid_though_stored))
        )

    def __str__(self) -> str:
        return "\n".join(f"{name.replace('_', ' '):20} {value}" for name, value in asdict(self).items())


class Run:
    def __init__(self, plan: Plan, slack: FakeSlack, folder: Path) -> None:
        self._plan = plan
        self._slack = slack
        self._chances = random.Random(plan.seed)
        self._ann: Person = slack.workspace.person("Ann")
        self._paid = folder / "paid"
        self._log = (folder / "log").open("ab")
        self._processes: list[subprocess.Popen[bytes]] = []
        self._asked: dict[int, list[Said]] = {}
        self._outcome = Outcome()
        self._faults = 0

    async def go(self) -> Outcome:
        started = time.monotonic()
        self._trouble()
        for _ in range(self._plan.processes):
            self._processes.append(self._start())
        try:
            await self._slack.connected(self._plan.processes)
            asking = asyncio.create_task(self._ask())
            cutting = asyncio.create_task(self._cut())
            await self._kill(asking)
            await asking
            cutting.cancel()
            self._faults = sum(OFTEN - fault.times for fault in self._slack.faults.planned)
            self._slack.faults.planned.clear()
            await self._until_done()
        finally:
            for process in self._processes:
                process.kill()
                process.wait()
            self._log.close()
        self._outcome.seconds = round(time.monotonic() - started, 1)
        return self._counted()

    def _trouble(self) -> None:
        slack, often = self._slack, OFTEN
        slack.minute = self._plan.minute
        slack.faults.chances = random.Random(self._plan.seed)
        slack.faults.duplicates = 0.2
        for method in ("chat.startStream", "chat.appendStream", "chat.stopStream", "chat.postMessage", "chat.update"):
            slack.fails(method, often, "ratelimited", retry_after=1, chance=0.06)
            slack.fails(method, often, "internal_error", performed=True, chance=0.04)
            slack.fails(method, often, hang_up=True, performed=True, chance=0.04)
        slack.fails("conversations.replies", often, "ratelimited", retry_after=1, chance=0.05)

    def _start(self) -> subprocess.Popen[bytes]:
        orders = Orders(
            self._plan.database,
            self._slack.api_url,
            self._slack.workspace.token,
            self._slack.app.app_token,
            str(self._paid),
        )
        command = [sys.executable, "-m", "tests.harness.worker", json.dumps(asdict(orders))]
        return subprocess.Popen(command, cwd=ROOT, stdout=self._log, stderr=self._log)  # noqa: S603

    async def _ask(self) -> None:
        """All threads at once; a thread's next question comes once Slack knows that its last one was taken in."""
        async with asyncio.TaskGroup() as group:
            for thread in range(self._plan.threads):
                group.create_task(self._ask_in(thread))

    async def _ask_in(self, thread: int) -> None:
        said: list[Said] = []
        self._asked[thread] = said
        for n in range(thread, self._plan.questions, self._plan.threads):
            await asyncio.sleep(self._chances.random() * self._plan.pause)
            text = f"@{self._slack.workspace.bot.name} q{n}?"
            said.append(self._ann.says(text, thread=said[0] if said else None))
            await self._taken(said[-1])

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

    async def _cut(self) -> None:
        while True:
            await asyncio.sleep(1.0 + 3.0 * self._chances.random())
            self._outcome.cuts += 1
            await self._slack.drops_sockets(politely=self._chances.random() < 0.5)

    async def _kill(self, asking: asyncio.Task[None]) -> None:
        for _ in range(self._plan.kills):
            await asyncio.sleep(0.02 + self._plan.longest * self._chances.random())
            at = self._chances.randrange(len(self._processes))
            self._processes[at].kill()
            self._processes[at].wait()
            self._outcome.kills += 1
            self._processes[at] = self._start()
            alive = self._plan.processes - 1
            await self._slack.connected(alive + 1)
            if asking.done():
                asking.result()

    async def _until_done(self) -> None:
        until = time.monotonic() + self._plan.patience
        while time.monotonic() < until:
            outcome = self._counted()
            if outcome.answers + outcome.apologies >= self._plan.questions and not (outcome.still_open or outcome.unfinished):
                break
            await asyncio.sleep(0.5)
        await asyncio.sleep(2.0)  # in case something is said twice

    # --- counting ---------------------------------------------------------------------------------------------------

    def _counted(self) -> Outcome:
        outcome = Outcome(
            questions=self._plan.questions,
            kills=self._outcome.kills,
            cuts=self._outcome.cuts,
            seconds=self._outcome.seconds,
        )
        answered: Counter[str] = Counter()
        for said in self._asked.values():
            self._look(said, outcome, answered)
        outcome.doubled = sorted(name for name, times in answered.items() if times > 1)
        outcome.answers = sum(answered.values())
        outcome.missing = sorted({f"q{n}" for n in range(self._plan.questions)} - set(answered)) if not outcome.apologies else []
        outcome.duplicates = sum(one.attempts > 1 for one in self._slack.courier.deliveries)
        outcome.faults = self._faults
        for line in self._paid.read_text().splitlines() if self._paid.exists() else []:
            outcome.paid += 1
            outcome.paid_though_stored += json.loads(line)["stored"]
        return outcome

    def _look(self, said: list[Said], outcome: Outcome, answered: Counter[str]) -> None:
        order = []
        for message in self._ours(said[0]):
            shown = self._slack.workspace.shown(message)
            found = _NUMBER.search(shown)
            if message.stream and message.stream.open(self._slack.clock):
                outcome.still_open += 1
            elif found and shown.partition("\n")[0] == answer_to(found[1]):
                answered[found[1]] += 1
                order.append(int(found[1][1:]))
            elif shown.startswith(APOLOGIES):
                outcome.apologies += 1
            else:
                outcome.unfinished.append(f"{shown!r} {message.metadata}")
        outcome.disordered += order != sorted(order)

    def _ours(self, first: Said) -> list[Message]:
        bot = self._slack.workspace.bot
        return [one for one in first.channel.thread(first.message.root) if one.user is bot and not one.deleted]


async def killing(plan: Plan, folder: Path) -> Outcome:
    async with AsyncExitStack() as stack:
        async with Database(plan.database):
            pass  # the tables
        slack = await stack.enter_async_context(FakeSlack())
        return await Run(plan, slack, folder).go()


@contextmanager
def temporary_postgresql() -> Iterator[str]:
    programs = _programs()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed: give an address.")
    with _server(programs) as url:
        yield url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="")
    for name, number in (("questions", 200), ("threads", 20), ("kills", 50), ("processes", 1), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    given = vars(parser.parse_args())
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="footnote-killing-"))
        if given["database"] == "postgresql":
            given["database"] = stack.enter_context(temporary_postgresql())
        given["database"] = given["database"] or f"sqlite:///{folder}/footnote.db"
        outcome = asyncio.run(killing(Plan(**given), Path(folder)))
        print(outcome)  # noqa: T201 - what it is for
        print("good" if outcome.is_good else "BAD: see above")  # noqa: T201
        if not outcome.is_good:
            print((Path(folder) / "log").read_text()[-4000:], file=sys.stderr)  # noqa: T201
    raise SystemExit(not outcome.is_good)


if __name__ == "__main__":
    main()
