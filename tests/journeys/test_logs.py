"""Nothing that somebody wrote and no key is in a log, at any level, whatever goes wrong (O3)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.fakes.cohere.server import CHAT, EMBED, RERANK, FakeCohere, Says
from tests.fakes.model_server import KEY, Refusal, Silence
from tests.fakes.openai.server import CHAT as CHAT_OF_OPENAI
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.openai.server import Says as SaysOpenAI
from tests.journeys.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

PASSAGE = "The Zanzibar retreat costs 4711 euros for each platypus."
QUESTION = "What does the Zanzibar retreat cost for each platypus?"
FOLLOW_UP = "And what does it cost for each wombat of Zanzibar?"
SECRETS = (KEY, "Zanzibar", "zanzibar", "platypus", "wombat", "4711", "Bearer", "quokka")


async def journey(folder: Path, **variables: str) -> str:
    """Index, ask, ask on, look at the trace, and ask the doctor; everything that was logged. The event loop serves meanwhile."""
    (folder / "docs").mkdir()
    (folder / "docs" / "retreat.md").write_text(f"# Retreat\n\n{PASSAGE}\n", encoding="utf-8")
    terminal = Terminal(folder, {"FOOTNOTE_LOGGING__LEVEL": "debug", **variables})
    logged = ""
    for arguments, said in (
        (("index", "docs"), ""),
        (("ask", QUESTION, "--thread", "t"), ""),
        (("ask", FOLLOW_UP, "--thread", "t"), ""),
        (("chat", "--thread", "t"), f"{QUESTION}\n{FOLLOW_UP}\n"),
        (("trace",), ""),
        (("doctor",), ""),
    ):
        done = await asyncio.to_thread(terminal.run, *arguments, said=said)
        assert "Traceback" not in done.err
        assert "retry" not in done.out
        logged += done.err
    return logged


async def test_with_cohere_failing_in_every_way(tmp_path: Path) -> None:
    async with FakeCohere() as server:
        echo = Refusal(400, f"invalid request: 'input': '{QUESTION}'")
        server.script(EMBED, Refusal(429, headers={"retry-after-ms": "1"}))
        server.script(RERANK, *[Refusal(500)] * 3)
        server.script(
            CHAT,
            Refusal(503),
            Says("A quokka of Zanzibar breaks off here.", fault="malformed"),
            Silence("cut"),
            Says("A quokka of Zanzibar breaks off here.", fault="cut"),
            *[Says("A quokka of Zanzibar.", finish="ERROR", error=QUESTION)] * 2,
            *[echo] * 3,
        )

        logged = await journey(tmp_path, COHERE_API_KEY=KEY, COHERE_API_URL=server.url)

    assert len(server.bodies(CHAT)) > 8
    assert "is answered without its model" in logged
    assert [secret for secret in SECRETS if secret in logged] == []


async def test_with_a_server_of_ones_own_failing(tmp_path: Path) -> None:
    async with FakeOpenAI("vllm") as server:
        server.script(CHAT_OF_OPENAI, Refusal(503), SaysOpenAI("A quokka of Zanzibar breaks off here.", fault="malformed"))

        logged = await journey(
            tmp_path,
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=server.base_url,
            FOOTNOTE_MODELS__OPENAI_WRITER="llama3.1",
            FOOTNOTE_MODELS__OPENAI_EMBEDDER="nomic-embed-text",
        )

    assert len(server.bodies(CHAT_OF_OPENAI)) > 3
    assert [secret for secret in SECRETS if secret in logged] == []
