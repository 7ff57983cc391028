"""Which documents a question in Discord is about, the language model says, among those its place may search (R36)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.fakes.discord import FakeDiscord
from tests.fakes.openai.server import CHAT, FakeOpenAI
from tests.journeys.test_discord import SECONDS, serving
from tests.journeys.test_discord_routes import told

if TYPE_CHECKING:
    from tests.journeys.terminal import Terminal

DOCUMENTS = {
    "people": "# Limit\n\nThe limit of leave days is thirty a year.\n\n# Office\n\nThe office opens at seven.\n",
    "interface": "# Limit\n\nThe limit of requests is one hundred a second.\n\n# Errors\n\nA request over it gets a 429.\n",
}
SETTINGS = """
[bases.people]
default = true
description = "Leave days, holidays, the office and how people work"
sources = ["people.md"]
[bases.interface]
description = "Requests to the HTTP interface, errors and how many requests a second"
sources = ["interface.md"]

[answering]
route_by_subject = true
[models]
openai_writer = "llama3.1"
[retrieval]
reranker = "none"

[[routes]]
platform = "discord"
bases = ["people", "interface"]
[[routes]]
platform = "discord"
guild = "{guests}"
bases = ["people"]
"""
REQUESTS, DAYS = "what is the limit of requests to the interface?", "what is the limit of leave days?"


def prompts(model: FakeOpenAI) -> tuple[list[str], list[str]]:
    """Those to pick a base, and those to answer from passages."""
    asked = [str(body["messages"]) for body in model.bodies(CHAT)]
    return [each for each in asked if "<base name=" in each], [each for each in asked if "<passage n=" in each]


async def test_the_model_says_which_documents_a_question_is_about_and_a_place_has_only_its_own(empty: Terminal) -> None:
    async with FakeDiscord() as fake, FakeOpenAI("llama.cpp") as model:
        acme, guests = fake.guild("Acme"), fake.guild("Guests")
        ana, visitor = acme.person("Ana"), guests.person("Vi")
        for name, text in DOCUMENTS.items():
            (empty.folder / f"{name}.md").write_text(text, encoding="utf-8")
        (empty.folder / "footnote.toml").write_text(SETTINGS.format(guests=guests.id), encoding="utf-8")
        stranger = replace(empty, variables={**fake.variables, "OPENAI_BASE_URL": model.base_url})
        indexed = await asyncio.to_thread(stranger.run, "index")
        assert (indexed.status, indexed.err) == (0, "")

        async with serving(stranger, fake) as printed:
            requests, days = await told(ana, REQUESTS), await told(ana, DAYS)
            picked, read = prompts(model)
            elsewhere = await told(visitor, DAYS)
            picked_elsewhere, _ = prompts(model)
            thread = await ana.starts_thread("limits", await ana.says("limits"))
            first = await ana.says(f"@Footnote {DAYS}", channel=thread)
            await first.answered(holding="SOURCES", seconds=SECONDS)
            further = await ana.says(REQUESTS, channel=thread)
            followed = (await further.answered(holding="SOURCES", seconds=SECONDS)).text
            default = await told(ana, "when does the cantina open?")

    assert "one hundred" in requests
    assert "people" not in requests
    assert "thirty" in days
    assert "interface" not in days.replace(REQUESTS, "")
    assert "thirty" in elsewhere
    assert len(picked) == len(read) == 2
    assert ["thirty" in each for each in read] == [False, True], "nothing of another base is given to the model"
    assert ["one hundred" in each for each in read] == [True, False]
    assert picked_elsewhere == picked, "where there is one base, nothing is to be picked"
    assert "one hundred" in followed
    assert "interface.md" not in default
    assert fake.refusals == []
    assert printed[2] == "0"
