"""Questions to processes that are killed at random moments, with everything else going wrong as well; and what came of it.

    python -m tests.harness.killing                                    one process on SQLite, 200 questions, 50 kills
    python -m tests.harness.killing --platform discord                 the same there: commands too, resumed and lost sessions
    python -m tests.harness.killing --processes 2 --database postgresql://…   (postgresql alone: a temporary server)

Injected by the platform's part (`tests.harness.slack`, `.discord`): events that come twice, rate limits, errors of the platform
after it did what was asked, answers that are lost, connections that are cut. Processes stand still now and then, for longer than
their leases. In the end `tests.harness.judging` judges what people see.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import func, select

from storage.database import Database
from storage.schema import questions
from tests.databases import installed_postgres, postgres_in
from tests.harness.judging import Evidence, Seen, Verdict, calls_in, judge
from tests.harness.worker import Orders, answer_to, work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

ROOT = Path(__file__).parents[2]
START_SECONDS = 120.0  # for a process to connect, on a machine that has other things to do


@dataclass(frozen=True, slots=True)
class Plan:
    database: str
    platform: str = "slack"
    questions: int = 200
    threads: int = 20
    kills: int = 50
    processes: int = 1
    seed: int = 1
    minute: float = 4.0  # how long the platform's minute lasts: its limits, and its retries
    longest: float = 2.0  # seconds between two kills, after the process is connected
    pause: float = 20.0  # at most, before a thread's next question
    patience: float = 120.0
    still: float = 4.0  # seconds at most that a process gets no turn, now and then; its lease is shorter
    trouble: bool = True
    inside: bool = False  # in this process, where there is nothing to kill
    broken: str = ""  # a desk that does wrong, for tests of the judge


class World(Protocol):
    """A strict fake of a platform, and everything that goes wrong in it."""

    long: int

    @property
    def told(self) -> Mapping[str, str]: ...

    @property
    def counts(self) -> Mapping[str, int]: ...

    def trouble(self, seed: int, minute: float) -> None: ...

    def calm(self) -> None: ...

    async def connected(self, processes: int, seconds: float) -> None: ...

    async def cut(self, *, politely: bool) -> None: ...

    async def ask(self, thread: int, name: str, claimed: Callable[[], Awaitable[bool]]) -> None:
        """Returns once it was taken in, as `claimed` says: what is asked next in a thread comes after it."""
        ...

    def seen(self, names: Mapping[str, str]) -> Sequence[Sequence[Seen]]:
        """What people see of ours, by thread, in order. `names` tells the question that an id stands for."""
        ...


@dataclass(slots=True)
class Outcome:
    verdict: Verdict
    counts: dict[str, float]

    @property
    def is_good(self) -> bool:
        return self.verdict.is_good

    def __str__(self) -> str:
        return "\n".join([str(self.verdict), *(f"{name:24} {value}" for name, value in self.counts.items())])


class Process:
    """A worker that can be killed."""

    def __init__(self, orders: Orders, log: Any) -> None:
        self.worker = orders.worker
        command = [sys.executable, "-m", "tests.harness.worker", json.dumps(asdict(orders))]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)  # noqa: S603

    async def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    async def stand_still(self, seconds: float) -> None:
        """As on a machine that has other things to do: then it goes on as if nothing had been."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._process.send_signal(signal.SIGCONT)


