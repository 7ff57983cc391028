"""What Discord's side adds to an answer: to the first word, in edits, and in processor time.

    python -m benchmarks.in_discord          fifty commands at once; twenty answers in one channel; questions one after another

The first and the last are done by a bare bot of discord.py as well (`benchmarks.bare_discord`), by turns.

The bot runs in a process of its own over real sockets against the strict fake Discord of the tests; the model is scripted, so
that what is measured is ours: events, the desk, the database, the library and its requests.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from benchmarks.bare_discord import bare
from benchmarks.reporting import Bar, machine, verdict
from benchmarks.talking import Model, Writing, noted, told
from bots.desk import DeskSettings
from bots.discord.surface import PACE
from bots.serving import serve
from storage.conversations import DatabaseMemory
from storage.database import Database
from tests.fakes.desks import desk_for
from tests.fakes.discord import FakeDiscord
from tests.harness.discord import connected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tests.fakes.discord.places import Place, Said, Used

ROOT = Path(__file__).parents[1]
SECONDS = 280.0
TURNS = 3


@dataclass(frozen=True, slots=True)
class Orders:
    database: str
    api_url: str
    token: str
    notes: str
    writing: tuple[int, float, float]
    at_once: int = 64
    profile: str = ""
    bare: bool = False


async def work(orders: Orders) -> None:
    if orders.bare:
        with noted(Path(orders.notes)):
            await bare(orders.api_url, orders.token, Writing(*orders.writing).whole)
        return
    async with Database(orders.database) as database:
        model = Model(DatabaseMemory(database), Writing(*orders.writing))
        told = {"api_url": orders.api_url, "token": orders.token}
        async with connected(told, database, pace=PACE) as platform:
            with noted(Path(orders.notes), model):
                await serve([platform], desk_for(database, model, DeskSettings(at_once=orders.at_once)))


class Bench:
    def __init__(self, discord: FakeDiscord, folder: Path, writing: Writing, **more: Any) -> None:
        self.discord = discord
        self.place: Place = discord.guild()
        self._folder = folder
        self._writing = writing
        self._more = more
        self.notes: dict[str, Any] = {}
        self.log = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        discord, folder = self.discord, self._folder
        writing = (self._writing.tokens, self._writing.per_second, self._writing.thinking)
        where = (f"sqlite:///{folder}/footnote.db", discord.api_url, discord.token, str(folder / "notes"), writing)
        command = [
            sys.executable,
            "-m",
            "benchmarks.in_discord",
            "--worker",
            json.dumps(asdict(Orders(*where, **self._more))),
        ]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, cwd=ROOT, stderr=log)  # noqa: ASYNC220, S603
            try:
                await discord.until(lambda: any(session.begun for session in discord.gateway.live), seconds=60, what="a login")
                yield
            finally:
                process.terminate()
                process.wait()
        self.log = (folder / "log").read_text()
        self.notes = json.loads((folder / "notes").read_text())

    async def finished(self, answers: Sequence[Used]) -> None:
        whole = self._writing.whole
        await self.discord.until(lambda: all(_is_whole(used.shown, whole) for used in answers), seconds=SECONDS, what="all answers")


def _is_whole(shown: Sequence[Said], text: str) -> bool:
    """A bare bot's answer has no buttons."""
    return bool(shown) and (bool(shown[-1].buttons) or shown[-1].text == text)


@asynccontextmanager
async def bench(writing: Writing, *, limits: bool, **more: Any) -> AsyncIterator[Bench]:
    with tempfile.TemporaryDirectory() as folder:
        async with FakeDiscord() as discord:
            if not limits:
                discord.buckets.each = {}
            yield Bench(discord, Path(folder), writing, **more)


async def fifty_commands(*, bare: bool = False) -> float:
    """The p95 from a command to "thinking", in seconds."""
    async with bench(Writing(60, 30.0), limits=True, bare=bare) as one:
        people = [one.place.person(f"P{n}") for n in range(50)]
        async with one.running():
            used = await asyncio.gather(*(person.slash("ask", question=f"q{n}?") for n, person in enumerate(people)))
            await one.finished(used)
    waits = [(each.interaction.acknowledged or 0.0) - each.interaction.began for each in used]
    who = "a bare bot" if bare else "Footnote"
    told(f"from a command to “thinking”, 50 at once, {who}", waits)
    edits = sum(len(each.message.edits) for one in used for each in one.shown)
    print(f"{f'edits per answer, 50 commands at once, {who}':60} {edits / 50:.1f}")
    return quantiles(waits, n=20)[-1]


