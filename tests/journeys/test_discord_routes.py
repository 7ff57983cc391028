"""Who is answered from what in Discord: by server, channel, role and in direct talks (R35, R37), with the real command and core."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.fakes.discord import FakeDiscord
from tests.journeys.test_discord import SECONDS, serving

if TYPE_CHECKING:
    from tests.fakes.discord.places import Person, Place
    from tests.fakes.discord.state import Channel
    from tests.journeys.terminal import Terminal

DOCUMENTS = {
    "handbook": "# Leave\n\nEverybody has twenty-eight days of leave a year.\n\n# Lunch\n\nLunch is at noon.\n",
    "engineering": "# Deploys\n\nA deploy is rolled back with the command `ship undo`.\n\n# Builds\n\nBuilds run on Otter.\n",
    "salaries": "# Salaries\n\nThe salary of a senior gardener is 61,000 euros a year.\n\n# Bonus\n\nThe bonus is paid in March.\n",
    "visitors": "# Parking\n\nVisitors park on the third deck of the garage.\n\n# Badges\n\nBadges are given out at the gate.\n",
    "direct": "# Doctor\n\nThe company doctor is Dr. Lindqvist, on Tuesdays.\n\n# Gym\n\nThe gym opens at six.\n",
}
SETTINGS = """
[bases.handbook]
default = true
sources = ["handbook.md"]
[bases.engineering]
sources = ["engineering.md"]
restricted = true
[bases.salaries]
sources = ["salaries.md"]
restricted = true
[bases.visitors]
sources = ["visitors.md"]
restricted = true
[bases.direct]
sources = ["direct.md"]
restricted = true

[discord]
direct = true

[[routes]]
platform = "discord"
guild = "{acme}"
channel = "{builders}"
bases = ["engineering", "handbook"]
[[routes]]
platform = "discord"
guild = "{acme}"
role = "{bosses}"
bases = ["salaries", "handbook"]
[[routes]]
platform = "discord"
guild = "{guests}"
bases = ["visitors"]
[[routes]]
platform = "discord"
dm = true
bases = ["direct"]
"""
LEAVE, DEPLOY = "how many days of leave are there?", "how is a deploy rolled back?"
SALARY, PARKING, DOCTOR = "what is the salary of a senior gardener?", "where do visitors park?", "who is the company doctor?"
HELD = {LEAVE: "twenty-eight", DEPLOY: "ship undo", SALARY: "61,000", PARKING: "third deck", DOCTOR: "Lindqvist"}


def prepared(empty: Terminal, fake: FakeDiscord, acme: Place, guests: Place) -> Terminal:
    for name, text in DOCUMENTS.items():
        (empty.folder / f"{name}.md").write_text(text, encoding="utf-8")
    names = {"acme": acme.id, "guests": guests.id, "builders": acme.channel("builders").id, "bosses": acme.role("Bosses").id}
    (empty.folder / "footnote.toml").write_text(SETTINGS.format(**names), encoding="utf-8")
    indexed = empty.run("index")
    assert (indexed.status, indexed.err) == (0, "")
    return replace(empty, variables=fake.variables)


async def told(person: Person, question: str, channel: Channel | None = None) -> str:
    """What `/ask` shows to a person there, once it is whole."""
    used = await person.slash("ask", question=question, channel=channel)
    await person.place.discord.until(
        lambda: bool(used.shown and used.shown[0].buttons), seconds=SECONDS, what=f"an answer to {question}"
    )
    return used.shown[0].text


async def known(person: Person, channel: Channel | None = None) -> set[str]:
    return {answer for question, answer in HELD.items() if answer in await told(person, question, channel)}


async def test_each_server_channel_role_and_direct_talk_has_its_own_documents(empty: Terminal) -> None:
    async with FakeDiscord() as fake:
        acme, guests = fake.guild("Acme"), fake.guild("Guests")
        ana, boss, visitor = acme.person("Ana"), acme.person("Bo", "Bosses"), guests.person("Vi")
        stranger = await asyncio.to_thread(prepared, empty, fake, acme, guests)
        async with serving(stranger, fake) as printed:
            assert await known(ana) == {"twenty-eight"}
            assert await known(ana, acme.channel("builders")) == {"twenty-eight", "ship undo"}
            assert await known(boss) == {"twenty-eight", "61,000"}
            assert await known(visitor) == {"third deck"}
            assert await known(visitor, visitor.dm) == {"Lindqvist"}
            assert await (await ana.autocompletes("ask", "base", "", question="x")).choices() == ["handbook"]
            assert await (await boss.autocompletes("ask", "base", "", question="x")).choices() == ["salaries", "handbook"]
            here = await (await ana.autocompletes("ask", "base", "", question="x", channel=acme.channel("builders"))).choices()
            assert here == ["engineering", "handbook"]

    assert fake.refusals == []
    assert printed[2] == "0"


async def test_what_a_role_may_know_is_neither_repeated_to_others_in_the_thread_nor_asked_for_by_name(empty: Terminal) -> None:
    async with FakeDiscord() as fake:
        acme, guests = fake.guild("Acme"), fake.guild("Guests")
        ana, boss = acme.person("Ana"), acme.person("Bo", "Bosses")
        stranger = await asyncio.to_thread(prepared, empty, fake, acme, guests)
        async with serving(stranger, fake):
            thread = await boss.starts_thread("pay", await boss.says("pay"))
            asked = await boss.says(f"@Footnote {SALARY}", channel=thread)
            assert "61,000" in (await asked.answered(holding="SOURCES", seconds=SECONDS)).text
            further = await ana.says("and what is the salary of a senior gardener in euros?", channel=thread)
            await fake.until(lambda: bool(further.replies and further.replies[-1].buttons), seconds=SECONDS)
            used = await ana.slash("ask", question=SALARY, base="salaries")
            by_name = await used.answered(seconds=SECONDS)
            await fake.until(lambda: not used.shown[0].thinking, seconds=SECONDS)
            builders = await ana.starts_thread("deploys", await ana.says("deploys", channel=acme.channel("builders")))
            in_thread = await told(ana, DEPLOY, builders)

    assert "61,000" not in further.replies[-1].text
    assert "61,000" not in by_name.text
    assert "ship undo" in in_thread, "a thread belongs to its channel"


async def test_two_routes_for_one_place_stop_the_start_and_both_are_named(empty: Terminal) -> None:
    async with FakeDiscord() as fake:
        acme, guests = fake.guild("Acme"), fake.guild("Guests")
        stranger = await asyncio.to_thread(prepared, empty, fake, acme, guests)
        file = empty.folder / "footnote.toml"
        more = f'\n[[routes]]\nplatform = "discord"\nguild = "{guests.id}"\nbases = ["handbook"]\n'
        file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")
        started = await asyncio.to_thread(stranger.run, "discord")

    assert started.status == 1
    assert len(started.err.splitlines()) == 1
    assert "visitors" in started.err
    assert "handbook" in started.err