class Inside:
    """A worker in this process, for runs without kills."""

    def __init__(self, orders: Orders) -> None:
        self.worker = orders.worker
        self._task = asyncio.create_task(work(orders))

    async def kill(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def stand_still(self, seconds: float) -> None:
        """It cannot."""


class Run:
    def __init__(self, plan: Plan, world: World, database: Database, folder: Path) -> None:
        self._plan = plan
        self._world = world
        self._database = database
        self._chances = random.Random(plan.seed)
        self._calls = folder / "calls"
        self._log = (folder / "log").open("ab")
        self._workers: list[Process | Inside] = []
        self._started = 0
        self._killed: set[int] = set()
        self._cuts = self._stills = self._before = 0
        names = [f"q{n}" for n in range(plan.questions)]
        self._asked = [names[thread :: plan.threads] for thread in range(plan.threads)]
        self._answers = {name: answer_to(name, world.long) for name in names}

    async def go(self) -> Outcome:
        started = time.monotonic()
        self._before = await self._newest()
        if self._plan.trouble:
            self._world.trouble(self._plan.seed, self._plan.minute)
        self._workers = [self._start() for _ in range(self._plan.processes)]
        try:
            await self._world.connected(self._plan.processes, START_SECONDS)
            await self._trials()
            self._world.calm()
            await self._until_done()
        finally:
            for worker in self._workers:
                await worker.kill()
            self._log.close()
        verdict = judge(await self._evidence())
        counts = {"kills": len(self._killed), "cuts": self._cuts, "stood_still": self._stills, **self._world.counts}
        return Outcome(verdict, counts | {"seconds": round(time.monotonic() - started, 1)})

    def _start(self) -> Process | Inside:
        self._started += 1
        plan, world = self._plan, self._world
        calls = str(self._calls)
        orders = Orders(plan.platform, world.told, plan.database, calls, worker=self._started, long=world.long, broken=plan.broken)
        return Inside(orders) if plan.inside else Process(orders, self._log)

    async def _trials(self) -> None:
        asking = asyncio.create_task(self._ask())
        troubles = [asyncio.create_task(self._cut()), asyncio.create_task(self._stand_still())]
        try:
            await self._kill(asking)
            await asking
        finally:
            for task in (*troubles, asking):
                task.cancel()
            await asyncio.gather(*troubles, return_exceptions=True)

    async def _ask(self) -> None:
        """All threads at once; a thread's next question comes once the platform knows that its last one was taken in."""
        async with asyncio.TaskGroup() as group:
            for thread, names in enumerate(self._asked):
                group.create_task(self._ask_in(thread, names))

    async def _ask_in(self, thread: int, names: Sequence[str]) -> None:
        for name in names:
            await asyncio.sleep(self._chances.random() * self._plan.pause)
            await self._world.ask(thread, name, partial(self._claimed, name))

    async def _claimed(self, name: str) -> bool:
        return name in (await self._names()).values()

    async def _newest(self) -> int:
        """Of the questions that another run asked in this database, by the same names."""
        return await self._database.read(lambda connection: connection.execute(select(func.max(questions.c.id))).scalar() or 0)

    async def _names(self) -> dict[str, str]:
        query = select(questions.c.id, questions.c.text).where(questions.c.id > self._before)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {str(row.id): row.text.strip("?") for row in rows}

    async def _cut(self) -> None:
        while self._plan.trouble:
            await asyncio.sleep(1.0 + 3.0 * self._chances.random())
            self._cuts += 1
            await self._world.cut(politely=self._chances.random() < 0.5)

    async def _stand_still(self) -> None:
        while self._plan.trouble and self._plan.still:
            await asyncio.sleep(2.0 * self._chances.random())
            self._stills += 1
            await self._chances.choice(self._workers).stand_still(self._plan.still * self._chances.random())

    async def _kill(self, asking: asyncio.Task[None]) -> None:
        for _ in range(self._plan.kills):
            await asyncio.sleep(0.02 + self._plan.longest * self._chances.random())
            at = self._chances.randrange(len(self._workers))
            await self._workers[at].kill()
            self._killed.add(self._workers[at].worker)
            self._workers[at] = self._start()
            await self._world.connected(self._plan.processes, START_SECONDS)
            if asking.done():
                asking.result()

    async def _until_done(self) -> None:
        until = time.monotonic() + self._plan.patience
        while time.monotonic() < until and not judge(await self._evidence()).is_settled:  # noqa: ASYNC110 - what others do
            await asyncio.sleep(0.5)
        await asyncio.sleep(2.0)  # in case something is said twice

    async def _evidence(self) -> Evidence:
        return Evidence(self._asked, self._world.seen(await self._names()), self._answers, calls_in(self._calls), self._killed)


async def killing(plan: Plan, folder: Path) -> Outcome:
    platform: Any = import_module(f"tests.harness.{plan.platform}")
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(plan.database))
        world = await stack.enter_async_context(platform.world(plan.threads))
        return await Run(plan, world, database, folder).go()


def temporary_postgresql(folder: Path) -> AbstractContextManager[str]:
    programs = installed_postgres()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed: give an address.")
    return postgres_in(folder, programs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default="")
    parser.add_argument("--platform", default="slack")
    for name, number in (("questions", 200), ("threads", 20), ("kills", 50), ("processes", 1), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    given = vars(parser.parse_args())
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="footnote-killing-"))
        if given["database"] == "postgresql":
            given["database"] = stack.enter_context(temporary_postgresql(Path(folder)))
        given["database"] = given["database"] or f"sqlite:///{folder}/footnote.db"
        outcome = asyncio.run(killing(Plan(**given), Path(folder)))
        print(outcome)  # noqa: T201 - what it is for
        print("good" if outcome.is_good else "BAD: see above")  # noqa: T201
        if not outcome.is_good:
            print((Path(folder) / "log").read_text()[-4000:], file=sys.stderr)  # noqa: T201
    raise SystemExit(not outcome.is_good)


if __name__ == "__main__":
    main()
