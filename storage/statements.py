"""Statements that SQLite and PostgreSQL share in meaning, not in words."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

from sqlalchemy import bindparam
from sqlalchemy.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import BindParameter, Column, Connection, Dialect, Insert, Select, Table
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.types import TypeEngine

    Upsert: TypeAlias = sqlite.Insert | postgresql.Insert


def insert(table: Table, dialect: str) -> Upsert:
    """An INSERT that knows ON CONFLICT."""
    if dialect == "sqlite":
        from sqlalchemy.dialects import sqlite  # noqa: PLC0415 - only one of the two is needed, and the other is slow to import

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415

    return postgresql.insert(table)


def upsert(table: Table, dialect: str) -> Upsert:
    """An INSERT that replaces what stands under the same primary key."""
    statement = insert(table, dialect)
    keys = list(table.primary_key)
    changed = {column.name: statement.excluded[column.name] for column in table.columns if column not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=changed)


def bound(column: Column[Any], name: str) -> BindParameter[Any]:
    return bindparam(name, type_=column.type)


class Together:
    """Several INSERTs that are executed as one statement with one set of parameters: whole, or not at all."""

    def __init__(self, dialect: str, *statements: Insert) -> None:
        self._statements = statements
        if dialect == "postgresql":
            *before, last = statements
            self._statements = (last.add_cte(*(statement.cte(f"part_{n}") for n, statement in enumerate(before))),)
        self._names = [tuple(statement.compile().params) for statement in self._statements]
        self._triggering: Triggering | None = None

    def execute(self, connection: Connection, values: Mapping[str, object]) -> None:
        if connection.dialect.name == "sqlite":
            self._triggering = self._triggering or Triggering(self._statements, connection.dialect)
            self._triggering.execute(connection, values)
            return
        for statement, names in zip(self._statements, self._names, strict=True):
            connection.execute(statement, {name: values[name] for name in names})


class Asked:
    """A SELECT that is executed again and again."""

    def __init__(self, statement: Select[Any]) -> None:
        self._statement = statement
        self._direct: Direct | None = None

    def rows(self, connection: Connection, values: Mapping[str, object]) -> Sequence[Sequence[Any]]:
        if connection.dialect.name != "sqlite":
            return connection.execute(self._statement, values).all()
        self._direct = self._direct or Direct(self._statement, connection.dialect)
        return self._direct.rows(connection, values)


class Values:
    """What stands in a statement by name, made ready for SQLite's own driver, which takes a third of the time."""

    def __init__(self, binds: Mapping[str, BindParameter[Any]], order: Sequence[str], dialect: Dialect) -> None:
        ready = {name: bind for name, each in binds.items() if (bind := _bind(each.type, dialect))}
        fixed = {name: each.value for name, each in binds.items() if not each.required}
        self._order = list(order)
        self._fixed = {name: ready[name](value) if name in ready else value for name, value in fixed.items()}
        self._ready = [(at, ready[name]) for at, name in enumerate(order) if name in ready and name not in fixed]

    def ready(self, values: Mapping[str, object]) -> list[Any]:
        known = {**values, **self._fixed} if self._fixed else values
        found = list(map(known.__getitem__, self._order))
        for at, bind in self._ready:
            found[at] = bind(found[at])
        return found


class Triggering:
    """INSERTs made into one for SQLite: a trigger takes a row of a temporary view apart. Raises sqlite3.Error.

    While others are answered, every statement waits for Python's lock once more.
    """

    def __init__(self, statements: Sequence[Insert], dialect: Dialect) -> None:
        kind: Any = type(dialect)
        binds: dict[str, BindParameter[Any]] = {}
        parts = []
        for statement in statements:
            compiled = _compiled(statement, kind(paramstyle="named"))
            binds = {**compiled.binds, **binds}
            parts.append(re.sub(r":(\w+)", r'NEW."\1"', str(compiled)))
        view = f"together_{crc32(repr(parts).encode()):08x}"
        columns = ", ".join(f'NULL AS "{name}"' for name in binds)
        body = "".join(f"{part}; " for part in parts)
        self._setup = (
            f"CREATE TEMP VIEW IF NOT EXISTS {view} AS SELECT {columns}",
            f"CREATE TEMP TRIGGER IF NOT EXISTS put_{view} INSTEAD OF INSERT ON {view} BEGIN {body}END",
        )
        self._insert = f"INSERT INTO {view} VALUES ({', '.join('?' * len(binds))})"  # noqa: S608 - our own names
        self._missing = f"no such table: {view}"
        self._values = Values(binds, list(binds), dialect)

    def execute(self, connection: Connection, values: Mapping[str, object]) -> None:
        ready, direct = self._values.ready(values), driver(connection)
        try:
            direct.execute(self._insert, ready)
        except sqlite3.OperationalError as error:
            if str(error) != self._missing:
                raise
            for statement in self._setup:  # a connection's first time, or what was made then was rolled back
                direct.execute(statement)
            direct.execute(self._insert, ready)


class Direct:
    """A SELECT made ready once and handed to SQLite's own driver. Raises sqlite3.Error."""

    def __init__(self, statement: Select[Any], dialect: Dialect) -> None:
        compiled = _compiled(statement, dialect)
        self._text = str(compiled)
        self._values = Values(compiled.binds, compiled.positiontup or [], dialect)
        readers = enumerate(_result(each.type, dialect) for each in statement.selected_columns)
        self._readers = [(at, read) for at, read in readers if read]

    def rows(self, connection: Connection, values: Mapping[str, object]) -> list[list[Any]]:
        rows = [list(row) for row in driver(connection).execute(self._text, self._values.ready(values))]
        for row in rows:
            for at, read in self._readers:
                row[at] = read(row[at])
        return rows


def driver(connection: Connection) -> Any:
    """The driver's own connection."""
    return connection.connection.driver_connection


def _compiled(statement: Insert | Select[Any], dialect: Dialect) -> SQLCompiler:
    compiled = statement.compile(dialect=dialect)
    assert isinstance(compiled, SQLCompiler)  # noqa: S101 - what statements compile to
    return compiled


def _bind(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _result(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    return kind.dialect_impl(dialect).result_processor(dialect, None)
