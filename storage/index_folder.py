"""Where the embedded index keeps one base: a folder of builds, each with its rows and generations, and a pointer to one.

<base>.lock                        held by the one who writes
<base>/current                     which build and which generation of it searches read: replaced in one go, so that
                                   a switch has happened or has not
<base>/<build>/rows.sqlite         the truth: every passage with its postings and its vector
<base>/<build>/<generation>/       what questions read, made from the rows: both lists, and the passages, packed
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import math
import os
import re
import shutil
import sqlite3
import time
import uuid
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING

from rag.errors import StoreUnavailable
from storage.arrays import force

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
Stamp = tuple[int, int]
ROWS = "rows.sqlite"


@dataclass(frozen=True, slots=True)
class Pointer:
    """What is live: a build, the number of its generation, and the folder that holds it."""

    build: str
    generation: int
    folder: str


class IndexFolder:
    """The files of one base, whatever its name holds."""

    def __init__(self, root: Path, base: str) -> None:
        self.base = base
        self.path = root / safe_name(base)
        self.pointer_path = self.path / "current"
        self._pointer = str(self.pointer_path)
        self._lock_path = self.path.with_name(f"{self.path.name}.lock")

    def stamp(self) -> Stamp | None:
        """Changes whenever the pointer does; a few microseconds."""
        try:
            found = os.stat(self._pointer)  # noqa: PTH116 - a third of the time of Path.stat
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found.st_ino, found.st_mtime_ns

    def age(self) -> float:
        """Seconds since the last publish."""
        stamp = self.stamp()
        return time.time() - stamp[1] / 1e9 if stamp else math.inf

    def pointer(self) -> Pointer | None:
        try:
            return Pointer(**json.loads(self.pointer_path.read_text("utf-8")))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, TypeError) as error:
            raise damaged(self.base, "its pointer cannot be read") from error

    def point(self, pointer: Pointer) -> None:
        draft = self.path / f"current.{uuid.uuid4().hex}.tmp"
        draft.write_text(json.dumps(asdict(pointer)), "utf-8")
        force(draft)
        draft.replace(self.pointer_path)
        force(self.path)

    def build(self, name: str) -> Path:
        return self.path / name

    def builds(self) -> list[str]:
        return sorted(each.name for each in self.path.iterdir() if each.is_dir()) if self.path.is_dir() else []

    def drop(self) -> None:
        """All of it at once: what is left of a removal that was interrupted is out of the way, and goes with the next one."""
        with self.held():
            if self.path.exists():
                self.path.rename(self.path.with_name(f"{self.path.name}.{uuid.uuid4().hex}.dropped"))
                force(self.path.parent)
            for dropped in self.path.parent.glob(f"{self.path.name}.*.dropped"):
                shutil.rmtree(dropped, ignore_errors=True)

    def discard(self, build: str) -> None:
        """The rows go first: without them, what is left of an interrupted removal is never taken up again."""
        (self.build(build) / ROWS).unlink(missing_ok=True)
        shutil.rmtree(self.build(build), ignore_errors=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """The right to write; it ends with the process at the latest. Raises StoreUnavailable when another has it."""
        self._lock_path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock_path.open("ab") as file:
            if not _locked(file):
                raise StoreUnavailable(
                    f"The index of base {self.base!r} is being written by another process. Wait until it is done, then try again."
                )
            yield


def _locked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def safe_name(base: str) -> str:
    """A file name for any base: itself where it is plain, else its plain letters and a digest (case does not tell files apart)."""
    if _PLAIN.fullmatch(base):
        return base
    letters = re.sub(r"[^a-z0-9]+", "-", base.lower()).strip("-")[:40]
    return f"{letters}~{hashlib.sha256(base.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def damaged(base: str, how: str) -> StoreUnavailable:
    return StoreUnavailable(f"The index of base {base!r} is damaged: {how}. Make it again with `footnote index --rebuild`.")


@contextmanager
def store_errors(base: str) -> Iterator[None]:
    """Errors of SQLite and of the file system, as ours."""
    try:
        yield
    except sqlite3.ProgrammingError:  # ours to mend, not the operator's
        raise
    except sqlite3.Error as error:
        raise _of_sqlite(base, error) from error
    except OSError as error:
        raise _of_files(base, error) from error


def _of_sqlite(base: str, error: sqlite3.Error) -> StoreUnavailable:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(base, "SQLite cannot read its passages")
    if code == sqlite3.SQLITE_FULL:
        return _full(base)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return _forbidden(base)
    if code == sqlite3.SQLITE_CANTOPEN:
        return damaged(base, "its passages are missing or cannot be opened")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable(f"The index of base {base!r} is locked by another program. Try again when that is done.")
    return damaged(base, str(error))


def _of_files(base: str, error: OSError) -> StoreUnavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(base)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return _forbidden(base)
    return StoreUnavailable(f"The index of base {base!r} cannot be read or written: {error}. Check its folder, then try again.")


def _full(base: str) -> StoreUnavailable:
    return StoreUnavailable(f"No space is left on disk for the index of base {base!r}. Free some, then run `footnote index` again.")


def _forbidden(base: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"The folder of the index of base {base!r} may not be written. Give this user the right to, then try again."
    )
