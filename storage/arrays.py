"""Plain arrays in files: written once, forced to disk, memory-mapped ever after."""

from __future__ import annotations

import errno
import mmap
import os
import weakref
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

READ_AHEAD = 512 << 20  # bytes
SMALL = 64 << 20  # bytes: what may be counted as it likes
_WINDOW, _WINDOWS = 1 << 16, 64


def save(path: Path, array: NDArray[Any]) -> None:
    with path.open("wb") as file:
        array.tofile(file)


def mapped(path: Path, kind: str) -> NDArray[Any]:
    """A file's numbers, read as they are touched. An empty file cannot be mapped."""
    return np.frombuffer(mapped_bytes(path), kind)


def mapped_bytes(path: Path) -> mmap.mmap | bytes:
    """The same for a file's bytes. Those of a base of usual size the system begins to read now, so that the first who asks
    does not wait for the disk at every touch.
    """
    size = path.stat().st_size
    if not size:
        return b""
    with path.open("rb") as file:
        found = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if size <= READ_AHEAD and hasattr(mmap, "MADV_WILLNEED"):
        found.madvise(mmap.MADV_WILLNEED)
    return found


class Pieces:
    """A file of which pieces are read, here and there: `read` gives the bytes from one place to another.

    A large one is not mapped: the system would count sixteen pages for each that is touched as this process's memory, and to
    give them back takes three times as long as to ask for each piece.
    """

    def __init__(self, path: Path) -> None:
        size = path.stat().st_size
        if size <= SMALL or not hasattr(os, "pread"):
            held = mapped_bytes(path)
            self.read: Callable[[int, int], bytes] = lambda first, after: held[first:after]
            return
        handle = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, handle)
        if size <= READ_AHEAD and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_WILLNEED)
        self.read = partial(_read, handle)


def _read(handle: int, first: int, after: int) -> bytes:
    found = os.pread(handle, after - first, first)
    if len(found) < after - first:
        raise OSError(errno.EIO, "a file has become shorter since it was opened")
    return found


def force(path: Path) -> None:
    """See to it that a file, or a folder's list of names, outlives a loss of power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def force_all(paths: Sequence[Path]) -> None:
    """Side by side: the disk takes several at once in little more time than one."""
    with ThreadPoolExecutor(len(paths)) as threads:
        list(threads.map(force, paths))


def fingerprint(path: Path) -> tuple[int, int]:
    """Size and checksum: of the whole file up to 4 MB, of 64 windows spread over a larger one, so that opening stays quick."""
    size = path.stat().st_size
    checksum = 0
    with path.open("rb") as file:
        for window in range(min(_WINDOWS, -(-size // _WINDOW))):
            file.seek(window * _WINDOW if size <= _WINDOW * _WINDOWS else window * (size - _WINDOW) // (_WINDOWS - 1))
            checksum = zlib.crc32(file.read(_WINDOW), checksum)
    return size, checksum
