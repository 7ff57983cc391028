"""The desk with a platform in memory: each question ends in one answer or one apology, in order, whatever fails."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bots.desk import Desk, DeskSettings
from bots.retrying import DELIVERIES
from bots.surfaces import Notice, Part
from rag.errors import (
    IndexMissing,
    ModelTimeout,
    PostGone,
    PostImpossible,
    PostLater,
    PostRefused,
    StoreUnavailable,
)
from rag.types import Place, Post, Question, Thread, Turn
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from storage.schema import questions
from tests.fakes.surfaces import ScriptedCore, ScriptedSurface, Wall

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection

    from bots.surfaces import Growing, Note, Said
    from rag.errors import DeliveryError
    from rag.ports import Limit

PLACE = Place("slack", "T1", "C1")
THREAD = Thread(PLACE, "100.1")
QUICK = DeskSettings(lease_seconds=0.6, sweep_seconds=0.05, drain_seconds=2.0, patience_seconds=0.2)
FAILED = "Something went wrong on my side, so I could not answer. Please ask again in a moment."
TOO_OLD = "I was away when you asked this, and it has been a while. If you still need an answer, please ask again."


def question(text: str = "leave?", message: str = "100.1", *, thread: Thread = THREAD) -> Question:
    return Question("", thread, text, "Ann", person="U1", message=message, asked_at=datetime.now(UTC))


class Office:
    """Desks on one database and one wall: one, or several as replicas."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.inbox = DatabaseInbox(database)
        self.memory = DatabaseMemory(database)
        self.wall = Wall()
        self.surface = ScriptedSurface(self.wall)
        self.core = ScriptedCore(self.memory)

    def desk(self, settings: DeskSettings = QUICK, *, core: ScriptedCore | None = None, limits: NoLimit | None = None) -> Desk:
        return Desk(
            inbox=self.inbox,
            memory=self.memory,
            conversation=core or self.core,
            surfaces={"slack": self.surface},
            limits=limits,
            settings=settings,
        )

    async def state(self, message: str = "100.1") -> str:
        asked = await self.inbox.asked(PLACE, message)
        return asked.state if asked else ""

    async def until(self, holds: Callable[[], bool], seconds: float = 10.0) -> None:
        async with asyncio.timeout(seconds):
            while not holds():  # noqa: ASYNC110 - of anything a test looks at
                await asyncio.sleep(0.01)

    async def killed(self, taken: Question, *, answered: str = "") -> None:
        """As if a process had died while it answered this; or after the answer was stored."""
        held = await self.inbox.next(taken.thread, "dead", seconds=-1)
        assert held is not None
        if answered:
            core = ScriptedCore(self.memory, lambda _: answered)
            await core.reply(taken.thread, taken.text, speaker=taken.author, question=held.id)

    async def reopened(self) -> None:
        """As if the process had died after it showed the answer, and before it said that it had."""
        undone = questions.update().values(state="answered")
        await self.database.write(lambda connection: connection.execute(undone))


class NoLimit:
    def __init__(self, notice: str) -> None:
        self._notice = notice

    def of(self, question: Question) -> Limit:  # noqa: ARG002 - the signature
        return lambda _: self._notice


@pytest.fixture
async def office(sqlite_url: str) -> AsyncIterator[Office]:
    async with Database(sqlite_url) as database:
        yield Office(database)


async def claimed(office: Office, text: str = "leave?", message: str = "100.1") -> Question:
    taken = await office.inbox.claim(question(text, message))
    assert taken is not None
    return taken


# --- one question ---------------------------------------------------------------------------------------------------


async def test_a_question_is_answered_once_in_its_thread(office: Office) -> None:
    async with office.desk() as desk:
        assert await desk.ask(question())
        assert not await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]
    assert office.core.asked == ["leave?"]
    assert await office.state() == "delivered"
    assert office.surface.calls.count("looking") >= 1
    assert office.surface.calls[-1] == "looked"


