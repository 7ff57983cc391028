"""The contract of Memory, over every database."""

import asyncio
from asyncio import Lock
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from rag.errors import StoreError
from rag.ports import Memory
from rag.text import well_formed
from rag.types import Answer, Place, Run, Source, SourcePlace, Step, Thread, Turn
from storage import schema
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.encoding import to_sources

THREAD = Thread(Place("slack", "T1", "C1"), "100.1")
SOURCE = Source(1, "handbook", "leave.md", "Leave, [and] `more`", (SourcePlace("Carry over", "https://x.org/leave#carry"),))
ANSWER = Answer("Five days [1].", (SOURCE,), question="How many days?", language="en", bases=("handbook", "api"), run="r1")


def asked(text: str = "How many days?", speaker: str = "Ann") -> Turn:
    return Turn("user", text, speaker)


def run(name: str = "r1", *, error: str = "") -> Run:
    notes = {"question": "¿Cuántos?", "scores": [0.1, 1e-9, None, True], "deep": {"a": [{"b": "\0 \ud800"}]}}
    steps = (Step("find", 0.25, 0.125, notes), Step("compose", 0.5, 0.1, {}, "ModelTimeout: too slow"))
    return Run(name, "question", datetime(2026, 11, 30, 12, 0, 0, 123456, UTC), 1.5, notes, steps, error)


@pytest.fixture
def memory(database: Database) -> Memory:
    return DatabaseMemory(database)


def texts(turns: list[Turn]) -> list[str]:
    return [turn.text for turn in turns]


async def rows(database: Database) -> dict[str, int]:
    tables = (schema.threads, schema.turns, schema.questions, schema.answers, schema.runs)
    counts = [select(func.count()).select_from(table).scalar_subquery().label(table.name) for table in tables]
    return dict(await database.read(lambda connection: connection.execute(select(*counts)).mappings().one()))


# --- recall ---------------------------------------------------------------------------------------------------------


async def test_an_unknown_thread_has_no_history(memory: Memory) -> None:
    assert await memory.recall(THREAD, 10) == []


async def test_question_and_answer_come_back_as_turns_with_who_said_them_and_the_bases(memory: Memory) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    await memory.remember(THREAD, asked(), ANSWER, run())

    question, answer = await memory.recall(THREAD, 10)

    assert replace(question, said_at=None) == asked()
    assert replace(answer, said_at=None) == Turn("assistant", "Five days [1].", bases=("handbook", "api"))
    assert question.said_at is not None
    assert before < question.said_at < datetime.now(UTC) + timedelta(seconds=1)
    assert question.said_at.tzinfo is not None


async def test_a_turn_knows_that_its_answer_abstained(memory: Memory) -> None:
    await memory.adopt(THREAD, [Turn("assistant", "Nothing.", abstained=True)])
    await memory.remember(THREAD, asked(), replace(ANSWER, sources=(), abstained=True), run("r1"))
    await memory.remember(THREAD, asked(), ANSWER, run("r2"))

    assert [turn.abstained for turn in await memory.recall(THREAD, 10)] == [True, False, True, False, False]


async def test_a_turn_keeps_the_time_it_was_said_at(memory: Memory) -> None:
    said = datetime(2026, 3, 1, 9, 30, 0, 5, timezone(timedelta(hours=5, minutes=30)))
    await memory.remember(THREAD, replace(asked(), said_at=said), ANSWER, run())

    assert (await memory.recall(THREAD, 2))[0].said_at == said


@pytest.mark.parametrize(
    ("turns", "expected"), [(0, []), (-1, []), (1, ["A3"]), (3, ["A2", "Q3", "A3"]), (100, ["Q1", "A1", "Q2", "A2", "Q3", "A3"])]
)
async def test_the_newest_turns_come_oldest_first(memory: Memory, turns: int, expected: list[str]) -> None:
    same = datetime(2026, 1, 1, tzinfo=UTC)
    for n in (1, 2, 3):
        await memory.remember(THREAD, Turn("user", f"Q{n}", said_at=same), replace(ANSWER, text=f"A{n}"), run(f"r{n}"))

    assert texts(await memory.recall(THREAD, turns)) == expected


@pytest.mark.parametrize(
    "other",
    [
        Thread(Place("discord", "T1", "C1"), "100.1"),
        Thread(Place("slack", "T2", "C1"), "100.1"),
        Thread(Place("slack", "T1", "C2"), "100.1"),
        Thread(Place("slack", "T1", "C1", direct=True), "100.1"),
        Thread(Place("slack", "T1", "C1"), "100.2"),
        Thread(Place("slack", "T1C", "1"), "100.1"),
    ],
)
async def test_two_threads_never_see_each_other(memory: Memory, other: Thread) -> None:
    await memory.remember(THREAD, asked(), ANSWER, run())
    await memory.remember(other, asked("Another?"), ANSWER, run("r2"))

    assert texts(await memory.recall(THREAD, 10)) == ["How many days?", "Five days [1]."]
    assert texts(await memory.recall(other, 10)) == ["Another?", "Five days [1]."]
    assert await memory.last_run(other) == run("r2")
    assert await memory.forget(other) == 2
    assert len(await memory.recall(THREAD, 10)) == 2


