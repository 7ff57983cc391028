"""Replies in threads: the whole core, with a real index and a real database."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from rag.abstaining import wording
from rag.errors import BadHistory, BadQuestion, DeadlineExceeded, IndexMissing, ModelUnavailable
from rag.noting import scores_of
from rag.types import Place, Thread, Turn, Usage
from storage.local_index import LocalIndex
from tests.rag.talking import HANDBOOK, HR, LEAVE, LEAVE_ANSWER, SALARIES, THREAD, Desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from storage.database import Database

OTHER = Thread(THREAD.place, "200.2")
SICK = "What does sick leave need after three days of illness?"
SICK_ANSWER = "Sick leave needs a note from a doctor after three days of illness [1]."


@pytest.fixture
async def stored(database: Database, tmp_path: Path) -> AsyncIterator[Desk]:
    """On SQLite and on PostgreSQL: for what rests on the database."""
    async with LocalIndex(tmp_path / "index") as index:
        desk = Desk(database, index)
        await desk.know(HANDBOOK)
        await desk.know(SALARIES, "salaries")
        yield desk


async def test_an_index_that_is_gone_is_no_answer_that_the_documents_do_not_say(stored: Desk, tmp_path: Path) -> None:
    await stored.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)
    shutil.rmtree(tmp_path / "index")

    with pytest.raises(IndexMissing, match="handbook"):
        await stored.talk(LEAVE_ANSWER).reply(OTHER, LEAVE)


# --- threads (R1-R5, R37) -------------------------------------------------------------------------------------------


async def test_two_threads_never_see_each_other(stored: Desk) -> None:
    await stored.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)

    for thread in (OTHER, Thread(Place("slack", "T1", "C2"), THREAD.id), Thread(Place("discord", "T1", "C1"), THREAD.id)):
        conversation = stored.talk(SICK_ANSWER)
        await conversation.reply(thread, SICK)

        assert stored.writer.prompts[0].history == ()
        assert "annual" not in stored.writer.prompts[0].user.split("<question>")[1]


async def test_a_follow_up_is_asked_with_what_was_said_before_it(stored: Desk) -> None:
    await stored.talk(LEAVE_ANSWER).reply(THREAD, LEAVE, speaker="Ann")
    conversation = stored.talk("How many weeks before do requests for annual leave go to the manager?", "Two weeks before [1].")

    answer = await conversation.reply(THREAD, "and how many weeks before do requests go there?", speaker="Bo")

    rewriting, answering = stored.writer.prompts
    assert '<turn by="user" name="Ann">' in rewriting.user
    assert answer.question == "How many weeks before do requests for annual leave go to the manager?"
    assert [(turn.role, turn.speaker) for turn in answering.history] == [("user", "Ann"), ("assistant", "")]


async def test_question_and_answer_are_stored_together_with_their_speaker(stored: Desk) -> None:
    await stored.talk(LEAVE_ANSWER).reply(THREAD, LEAVE, speaker="Ann")

    assert await stored.said() == [("user", "Ann", LEAVE), ("assistant", "", LEAVE_ANSWER)]


async def test_an_answer_that_breaks_off_half_way_leaves_the_question_and_no_part_of_an_answer(stored: Desk) -> None:
    broken = ModelUnavailable("The connection is gone.")
    half: list[str | Exception] = ["Employees get 25 days ", "of annual leave [1]. ", broken]
    conversation = stored.talk(half, half)

    with pytest.raises(ModelUnavailable) as raised:
        await conversation.reply(THREAD, LEAVE, speaker="Ann")

    assert raised.value is broken
    assert await stored.said() == [("user", "Ann", LEAVE)]
    run = await stored.memory.last_run(THREAD)
    assert run is not None
    assert run.error == "ModelUnavailable: The connection is gone."


async def test_the_thread_goes_on_after_a_failure(stored: Desk) -> None:
    with pytest.raises(ModelUnavailable):
        await stored.talk(ModelUnavailable("Gone.")).reply(THREAD, LEAVE)

    await stored.talk(LEAVE, LEAVE_ANSWER).reply(THREAD, LEAVE)

    assert [role for role, _, _ in await stored.said()] == ["user", "user", "assistant"]


async def test_history_that_is_handed_in_is_adopted_once(stored: Desk) -> None:
    given = [Turn("user", "We have a new colleague.", "Ann"), Turn("user", "Her laptop is here.", "OtherBot")]
    await stored.talk(LEAVE, LEAVE_ANSWER).reply(THREAD, LEAVE, history=given, speaker="Bo")

    assert '<turn by="user" name="OtherBot">\nHer laptop is here.' in stored.writer.prompts[0].user
    await stored.talk(SICK, SICK_ANSWER).reply(THREAD, SICK, history=[*given, Turn("user", "Once more.")])

    assert [text for _, _, text in await stored.said()] == [
        "We have a new colleague.",
        "Her laptop is here.",
        LEAVE,
        LEAVE_ANSWER,
        SICK,
        SICK_ANSWER,
    ]


async def test_pairs_and_messages_are_history_too(desk: Desk) -> None:
    pairs = [("Is there leave?", "There is.")]
    messages = [{"role": "user", "content": "Is there leave?"}, {"role": "assistant", "content": "There is."}]
    for number, history in enumerate((pairs, messages)):
        thread = Thread(THREAD.place, str(number))
        await desk.talk(LEAVE, LEAVE_ANSWER).reply(thread, LEAVE, history=history)

        assert [(role, text) for role, _, text in await desk.said(thread)][:2] == [
            ("user", "Is there leave?"),
            ("assistant", "There is."),
        ]


async def test_history_of_another_form_is_refused_naming_those_that_are_accepted(desk: Desk) -> None:
    with pytest.raises(BadHistory, match=r"Accepted are: .*pairs"):
        await desk.talk().reply(THREAD, LEAVE, history={"a": 1})

    assert desk.writer.prompts == []


@pytest.mark.parametrize("history", [None, [], "", "  ", [("", " ")], [{"role": "user", "content": "\n"}]])
async def test_no_history_in_any_form_asks_the_model_once(desk: Desk, history: object) -> None:
    answer = await desk.talk(LEAVE_ANSWER).reply(THREAD, LEAVE, history=history)

    assert (len(desk.writer.prompts), answer.question) == (1, LEAVE)


async def test_the_newest_turns_are_used_up_to_history_turns(desk: Desk) -> None:
    await desk.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)
    await desk.talk(SICK, SICK_ANSWER).reply(THREAD, SICK)

    await desk.talk("Who refunds travel costs?", "NO_ANSWER", history_turns=1).reply(THREAD, "Who refunds travel costs?")

    assert [turn.text for turn in desk.writer.prompts[1].history] == [SICK_ANSWER]


async def test_without_history_turns_each_question_stands_alone(desk: Desk) -> None:
    await desk.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)

    await desk.talk(SICK_ANSWER, history_turns=0).reply(THREAD, SICK)

    assert (len(desk.writer.prompts), desk.writer.prompts[0].history) == (1, ())


async def test_what_a_restricted_base_said_leaves_the_history_where_it_may_not_be_searched(stored: Desk) -> None:
    thread = Thread(HR, "300.3")
    pay = "What is the pay band of engineers in Lisbon?"
    told = "The pay band of engineers in Lisbon begins at 50,000 euros [1]."
    answer = await stored.talk(told).reply(thread, pay)
    assert answer.bases == ("salaries", "handbook")
    moved = Thread(Place("slack", "T1", "C1"), "400.4")  # the same words, in a place that no route names
    await stored.memory.adopt(moved, await stored.memory.recall(thread, 10))

    await stored.talk(LEAVE, LEAVE_ANSWER).reply(moved, LEAVE)

    assert all("50,000" not in prompt.user for prompt in stored.writer.prompts)
    run = await stored.memory.last_run(moved)
    assert run is not None
    assert "50,000" not in str(run.steps)
    assert next(step.notes["withheld"] for step in run.steps if step.name == "route") == 1


# --- knowing when not to answer (R20, R21, R32, R33) ----------------------------------------------------------------


async def test_where_nothing_is_found_the_model_is_not_asked(desk: Desk) -> None:
    answer = await desk.talk(threshold=1.0).reply(THREAD, "¿Quién ganó el partido de ayer en Madrid?")

    assert desk.writer.prompts == []
    assert (answer.abstained, answer.sources, answer.language) == (True, (), "es")
    assert answer.text == "Los documentos no dicen nada sobre esto."


async def test_the_nearest_documents_are_offered_where_none_is_relevant_enough(desk: Desk) -> None:
    answer = await desk.talk(threshold=1.0).reply(THREAD, "How many days?")

    assert answer.suggestions
    assert {source.document for source in answer.suggestions} <= HANDBOOK.keys()
    run = await desk.memory.run(answer.run)
    assert run is not None
    assert run.notes["unanswered"] == "nothing relevant was found"


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("NO_ANSWER", "the writer found no answer"),
        ("**NO_ANSWER**", "the writer found no answer"),
        ("The moon is made of green cheese [1].", "no citation could be verified"),
        ("The moon is made of green cheese.", "no citation could be verified"),
        ("Paris [7].", "no citation could be verified"),
    ],
)
async def test_without_a_verified_citation_the_documents_do_not_say(desk: Desk, written: str, why: str) -> None:
    answer = await desk.talk(written).reply(THREAD, LEAVE)

    assert (answer.abstained, answer.sources, answer.text) == (True, (), "The documents don't say anything about this.")
    run = await desk.memory.run(answer.run)
    assert run is not None
    assert run.notes["unanswered"] == why


async def test_the_same_text_from_two_places_is_shown_once_with_both_sources(desk: Desk) -> None:
    await desk.know({**HANDBOOK, "old/leave.md": HANDBOOK["leave.md"]})

    answer = await desk.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)

    assert desk.writer.prompts[0].user.count("25 days") == 1
    assert {source.document for source in answer.sources} == {"leave.md", "old/leave.md"}


@pytest.mark.parametrize("text", ["", " \n ", "\0"])
async def test_an_empty_question_is_refused(desk: Desk, text: str) -> None:
    with pytest.raises(BadQuestion):
        await desk.talk().reply(THREAD, text)


async def test_a_question_that_is_too_long_is_refused_before_anything_is_searched(desk: Desk) -> None:
    with pytest.raises(BadQuestion) as raised:
        await desk.talk().reply(THREAD, "x" * 4001)

    assert "4000" in raised.value.user_message
    assert await desk.said() == []


async def test_any_text_can_be_asked_and_is_kept(desk: Desk) -> None:
    await desk.talk(LEAVE_ANSWER).reply(THREAD, f"{LEAVE}\0\ud800 ﷺ👩‍👩‍👧‍👦")

    assert (await desk.said())[0] == ("user", "", f"{LEAVE}\ufffd ﷺ👩‍👩‍👧‍👦")


# --- time (R25) -----------------------------------------------------------------------------------------------------


async def test_a_question_that_takes_too_long_is_stored_as_failed(stored: Desk) -> None:
    conversation = stored.talk(["Employees get ", 30.0, "25 days [1].", Usage("scripted")], seconds=0.3)

    with pytest.raises(DeadlineExceeded, match=r"longer than 0\.3 s"):
        await conversation.reply(THREAD, LEAVE)

    assert await stored.said() == [("user", "", LEAVE)]
    assert stored.writer.closed == 1
    run = await stored.memory.last_run(THREAD)
    assert run is not None
    assert "deadline_seconds" in run.error


async def test_a_question_that_is_cancelled_is_stored_as_failed(desk: Desk) -> None:
    begun = asyncio.Event()
    conversation = desk.talk(["Employees get 25 days ", "of annual leave. ", 30.0, "[1]."])
    asking = asyncio.create_task(conversation.reply(THREAD, LEAVE, lambda _: begun.set()))
    await begun.wait()
    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking

    assert await desk.said() == [("user", "", LEAVE)]


# --- traces (R38, R39) ----------------------------------------------------------------------------------------------


async def test_a_run_explains_the_answer_step_by_step(stored: Desk) -> None:
    await stored.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)
    rewrite = "How many days of annual leave do new employees get?"
    answer = await stored.talk(rewrite, "Employees get 25 days of annual leave a year [1], and a car [2].").reply(
        THREAD, "and new employees?", speaker="Ann"
    )

    run = await stored.memory.run(answer.run)

    assert run is not None
    assert [step.name for step in run.steps] == ["recall", "route", "condense", "search", "select", "compose", "cite"]
    assert all(step.seconds >= 0 and not step.error for step in run.steps)
    notes: dict[str, Mapping[str, object]] = {step.name: step.notes for step in run.steps}
    assert (run.notes["question"], run.notes["speaker"], run.notes["answer"]) == ("and new employees?", "Ann", answer.text)
    assert notes["route"]["history"] == [f"user: {LEAVE}", f"assistant: {LEAVE_ANSWER}"]
    assert (notes["condense"]["how"], notes["condense"]["standalone"]) == ("rewritten", rewrite)
    assert "annual" in str(notes["search"]["terms"])
    columns = notes["search"]["candidates"]
    assert isinstance(columns, dict)
    assert {"id", "bm25", "cosine", "score", "lexical_rank", "dense_rank"} <= columns.keys()
    assert {len(scores_of(each) if isinstance(each, str) else each) for each in columns.values()} == {len(columns["id"])}
    assert "relevance" in str(notes["select"]["kept"])
    assert "<passages>" in str(notes["compose"]["prompts"])
    assert (notes["compose"]["model"], notes["compose"]["calls"]) == ("scripted", 1)
    assert "25 days" in str(notes["cite"]["kept"])
    assert "a car" in str(notes["cite"]["dropped"])


async def test_a_run_is_found_by_the_beginning_of_its_id(stored: Desk) -> None:
    answer = await stored.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)

    found = await stored.memory.run(answer.run[:8])

    assert found is not None
    assert found.id == answer.run


class Watching:
    """Keeps what it was told; raises it may, too."""

    def __init__(self, *, failing: bool = False) -> None:
        self.told: list[tuple[str, str]] = []
        self._failing = failing

    def on_start(self, run: str, step: str) -> None:
        self._tell("start", run, step)

    def on_end(self, run: str, step: str, seconds: float, notes: Mapping[str, object]) -> None:
        assert seconds >= 0
        assert isinstance(notes, dict)
        self._tell("end", run, step)

    def on_error(self, run: str, step: str, error: BaseException) -> None:
        self._tell(f"error {error}", run, step)

    def _tell(self, event: str, run: str, step: str) -> None:
        assert run
        self.told.append((step, event))
        if self._failing:
            raise RuntimeError("an observer that is out of order")


async def test_observers_are_told_of_each_step_by_name(desk: Desk) -> None:
    watching = Watching()

    await desk.talk(LEAVE_ANSWER, observers=[watching]).reply(THREAD, LEAVE)

    steps = ["recall", "route", "condense", "search", "select", "compose", "cite"]
    assert watching.told == [(step, event) for step in steps for event in ("start", "end")]


async def test_an_error_reaches_observers_and_the_caller(desk: Desk) -> None:
    watching, gone = Watching(), ModelUnavailable("Gone.")

    with pytest.raises(ModelUnavailable) as raised:
        await desk.talk(gone, observers=[watching]).reply(THREAD, LEAVE)

    assert raised.value is gone
    assert watching.told[-2:] == [("compose", "start"), ("compose", "error Gone.")]


async def test_an_observer_that_fails_breaks_nothing(desk: Desk) -> None:
    failing, watching = Watching(failing=True), Watching()

    answer = await desk.talk(LEAVE_ANSWER, observers=[failing, watching]).reply(THREAD, LEAVE)

    assert not answer.abstained
    assert failing.told == watching.told


# --- courtesies -----------------------------------------------------------------------------------------------------


async def test_thanks_get_a_short_reply_no_search_and_no_model(desk: Desk) -> None:
    """Else the last answer would be repeated; and the next follow-up goes on from that answer."""
    await desk.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)
    answer = await desk.talk().reply(THREAD, "Gracias!")

    assert (answer.text, answer.abstained, answer.sources, answer.language) == ("De nada.", False, (), "es")
    assert desk.writer.prompts == []
    run = await desk.memory.last_run(THREAD)
    assert run is not None
    assert [step.name for step in run.steps] == ["recall"]
    assert (await desk.said())[-2:] == [("user", "", "Gracias!"), ("assistant", "", "De nada.")]

    await desk.talk("How many weeks before do requests for annual leave go to the manager?", "Two weeks before [1].").reply(
        THREAD, "and how many weeks before do requests go there?"
    )
    assert "Gracias" not in desk.writer.prompts[0].user


async def test_a_single_word_that_tells_no_language_is_answered_in_that_of_the_documents(desk: Desk) -> None:
    answer = await desk.talk(threshold=0.99).reply(THREAD, "CEO")

    assert (answer.abstained, answer.language) == (True, "en")
    assert answer.text == wording("en").unknown
