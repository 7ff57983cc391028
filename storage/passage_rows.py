"""The truth of one build of the embedded index: its passages in SQLite, each with the generations in which it can be found.

A passage that is replaced or removed is only marked: searches of the generation that holds it go on reading it.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rag.text import well_formed
from rag.types import Passage, Signature
from storage.lexical_list import Postings, postings
from storage.passage_list import Packed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from rag.types import Indexed, Vector

# `born` and `died` are generation numbers: a row is found in those from `born` on, before `died`.
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    born INTEGER NOT NULL, died INTEGER,
    id TEXT NOT NULL, base TEXT NOT NULL, document TEXT NOT NULL, ordinal INTEGER NOT NULL, text TEXT NOT NULL,
    title TEXT NOT NULL, link TEXT NOT NULL, headings TEXT NOT NULL, anchor TEXT NOT NULL, page INTEGER NOT NULL,
    line INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, language TEXT NOT NULL, terms TEXT NOT NULL,
    digest TEXT NOT NULL, expandable INTEGER NOT NULL, within TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS lists (seq INTEGER PRIMARY KEY, words BLOB NOT NULL, counts BLOB NOT NULL, vector BLOB);
CREATE INDEX IF NOT EXISTS passages_by_id ON passages (id);
CREATE INDEX IF NOT EXISTS passages_by_place ON passages (document, ordinal);
CREATE INDEX IF NOT EXISTS passages_by_digest ON passages (digest);
CREATE INDEX IF NOT EXISTS passages_that_died ON passages (died) WHERE died IS NOT NULL;
"""
# the columns are called as Passage's fields are, and stand in their order
FIELDS = ", ".join(f'"{name}"' for name in Passage._fields)
INSERT_LISTS = "INSERT INTO lists (seq, words, counts, vector) VALUES (?, ?, ?, ?)"
INSERT = f"INSERT INTO passages (seq, born, {FIELDS}) VALUES ({', '.join('?' * (2 + len(Passage._fields)))})"  # noqa: S608 - constants
VISIBLE = "born <= :generation AND (died IS NULL OR died > :generation)"
BLOCK = 1_000
_TERMS = Passage._fields.index("terms")
# in the order of Packed
LISTED = (
    'words, counts, vector, text, terms, headings, ordinal, page, line, start, "end", expandable, '
    "id, base, document, title, link, anchor, language, digest, within"
)


class Listed(NamedTuple):
    """What a generation is made of: a passage, its postings and its vector."""

    passage: Packed
    postings: Postings
    vector: Vector | None


