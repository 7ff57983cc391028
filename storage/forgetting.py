"""Forgetting a thread: all of it goes, but that its questions were taken in.

A platform may tell of a message again: within a minute after a lost connection, after hours where it could not tell before. What
was forgotten must not be answered then. So the platform's ids of a day's questions stay, and nothing that anybody said.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, func, or_, select, update

from storage.columns import first_id
from storage.schema import answers, posts, questions, threads, turns
from storage.statements import bound, insert

if TYPE_CHECKING:
    from sqlalchemy import Connection

KEPT = timedelta(days=1)
FORGOTTEN = "forgotten"  # the thread that they are moved to: nobody's

_OF_THREAD = questions.c.thread_id == bindparam("key")
_MAY_COME_AGAIN = (
    or_(questions.c.message.is_not(None), questions.c.gesture.is_not(None)),
    questions.c.id >= bound(questions.c.id, "first"),
)
_THEIR = select(questions.c.id).where(_OF_THREAD).scalar_subquery()
_SAID = ("author", "person", "text", "reply_to", "language", "base", "notice", "failure", "run")
_NOTHING: dict[str, Any] = dict.fromkeys(_SAID, "")
_TURNS = select(func.count()).select_from(turns).where(turns.c.thread_id == bindparam("key"))
_KEPT = select(questions.c.id).where(_OF_THREAD, *_MAY_COME_AGAIN).limit(1)
_ANSWERS = delete(answers).where(answers.c.question_id.in_(_THEIR))
_POSTS = delete(posts).where(posts.c.question_id.in_(_THEIR))
_MOVE = (
    update(questions)
    .where(_OF_THREAD, *_MAY_COME_AGAIN)
    .values(thread_id=FORGOTTEN, state="cancelled", roles=(), claimed_by=None, lease_until=None, **_NOTHING)
)
_THREAD = delete(threads).where(threads.c.id == bindparam("key"))
_OVER = delete(questions).where(questions.c.thread_id == FORGOTTEN, questions.c.id < bound(questions.c.id, "first"))


def forget(connection: Connection, key: str) -> int:
    """How many turns it had."""
    now = datetime.now(UTC)
    this, since = {"key": key}, {"first": first_id(now - KEPT)}
    count = connection.execute(_TURNS, this).scalar_one()
    connection.execute(_ANSWERS, this)
    connection.execute(_POSTS, this)
    if connection.execute(_KEPT, this | since).first() is not None:
        nowhere = {"id": FORGOTTEN, "platform": "", "direct": False, "thread": FORGOTTEN, "last_at": now, "quiet": True}
        connection.execute(insert(threads, connection.dialect.name).on_conflict_do_nothing(), nowhere)
        connection.execute(_MOVE, this | since)
    connection.execute(_THREAD, this)
    connection.execute(_OVER, since)
    return int(count)