async def test_what_is_remembered_is_there_after_a_restart(database_url: str) -> None:
    async with Database(database_url) as first:
        await DatabaseMemory(first).remember(THREAD, asked(), ANSWER, run())
    async with Database(database_url) as second:
        memory = DatabaseMemory(second)
        assert texts(await memory.recall(THREAD, 10)) == ["How many days?", "Five days [1]."]
        assert await memory.run("r1") == run()


# --- remember and fail ----------------------------------------------------------------------------------------------


async def test_question_answer_and_run_are_stored_together(memory: Memory, database: Database) -> None:
    await memory.remember(THREAD, asked(), ANSWER, run())

    assert await rows(database) == {"threads": 1, "turns": 2, "questions": 1, "answers": 1, "runs": 1}


async def test_of_what_cannot_be_stored_whole_nothing_is_stored(memory: Memory, database: Database) -> None:
    await memory.remember(THREAD, asked(), ANSWER, run())
    before = await rows(database)

    with pytest.raises(Exception, match="refused a statement"):
        await memory.remember(Thread(THREAD.place, "other"), asked(), ANSWER, run("r1"))  # the run is there already

    assert await rows(database) == before


async def test_one_question_that_cannot_be_stored_harms_no_other_that_is_stored_at_the_same_time(
    memory: Memory, database: Database
) -> None:
    await memory.remember(THREAD, asked(), ANSWER, run("r0"))
    names = [f"r{n}" if n % 5 else "r0" for n in range(1, 31)]

    outcomes = await asyncio.gather(
        *(memory.remember(Thread(THREAD.place, str(n)), asked(), ANSWER, run(name)) for n, name in enumerate(names)),
        return_exceptions=True,
    )

    assert [isinstance(outcome, Exception) for outcome in outcomes] == [name == "r0" for name in names]
    assert await rows(database) == {"threads": 25, "turns": 50, "questions": 25, "answers": 25, "runs": 25}


async def test_what_a_connection_was_prepared_with_may_be_rolled_back(memory: Memory, database: Database) -> None:
    """On SQLite an answer is kept through a view, which is made when the first one is kept: this one is not."""
    with pytest.raises(StoreError):
        await memory.remember(THREAD, asked(), replace(ANSWER, language=None), run("r1"))  # type: ignore[arg-type]
    await memory.remember(THREAD, asked(), ANSWER, run("r2"))

    assert (await rows(database))["answers"] == 1


async def test_an_answer_is_stored_with_all_that_its_reader_sees(memory: Memory, database: Database) -> None:
    answer = replace(ANSWER, suggestions=(SOURCE._replace(n=2, places=()),), abstained=True)
    await memory.remember(THREAD, asked(), answer, run())

    row = await database.read(lambda connection: connection.execute(select(schema.answers)).one())

    assert (row.text, row.abstained, row.language, row.standalone_question) == ("Five days [1].", True, "en", "How many days?")
    assert to_sources(row.sources) == answer.sources
    assert to_sources(row.suggestions) == answer.suggestions
    assert (row.bases, row.run) == (["handbook", "api"], "r1")


async def test_a_failed_question_stays_in_the_thread_without_an_answer(memory: Memory, database: Database) -> None:
    await memory.fail(THREAD, asked(), "ModelTimeout: too slow", run(error="ModelTimeout: too slow"))

    assert texts(await memory.recall(THREAD, 10)) == ["How many days?"]
    assert await rows(database) == {"threads": 1, "turns": 1, "questions": 1, "answers": 0, "runs": 1}
    row = await database.read(lambda connection: connection.execute(select(schema.questions)).one())
    assert (row.state, row.failure, row.text, row.author) == ("failed", "ModelTimeout: too slow", "How many days?", "Ann")
    assert await memory.last_run(THREAD) == run(error="ModelTimeout: too slow")


async def test_a_claimed_question_is_answered_in_its_own_row(database: Database) -> None:
    memory = DatabaseMemory(database)
    await memory.fail(THREAD, asked(), "too slow", run())
    question = await database.read(lambda connection: connection.execute(select(schema.questions.c.id)).scalar_one())

    await memory.remember(THREAD, asked(), ANSWER, run("r2"), question=str(question))

    row = await database.read(lambda connection: connection.execute(select(schema.questions)).one())
    assert (row.id, row.state, row.failure, row.run) == (question, "answered", "", "r2")


# --- adopt and forget -----------------------------------------------------------------------------------------------