class PassageRows:
    """One connection, for one thread at a time. Raises sqlite3.Error."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        mode = "rwc" if create else "rw"
        # as_uri escapes what a path may hold
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=30, isolation_level=None, check_same_thread=False
        )
        if create:
            self._connection.execute("PRAGMA page_size = 8192")  # a row with its vector fits without an overflow page
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.executescript(SCHEMA)
        self._add_lacking_columns()
        self._connection.execute("PRAGMA secure_delete = ON")  # what was removed from the sources leaves the file too
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("PRAGMA journal_size_limit = 16777216")
        self._connection.execute("SELECT count(*) FROM facts").fetchone()  # opens all files: they may be deleted from here on

    def close(self) -> None:
        self._connection.close()

    def _add_lacking_columns(self) -> None:
        """A file of an earlier version goes on answering until its passages are made anew."""
        columns = [column for _, column, *_ in self._connection.execute("PRAGMA table_info(passages)")]
        if columns and "within" not in columns:
            with suppress(sqlite3.OperationalError):  # another process did it meanwhile; else the next statement says what is wrong
                self._connection.execute("ALTER TABLE passages ADD COLUMN within TEXT NOT NULL DEFAULT ''")

    # --- reading ----------------------------------------------------------------------------------------------------

    def signature(self) -> Signature | None:
        row = self._connection.execute("SELECT value FROM facts WHERE name = 'signature'").fetchone()
        return Signature(**json.loads(row[0])) if row else None

    def signature_there(self) -> Signature:
        """Raises sqlite3.DatabaseError where there is none: the file is not one of ours."""
        found = self.signature()
        if found is None:
            raise sqlite3.DatabaseError("it holds no signature")
        return found

    def passages(self, ids: Sequence[str], generation: int) -> list[Passage]:
        """In the order asked for. One that was replaced by this generation is still given, until it is purged."""
        wanted = [well_formed(each) for each in ids]
        found = self._connection.execute(
            f"SELECT died IS NOT NULL AND died <= :generation, {FIELDS} FROM passages "  # noqa: S608 - constants
            "WHERE id IN (SELECT value FROM json_each(:ids)) AND born <= :generation",
            {"ids": json.dumps(wanted), "generation": generation},
        )
        by_id: dict[str, tuple[bool, Passage]] = {}
        for gone, *fields in found:
            if fields[0] not in by_id or not gone:
                by_id[fields[0]] = (gone, passage(fields))
        return [by_id[each][1] for each in wanted if each in by_id]

    def counts(self) -> dict[str, int]:
        return dict(self._connection.execute("SELECT document, count(*) FROM passages WHERE died IS NULL GROUP BY document"))

    def vectors(self, digests: Collection[str]) -> dict[str, Vector]:
        """Those of passages that are gone but not purged too: a renamed file keeps its vectors."""
        return dict(
            self._connection.execute(
                "SELECT digest, vector FROM passages JOIN lists USING (seq) "
                "WHERE digest IN (SELECT value FROM json_each(?)) AND vector IS NOT NULL",
                [json.dumps(list(digests))],
            )
        )

    def written(self) -> int:
        """The newest generation that anything was written for."""
        (number,) = self._connection.execute("SELECT value FROM facts WHERE name = 'written'").fetchone() or ("0",)
        return int(number)

    def blocks(self, generation: int) -> Iterator[list[Listed]]:
        """All of a generation's passages, by document and ordinal, in blocks."""
        cursor = self._connection.execute(
            f"SELECT {LISTED} FROM passages JOIN lists USING (seq) WHERE {VISIBLE} "  # noqa: S608 - constants
            "ORDER BY document, ordinal, seq",
            {"generation": generation},
        )
        while rows := cursor.fetchmany(BLOCK):
            yield [_listed(row) for row in rows]

    # --- writing ----------------------------------------------------------------------------------------------------

    def sign(self, signature: Signature) -> None:
        self._connection.execute("INSERT INTO facts VALUES ('signature', ?)", [json.dumps(asdict(signature))])

    def put(self, document: str, passages: Sequence[Indexed], generation: int) -> None:
        """Replace a document's passages from this generation on, or change nothing."""
        document = well_formed(document)
        rows = [fields(each.passage) for each in passages]
        lists = [(*postings(str(row[_TERMS])), each.vector) for row, each in zip(rows, passages, strict=True)]
        with self._transaction():
            self._bury(document, generation)
            self._mark(generation)
            first = self._last_seq() + 1
            numbered = enumerate(rows, first)
            self._connection.executemany(INSERT, ((seq, generation, *row[:2], document, *row[3:]) for seq, row in numbered))
            self._connection.executemany(INSERT_LISTS, ((seq, *each) for seq, each in enumerate(lists, first)))

    def remove(self, documents: Collection[str], generation: int) -> None:
        with self._transaction():
            if sum(self._bury(well_formed(document), generation) for document in documents):
                self._mark(generation)

    def purge(self, generation: int) -> None:
        """Delete what cannot be found any more from this generation on."""
        with self._transaction():
            self._connection.execute("DELETE FROM lists WHERE seq IN (SELECT seq FROM passages WHERE died <= ?)", [generation])
            self._connection.execute("DELETE FROM passages WHERE died <= ?", [generation])

    def harden(self) -> None:
        """Force all that was written to disk, and give back the log's room where no reader is in the way."""
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES ('hardened', '')")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("PRAGMA busy_timeout = 1000")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._connection.execute("PRAGMA busy_timeout = 30000")

    def _last_seq(self) -> int:
        """The greatest number that a passage ever had."""
        row = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").fetchone()
        return int(row[0]) if row else 0

    def _bury(self, document: str, generation: int) -> int:
        statement = "UPDATE passages SET died = ? WHERE document = ? AND died IS NULL"
        return self._connection.execute(statement, [generation, document]).rowcount

    def _mark(self, generation: int) -> None:
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES ('written', ?)", [str(generation)])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # a full disk has rolled back already
                self._connection.execute("ROLLBACK")
            raise


def fields(held: Passage) -> tuple[str | int, ...]:
    """A passage as a row, in the order of FIELDS; every text such that SQLite takes it."""
    headings = json.dumps([well_formed(heading) for heading in held.headings], ensure_ascii=False) if held.headings else "[]"
    place = (well_formed(held.anchor), held.page, held.line, held.start, held.end)
    lexical = (well_formed(held.language), well_formed(held.terms), well_formed(held.digest))
    named = (well_formed(held.id), well_formed(held.base), well_formed(held.document), held.ordinal)
    return (
        *named,
        well_formed(held.text),
        well_formed(held.title),
        well_formed(held.link),
        headings,
        *place,
        *lexical,
        held.expandable,
        well_formed(held.within),
    )


def passage(row: Sequence[Any]) -> Passage:
    """The passage that a row holds."""
    values: tuple[Any, ...] = (*row[:7], _headings(row[7]), *row[8:16], bool(row[16]), row[17])
    return Passage(*values)


def _listed(row: Sequence[Any]) -> Listed:
    words, counts, vector, text, terms, headings = row[:6]
    return Listed(Packed((*row[12:], *_headings(headings)), text, terms, tuple(row[6:12])), Postings(words, counts), vector)


@lru_cache(maxsize=1_000)  # neighbours stand under the same
def _headings(kept: str) -> tuple[str, ...]:
    return () if kept == "[]" else tuple(json.loads(kept))
