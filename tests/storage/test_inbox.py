"""The contract of Inbox, over every database."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from sqlalchemy import select

from rag.errors import StoreError
from rag.ports import Inbox
from rag.types import Answer, Place, Post, Question, Run, Source, SourcePlace, Tally, Thread, Turn
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.inbox import DatabaseInbox
from storage.schema import metadata

PLACE = Place("slack", "T1", "C1")
THREAD = Thread(PLACE, "100.1")
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SOURCE = Source(1, "handbook", "leave.md", "Leave", (SourcePlace("Carry over", "https://x.org/leave#carry"),))
ANSWER = Answer(
    "Five days [1].",
    (SOURCE,),
    question="How many days?",
    language="en",
    bases=("handbook",),
    run="r1",
    remark="The model could not be reached.",
)


@pytest.fixture
def inbox(database: Database) -> Inbox:
    return DatabaseInbox(database)


def question(message: str = "100.1", *, thread: Thread = THREAD, text: str = "How many days?", after: float = 0.0) -> Question:
    return Question(
        "",
        thread,
        text,
        "Ann",
        ("staff",),
        "U1",
        message,
        reply_to='{"team":"T1"}',
        base="api",
        asked_at=NOW + timedelta(seconds=after),
    )


async def claimed(inbox: Inbox, message: str = "100.1", *, thread: Thread = THREAD, after: float = 0.0) -> Question:
    taken = await inbox.claim(question(message, thread=thread, after=after))
    assert taken is not None
    return taken


async def taken(inbox: Inbox, holder: str = "me", *, seconds: float = 60.0) -> str:
    found = await inbox.next(THREAD, holder, seconds=seconds)
    return found.message if found else ""


async def remember(database: Database, id: str, answer: Answer = ANSWER) -> None:  # noqa: A002 - the word for it
    run = Run(f"{id}:{answer.text}", "question", NOW, 1.0)
    await DatabaseMemory(database).remember(THREAD, Turn("user", "How many days?", "Ann"), answer, run, question=id)


# --- claims ---------------------------------------------------------------------------------------------------------


async def test_what_is_claimed_for_a_time_is_taken_up_by_nobody_until_it_is_handed_back_or_the_time_is_over(inbox: Inbox) -> None:
    first = await inbox.claim(question(), "me", seconds=60.0)
    assert first is not None
    assert await taken(inbox) == ""
    assert await inbox.unfinished(["slack"]) == []

    assert await inbox.hand_back(first.id, "me")
    assert await taken(inbox) == "100.1"

    other = Thread(PLACE, "200.1")
    assert await inbox.claim(question("200.1", thread=other), "me", seconds=0.01)
    await asyncio.sleep(0.1)
    found = await inbox.next(other, "another", seconds=60.0)
    assert found is not None
    assert found.attempts == 1


async def test_a_question_is_claimed_once(inbox: Inbox) -> None:
    assert await inbox.claim(question()) is not None
    assert await inbox.claim(question()) is None


async def test_of_many_claims_at_once_one_succeeds(database_url: str) -> None:
    async with Database(database_url) as one, Database(database_url) as two:
        inboxes = [DatabaseInbox(one), DatabaseInbox(two)]
        claims = await asyncio.gather(*(inboxes[n % 2].claim(question()) for n in range(20)))

    assert sum(claim is not None for claim in claims) == 1


async def test_two_messages_of_one_gesture_are_one_question(inbox: Inbox) -> None:
    assert await inbox.claim(replace(question("100.1"), gesture="g")) is not None
    assert await inbox.claim(replace(question("100.2"), gesture="g")) is None
    assert await inbox.claim(replace(question("100.3"), gesture="")) is not None
    assert await inbox.claim(replace(question("100.4"), gesture="")) is not None


async def test_the_same_id_in_another_channel_is_another_question(inbox: Inbox) -> None:
    await claimed(inbox)

    assert await inbox.claim(question(thread=Thread(replace(PLACE, channel="C2"), "100.1"))) is not None


async def test_a_claim_holds_after_a_restart_and_after_the_answer(database_url: str) -> None:
    async with Database(database_url) as database:
        inbox = DatabaseInbox(database)
        await claimed(inbox)
        held = await inbox.next(THREAD, "me", seconds=60)
        assert held is not None
        assert await inbox.finish(held.id, "me", "delivered")
    async with Database(database_url) as database:
        assert await DatabaseInbox(database).claim(question()) is None


async def test_a_question_comes_back_as_it_was_asked(inbox: Inbox) -> None:
    taken_in = await inbox.claim(replace(question(), gesture="g", notice="Too long."))
    held = await inbox.next(THREAD, "me", seconds=60)

    assert taken_in is not None
    assert held == replace(taken_in, state="answering", attempts=1)
    assert await inbox.asked(PLACE, "100.1") == held
    assert await inbox.asked(replace(PLACE, channel="C2"), "100.1") is None


# --- order and leases -----------------------------------------------------------------------------------------------


async def test_questions_of_a_thread_are_taken_in_the_order_they_were_asked(inbox: Inbox) -> None:
    for message, after in (("100.2", 2.0), ("100.1", 1.0), ("100.3", 3.0)):
        await claimed(inbox, message, after=after)

    order = []
    while (held := await inbox.next(THREAD, "me", seconds=60)) is not None:
        order.append(held.message)
        assert await inbox.finish(held.id, "me", "delivered")

    assert order == ["100.1", "100.2", "100.3"]


async def test_one_question_of_a_thread_is_held_at_a_time_even_when_an_older_one_arrives_late(inbox: Inbox) -> None:
    await claimed(inbox, "100.2", after=2.0)
    assert await taken(inbox) == "100.2"
    await claimed(inbox, "100.1", after=1.0)

    assert await taken(inbox, "you") == ""


async def test_of_many_that_look_at_once_one_gets_the_question(database_url: str) -> None:
    async with Database(database_url) as one, Database(database_url) as two:
        inboxes = [DatabaseInbox(one), DatabaseInbox(two)]
        for n in range(4):
            await claimed(inboxes[0], f"100.{n}", after=n)
        found = await asyncio.gather(*(inboxes[n % 2].next(THREAD, f"h{n}", seconds=60) for n in range(10)))

    assert [held.message for held in found if held] == ["100.0"]


async def test_who_looks_for_the_next_question_does_not_wait_for_who_keeps_an_answer(postgres_with_tables: str) -> None:
    """Who keeps an answer holds its question and wants the thread's row: to hold that row meanwhile would be a deadlock."""
    async with Database(postgres_with_tables) as database:
        inbox = DatabaseInbox(database)
        thread = Thread(PLACE, "deadlock")
        asked = await claimed(inbox, "deadlock", thread=thread)
        keeping = await asyncpg.connect(postgres_with_tables)
        try:
            async with keeping.transaction():
                await keeping.execute("UPDATE threads SET last_at = now() WHERE thread = 'deadlock'")
                async with asyncio.timeout(5):
                    held = await inbox.next(thread, "me", seconds=60)
        finally:
            await keeping.close()

    assert held is not None
    assert held.id == asked.id


