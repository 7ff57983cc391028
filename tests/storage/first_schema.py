"""A database as the first schema had it, with a row in every table; and that the newest program still reads it all.

Never changed: it is what is out there.
"""

from datetime import UTC, datetime

from sqlalchemy import Connection, column, insert, inspect, select, table

from rag.types import Entry, Place, Problem, Progress, Run, Source, SourcePlace, Step, Thread, Turn
from storage import schema
from storage.catalog import DatabaseCatalog
from storage.conversations import DatabaseMemory
from storage.database import Database
from storage.encoding import to_sources

_SAID = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_THREAD = "210a03c97011c75caab739b7854ad196"
_QUESTION = 1883000000000000001
_SOURCES = (
    '[{"n":1,"base":"handbook","document":"leave.md","title":"Leave",'
    '"places":[{"label":"Carry over","link":"https://x.org/leave#carry"}]}]'
)
_TRACE = '{"notes":{"a":1},"steps":[{"name":"find","started":0.1,"seconds":0.2,"notes":{},"error":""}]}'
_PROGRESS = (
    '{"found":9,"done":9,"added":1,"changed":2,"unchanged":6,"removed":0,"passages":30,"embedded":9,"seconds":1.5,'
    '"problems":[{"document":"scan.pdf","reason":"no text"}]}'
)
_OF = {"thread_id": _THREAD, "question_id": _QUESTION}
_CHANNEL = {"platform": "slack", "workspace": "T1", "channel": "C1"}
_ASKED = {"author": "Ann", "roles": '["staff"]', "text": "How many?", "failure": "", "run": "r1", "asked_at": _SAID}
_CLAIM = {
    "person": "U1",
    "reply_to": "",
    "base": "",
    "notice": "",
    "message": "100.1",
    "state": "delivered",
    "claimed_by": "host-1",
    "lease_until": 1.5,
    "attempts": 1,
}
_SHOWN = {
    "standalone_question": "How many?",
    "text": "Five [1].",
    "abstained": False,
    "sources": _SOURCES,
    "suggestions": "[]",
    "bases": '["handbook"]',
}
_DOCUMENT = {"document": "leave.md", "stamp": "s", "digest": "d", "title": "Leave", "link": "l", "passages": 3, "error": ""}
_TURN = {"role": "user", "speaker": "Ann", "text": "How many?", "bases": "[]", "said_at": _SAID}
_ROWS: tuple[tuple[str, dict[str, object]], ...] = (
    ("threads", {**_CHANNEL, "id": _THREAD, "direct": False, "thread": "100.1", "last_at": _SAID, "quiet": False}),
    ("questions", {**_CHANNEL, **_ASKED, **_CLAIM, "id": _QUESTION, "thread_id": _THREAD}),
    ("turns", {**_OF, **_TURN}),
    ("turns", {**_OF, **_TURN, "role": "assistant", "speaker": "", "text": "Five [1].", "bases": '["handbook"]'}),
    ("answers", {**_SHOWN, "id": 1, "question_id": _QUESTION, "language": "en", "run": "r1", "answered_at": _SAID}),
    ("posts", {**_CHANNEL, "question_id": _QUESTION, "message": "100.2", "open": False, "posted_at": _SAID}),
    ("feedback", {"answer_id": 1, "person": "U1", "verdict": 1, "remark": "", "given_at": _SAID}),
    ("runs", {**_OF, "id": "r1", "kind": "question", "started_at": _SAID, "seconds": 1.5, "error": "", "trace": _TRACE}),
    ("documents", {**_DOCUMENT, "base": "handbook", "build": "1", "indexed_at": _SAID}),
    ("leases", {"name": "handbook", "holder": "h", "owner": "o", "taken_at": 1.5, "lease_until": 2.5, "cancelled": False}),
    ("index_runs", {"base": "handbook", "run": "i1", "state": "done", "error": "", "progress": _PROGRESS, "reported_at": _SAID}),
    ("remembered", {"key": "sources", "value": '{"default":["docs"]}', "remembered_at": _SAID}),
    (
        "installations",
        {
            "platform": "slack",
            "enterprise": "E1",
            "workspace": "T1",
            "person": "U1",
            "secret": b"\x00\xff",
            "installed_at": _SAID,
        },
    ),
)


def fill(connection: Connection) -> None:
    for name, row in _ROWS:
        connection.execute(
            insert(table(name, *map(column, row))).values({key: _as_stored(connection, value) for key, value in row.items()})
        )
    tables = set(inspect(connection).get_table_names()) - {"footnote_version"}
    assert tables == {name for name, _ in _ROWS}


def _as_stored(connection: Connection, value: object) -> object:
    if connection.dialect.name == "sqlite" and isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S.%f}"
    return value


async def check(database: Database) -> None:
    memory, catalog = DatabaseMemory(database), DatabaseCatalog(database)
    thread = Thread(Place("slack", "T1", "C1"), "100.1")
    assert await memory.recall(thread, 10) == [
        Turn("user", "How many?", "Ann", (), _SAID),
        Turn("assistant", "Five [1].", "", ("handbook",), _SAID),
    ]
    assert await memory.last_run(thread) == Run("r1", "question", _SAID, 1.5, {"a": 1}, (Step("find", 0.1, 0.2),))
    assert await catalog.entries("handbook", "1") == {"leave.md": Entry("leave.md", "s", "d", "Leave", "l", 3, "", _SAID)}
    assert await catalog.progress("handbook") == Progress(
        "handbook", "i1", "done", 9, 9, 1, 2, 6, 0, 30, 9, 1.5, (Problem("scan.pdf", "no text"),)
    )
    assert await catalog.remembered("sources") == {"default": ["docs"]}
    async with catalog.lease("handbook", "me"):
        pass
    answer = await database.read(lambda connection: connection.execute(select(schema.answers)).one())
    assert to_sources(answer.sources) == (
        Source(1, "handbook", "leave.md", "Leave", (SourcePlace("Carry over", "https://x.org/leave#carry"),)),
    )
    secret = await database.read(lambda connection: connection.execute(select(schema.installations.c.secret)).scalar_one())
    assert secret == b"\x00\xff"
    assert await memory.forget(thread) == 2
    assert await database.read(lambda connection: connection.execute(select(schema.feedback)).all()) == []