async def twenty_in_a_channel() -> list[Bar]:
    writing = Writing(300, 15.0)  # twenty seconds each
    async with bench(writing, limits=True) as one:
        people = [one.place.person(f"P{n}") for n in range(20)]
        async with one.running():
            asked = [await person.says(f"@Footnote q{n}?") for n, person in enumerate(people)]
            bot, room = one.discord.bot, one.place.general
            ours = lambda: [each for each in room.messages if each.author is bot and each.components]  # noqa: E731
            await one.discord.until(lambda: len(ours()) == len(asked), seconds=SECONDS, what="twenty answers")
    lasts = one.notes["lasts"]
    by_question = {(each.reference or {}).get("message_id"): each for each in ours()}
    ended = [by_question[said.id].edits[-1] if by_question[said.id].edits else by_question[said.id].times[-1] for said in asked]
    told("from the model's last token to the whole answer, 20 at once", [at - lasts[f"q{n}?"] for n, at in enumerate(ended)])
    edits = [len(each.edits) for each in ours()]
    print(f"{'edits per answer, 20 at once in one channel':60} {sum(edits) / 20:.1f}, {min(edits)} to {max(edits)}")
    return [
        Bar("answers of 20 that are not whole", sum(each.content != writing.whole for each in ours()), at_most=0),
        Bar("requests that Discord would refuse as too many", len(one.discord.too_fast), at_most=0),
        Bar("lines of the log about rate limits", sum("rate limit" in line for line in one.log.splitlines()), at_most=0),
    ]


async def throughput(questions: int, *, streamed: bool = False, **more: Any) -> float:
    """Seconds of processor time for each question."""
    writing = Writing(60, 1000.0 if streamed else 0.0, 0.0)
    async with bench(writing, limits=False, **more) as one:
        people = [one.place.person(f"P{n}") for n in range(50)]
        used: list[Used] = []
        async with one.running():
            for n in range(questions):
                used.append(await people[n % 50].slash("ask", question=f"q{n}?"))
                if n % 16 == 15:  # sixteen on the way
                    await one.finished(used[: n - 15])
            await one.finished(used)
    each = float(one.notes["processor"]) / questions
    name = f"questions a second on one core, {'bare' if more.get('bare') else 'streamed' if streamed else 'shown whole'}"
    print(f"{name:60} {1 / each:.1f}   ({each * 1000:.1f} ms of processor each)")
    return each


async def by_turns(questions: int) -> list[Bar]:
    """Of ours and of the bare bot the quickest of three, since other work on the machine only ever slows."""
    ours, theirs, whole, bare_whole = [], [], [], []
    for _ in range(TURNS):
        theirs.append(await fifty_commands(bare=True))
        ours.append(await fifty_commands())
        bare_whole.append(await throughput(questions, bare=True))
        whole.append(await throughput(questions))
    await throughput(questions, streamed=True)
    return [
        Bar("from a command to “thinking”, p95 in seconds, 50 at once", min(ours), at_most=1.0),
        Bar("the same / the bare bot's", min(ours) / min(theirs), at_most=3.0),
        Bar("processor time of a question / the bare bot's", min(whole) / min(bare_whole)),
        *await twenty_in_a_channel(),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--profile", default="", help="only questions one after another; what the profiler sees goes to this file")
    given = parser.parse_args()
    if given.worker:
        orders = Orders(**json.loads(given.worker))
        if orders.profile:
            cProfile.runctx("asyncio.run(work(orders))", globals(), {"orders": orders}, orders.profile)
        else:
            asyncio.run(work(orders))
        return
    if given.profile:
        asyncio.run(throughput(given.questions, streamed=False, profile=given.profile))
        return
    print(machine())
    verdict(asyncio.run(by_turns(given.questions)))


if __name__ == "__main__":
    main()