async def test_threads_do_not_wait_for_each_other(inbox: Inbox) -> None:
    other = Thread(PLACE, "200.1")
    await claimed(inbox, "100.1")
    await claimed(inbox, "200.1", thread=other)

    assert await taken(inbox) == "100.1"
    held = await inbox.next(other, "you", seconds=60)
    assert held is not None
    assert held.message == "200.1"


async def test_a_question_whose_holder_died_is_taken_over_and_the_old_holder_can_change_nothing(inbox: Inbox) -> None:
    first = await claimed(inbox)
    assert await taken(inbox, "me", seconds=-1) == "100.1"

    held = await inbox.next(THREAD, "you", seconds=60)

    assert held is not None
    assert held.attempts == 2
    assert not await inbox.finish(first.id, "me", "delivered")
    assert not await inbox.hand_back(first.id, "me")
    assert await inbox.renew("me", [first.id], seconds=60) == frozenset()
    assert await inbox.renew("you", [first.id], seconds=60) == {first.id}


async def test_what_is_done_with_is_shown_once_more_when_it_is_reopened(inbox: Inbox) -> None:
    first = await claimed(inbox)
    assert not await inbox.reopen(first.id)
    await taken(inbox, "me")
    assert not await inbox.reopen(first.id)

    seen = []
    for outcome in ("delivered", "failed", "expired"):
        assert await inbox.finish(first.id, "me", outcome, "" if outcome == "delivered" else "why")
        assert await inbox.reopen(first.id)
        assert await inbox.unfinished(["slack"]) == [THREAD]
        held = await inbox.next(THREAD, "me", seconds=60)
        assert held is not None
        seen.append((held.state, held.failure, held.attempts))
    await inbox.withdraw(first.id)

    assert seen == [("answered", "", 2), ("answering", "why", 3), ("answering", "", 4)]
    assert not await inbox.reopen(first.id)