async def test_a_thread_without_turns_adopts_what_was_said_before(memory: Memory) -> None:
    said = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    told = [Turn("user", "Hello", "Ann", said_at=said), Turn("assistant", "Hi", bases=("handbook",), said_at=said)]

    await memory.adopt(THREAD, told)
    await memory.adopt(THREAD, [Turn("user", "Something else")])

    assert await memory.recall(THREAD, 10) == told


async def test_adopting_nothing_leaves_the_thread_open_to_adopt(memory: Memory) -> None:
    await memory.adopt(THREAD, [])
    await memory.adopt(THREAD, [Turn("user", "Hello")])

    assert texts(await memory.recall(THREAD, 10)) == ["Hello"]


async def test_two_that_adopt_at_once_do_not_mix(memory: Memory) -> None:
    await asyncio.gather(*(memory.adopt(THREAD, [Turn("user", f"{n}a"), Turn("user", f"{n}b")]) for n in range(8)))

    assert texts(await memory.recall(THREAD, 100)) in [[f"{n}a", f"{n}b"] for n in range(8)]


async def test_forgetting_leaves_nothing_of_a_thread(memory: Memory, database: Database) -> None:
    await memory.adopt(THREAD, [Turn("user", "Hello")])
    await memory.remember(THREAD, asked(), ANSWER, run())
    await memory.fail(THREAD, asked(), "too slow", run("r2"))

    assert await memory.forget(THREAD) == 4
    assert await memory.forget(THREAD) == 0

    assert await memory.recall(THREAD, 10) == []
    assert await memory.run("r1") is None
    assert set((await rows(database)).values()) == {0}


# --- runs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["\0 é 北京 \u2028 \U0001f600", "\0 é 北京 \ud800"])
async def test_a_run_comes_back_equal(memory: Memory, text: str) -> None:
    kept = replace(run("0b5e-1"), notes={"text": text, text: [1, 2.5, 1e22, 2**70, None, {"deep": (text,)}]})
    await memory.remember(THREAD, asked(), ANSWER, kept)

    assert await memory.run("0b5e-1") == replace(kept, notes={**kept.notes, text: [1, 2.5, 1e22, 2**70, None, {"deep": [text]}]})


async def test_what_is_no_json_in_a_trace_is_kept_in_words(memory: Memory) -> None:
    await memory.remember(THREAD, asked(), ANSWER, replace(run("r"), notes={"a": Lock, "b": b"\xff", "c": Path("x")}))

    found = await memory.run("r")
    assert found is not None
    assert found.notes == {"a": str(Lock), "b": str(b"\xff"), "c": "x"}


@pytest.mark.parametrize(
    ("beginning", "found"),
    [("ab-1", "ab-1"), ("ab-12", "ab-12"), ("ab-2", "ab-2345"), ("ab", None), ("ab-3", None), ("", None), ("AB-2", None)],
)
@pytest.mark.parametrize("wildcard", ["", "%", "_", "\0"])
async def test_a_run_is_found_by_a_beginning_that_no_other_shares(
    memory: Memory, beginning: str, found: str | None, wildcard: str
) -> None:
    for name in ("ab-1", "ab-12", "ab-2345", "b"):
        await memory.remember(THREAD, asked(), ANSWER, run(name))

    given = await memory.run(beginning + wildcard)

    assert given == (run(found) if found and wildcard in {"", "\0"} else None)


async def test_the_last_run_is_that_of_the_thread_or_of_all(memory: Memory) -> None:
    assert await memory.last_run() is None
    other = Thread(THREAD.place, "other")
    await memory.remember(THREAD, asked(), ANSWER, run("r1"))
    await memory.remember(THREAD, asked(), ANSWER, run("r2"))
    await memory.remember(other, asked(), ANSWER, run("r3"))

    assert await memory.last_run(THREAD) == run("r2")
    assert await memory.last_run() == run("r3")
    assert await memory.last_run(Thread(THREAD.place, "none")) is None


# --- any text -------------------------------------------------------------------------------------------------------

any_text = st.text(st.characters(codec=None) | st.sampled_from("\0\ud800\udfff\ufffe'\"\\%_"), max_size=60)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_text, any_text, any_text)
async def test_any_text_can_be_kept(memory: Memory, text: str, speaker: str, own: str) -> None:
    name = str(uuid4())
    thread = Thread(Place("slack", text, speaker), f"{own}{name}")
    answer = replace(ANSWER, text=text, language="", question=text, suggestions=(SOURCE._replace(title=text),))

    await memory.remember(thread, Turn("user", text, speaker), answer, run(name, error=text))

    turns = await memory.recall(thread, 10)
    assert [(turn.text, turn.speaker) for turn in turns] == [(well_formed(text), well_formed(speaker)), (well_formed(text), "")]
    assert await memory.run(name) == run(name, error=well_formed(text))