async def test_what_follows_the_claim_is_done_before_anybody_works_on_it(office: Office) -> None:
    seen = []

    async def acknowledge(taken: Question) -> None:
        await asyncio.sleep(3 * QUICK.sweep_seconds)
        seen.append((await office.state(taken.message), list(office.surface.calls)))

    async with office.desk() as desk:
        assert await desk.ask(question(), taken=acknowledge)
        assert not await desk.ask(question(), taken=acknowledge)
        await desk.settled()

    assert seen == [("waiting", [])]


async def test_nobody_works_on_what_is_being_acknowledged_neither_after_the_question_before_nor_elsewhere(office: Office) -> None:
    office.core.gate.clear()
    seen = []

    async def acknowledge(_: Question) -> None:
        office.core.gate.set()
        await office.until(lambda: office.wall.of(THREAD) == ["About first"])
        await asyncio.sleep(3 * QUICK.sweep_seconds)
        seen.append(list(office.core.asked))

    async with office.desk() as desk, office.desk() as other:
        await desk.ask(question("first", "100.1"))
        await office.until(lambda: office.core.at_once == 1)
        await desk.ask(question("second", "100.2"), taken=acknowledge)
        await desk.settled()
        await other.settled()
        await office.until(lambda: len(office.wall.of(THREAD)) == 2)

    assert seen == [["first"]]
    assert office.wall.of(THREAD) == ["About first", "About second"]


async def test_questions_of_one_thread_are_answered_one_at_a_time_in_order(office: Office) -> None:
    async with office.desk() as desk:
        for n in range(6):
            await desk.ask(question(f"q{n}", f"100.{n}"))
        await desk.settled()

    assert office.wall.of(THREAD) == [f"About q{n}" for n in range(6)]
    assert office.core.most_at_once == 1


async def test_threads_are_answered_side_by_side_up_to_the_limit(office: Office) -> None:
    office.core.gate.clear()
    async with office.desk(replace(QUICK, at_once=3)) as desk:
        for n in range(8):
            await desk.ask(question("q", f"{n}", thread=Thread(PLACE, f"{n}")))
        await office.until(lambda: office.core.at_once == 3)
        office.core.gate.set()
        await desk.settled()

    assert office.core.most_at_once == 3
    assert len(office.wall.messages) == 8


async def test_an_answer_grows_in_one_message(office: Office) -> None:
    office.surface.drafts = True
    office.core.gate.clear()
    async with office.desk() as desk:
        await desk.ask(question())
        await office.until(lambda: office.wall.of(THREAD) == ["About leave?"])
        assert office.wall.messages[0].open
        office.core.gate.set()
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]
    assert not office.wall.messages[0].open
    assert "post" not in office.surface.calls


async def test_a_draft_that_cannot_be_shown_costs_the_draft_and_not_the_answer(office: Office) -> None:
    office.surface.drafts = True
    office.surface.failures = [("show", PostRefused("no streams here"))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]


async def test_a_draft_that_is_shown_though_its_answer_was_lost_becomes_the_answer(office: Office) -> None:
    office.surface.drafts = True
    office.surface.performed = True
    office.surface.failures = [("show", PostLater("no answer", seconds=0.01, unsure=True))]
    office.core.gate.clear()
    async with office.desk() as desk:
        await desk.ask(question())
        await office.until(lambda: bool(office.wall.messages))
        office.core.gate.set()
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]
    assert [shown.open for shown in office.wall.messages] == [False]


async def test_a_stream_that_cannot_be_ended_is_edited_into_the_answer(office: Office) -> None:
    office.surface.drafts = True
    office.surface.failures = [("finish", PostRefused("not in streaming state"))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]
    assert office.core.asked == ["leave?"]


# --- the ladder -----------------------------------------------------------------------------------------------------


