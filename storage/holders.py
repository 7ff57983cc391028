"""Which holders of leases still live, as far as this machine can tell: each has a file that it keeps locked.

The system lets go of the lock when its process ends, however that comes about: a run that was killed is taken over at once
instead of when its lease has run out. Of holders on other machines nothing is known; their lease has to run out.
"""

from __future__ import annotations

import fcntl
import platform
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEPT_SECONDS = 86_400.0  # far longer than any lease stands
_BOOT = Path("/proc/sys/kernel/random/boot_id")  # Linux: one for each start of the machine, its containers included


class Holders:
    """Without a folder, nothing is known of anybody."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @contextmanager
    def alive(self, holder: str) -> Iterator[None]:
        """The file shows under its name only once it is locked. A folder that cannot be written makes nothing worse."""
        if self._folder is None:
            yield
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._sweep(self._folder)
            file = (self._folder / f"{holder}.new").open("w", encoding="ascii")
        except OSError:
            yield
            return
        with file:
            file.write(machine())
            file.flush()
            _locked(file)
            path = Path(file.name).replace(self._folder / f"{holder}.lock")
            try:
                yield
            finally:
                path.unlink(missing_ok=True)

    def died(self, holder: str) -> bool:
        """Whether it is known that this holder's process has ended."""
        return self._folder is not None and _abandoned(self._folder / f"{holder}.lock")

    def forget(self, holder: str) -> None:
        """Of a dead one, once its lease is another's."""
        if self._folder is not None and holder:
            (self._folder / f"{holder}.lock").unlink(missing_ok=True)

    def _sweep(self, folder: Path) -> None:
        """What nobody took over: by now its lease has run out."""
        for path in folder.iterdir():
            if path.stat().st_mtime < time.time() - _KEPT_SECONDS and _abandoned(path):
                path.unlink(missing_ok=True)


def _abandoned(path: Path) -> bool:
    try:
        with path.open("r", encoding="ascii", errors="replace") as file:
            return file.read() == machine() and _locked(file)
    except OSError:
        return False


def _locked(file: IO[str]) -> bool:
    try:
        # shared among those who only look, so that they do not take each other for the holder
        fcntl.flock(file, (fcntl.LOCK_EX if file.writable() else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@cache
def machine() -> str:
    """A folder may be shared between machines, whose locks need not see each other."""
    try:
        return _BOOT.read_text("ascii").strip()
    except OSError:
        return platform.node()