async def test_a_renewed_lease_lasts(inbox: Inbox) -> None:
    first = await claimed(inbox)
    await taken(inbox, "me", seconds=0.05)
    await inbox.renew("me", [first.id], seconds=60)
    await asyncio.sleep(0.1)

    assert await taken(inbox, "you") == ""
    assert await inbox.renew("me", [], seconds=60) == frozenset()


async def test_what_is_handed_back_is_taken_up_by_the_next(inbox: Inbox) -> None:
    first = await claimed(inbox)
    await taken(inbox, "me")

    assert await inbox.hand_back(first.id, "me")

    held = await inbox.next(THREAD, "you", seconds=60)
    assert held is not None
    assert (held.state, held.attempts) == ("answering", 2)


async def test_what_is_handed_back_for_later_waits_and_the_thread_with_it(inbox: Inbox) -> None:
    first = await claimed(inbox)
    await claimed(inbox, "100.2", after=1)
    await taken(inbox, "me")

    assert await inbox.hand_back(first.id, "me", seconds=60)

    assert await taken(inbox, "you") == ""
    assert await inbox.unfinished(["slack"]) == []


async def test_deliveries_that_failed_are_counted_and_takeovers_are_not(inbox: Inbox) -> None:
    first = await claimed(inbox)
    for failed in (True, False, True):
        await taken(inbox, "me")
        assert await inbox.hand_back(first.id, "me", failed=failed)
    await taken(inbox, "dead", seconds=-1)

    held = await inbox.next(THREAD, "me", seconds=60)

    assert held is not None
    assert (held.attempts, held.deliveries) == (5, 2)
    assert await inbox.revise(first.id, "How many weeks?")
    held = await inbox.next(THREAD, "me", seconds=60)
    assert held is not None
    assert held.deliveries == 0


async def test_unfinished_threads_are_those_that_nobody_works_on(inbox: Inbox, database: Database) -> None:
    waiting, answered, dead, done = (Thread(PLACE, name) for name in ("waiting", "answered", "dead", "done"))
    for thread in (THREAD, waiting, answered, dead, done):
        await claimed(inbox, thread.id, thread=thread)
    for thread, seconds in ((THREAD, 60.0), (answered, -1.0), (dead, -1.0), (done, 60.0)):
        held = await inbox.next(thread, "me", seconds=seconds)
        assert held is not None
        if thread is done:
            await inbox.finish(held.id, "me", "failed", "too slow")
        if thread is answered:
            await remember(database, held.id)

    found = await inbox.unfinished(["slack", "discord"])

    assert sorted(thread.id for thread in found) == ["answered", "dead", "waiting"]
    assert await inbox.unfinished(["discord"]) == []


# --- answers --------------------------------------------------------------------------------------------------------


async def test_a_stored_answer_comes_back_as_it_was(inbox: Inbox, database: Database) -> None:
    first = await claimed(inbox)
    assert await inbox.answer(first.id) is None
    await taken(inbox, "me", seconds=-1)

    await remember(database, first.id)

    assert await inbox.answer(first.id) == replace(ANSWER, run=f"{first.id}:{ANSWER.text}")
    held = await inbox.next(THREAD, "you", seconds=60)
    assert held is not None
    assert held.state == "answered"


async def test_who_was_slower_finds_the_question_answered(inbox: Inbox, database: Database) -> None:
    first = await claimed(inbox)
    await remember(database, first.id)

    with pytest.raises(StoreError):
        await remember(database, first.id, replace(ANSWER, text="Six days [1]."))

    assert await inbox.answer(first.id) == replace(ANSWER, run=f"{first.id}:{ANSWER.text}")
    assert len(await DatabaseMemory(database).recall(THREAD, 10)) == 2


