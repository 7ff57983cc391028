"""PostgreSQL under several processes, and when it goes away in the middle of a question (P1, I12, R4)."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import make_url

from rag.errors import StoreUnavailable
from rag.types import Usage
from storage.database import Database
from storage.local_index import LocalIndex
from tests.fakes.gate import gates
from tests.journeys.terminal import WITHOUT_MODELS
from tests.rag.talking import HANDBOOK, LEAVE, LEAVE_ANSWER, THREAD, Desk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.terminal import Terminal


def write_handbook(folder: Path, copies: int) -> None:
    folder.mkdir()
    for number in range(copies):
        for name, text in HANDBOOK.items():
            (folder / f"{number}-{name}").write_text(text.replace(" a ", f" a number {number} "), "utf-8")


async def test_processes_index_and_ask_at_once_on_one_database(empty: Terminal, postgres_with_tables: str) -> None:
    write_handbook(empty.folder / "handbook", 8)
    shared = {**WITHOUT_MODELS, "DATABASE_URL": postgres_with_tables}
    first = empty.run("index", "handbook", **shared)
    assert (first.status, first.err) == (0, "")
    write_handbook(empty.folder / "handbook" / "more", 8)

    at_once = await asyncio.gather(
        asyncio.to_thread(empty.run, "index", **shared),
        asyncio.to_thread(empty.run, "index", **shared),
        asyncio.to_thread(empty.run, "ask", "--json", LEAVE, **shared),
        asyncio.to_thread(empty.run, "ask", "--json", LEAVE, **shared),
    )

    assert [(said.status, said.err) for said in at_once] == [(0, "")] * 4
    assert all(not answer["abstained"] and answer["sources"] for said in at_once[2:] for answer in said.objects)
    assert re.search(r"\b48 documents\b", empty.run("index", **shared).out)


@pytest.mark.parametrize("stopped", ["before the answer", "while it is written"])
async def test_a_question_whose_database_goes_away_is_apologised_for_and_leaves_nothing_half_stored(
    stopped: str, tmp_path: Path, postgres_with_tables: str
) -> None:
    address = make_url(postgres_with_tables)
    async with gates(address.port or 5432) as (gate,):
        url = address.set(port=gate.port).render_as_string(hide_password=False)
        async with LocalIndex(tmp_path) as index, Database(url) as database:
            desk = Desk(database, index)
            await desk.memory.forget(THREAD)
            await desk.know(HANDBOOK)
            begun = asyncio.Event()
            conversation = desk.talk([LEAVE_ANSWER[:10], 0.4, LEAVE_ANSWER[10:], Usage("scripted")], LEAVE_ANSWER)
            if stopped == "before the answer":
                await gate.shut()
            asked = asyncio.create_task(conversation.reply(THREAD, LEAVE, lambda _: begun.set()))
            if stopped == "while it is written":
                await begun.wait()
                await gate.shut()

            with pytest.raises(StoreUnavailable) as told:
                await asked
            assert told.value.user_message == "I cannot reach my documents just now. Please ask again in a moment."

            await gate.open()
            assert [role for role, _, _ in await desk.said()].count("assistant") == 0
            answer = await conversation.reply(THREAD, LEAVE)
            assert "25 days" in answer.text
            assert [role for role, _, _ in await desk.said()][-2:] == ["user", "assistant"]
            await desk.memory.forget(THREAD)
