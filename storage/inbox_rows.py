"""The statements of the inbox."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Integer, bindparam, case, delete, func, literal_column, null, or_, select, update

from storage.columns import database_clock, first_id
from storage.conversation_rows import thread_key
from storage.schema import UNFINISHED, answers, feedback, posts, questions, threads, turns
from storage.statements import bound, insert

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Executable, FromClause, Select, Table

    from rag.types import Place, Thread
    from storage.statements import Upsert

LATELY = timedelta(minutes=1)


def _open(rows: FromClause) -> ColumnElement[bool]:
    """In words and not as parameters: they lead to the index that holds these alone."""
    return rows.c.state.in_([literal_column(f"'{state}'") for state in UNFINISHED])


_OF_THREAD = questions.c.thread_id == bindparam("thread")
_THIS = questions.c.id == bindparam("question")
_OPEN = _open(questions)
_MINE = (_THIS, questions.c.claimed_by == bindparam("holder"), _OPEN)
UNTIL = database_clock() + bound(questions.c.lease_until, "seconds")
_BUSY = questions.c.lease_until >= database_clock()
_FREE = or_(questions.c.lease_until.is_(None), questions.c.lease_until < database_clock())

_others = questions.alias()

_QUESTION = (
    questions.c.id,
    questions.c.text,
    questions.c.author,
    questions.c.roles,
    questions.c.person,
    questions.c.message,
    questions.c.gesture,
    questions.c.reply_to,
    questions.c.language,
    questions.c.base,
    questions.c.notice,
    questions.c.state,
    questions.c.failure,
    questions.c.attempts,
    questions.c.deliveries,
    questions.c.asked_at,
)
_PLACED = (threads.c.platform, threads.c.workspace, threads.c.channel, threads.c.direct, threads.c.thread)
WITH_THREAD = select(*_QUESTION, *_PLACED).join(threads, threads.c.id == questions.c.thread_id)

# Who looks for a thread's next question waits for who does already. The thread's row itself is not locked for it: who keeps an
# answer holds the question and wants the row.
LOCK = select(func.pg_advisory_xact_lock(bindparam("number", type_=BigInteger())))
# Who counts what was asked, to take one more in, waits until who counted before has it in. These two numbers are no thread's.
COUNTING = select(func.pg_advisory_xact_lock(0x466F6F74, 1))
HELD = select(questions.c.id).where(_OF_THREAD, _OPEN, _BUSY).limit(1)
_OLDEST = select(questions.c.id).where(_OF_THREAD, _OPEN).order_by(questions.c.asked_at, questions.c.id).limit(1)
TAKE = (
    update(questions)
    .where(questions.c.id == _OLDEST.scalar_subquery(), _OPEN, _FREE)
    .values(
        state=case((questions.c.state == "waiting", "answering"), else_=questions.c.state),
        claimed_by=bindparam("holder"),
        lease_until=UNTIL,
        attempts=questions.c.attempts + 1,
    )
    .returning(*_QUESTION)
)
RENEW = (
    update(questions)
    .where(questions.c.claimed_by == bindparam("holder"), questions.c.id.in_(bindparam("ids", expanding=True)), _OPEN)
    .values(lease_until=UNTIL)
    .returning(questions.c.id)
)
_LET_GO: dict[str, Any] = {"claimed_by": null(), "lease_until": null()}
FINISH = update(questions).where(*_MINE).values(state=bindparam("outcome"), failure=bindparam("why"), **_LET_GO)
HAND_BACK = (
    update(questions)
    .where(*_MINE)
    .values(
        state=case((questions.c.state == "answering", "waiting"), else_=questions.c.state),
        deliveries=questions.c.deliveries + bindparam("failed", type_=Integer()),
        claimed_by=null(),
        lease_until=UNTIL,
    )
)
REOPEN = (
    update(questions)
    .where(_THIS, questions.c.state.in_(("delivered", "failed", "expired")))
    .values(
        state=case((questions.c.state == "delivered", "answered"), else_="waiting"),
        failure=case((questions.c.state == "expired", ""), else_=questions.c.failure),
        **_LET_GO,
    )
)
_HELD_TOO = (
    select(_others.c.id)
    .where(_others.c.thread_id == threads.c.id, _open(_others), _others.c.lease_until >= database_clock())
    .exists()
)
THREADS = (
    select(*_PLACED)
    .join(questions, threads.c.id == questions.c.thread_id)
    .where(
        _OPEN,
        questions.c.platform.in_(bindparam("platforms", expanding=True)),
        ~_HELD_TOO,
    )
    .distinct()
)
ANSWER = select(answers).where(answers.c.question_id == bindparam("question"))
REVISE = (
    update(questions)
    .where(_THIS, questions.c.text != bindparam("said"))
    .values(text=bindparam("said"), state="waiting", attempts=1, deliveries=0, notice="", failure="", **_LET_GO)
)
WITHDRAW = update(questions).where(_THIS, questions.c.state != "cancelled").values(state="cancelled", **_LET_GO)
READDRESS = update(questions).where(_THIS).values(reply_to=bindparam("to"))
FORGET_ANSWER = delete(answers).where(answers.c.question_id == bindparam("question"))
FORGET_TURNS = delete(turns).where(
    turns.c.thread_id == select(questions.c.thread_id).where(_THIS).scalar_subquery(),
    turns.c.question_id == bindparam("question"),
)
POSTS = select(posts.c.message, posts.c.open).where(posts.c.question_id == bindparam("question")).order_by(posts.c.id)
UNNOTE = delete(posts).where(posts.c.question_id == bindparam("question"), posts.c.message == bindparam("shown"))
UNJUDGE = delete(feedback).where(feedback.c.question_id == bindparam("of_question"), feedback.c.person == bindparam("who"))
ASKERS = (
    select(questions.c.person)
    .join(threads, threads.c.id == questions.c.thread_id)
    .where(_OF_THREAD, threads.c.quiet.is_(False))
    .distinct()
)
MET = select(questions.c.id).where(_OF_THREAD).limit(1)
HUSH = update(threads).where(threads.c.id == bindparam("of_thread")).values(quiet=True)


def thread_upsert(dialect: str) -> Upsert:
    row = insert(threads, dialect)
    return row.on_conflict_do_update(
        index_elements=[threads.c.id], set_={"last_at": row.excluded.last_at, "quiet": row.excluded.quiet}
    )


def post_upsert(dialect: str) -> Executable:
    """A message of a question's own channel."""
    of = select(
        bound(questions.c.id, "of_question"),
        questions.c.platform,
        questions.c.workspace,
        questions.c.channel,
        bound(posts.c.message, "shown"),
        bound(posts.c.open, "still_open"),
        bound(posts.c.posted_at, "now"),
    ).where(questions.c.id == bindparam("of_question"))
    names = ["question_id", "platform", "workspace", "channel", "message", "open", "posted_at"]
    row = insert(posts, dialect).from_select(names, of)
    keys = [posts.c.platform, posts.c.workspace, posts.c.channel, posts.c.message]
    return row.on_conflict_do_update(index_elements=keys, set_={"open": row.excluded.open})