async def test_a_failed_question_is_not_done_with_until_its_author_was_told(inbox: Inbox, database: Database) -> None:
    first = await claimed(inbox)
    await taken(inbox, "me", seconds=-1)
    memory = DatabaseMemory(database)
    await memory.fail(
        THREAD, Turn("user", "How many days?"), "ModelTimeout: slow", Run("r", "question", NOW, 1.0), question=first.id
    )

    held = await inbox.next(THREAD, "you", seconds=60)

    assert held is not None
    assert (held.state, held.failure) == ("answering", "ModelTimeout: slow")
    assert await inbox.finish(first.id, "you", "failed", held.failure)
    assert await inbox.unfinished(["slack"]) == []


# --- edits and deletions --------------------------------------------------------------------------------------------


async def test_an_edited_question_waits_once_more_without_its_old_answer_and_keeps_its_posts(
    inbox: Inbox, database: Database
) -> None:
    first = await claimed(inbox)
    await taken(inbox, "me")
    await remember(database, first.id)
    await inbox.note(first.id, Post("100.9"))
    await inbox.finish(first.id, "me", "delivered")

    assert await inbox.revise(first.id, "How many weeks?")
    assert not await inbox.revise(first.id, "How many weeks?")

    held = await inbox.next(THREAD, "me", seconds=60)
    assert held is not None
    assert (held.text, held.state, held.attempts) == ("How many weeks?", "answering", 2)
    assert await inbox.answer(first.id) is None
    assert await DatabaseMemory(database).recall(THREAD, 10) == []
    assert await inbox.posts(first.id) == [Post("100.9")]


async def test_an_edit_takes_the_question_from_its_holder(inbox: Inbox) -> None:
    first = await claimed(inbox)
    await taken(inbox, "me")

    assert await inbox.revise(first.id, "How many weeks?")

    assert await inbox.renew("me", [first.id], seconds=60) == frozenset()
    assert await taken(inbox, "you") == "100.1"


async def test_a_deleted_question_is_never_answered(inbox: Inbox, database: Database) -> None:
    first = await claimed(inbox)
    await taken(inbox, "me")

    assert await inbox.withdraw(first.id)
    assert not await inbox.withdraw(first.id)

    assert await inbox.renew("me", [first.id], seconds=60) == frozenset()
    await remember(database, first.id)  # its answer was on the way
    assert await taken(inbox, "you") == ""
    assert await inbox.claim(question()) is None


# --- posts and feedback ---------------------------------------------------------------------------------------------


async def test_where_a_question_is_answered_can_be_told_later(inbox: Inbox) -> None:
    first = await claimed(inbox)

    await inbox.readdress(first.id, '{"team":"T2"}')

    assert await inbox.question(first.id) == replace(first, reply_to='{"team":"T2"}')


async def test_posts_are_noted_in_order_and_closed(inbox: Inbox) -> None:
    first = await claimed(inbox)

    await inbox.note(first.id, Post("100.5", open=True))
    await inbox.note(first.id, Post("100.6", open=True))
    await inbox.note(first.id, Post("100.5"))
    assert await inbox.posts(first.id) == [Post("100.5"), Post("100.6", open=True)]

    await inbox.unnote(first.id, "100.6")
    assert await inbox.posts(first.id) == [Post("100.5")]


async def test_a_post_leads_to_its_question(inbox: Inbox) -> None:
    first = await claimed(inbox)
    await inbox.note(first.id, Post("100.5"))

    found = await inbox.shown(PLACE, "100.5")

    assert found == first
    assert await inbox.shown(PLACE, "100.6") is None


async def test_the_last_verdict_of_a_person_counts(inbox: Inbox, database: Database) -> None:
    first = await claimed(inbox)
    assert not await inbox.judge(first.id, "U1", 1)
    await remember(database, first.id)

    for person, verdict in (("U1", 1), ("U2", 1), ("U1", -1), ("U2", 0)):
        assert await inbox.judge(first.id, person, verdict, "why")

    rows = await database.read(lambda c: c.exec_driver_sql("SELECT person, verdict, remark FROM feedback").all())
    assert [tuple(row) for row in rows] == [("U1", -1, "why")]


