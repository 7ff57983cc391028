"""Column types that mean the same on SQLite and PostgreSQL, the ids made here, and the database's own clock."""

from __future__ import annotations

import json
import random
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json
from sqlalchemy import BigInteger, Double, Integer, Text, cast
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import DateTime, TypeDecorator

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import BindParameter, ColumnElement, Dialect

# SQLite numbers rows by itself only in a column that is exactly INTEGER.
Number = BigInteger().with_variant(Integer(), "sqlite")
# Compared byte by byte, so that a beginning is a range of the index (PostgreSQL would compare as people do).
Code = Text().with_variant(Text(collation="C"), "postgresql")

_ascii = json.JSONEncoder(separators=(",", ":"), default=str, check_circular=False).encode


class _Ids:
    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def new(self) -> int:
        """An id greater than every one before it: milliseconds since 1970, then 20 random bits. 19 digits at most.

        It is made here, so that a row can be named before it is written; and it never comes again in a new database,
        so that an id found in a platform's message always means this one question.
        """
        now = (time.time_ns() // 1_000_000) << 20 | random.getrandbits(20)
        with self._lock:
            self._last = max(now, self._last + 1)
            return self._last


new_id = _Ids().new


def first_id(moment: datetime) -> int:
    """Ids made from this moment on are not less."""
    return int(moment.timestamp() * 1000) << 20


def made_at(id: int) -> datetime:  # noqa: A002 - the word for it
    return datetime.fromtimestamp((id >> 20) / 1000, UTC)


class Utc(TypeDecorator[datetime]):
    """A moment: any time zone in, UTC out. SQLite, which has no such type, keeps it in UTC, as text.

    This text is made and read here, in a quarter of the time that SQLAlchemy takes for it.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], Any] | None:
        return _as_text if dialect.name == "sqlite" else super().bind_processor(dialect)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None] | None:
        return _from_text if dialect.name == "sqlite" else super().result_processor(dialect, coltype)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - its signature
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - its signature
        return None if value is None else value.astimezone(UTC)


def _as_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(" ", "microseconds").removesuffix("+00:00")


def _from_text(moment: str | None) -> datetime | None:
    return None if moment is None else datetime.fromisoformat(f"{moment}+00:00")


class Json(TypeDecorator[Any]):
    """A JSON value as text: NUL and lone surrogates are escaped, and come back as they were from both databases.

    What is not JSON is written as its `str`: a stray object in a trace must not cost the answer. SQLite gets the bytes and is told
    that they are text: as a `str` they would be decoded only to be encoded again, which takes as long as making the JSON.
    """

    impl = Text
    cache_ok = True

    def bind_expression(self, bindparam: BindParameter[Any]) -> ColumnElement[Any]:
        return cast(bindparam, Text)

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        return _encode if dialect.name == "sqlite" else super().bind_processor(dialect)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        return _decode if dialect.name == "sqlite" else super().result_processor(dialect, coltype)

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002 - its signature
        return None if (encoded := _encode(value)) is None else encoded.decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002 - its signature
        return _decode(value)


def _encode(value: Any) -> bytes | None:
    """In a quarter of the time that the standard library takes, which writes what pydantic's encoder refuses."""
    if value is None:
        return None
    try:
        return to_json(value, fallback=str, inf_nan_mode="constants")
    except ValueError:  # a lone surrogate, bytes that are no text
        return _ascii(value).encode()


def _decode(value: str | None) -> Any:
    if value is None:
        return None
    try:
        return from_json(value)
    except ValueError:  # a lone surrogate
        return json.loads(value)


class database_clock(FunctionElement[float]):  # noqa: N801 - reads as the SQL function it is
    """Seconds since 1970 by the database's clock: the one clock that all replicas share."""

    type = Double()
    inherit_cache = True
    name = "database_clock"


@compiles(database_clock, "postgresql")
def _postgresql_clock(_element: database_clock, _compiler: Any, **_options: Any) -> str:
    return "extract(epoch from clock_timestamp())::double precision"


@compiles(database_clock, "sqlite")
def _sqlite_clock(_element: database_clock, _compiler: Any, **_options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"
