"""The sketches of one generation's passages, made from their postings (rag/sketches.py says what they are for)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rag.sketches import BITS, COUNT_BYTES
from storage.arrays import mapped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from storage.lexical_list import Postings

FILES = ("sketches.u1",)
_SIZE = COUNT_BYTES + BITS // 8


class SketchBuilder:
    """Takes passages' postings block by block, in the order of their rows."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / FILES[0]).open("wb")

    def close(self) -> None:
        self._file.close()

    def add(self, block: Sequence[Postings]) -> None:
        sketches(block).tofile(self._file)

    def finish(self) -> None:
        self.close()


def sketches(block: Sequence[Postings]) -> NDArray[np.uint8]:
    """One row a passage."""
    counts = np.array([len(each.words) // 8 for each in block], "<u4")
    words = np.frombuffer(b"".join([each.words for each in block]), "<u8")
    bits = np.zeros((len(block), BITS), np.bool_)
    bits[np.repeat(np.arange(len(block)), counts), words % np.uint64(BITS)] = True
    return np.hstack([counts.view(np.uint8).reshape(-1, COUNT_BYTES), np.packbits(bits, axis=1, bitorder="little")])


class SketchList:
    """Memory-mapped."""

    def __init__(self, folder: Path) -> None:
        self._sketches = mapped(folder / FILES[0], f"V{_SIZE}")

    def of(self, rows: NDArray[np.int64]) -> list[bytes]:
        found: list[bytes] = self._sketches[rows].tolist()
        return found
