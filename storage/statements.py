"""Statements that SQLite and PostgreSQL share in meaning, not in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import bindparam

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import BindParameter, Column, Connection, Insert, Table
    from sqlalchemy.dialects import postgresql, sqlite

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

    def execute(self, connection: Connection, values: Mapping[str, object]) -> None:
        for statement, names in self._parts:
            connection.execute(statement, {name: values[name] for name in names})
