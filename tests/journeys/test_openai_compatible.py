"""The whole system on a server of one's own, with all it lacks, and gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bots.terminal.render import as_text
from config.assembly import assemble
from config.settings import load
from rag.abstaining import wording
from rag.errors import IndexMismatch, ModelUnavailable
from rag.types import Place, Thread
from tests.fakes.openai.server import EMBED, FakeOpenAI
from tests.fakes.pauses import no_pauses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

THREAD = Thread(Place("discord", "G1", "C1"), "1")
LEAVE = "How many days of annual leave do employees get a year?"
TEXT = "Employees get 25 days of annual leave a year"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with no_pauses(monkeypatch):
        yield


@pytest.fixture
async def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI("llama.cpp", ("system", "usage", "stream_options")) as server:
        (home / "footnote.toml").write_text(
            '[bases.handbook]\nsources = ["leave.md"]\n[retrieval]\nreranker = "none"\n'
            '[models]\nopenai_writer = "llama3.1"\nopenai_embedder = "nomic-embed-text"\n',
            encoding="utf-8",
        )
        (home / "leave.md").write_text(f"# Leave\n\n{TEXT}. Requests go to the manager two weeks before.\n", encoding="utf-8")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


async def test_a_talk_with_a_server_that_lacks_much_and_then_is_gone(server: FakeOpenAI) -> None:
    async with assemble(load()) as footnote:
        await footnote.indexer("handbook").run()
        talk = footnote.conversation

        assert as_text(await talk.reply(THREAD, LEAVE)).startswith(f"{TEXT} [1].\n\nSOURCES:\n[1] Leave (")
        assert (await talk.reply(THREAD, "And to whom do requests go?")).remark == ""

        await server.stop()
        answer = await talk.reply(THREAD, LEAVE)

        assert (answer.text, answer.remark) == (f"{TEXT} [1].", wording("en").by_rule)
        run = await footnote.memory.last_run(THREAD)
        assert run is not None
        assert "OPENAI_BASE_URL" in str(run.notes["degraded"])


async def test_the_dimension_is_found_out_once_and_known_when_the_server_is_gone(server: FakeOpenAI) -> None:
    async with assemble(load()) as footnote:
        await footnote.indexer("handbook").run()
    asked = len(server.bodies(EMBED))
    async with assemble(load()) as footnote:
        await footnote.check()
    assert len(server.bodies(EMBED)) == asked

    await server.stop()
    async with assemble(load()) as footnote:
        await footnote.check()
        assert (await footnote.conversation.reply(THREAD, LEAVE)).sources


async def test_a_dimension_that_nobody_knows_stops_the_start(server: FakeOpenAI) -> None:
    await server.stop()

    with pytest.raises(ModelUnavailable, match="OPENAI_BASE_URL"):
        async with assemble(load()):
            pass


async def test_another_embedder_is_refused_with_what_to_do(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    async with assemble(load()) as footnote:
        await footnote.indexer("handbook").run()
    monkeypatch.setenv("FOOTNOTE_MODELS__EMBEDDER", "local")

    async with assemble(load()) as footnote:
        with pytest.raises(IndexMismatch, match=r"made with embedder openai/nomic-embed-text/768.* Run: footnote index"):
            await footnote.check()
        # asked all the same, it searches by words alone
        answer = await footnote.conversation.reply(THREAD, LEAVE)
        run = await footnote.memory.last_run(THREAD)

    assert server.asked
    assert answer.sources
    assert run is not None
    search = next(step for step in run.steps if step.name == "search")
    assert "was indexed with openai/nomic-embed-text/768, not with use-multilingual-3" in str(search.notes["without_embedder"])
