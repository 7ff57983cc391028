"""The real command with its passages in Weaviate: two machines share one index, and what is read while the server is away."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from rag.errors import StoreUnavailable
from storage.database import Database
from storage.weaviate_index import WeaviateIndex
from storage.weaviate_index.address import grpc_host, rest_host
from tests.databases import free_port
from tests.fakes.gate import gates
from tests.journeys.terminal import Terminal
from tests.rag.talking import HANDBOOK, LEAVE_ANSWER, THREAD, Desk

if TYPE_CHECKING:
    from pathlib import Path

    from storage.weaviate_index import WeaviateSettings

LEAVE = {
    "leave.md": "# Leave\n\nEmployees get 25 days of annual leave a year.",
    "sick.md": "# Sick\n\nA doctor's note after three days.",
}
QUICK = {"FOOTNOTE_RETRIEVAL__RERANKER": "none", "FOOTNOTE_INDEXING__READERS": "1", "FOOTNOTE_INDEXING__EMBEDDERS": "1"}
QUESTION = "How many days of annual leave do employees get?"


def write(folder: Path, documents: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in documents.items():
        (folder / name).write_text(text, "utf-8")


@pytest.fixture
def shared(weaviate_settings: WeaviateSettings, postgres_with_tables: str) -> dict[str, str]:
    return {
        **QUICK,
        "WEAVIATE_URL": weaviate_settings.url,
        "WEAVIATE_GRPC_URL": weaviate_settings.grpc_url,
        "FOOTNOTE_WEAVIATE__NAME": weaviate_settings.name,
        "DATABASE_URL": postgres_with_tables,
    }


def test_what_one_machine_indexes_another_one_answers_from(tmp_path: Path, shared: dict[str, str]) -> None:
    one, other = (Terminal(tmp_path / name, shared) for name in ("one", "other"))
    for each in (one, other):
        each.folder.mkdir()
        write(each.folder / "docs", LEAVE)
    indexed = one.run("index", str(one.folder / "docs"))
    assert (indexed.status, indexed.err) == (0, "")

    asked = other.run("ask", "--json", QUESTION)

    assert (asked.status, asked.err) == (0, "")
    (answer,) = asked.objects
    assert "25 days" in str(answer["answer"])
    assert not (other.folder / ".footnote" / "index").exists()

    write(one.folder / "docs", {"leave.md": "# Leave\n\nEmployees get 30 days of annual leave a year."})
    assert one.run("index").status == 0
    (answer,) = other.run("ask", "--json", QUESTION).objects
    assert "30 days" in str(answer["answer"])


def test_doctor_tells_what_is_used_and_what_is_wrong(tmp_path: Path, shared: dict[str, str]) -> None:
    terminal = Terminal(tmp_path, shared)
    write(tmp_path / "docs", LEAVE)
    assert terminal.run("index", "docs").status == 0
    told = terminal.run("doctor")
    assert "Weaviate 1." in told.out
    assert told.err == ""  # the client makes Python show warnings of every library, which nobody asked for

    wrong = terminal.run("doctor", WEAVIATE_GRPC_URL=f"127.0.0.1:{free_port()}", FOOTNOTE_WEAVIATE__SEARCH_SECONDS="0.5")

    assert wrong.status == 1
    assert "Check WEAVIATE_GRPC_URL" in " ".join((wrong.out + wrong.err).split())


def test_a_server_that_is_not_there_is_one_clear_line(empty: Terminal) -> None:
    away = {"WEAVIATE_URL": f"http://127.0.0.1:{free_port()}", "FOOTNOTE_WEAVIATE__SEARCH_PATIENCE": "0.1"}

    asked = empty.run("ask", QUESTION, **QUICK, **away)

    assert (asked.status, asked.out) == (1, "")
    assert asked.err.startswith("footnote: Weaviate at http://127.0.0.1:")
    assert len(asked.err.splitlines()) == 1


async def test_a_question_is_apologised_for_while_the_server_is_away_and_answered_when_it_is_back_in_time(
    weaviate_settings: WeaviateSettings, tmp_path: Path
) -> None:
    ports = rest_host(weaviate_settings).port, grpc_host(weaviate_settings).port
    async with gates(*ports) as (rest, grpc), Database(f"sqlite:///{tmp_path / 'footnote.db'}") as database:
        behind = replace(
            weaviate_settings,
            url=f"http://127.0.0.1:{rest.port}",
            grpc_url=f"127.0.0.1:{grpc.port}",
            search_seconds=1.0,
        )
        async with WeaviateIndex(replace(behind, search_patience=0.1)) as hasty, WeaviateIndex(behind) as patient:
            desk, later = Desk(database, hasty), Desk(database, patient)
            await desk.know(HANDBOOK)
            await grpc.shut()
            await rest.shut()

            with pytest.raises(StoreUnavailable) as told:
                await desk.talk(LEAVE_ANSWER).reply(THREAD, QUESTION)
            assert told.value.user_message == "I cannot reach my documents just now. Please ask again in a moment."
            assert desk.writer.prompts == []

            asked = asyncio.create_task(later.talk("Leave days?", LEAVE_ANSWER).reply(THREAD, QUESTION))
            await asyncio.sleep(0.3)
            await grpc.open()
            await rest.open()
            assert "25 days" in (await asked).text
