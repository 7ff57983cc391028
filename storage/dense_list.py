"""The dense list of one generation: the vectors as one matrix, and their codes, which find the few worth an exact look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from storage import code_list
from storage.arrays import mapped, save
from storage.code_list import CodeList

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rag.types import Vector

FILES = ("vectors.f4", "present.b1", *code_list.FILES)
EXACT = 2_000  # vectors: up to so many the product with all of them takes little more time than a look at codes
LOOKED_AT = (100, 3)  # so many, and so many for each that is wanted, among 10,000 vectors: .98 of the exact best are among them
LONG = 50_000  # vectors
MORE = 0.2  # more among more, by this power of their number, for the same share: 1.6 times as many among 100,000


class DenseBuilder:
    """Takes passages' vectors block by block, in the order of their rows; None where a passage has none.

    What is no number is near to nothing: such a vector counts as none.
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._dimension = dimension
        self._file = (folder / "vectors.f4").open("wb")
        self._present: list[bool] = []

    def close(self) -> None:
        self._file.close()

    def add(self, block: Sequence[Vector | None]) -> None:
        none = bytes(4 * self._dimension)
        data = b"".join(none if vector is None else vector for vector in block)
        self._file.write(data)
        numbers = np.isfinite(np.frombuffer(data, "<f4").reshape(len(block), self._dimension)).all(axis=1)
        self._present += [vector is not None and each for vector, each in zip(block, numbers.tolist(), strict=True)]

    def finish(self) -> None:
        self.close()
        present = np.array(self._present, np.bool_)
        save(self._folder / "present.b1", present)
        if np.count_nonzero(present) > EXACT and code_list.available():
            code_list.code(self._folder / "vectors.f4", self._dimension, present)
        else:
            (self._folder / code_list.FILES[0]).touch()


class DenseList:
    """Memory-mapped."""

    def __init__(self, folder: Path, size: int, dimension: int) -> None:
        self._vectors = mapped(folder / "vectors.f4", "<f4").reshape(size, dimension)
        self._filled = np.flatnonzero(np.fromfile(folder / "present.b1", np.bool_))
        coded = (folder / code_list.FILES[0]).stat().st_size and code_list.available()
        self._codes = CodeList(folder) if coded else None
        self._more = (len(self._filled) / 10_000) ** MORE

    @property
    def filled(self) -> bool:
        return bool(len(self._filled))

    @property
    def is_long(self) -> bool:
        """Whether a look through it takes longer than to have it made by another thread."""
        return self._codes is not None and len(self._filled) >= LONG

    def best(self, vector: NDArray[np.float32], limit: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The rows of the best cosines, best first, equal ones in order of their rows; and their cosines."""
        rows = self._near(vector, limit)
        every = len(rows) == len(self._vectors)  # in their order
        cosines = _products(self._vectors, vector) if every else self.cosines(vector, rows)
        first = foremost(cosines, limit)
        return rows[first], cosines[first]

    def cosines(self, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Exact."""
        return _products(self._vectors.take(rows, axis=0), vector)

    def _near(self, vector: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
        """The rows, ascending, of the vectors that are worth an exact look."""
        many = int((LOOKED_AT[0] + LOOKED_AT[1] * limit) * self._more)
        if self._codes is None or many >= len(self._filled):
            return self._filled
        return self._filled[self._codes.near(vector, many)]


def _products(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Worked out row by row, so that equal vectors have equal ones wherever they lie."""
    return np.asarray(np.vecdot(vectors, vector))


def foremost(scores: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Where the best scores stand, best first, equal ones in order."""
    if limit >= len(scores):
        return (-scores).argsort(kind="stable")
    places: NDArray[np.int64] = (scores >= np.partition(scores, -limit)[-limit]).nonzero()[0]
    return places[(-scores[places]).argsort(kind="stable")[:limit]]
