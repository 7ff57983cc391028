"""What stands in the inbox's rows: threads and questions as they are written, questions and answers as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag.text import well_formed
from rag.types import Answer, Place, Question, Thread
from storage.columns import made_at
from storage.conversation_rows import thread_key
from storage.encoding import to_sources

if TYPE_CHECKING:
    from datetime import datetime


def thread_row(thread: Thread, now: datetime) -> dict[str, object]:
    place = thread.place
    return {
        "id": thread_key(thread),
        "platform": place.platform,
        "workspace": place.workspace,
        "channel": place.channel,
        "direct": place.direct,
        "thread": thread.id,
        "last_at": now,
        "quiet": False,
    }


def question_row(question: Question) -> dict[str, object]:
    place = question.thread.place
    return {
        "id": int(question.id),
        "thread_id": thread_key(question.thread),
        "platform": place.platform,
        "workspace": place.workspace,
        "channel": place.channel,
        "message": question.message or None,
        "gesture": question.gesture or None,
        "state": question.state,
        "author": well_formed(question.author),
        "person": question.person,
        "roles": question.roles,
        "text": well_formed(question.text),
        "reply_to": question.reply_to,
        "language": question.language,
        "base": question.base,
        "notice": question.notice,
        "failure": "",
        "run": "",
        "attempts": 0,
        "deliveries": 0,
        "asked_at": question.asked_at,
    }


def thread_of(row: Any) -> Thread:
    return Thread(Place(row.platform, row.workspace, row.channel, row.direct), row.thread)


def read_question(row: Any, thread: Thread) -> Question:
    return Question(
        str(row.id),
        thread,
        row.text,
        row.author,
        tuple(row.roles),
        row.person,
        row.message or "",
        row.gesture or "",
        row.reply_to,
        row.language,
        row.base,
        row.notice,
        row.state,
        row.failure,
        row.attempts,
        row.deliveries,
        row.asked_at,
        made_at(row.id),
    )


def read_answer(row: Any) -> Answer:
    return Answer(
        row.text,
        to_sources(row.sources),
        row.abstained,
        to_sources(row.suggestions),
        row.standalone_question,
        row.language,
        tuple(row.bases),
        run=row.run,
        remark=row.remark,
    )