async def test_a_form_that_is_refused_is_followed_by_a_plainer_one_and_no_model_runs_again(office: Office) -> None:
    office.surface.limit = 5
    office.surface.failures = [("post", PostRefused("invalid_blocks"))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["plain: About", "plain:  leav", "plain: e?"]
    assert office.core.asked == ["leave?"]


async def test_a_later_part_that_is_refused_turns_the_earlier_ones_plain_too(office: Office) -> None:
    office.surface.limit = 5
    office.surface.refused = {" leav"}
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["plain: About", "plain:  leav", "plain: e?"]


async def test_an_answer_that_is_refused_in_every_form_ends_in_an_apology(office: Office) -> None:
    office.surface.failures = [("post", PostRefused("no")), ("post", PostRefused("no"))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == [FAILED]
    assert await office.state() == "failed"


async def test_a_post_is_tried_again_when_the_platform_asks_to_wait(office: Office) -> None:
    office.surface.failures = [("post", PostLater("ratelimited", seconds=0.01)), ("post", PostLater("ratelimited", seconds=0.01))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]


async def test_a_post_whose_answer_was_lost_is_looked_for_before_it_is_posted_again(office: Office) -> None:
    office.surface.performed = True
    office.surface.failures = [("post", PostLater("connection lost", seconds=0.01, unsure=True))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]
    assert await office.state() == "delivered"


async def test_a_post_whose_answer_was_lost_is_not_posted_again_before_the_thread_could_be_read(office: Office) -> None:
    office.surface.performed = True
    office.surface.failures = [
        ("post", PostLater("connection lost", seconds=0.01, unsure=True)),
        ("found", PostLater("ratelimited", seconds=0.01)),
        ("found", PostLater("ratelimited", seconds=0.01)),
    ]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]


async def test_a_platform_that_is_out_for_long_gets_the_stored_answer_later(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.retrying.SOON", 0.05)
    office.surface.failures = [("post", PostLater("out", seconds=0.3)), ("found", PostLater("out", seconds=0.3))]
    async with office.desk() as desk:
        await desk.ask(question())
        await office.until(lambda: bool(office.wall.messages))
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]
    assert office.core.asked == ["leave?"]


async def test_however_often_a_process_died_over_it_a_delivery_that_failed_once_is_tried_again_soon(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.retrying.SOON", 0.1)
    taken = await claimed(office)
    await office.killed(taken, answered="Five days.")
    for _ in range(DELIVERIES + 1):
        await office.killed(taken)
    office.surface.failures = [("found", PostLater("out", seconds=0.3))]
    async with office.desk() as desk:
        await office.until(lambda: bool(office.wall.messages), seconds=5.0)
        await desk.settled()

    assert office.wall.of(THREAD) == ["Five days."]
    assert await office.state() == "delivered"


async def test_a_form_over_which_the_platform_breaks_again_and_again_is_given_up_for_the_plainest(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = office.surface.post

    async def breaking(asked: Question, message: str, part: Part) -> str:
        if not message.startswith("plain: "):
            raise PostLater("internal_error", seconds=0.1)
        return await post(asked, message, part)

    monkeypatch.setattr("bots.retrying.SOON", 0.01)
    monkeypatch.setattr(office.surface, "post", breaking)
    async with office.desk(replace(QUICK, patience_seconds=0.0)) as desk:
        await desk.ask(question())
        await office.until(lambda: bool(office.wall.messages))
        await desk.settled()

    assert office.wall.of(THREAD) == ["plain: About leave?"]
    assert office.core.asked == ["leave?"]


async def test_the_pause_between_two_deliveries_grows_and_stays_bearable(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def handed_back(_question: str, _holder: str, *, seconds: float = 0.0, failed: bool = False) -> bool:
        assert failed
        pauses.append(seconds)
        return True

    monkeypatch.setattr(office.inbox, "hand_back", handed_back)
    desk = office.desk()
    for deliveries in range(9):
        failed = replace(question(), deliveries=deliveries)
        await desk._again(failed, PostLater("out", seconds=1.0), desk._delivery(failed))
    await desk._again(question(), PostLater("out", seconds=50.0), desk._delivery(question()))

    assert pauses == [3.0, 6.0, 12.0, 24.0, 30.0, 30.0, 30.0, 30.0, 30.0, 50.0]


@pytest.mark.parametrize(("failure", "state"), [(PostLater("out", seconds=0.3), "delivered"), (PostGone("odd"), "failed")])
async def test_an_outage_is_waited_for_and_what_fails_in_any_other_way_is_given_up(
    office: Office, monkeypatch: pytest.MonkeyPatch, failure: DeliveryError, state: str
) -> None:
    monkeypatch.setattr("bots.retrying.SOON", 0.01)
    monkeypatch.setattr("bots.retrying.LATEST", 0.01)
    monkeypatch.setattr("bots.retrying.DELIVERIES", 3)
    await office.killed(await claimed(office), answered="Five days.")
    office.surface.failures = [("found", failure)] * 5
    async with office.desk(replace(QUICK, patience_seconds=0.0)) as desk:
        await office.until(lambda: bool(office.wall.messages) or len(office.surface.failures) <= 2)
        await desk.settled()
        await office.until(lambda: bool(office.wall.messages) or state == "failed")
        await desk.settled()

    assert await office.state() == state


async def test_where_nothing_can_be_shown_the_question_is_done_with(office: Office) -> None:
    office.surface.failures = [("post", PostImpossible("is_archived"))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert await office.state() == "failed"
    assert await office.inbox.unfinished(["slack"]) == []


# --- failures of the model ------------------------------------------------------------------------------------------


async def test_where_it_is_known_that_nothing_can_be_shown_no_model_is_paid(office: Office) -> None:
    office.surface.failures = [("reach", PostImpossible("locked"))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert (office.core.asked, office.wall.of(THREAD)) == ([], [])
    assert await office.state() == "failed"


async def test_a_failure_ends_in_one_plain_apology(office: Office) -> None:
    office.core.say = lambda _: ModelTimeout("the model took 61 s")
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == [ModelTimeout.user_message]
    assert await office.state() == "failed"


@pytest.mark.parametrize(("failures", "said", "paid"), [(2, "About leave?", 3), (9, "I cannot reach my documents", 3)])
async def test_an_answer_that_cannot_be_stored_is_tried_again_before_anybody_is_told(
    office: Office, monkeypatch: pytest.MonkeyPatch, failures: int, said: str, paid: int
) -> None:
    remember, left = office.memory.remember, [StoreUnavailable("away")] * failures

    async def failing(*arguments: Any, **more: Any) -> None:
        if left:
            raise left.pop()
        await remember(*arguments, **more)

    monkeypatch.setattr("bots.retrying.SOON", 0.01)
    monkeypatch.setattr(office.memory, "remember", failing)
    async with office.desk() as desk:
        await desk.ask(question())
        await office.until(lambda: bool(office.wall.messages))
        await desk.settled()

    assert [text[: len(said)] for text in office.wall.of(THREAD)] == [said]
    assert len(office.core.asked) == paid


async def test_an_index_that_is_missing_is_said_at_once(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    office.core.say = lambda _: IndexMissing("no index")
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == [IndexMissing.user_message]
    assert [each.message.split(": ")[1] for each in caplog.records if each.levelname == "ERROR"] == ["no index"]
    assert office.core.asked == ["leave?"]


async def test_an_apology_is_in_the_language_of_the_question(office: Office) -> None:
    office.core.say = lambda _: ModelTimeout("the model took 61 s")
    async with office.desk() as desk:
        await desk.ask(question("Wie viele Tage Urlaub habe ich im Jahr?"))
        await desk.settled()

    assert office.wall.of(THREAD)[0].startswith("Bei mir ist etwas schiefgegangen")


async def test_a_bug_ends_in_an_apology_and_says_nothing_of_itself(office: Office) -> None:
    office.core.say = lambda _: ZeroDivisionError("secret detail")
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == [FAILED]


async def test_a_notice_is_said_instead_of_an_answer_and_no_model_is_asked(office: Office) -> None:
    async with office.desk(limits=NoLimit("Please give me a minute.")) as desk:
        assert await desk.ask(question())
        assert not await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["Please give me a minute."]
    assert office.core.asked == []


# --- history --------------------------------------------------------------------------------------------------------


async def test_a_thread_is_read_once(office: Office) -> None:
    office.surface.said_before = [Turn("user", "We deploy on Fridays.", "Bob")]
    async with office.desk() as desk:
        await desk.ask(question("why?", "1"))
        await desk.settled()
        await desk.ask(question("and how?", "2"))
        await desk.settled()

    assert office.core.histories == [office.surface.said_before, None]
    assert office.surface.calls.count("history") == 1


async def test_called_without_a_question_the_threads_last_one_is_answered(office: Office) -> None:
    office.surface.said_before = [Turn("user", "How do I roll back?", "Bob"), Turn("assistant", "Hm.")]
    async with office.desk() as desk:
        await desk.ask(question(""))
        await desk.settled()

    assert office.core.asked == ["How do I roll back?"]
    assert office.core.histories == [[]]


async def test_called_without_a_question_in_an_empty_thread_says_what_to_do(office: Office) -> None:
    async with office.desk() as desk:
        await desk.ask(question(""))
        await desk.settled()

    assert office.wall.of(THREAD) == ["Ask me a question, and I will look it up in the documents."]


async def test_a_thread_that_cannot_be_read_is_answered_without_it(office: Office) -> None:
    office.surface.failures = [("history", PostLater("ratelimited"))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]


# --- edits and deletions --------------------------------------------------------------------------------------------


async def test_an_edited_question_is_answered_anew_in_place(office: Office) -> None:
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()
        assert await desk.edit(PLACE, "100.1", "sick leave?")
        assert not await desk.edit(PLACE, "100.1", "sick leave?")
        assert not await desk.edit(PLACE, "100.9", "never asked")
        await desk.settled()

    assert office.wall.of(THREAD) == ["About sick leave?"]
    assert [turn.text for turn in await office.memory.recall(THREAD, 9)] == ["sick leave?", "About sick leave?"]


async def test_an_edit_while_the_answer_is_on_its_way_stops_that_one(office: Office) -> None:
    office.surface.drafts = True
    office.core.gate.clear()
    async with office.desk() as desk:
        await desk.ask(question())
        await office.until(lambda: bool(office.wall.messages))
        await desk.edit(PLACE, "100.1", "sick leave?")
        office.core.gate.set()
        await desk.settled()

    assert office.wall.of(THREAD) == ["About sick leave?"]
    assert not office.wall.messages[0].open


async def test_a_deleted_question_takes_its_answer_along(office: Office) -> None:
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()
        assert await desk.delete(PLACE, "100.1")
        assert not await desk.delete(PLACE, "100.1")

    assert office.wall.of(THREAD) == []
    assert await office.memory.recall(THREAD, 9) == []


async def test_the_answer_to_a_deleted_question_is_taken_away_even_where_that_fails_at_first(office: Office) -> None:
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()
        office.surface.failures = [("remove", PostLater("ratelimited", seconds=0.01))]
        assert await desk.delete(PLACE, "100.1")
        await desk.settled()

        assert office.wall.messages == []
        assert office.surface.failures == []


async def test_a_question_deleted_while_it_is_answered_gets_no_answer(office: Office) -> None:
    office.surface.drafts = True
    office.core.gate.clear()
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.ask(question("next", "100.2"))
        await office.until(lambda: bool(office.wall.messages))
        await desk.delete(PLACE, "100.1")
        office.core.gate.set()
        await desk.settled()

    assert office.wall.of(THREAD) == ["About next"]


async def test_a_question_deleted_at_another_replica_is_stopped_by_its_lease(office: Office) -> None:
    office.surface.drafts = True
    office.core.gate.clear()
    async with office.desk() as desk, office.desk() as other:
        await desk.ask(question())
        await office.until(lambda: bool(office.wall.messages))
        await other.delete(PLACE, "100.1")
        await office.until(lambda: not desk.busy)
        await desk.settled()

    assert office.wall.of(THREAD) == []


async def test_what_a_shorter_answer_leaves_over_is_taken_away_even_where_that_fails_at_first(office: Office) -> None:
    office.surface.limit = 5
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()
        assert office.wall.of(THREAD) == ["About", " leav", "e?"]
        office.surface.failures = [("remove", PostLater("busy", seconds=0.0))]
        await desk.edit(PLACE, "100.1", "x?")
        await desk.settled()

    assert office.wall.of(THREAD) == ["About", " x?"]


async def test_an_answer_that_somebody_deleted_is_posted_anew_when_the_question_is_edited(office: Office) -> None:
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()
        office.surface.failures = [("edit", PostGone("message_not_found"))]
        await desk.edit(PLACE, "100.1", "sick leave?")
        await desk.settled()

    assert office.wall.of(THREAD)[-1] == "About sick leave?"


# --- restarts -------------------------------------------------------------------------------------------------------


async def test_a_question_that_was_waiting_at_a_restart_is_answered(office: Office) -> None:
    await claimed(office)
    async with office.desk():
        await office.until(lambda: bool(office.wall.messages))

    assert office.wall.of(THREAD) == ["About leave?"]


async def test_a_question_whose_process_died_is_answered_by_the_next(office: Office) -> None:
    await office.killed(await claimed(office))
    async with office.desk():
        await office.until(lambda: bool(office.wall.messages))

    assert office.wall.of(THREAD) == ["About leave?"]


async def test_a_stored_answer_is_delivered_after_a_restart_without_a_model(office: Office) -> None:
    await office.killed(await claimed(office), answered="Five days.")
    async with office.desk():
        await office.until(lambda: bool(office.wall.messages))

    assert office.wall.of(THREAD) == ["Five days."]
    assert office.core.asked == []
    assert await office.state() == "delivered"


async def test_an_answer_that_was_posted_and_not_noted_is_found_in_the_thread(office: Office) -> None:
    taken = await claimed(office)
    await office.killed(taken, answered="Five days.")
    office.surface.limit = 5
    for n, message in enumerate(office.surface.forms(taken, Notice("Five days."))[0], start=1):
        await office.surface.post(taken, message, Part(n, 2))
    async with office.desk() as desk:
        await office.until(lambda: "found" in office.surface.calls)
        await desk.settled()

    assert office.wall.of(THREAD) == ["Five ", "days."]
    assert await office.state() == "delivered"
    assert len(await office.inbox.posts(taken.id)) == 2


async def test_a_stream_left_open_is_closed_and_becomes_the_answer(office: Office) -> None:
    taken = await claimed(office)
    await office.killed(taken)
    growing = _surface(office).growing(taken, lambda post: office.inbox.note(taken.id, post))
    assert growing is not None
    await growing.show("About le")
    async with office.desk() as desk:
        await office.until(lambda: "found" in office.surface.calls)
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]
    assert not office.wall.messages[0].open


# --- what cannot be read back ---------------------------------------------------------------------------------------


async def test_a_private_answer_that_was_shown_is_not_shown_again_after_a_crash(office: Office) -> None:
    office.surface.whispering = True
    office.surface.limit = 5
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()
        await office.reopened()
        await office.until(lambda: office.surface.calls.count("looked") >= 2)
        await desk.settled()

    assert office.wall.of(THREAD) == ["About", " leav", "e?"]
    assert await office.state() == "delivered"


async def test_a_private_answer_that_may_have_been_shown_is_shown_again_and_says_so(office: Office) -> None:
    office.surface.whispering = True
    taken = await claimed(office)
    await office.killed(taken, answered="Five days.")
    await office.inbox.note(taken.id, Post(f"whisper-{taken.id}-0-1", open=True))
    async with office.desk() as desk:
        await office.until(lambda: bool(office.wall.messages))
        await desk.settled()

    assert office.wall.of(THREAD) == ["again: Five days."]
    assert office.core.asked == []


async def test_a_private_answer_whose_taking_is_unknown_is_said_again_and_says_so(office: Office) -> None:
    office.surface.whispering = True
    office.surface.performed = True
    office.surface.failures = [("post", PostLater("no answer", seconds=0.01, unsure=True))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?", "again: About leave?"]


async def test_a_private_answer_that_was_not_taken_is_said_as_if_for_the_first_time(office: Office) -> None:
    office.surface.whispering = True
    office.surface.failures = [("post", PostLater("wait", seconds=0.01)), ("post", PostRefused("invalid_blocks"))]
    async with office.desk() as desk:
        await desk.ask(question())
        await desk.settled()

    assert office.wall.of(THREAD) == ["plain: About leave?"]


# --- age and death --------------------------------------------------------------------------------------------------


async def test_a_question_that_is_too_old_gets_an_apology(office: Office) -> None:
    await claimed(office)
    await asyncio.sleep(0.02)
    async with office.desk(replace(QUICK, too_old_seconds=0.01)) as desk:
        await office.until(lambda: bool(office.wall.messages))
        await desk.settled()

    assert office.wall.of(THREAD) == [TOO_OLD]
    assert office.core.asked == []
    assert await office.state() == "expired"


async def test_a_question_that_the_platform_told_of_late_is_answered_all_the_same(office: Office) -> None:
    async with office.desk() as desk:
        await desk.ask(replace(question(), asked_at=datetime.now(UTC) - timedelta(days=1)))
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]


async def test_a_question_at_which_every_process_dies_is_given_up(office: Office) -> None:
    taken = await claimed(office)
    for _ in range(QUICK.attempts):
        await office.killed(taken)
    async with office.desk() as desk:
        await office.until(lambda: bool(office.wall.messages))
        await desk.settled()

    assert office.wall.of(THREAD) == [FAILED]
    assert office.core.asked == []


async def test_two_replicas_answer_each_question_once_and_in_order(office: Office) -> None:
    async with office.desk() as one, office.desk() as two:
        for n in range(10):
            for desk in (one, two) if n % 2 else (two, one):
                await desk.ask(question(f"q{n}", f"100.{n}"))
        await office.until(lambda: len(office.wall.messages) >= 10)
        await one.settled()
        await two.settled()

    assert office.wall.of(THREAD) == [f"About q{n}" for n in range(10)]
    assert len(office.core.asked) == 10


# --- the end --------------------------------------------------------------------------------------------------------


async def test_at_the_end_what_is_in_flight_is_finished_and_what_waits_is_left_to_the_next(office: Office) -> None:
    office.core.gate.clear()
    async with AsyncExitStack() as stack:
        desk = await stack.enter_async_context(office.desk())
        await desk.ask(question())
        await desk.ask(question("next", "100.2"))
        await office.until(lambda: bool(office.core.at_once))
        ending = asyncio.create_task(desk.drain())
        await asyncio.sleep(0)
        assert await desk.ask(question("late", "200.1", thread=Thread(PLACE, "200.1")))
        office.core.gate.set()
        await ending
        assert office.wall.of(THREAD) == ["About leave?"]
    async with office.desk():
        await office.until(lambda: len(office.wall.messages) == 3)

    assert office.wall.of(THREAD) == ["About leave?", "About next"]


async def test_at_the_end_what_takes_too_long_is_handed_back_at_once(office: Office) -> None:
    office.core.gate.clear()
    office.surface.drafts = True
    async with office.desk(replace(QUICK, drain_seconds=0.05, lease_seconds=60)) as desk:
        await desk.ask(question())
        await office.until(lambda: bool(office.wall.messages))
    office.core.gate.set()
    async with office.desk() as desk:
        await office.until(lambda: "found" in office.surface.calls)
        await desk.settled()

    assert office.wall.of(THREAD) == ["About leave?"]
    assert not office.wall.messages[0].open


def _surface(office: Office) -> ScriptedSurface:
    office.surface.drafts = True
    return office.surface


# --- who stood still ------------------------------------------------------------------------------------------------


class Cut(DatabaseInbox):
    """The database, for a process that cannot reach it for a while."""

    away = False

    async def renew(self, holder: str, questions: Collection[str], *, seconds: float) -> frozenset[str]:
        if self.away:
            raise StoreUnavailable("away")
        return await super().renew(holder, questions, seconds=seconds)


class Slow(ScriptedSurface):
    """A platform that takes its time over one call."""

    def __init__(self, wall: Wall, what: str) -> None:
        super().__init__(wall, drafts=what == "show")
        self.gate = asyncio.Event()
        self.waiting = asyncio.Event()
        self.left: list[str] = []  # what people saw when it had done it at last
        self._what = what

    def growing(self, question: Question, note: Note) -> Growing | None:
        growing = super().growing(question, note)
        return SlowText(self, growing) if growing else None

    async def waited(self, what: str) -> None:
        if what == self._what:
            self.waiting.set()
            await self.gate.wait()

    async def post(self, question: Question, message: str, part: Part) -> str:
        await self.waited("post")
        posted = await super().post(question, message, part)
        self.left = self.wall.of(question.thread)
        return posted


class SlowText:
    def __init__(self, surface: Slow, growing: Growing) -> None:
        self._surface = surface
        self._growing = growing

    async def show(self, draft: str) -> None:
        await self._growing.show(draft[:3])
        await self._surface.waited("show")
        await self._growing.show(draft[:3])
        self._surface.left = self._surface.wall.of(THREAD)

    async def finish(self, said: Said) -> bool:
        return await self._growing.finish(said)


@pytest.mark.parametrize(("what", "left"), [("show", ["Abo"]), ("post", ["About leave?", "About leave?"])])
async def test_what_was_shown_too_late_over_anothers_answer_is_mended(office: Office, what: str, left: list[str]) -> None:
    slow, inbox = Slow(office.wall, what), Cut(office.database)
    stalled = Desk(inbox=inbox, memory=office.memory, conversation=office.core, surfaces={"slack": slow}, settings=QUICK)
    async with stalled:
        await stalled.ask(question())
        await slow.waiting.wait()
        inbox.away = True
        async with office.desk() as other:
            await office.until(lambda: "About leave?" in office.wall.of(THREAD))
            await other.settled()
            inbox.away = False
            slow.gate.set()
            await office.until(lambda: slow.left == left)
            await stalled.settled()
            await other.settled()

    assert office.wall.of(THREAD) == ["About leave?"]
    assert await office.state() == "delivered"


async def test_a_process_that_lost_a_question_shows_nothing_more_of_it(office: Office) -> None:
    office.core.gate.clear()
    inbox, surface, core = Cut(office.database), ScriptedSurface(office.wall), ScriptedCore(office.memory)
    stalled = Desk(inbox=inbox, memory=office.memory, conversation=office.core, surfaces={"slack": surface}, settings=QUICK)
    async with stalled:
        await stalled.ask(question())
        await office.until(lambda: office.core.at_once == 1)
        inbox.away = True
        async with office.desk(core=core) as other:
            await office.until(lambda: office.wall.of(THREAD) == ["About leave?"])
            await other.settled()
        office.core.gate.set()
        await asyncio.sleep(2 * QUICK.sweep_seconds)
        inbox.away = False
        await stalled.settled()

    assert "post" not in surface.calls
    assert office.wall.of(THREAD) == ["About leave?"]
    assert await office.state() == "delivered"