def judge_upsert(dialect: str) -> Executable:
    row = insert(feedback, dialect).values(
        question_id=bindparam("of_question"),
        person=bindparam("who"),
        verdict=bindparam("given"),
        remark=bindparam("said"),
        given_at=bound(feedback.c.given_at, "now"),
    )
    changed = {name: row.excluded[name] for name in ("verdict", "remark", "given_at")}
    return row.on_conflict_do_update(index_elements=[feedback.c.question_id, feedback.c.person], set_=changed)


def by_id(id: str) -> Select[Any]:  # noqa: A002 - the word for it
    return WITH_THREAD.where(questions.c.id == int(id))


def asking(place: Place, message: str) -> Select[Any]:
    """The question that this message asked."""
    return WITH_THREAD.where(*_at(questions, place, message))


def showing(place: Place, message: str) -> Select[Any]:
    """The question whose answer this message shows."""
    return WITH_THREAD.where(questions.c.id == select(posts.c.question_id).where(*_at(posts, place, message)).scalar_subquery())


def _at(table: Table, place: Place, message: str) -> tuple[ColumnElement[bool], ...]:
    return (
        table.c.platform == place.platform,
        table.c.workspace == place.workspace,
        table.c.channel == place.channel,
        table.c.message == message,
    )


def _counted(*which: ColumnElement[bool]) -> Any:
    asked = (questions.c.notice == "", questions.c.state != "cancelled")
    return select(func.count()).select_from(questions).where(*asked, *which).scalar_subquery()


_HERE = (questions.c.platform == bindparam("platform"), questions.c.workspace == bindparam("workspace"))
_LATELY = questions.c.id >= bindparam("lately")
TALLY = select(
    _counted(*_HERE, _LATELY, questions.c.person == bindparam("who")),
    _counted(*_HERE, _LATELY, questions.c.channel == bindparam("channel")),
    _counted(_OF_THREAD),
    _counted(questions.c.id >= bindparam("today")),
)


def tally_values(thread: Thread, person: str) -> dict[str, object]:
    now, place = datetime.now(UTC), thread.place
    return {
        "platform": place.platform,
        "workspace": place.workspace,
        "channel": place.channel,
        "who": person,
        "thread": thread_key(thread),
        "lately": first_id(now - LATELY),
        "today": first_id(now.replace(hour=0, minute=0, second=0, microsecond=0)),
    }
