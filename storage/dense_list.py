"""The dense list of one generation: the vectors as one matrix, and their signs, which find the few worth an exact look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from storage.arrays import mapped, save

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rag.types import Vector

FILES = ("vectors.f4", "signs.u8", "present.b1")
EXACT = 4_000  # up to so many passages the product with all of them is quicker than looking at signs
NOWHERE = 0xFFFF  # the distance of a passage without a vector
RESCORED = 1_000  # .989 of the exact best twenty are among so many nearest by signs, at 100,000 passages
FEWEST_RESCORED = 500  # .998 of them among so many, at 10,000


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
        save(self._folder / "signs.u8", np.ascontiguousarray(rows.T))
        save(self._folder / "present.b1", np.array(self._present, np.bool_))


def signs(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One bit a dimension, 64 to a number, filled up with zeros."""
    bits = np.packbits(vectors > 0, axis=1, bitorder="little")
    padded = np.zeros((len(vectors), -(-bits.shape[1] // 8) * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view("<u8")


class DenseList:
    """The matrix is memory-mapped; the signs are in memory, one row for each 64 dimensions."""

    def __init__(self, folder: Path, size: int, dimension: int) -> None:
        self._vectors = mapped(folder / "vectors.f4", "<f4").reshape(size, dimension)
        self._signs = np.fromfile(folder / "signs.u8", "<u8").reshape(-1, size) if size else np.zeros((0, 0), np.uint64)
        present = np.fromfile(folder / "present.b1", np.bool_)
        self._missing, self._filled = np.flatnonzero(~present), np.flatnonzero(present)

    @property
    def filled(self) -> bool:
        return bool(len(self._filled))

    def best(
        self, vector: NDArray[np.float32], limit: int, also: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
        """The rows of the best cosines, best first, equal ones in order of their rows; their cosines, and those of `also`.

        Cosines are exact, and worked out row by row, so that equal vectors have equal ones wherever they lie.
        """
        enough = min(RESCORED, max(FEWEST_RESCORED, len(self._vectors) // 50))
        rows = self._near(vector, max(enough, 2 * limit))
        if len(rows) == len(self._vectors):
            every = np.asarray(np.vecdot(self._vectors, vector))
            cosines, others = every, every[also]
        else:
            looked_at = self._vectors.take(np.concatenate([rows, also]), axis=0)
            every = np.asarray(np.vecdot(looked_at, vector))
            cosines, others = every[: len(rows)], every[len(rows) :]
        first = foremost(cosines, limit)
        return rows[first], cosines[first], others

    def _near(self, vector: NDArray[np.float32], many: int) -> NDArray[np.int64]:
        """The rows, ascending, of the vectors that are worth an exact look."""
        if len(self._vectors) <= max(EXACT, many):
            return self._filled
        distances = self._distances(vector)
        farthest = int(np.partition(distances, many - 1)[many - 1])
        rows: NDArray[np.int64] = (distances <= min(farthest, NOWHERE - 1)).nonzero()[0]
        if len(rows) <= 2 * many:
            return rows
        nearer = (distances < farthest).nonzero()[0]  # many copies of one vector: no need to look at all of them
        return np.sort(np.concatenate([nearer, (distances == farthest).nonzero()[0][:many]]))

    def _distances(self, vector: NDArray[np.float32]) -> NDArray[np.uint16]:
        """In how many signs each passage's vector differs from this one; past all others where there is no vector."""
        wanted = signs(vector[np.newaxis])[0]
        differing = np.bitwise_count(self._signs ^ wanted[:, np.newaxis])
        distances: NDArray[np.uint16] = differing.sum(axis=0, dtype=np.uint16)
        if len(self._missing):
            distances[self._missing] = NOWHERE
        return distances


def foremost(scores: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Where the best scores stand, best first, equal ones in order."""
    if limit >= len(scores):
        return (-scores).argsort(kind="stable")
    places: NDArray[np.int64] = (scores >= np.partition(scores, -limit)[-limit]).nonzero()[0]
    return places[(-scores[places]).argsort(kind="stable")[:limit]]
