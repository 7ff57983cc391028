"""The dense list of one generation: the vectors as one matrix, and their signs, which find the few worth an exact look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from storage import sign_list
from storage.arrays import mapped, save
from storage.sign_list import SignList, signs, slices

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rag.types import Vector

FILES = ("vectors.f4", "present.b1", *sign_list.FILES)
EXACT = 4_000  # up to so many passages the product with all of them is quicker than looking at signs
RESCORED = 500  # of a list of few: .94 of the exact best fifty are among so many nearest by signs, at 10,000 passages
NEAREST = 1_400  # of a list of many: .99 of the exact best fifty are among so many, at 100,000
NEARER = (125, 5)  # of those so many, and so many for each that is wanted, weighed: .98


class DenseBuilder:
    """Takes passages' vectors block by block, in the order of their rows; None where a passage has none."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._dimension = dimension
        self._file = (folder / "vectors.f4").open("wb")
        self._signs: list[NDArray[np.uint64]] = []
        self._present: list[bool] = []

    def close(self) -> None:
        self._file.close()

    def add(self, block: Sequence[Vector | None]) -> None:
        none = bytes(4 * self._dimension)
        data = b"".join(none if vector is None else vector for vector in block)
        self._file.write(data)
        self._present += [vector is not None for vector in block]
        self._signs.append(signs(np.frombuffer(data, "<f4").reshape(len(block), self._dimension)))

    def finish(self) -> None:
        self.close()
        rows = np.concatenate(self._signs) if self._signs else np.zeros((0, 1), np.uint64)
        save(self._folder / "signs.u8", rows)
        save(self._folder / "slices.u8", slices(rows))
        save(self._folder / "present.b1", np.array(self._present, np.bool_))


class DenseList:
    """Memory-mapped."""

    def __init__(self, folder: Path, size: int, dimension: int) -> None:
        self._vectors = mapped(folder / "vectors.f4", "<f4").reshape(size, dimension)
        present = np.fromfile(folder / "present.b1", np.bool_)
        self._filled = np.flatnonzero(present)
        self._signs = SignList(folder, dimension, present)

    @property
    def filled(self) -> bool:
        return bool(len(self._filled))

    def best(
        self, vector: NDArray[np.float32], limit: int, also: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
        """The rows of the best cosines, best first, equal ones in order of their rows; their cosines, and those of `also`.

        Cosines are exact, and worked out row by row, so that equal vectors have equal ones wherever they lie.
        """
        rows = self._near(vector, limit)
        if len(rows) == len(self._vectors):
            every = np.asarray(np.vecdot(self._vectors, vector))
            cosines, others = every, every[also]
        else:
            looked_at = self._vectors.take(np.concatenate([rows, also]), axis=0)
            every = np.asarray(np.vecdot(looked_at, vector))
            cosines, others = every[: len(rows)], every[len(rows) :]
        first = foremost(cosines, limit)
        return rows[first], cosines[first], others

    def _near(self, vector: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
        """The rows, ascending, of the vectors that are worth an exact look."""
        size, few = len(self._vectors), max(RESCORED, 2 * limit)
        if size <= max(EXACT, few):
            return self._filled
        if size <= sign_list.FEW:
            return self._signs.near(vector, few)
        nearer = NEARER[0] + NEARER[1] * limit
        rows = self._signs.near(vector, max(NEAREST, 3 * nearer))
        return self._signs.nearer(vector, rows, nearer)


def foremost(scores: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Where the best scores stand, best first, equal ones in order."""
    if limit >= len(scores):
        return (-scores).argsort(kind="stable")
    places: NDArray[np.int64] = (scores >= np.partition(scores, -limit)[-limit]).nonzero()[0]
    return places[(-scores[places]).argsort(kind="stable")[:limit]]
