"""The codes of vectors, half a byte for four numbers: they tell which few of many vectors are worth an exact look.

They are FAISS's, which takes 15 MB of memory and a moment to load: only who has many vectors does.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from storage.arrays import mapped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

FILES = ("codes.faiss",)
TOGETHER = 4  # numbers, or as many as divide the dimension: half a byte says which of sixteen quadruples is nearest
SAMPLE = 2_048  # vectors that those sixteen are made from, at least, and
ROUNDS = 10  # of making them better: twice as many of either find no more
_BLOCK = 2_048  # vectors


def available() -> bool:
    """There is no package for some systems: everything is looked at there."""
    return find_spec("faiss") is not None


def code(path: Path, dimension: int, present: NDArray[np.bool_]) -> None:
    """Write the codes of a file's vectors beside it, of those that are present; the same for the same."""
    import faiss  # noqa: PLC0415 - see above

    faiss.omp_set_num_threads(1)  # of this thread: two take no less time
    index = faiss.IndexPQFastScan(dimension, dimension // math.gcd(dimension, TOGETHER), 4, faiss.METRIC_INNER_PRODUCT)
    index.pq.cp.niter = ROUNDS
    step = max(1, np.count_nonzero(present) // SAMPLE)
    sample = [block[::step].copy() for block in _blocks(path, dimension, present)]  # copied: a view would hold its block
    index.train(np.concatenate(sample))
    for block in _blocks(path, dimension, present):
        index.add(block)
    with path.with_name(FILES[0]).open("wb") as file:
        faiss.serialize_index(index).tofile(file)


def _blocks(path: Path, dimension: int, present: NDArray[np.bool_]) -> Iterator[NDArray[np.float32]]:
    """Read instead of mapped: what is mapped counts as this process's memory."""
    with path.open("rb") as file:
        for first in range(0, len(present), _BLOCK):
            block = np.fromfile(file, "<f4", _BLOCK * dimension).reshape(-1, dimension)
            yield block[present[first : first + _BLOCK]]


class CodeList:
    """Read into memory: 6.4 MB for 100,000 vectors of 512 dimensions."""

    def __init__(self, folder: Path) -> None:
        import faiss  # noqa: PLC0415 - see above

        self._index = faiss.deserialize_index(mapped(folder / FILES[0], "u1"))

    def near(self, vector: NDArray[np.float32], many: int) -> NDArray[np.int64]:
        """The places, ascending, of the nearest; of equally near ones the first. This thread alone looks for them."""
        _, found = self._index.search(vector[np.newaxis], many)
        places: NDArray[np.int64] = np.sort(found[0])
        return places if places[0] >= 0 else np.arange(many)  # none is found where all are equally near: by a question of zeros
