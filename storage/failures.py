"""What a database reports, in our words: one clear sentence, without a password and without anybody's text."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from rag.errors import BadSetting, FootnoteError, StoreError, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTINGS = {  # PostgreSQL's codes of what only a setting can mend
    "28P01": "refused the user name or the password: correct DATABASE_URL",
    "28000": "refused the user name or the way of connecting: correct DATABASE_URL, or the server's pg_hba.conf",
    "3D000": "does not exist: create it, or correct DATABASE_URL",
    "42501": "does not let this user write: grant the rights, or correct DATABASE_URL",
    "25006": "is read-only: use the primary server in DATABASE_URL",
    "SQLITE_READONLY": "is read-only: make the file and its folder writable, or correct FOOTNOTE_HOME or DATABASE_URL",
    "SQLITE_CANTOPEN": "cannot be opened: make its folder writable, or correct FOOTNOTE_HOME or DATABASE_URL",
    "SQLITE_PERM": "cannot be opened: make its folder writable, or correct FOOTNOTE_HOME or DATABASE_URL",
    "SQLITE_NOTADB": "is not a SQLite database: move the file away, or correct FOOTNOTE_HOME or DATABASE_URL",
}
_TROUBLES = {
    "53300": "has no free connection: raise its max_connections, or run fewer processes",
    "53100": "has no disk space left: make room",
    "57P03": "is not ready to answer: wait until it has started",
    "SQLITE_FULL": "has no disk space left: make room",
    "SQLITE_BUSY": "is locked by another process: wait for it to finish, or end it",
    "SQLITE_LOCKED": "is locked by another process: wait for it to finish, or end it",
    "SQLITE_CORRUPT": "is damaged: put a backup in its place",
    "SQLITE_IOERR": "cannot be read or written: check its disk",
}
_UNREACHABLE = "cannot be reached: start it, or correct DATABASE_URL"
REPORTED = (SQLAlchemyError, sqlite3.Error, OSError)  # what a database's errors are


@contextmanager
def in_our_words(where: str) -> Iterator[None]:
    """Raise Footnote's errors in place of the database's. `where` names the database, without a password."""
    try:
        yield
    except REPORTED as error:
        raise failure(error, where) from error


def failure(error: BaseException, where: str) -> FootnoteError:
    code = _code(error)
    if code in _SETTINGS:
        return BadSetting(f"The database {where} {_SETTINGS[code]}.")
    if code in _TROUBLES:
        return StoreUnavailable(f"The database {where} {_TROUBLES[code]}.")
    if isinstance(error, ArgumentError):
        return BadSetting(f"The database {where} cannot be used: correct DATABASE_URL.")
    if isinstance(error, PoolTimeout):
        return StoreUnavailable(f"The database {where} has no free connection: it is too slow for the questions asked.")
    if isinstance(error, OSError) or _lost(error):
        return StoreUnavailable(f"The database {where} {_UNREACHABLE}.")
    return StoreError(f"The database {where} refused a statement ({_name(error)}, {code or 'no code'}).")


def _lost(error: BaseException) -> bool:
    """Whether the connection broke, or never came about; asking again may help."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return _code(error).startswith(("08", "57P")) or any(isinstance(part, OSError) for part in _chain(error))


def _code(error: BaseException) -> str:
    """PostgreSQL's SQLSTATE or SQLite's primary code: the driver's own error is inside SQLAlchemy's."""
    for part in _chain(error):
        name = getattr(part, "sqlstate", None) or getattr(part, "sqlite_errorname", None)
        if isinstance(name, str):
            return "_".join(name.split("_")[:2])
    return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    part: BaseException | None = error
    while part is not None:
        yield part
        part = getattr(part, "orig", None) or part.__cause__


def _name(error: BaseException) -> str:
    return type(getattr(error, "orig", None) or error).__name__