# --- tallies --------------------------------------------------------------------------------------------------------


async def test_what_was_asked_lately_is_counted_by_person_place_thread_and_day(inbox: Inbox) -> None:
    now = datetime.now(UTC)
    other = Thread(replace(PLACE, channel="C2"), "1")
    for asked in (
        replace(question("1"), asked_at=now),
        replace(question("2"), asked_at=now, person="U2"),
        replace(question("3", thread=other), asked_at=now),
        replace(question("4"), asked_at=now - timedelta(days=2)),  # the platform told of it late
        replace(question("5"), asked_at=now, notice="Too many."),
    ):
        await inbox.claim(asked)

    taken_in = await inbox.claim(question("6"), limit=repr)

    assert taken_in is not None
    assert taken_in.notice == repr(Tally(person=3, place=3, thread=3, today=4))
    assert await inbox.question(taken_in.id) == taken_in


async def test_of_many_questions_at_once_on_two_processes_no_more_pass_than_the_limit_lets(database_url: str) -> None:
    async with Database(database_url) as one, Database(database_url) as two:
        inboxes = [DatabaseInbox(one), DatabaseInbox(two)]

        def asked(n: int) -> Question:
            return replace(question(str(n), thread=Thread(PLACE, str(n))), asked_at=datetime.now(UTC))

        claims = await asyncio.gather(
            *(
                inboxes[n % 2].claim(asked(n), "h", seconds=5, limit=lambda tally: "Enough." if tally.person >= 3 else "")
                for n in range(24)
            )
        )

    assert [each.notice for each in claims if each is not None].count("") == 3
    assert None not in claims


async def test_a_thread_has_askers_and_none_while_people_talk_among_themselves(inbox: Inbox) -> None:
    assert not await inbox.met(THREAD)
    assert await inbox.askers(THREAD) == frozenset()
    await claimed(inbox)
    assert await inbox.askers(THREAD) == {"U1"}
    await inbox.hush(THREAD)
    assert await inbox.askers(THREAD) == frozenset()
    assert await inbox.met(THREAD)
    await inbox.claim(replace(question("100.2"), person="U2"))
    assert await inbox.askers(THREAD) == {"U1", "U2"}


async def test_what_was_forgotten_is_not_taken_in_again_and_nothing_of_it_is_kept(inbox: Inbox, database: Database) -> None:
    memory = DatabaseMemory(database)
    told = Turn("user", "How many days of leave?", "Ann Smith")
    kept = Answer("27 days. [1]", bases=("handbook",), run="r1")
    for message, gesture in (("100.1", ""), ("", "g1")):
        taken_in = await inbox.claim(replace(question(message), gesture=gesture))
        assert taken_in is not None
        await memory.remember(THREAD, told, kept, Run("r1" + gesture, "question", datetime.now(UTC), 0.1), question=taken_in.id)
        await inbox.note(taken_in.id, Post("p" + taken_in.id))

    assert await memory.forget(THREAD) == 4

    assert await inbox.claim(question("100.1")) is None
    assert await inbox.claim(replace(question(""), gesture="g1")) is None
    assert await inbox.unfinished(["slack"]) == []
    assert await inbox.askers(THREAD) == frozenset()
    assert not await inbox.met(THREAD)
    again = await inbox.asked(PLACE, "100.1")
    assert again is not None
    assert (again.text, again.author, again.person, again.roles, again.reply_to) == ("", "", "", (), "")
    assert again.state == "cancelled"
    assert not await inbox.withdraw(again.id)
    left = await database.read(lambda connection: [connection.execute(select(table)).all() for table in metadata.sorted_tables])
    assert "Ann" not in str(left)
    assert "days" not in str(left)


async def test_the_ids_of_what_was_forgotten_go_after_a_day(
    inbox: Inbox, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = DatabaseMemory(database)
    await claimed(inbox)
    await memory.forget(THREAD)
    assert await inbox.asked(PLACE, "100.1") is not None
    monkeypatch.setattr("storage.forgetting.KEPT", timedelta(0))
    await asyncio.sleep(0.01)
    await memory.forget(THREAD)

    assert await inbox.asked(PLACE, "100.1") is None
