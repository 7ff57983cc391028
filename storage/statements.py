"""Statements that SQLite and PostgreSQL share in meaning, not in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import Select, bindparam
from sqlalchemy.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import BindParameter, Column, Connection, Dialect, Insert, Table
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
    """Several INSERTs that are executed with one set of parameters: one round trip on PostgreSQL, whole or not at all."""

    def __init__(self, dialect: str, *statements: Insert) -> None:
        *before, last = statements
        if dialect == "postgresql":
            statements = (last.add_cte(*(statement.cte(f"part_{n}") for n, statement in enumerate(before))),)
        self._parts = [(statement, tuple(statement.compile().params)) for statement in statements]
        self._direct: list[Direct] = []

    def execute(self, connection: Connection, values: Mapping[str, object]) -> None:
        if connection.dialect.name == "sqlite":
            self._direct = self._direct or [Direct(statement, connection.dialect) for statement, _ in self._parts]
            held: dict[str, object] = {}  # a value that stands in several of them is made ready once
            for each in self._direct:
                each.execute(connection, values, held)
            return
        for statement, names in self._parts:
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


class Direct:
    """A statement made ready once and handed to SQLite's own driver, which takes a third of the time. Raises sqlite3.Error."""

    def __init__(self, statement: Insert | Select[Any], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        assert isinstance(compiled, SQLCompiler)  # noqa: S101 - what statements compile to
        self._text = str(compiled)
        self._names = [(name, _bind(compiled.binds[name].type, dialect)) for name in compiled.positiontup or ()]
        binds = dict(self._names)
        values = {name: each.value for name, each in compiled.binds.items() if not each.required}
        self._fixed = {name: bind(value) if (bind := binds.get(name)) else value for name, value in values.items()}
        self._columns = (
            [_result(each.type, dialect) for each in statement.selected_columns] if isinstance(statement, Select) else []
        )

    def execute(self, connection: Connection, values: Mapping[str, object], held: dict[str, object] | None = None) -> Any:
        """`held` is what was made ready before, by name, and gets what is made ready now."""
        held = {} if held is None else held
        for name, bind in self._names:
            if name in values and name not in held:
                held[name] = values[name] if bind is None else bind(values[name])
        ready = [held[name] if name in held else self._fixed[name] for name, _ in self._names]
        return driver(connection).execute(self._text, ready)

    def rows(self, connection: Connection, values: Mapping[str, object]) -> list[tuple[Any, ...]]:
        found = self.execute(connection, values)
        return [
            tuple(value if read is None else read(value) for value, read in zip(row, self._columns, strict=True)) for row in found
        ]


def driver(connection: Connection) -> Any:
    """The driver's own connection."""
    return connection.connection.driver_connection


def _bind(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _result(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    return kind.dialect_impl(dialect).result_processor(dialect, None)
