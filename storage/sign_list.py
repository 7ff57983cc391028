"""The signs of vectors, one bit a dimension: they tell which few vectors are worth an exact look.

A question's largest numbers decide nearly everything, of dimensions whose signs tell passages apart. Of a large list only the
signs of those are looked at, a quarter of all, and summed up for 64 passages at a time: a slice holds one dimension of every
passage. The nearest by that are then weighed by all of the question's numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from storage.arrays import mapped

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FILES = ("signs.u8", "slices.u8")
FEW = 25_000  # up to so many passages it takes less time to compare all of their signs
WORD = 64
NOWHERE = 0xFFFF  # the distance of a passage without a vector
_BLOCK = 4_096  # passages
_SHARE = 4  # of the dimensions one in so many is looked at first
_HEAVIEST = 16  # numbers of a question of 512 dimensions that may be larger than the largest weight
_WEIGHT = 3  # the largest, of two bits


def signs(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One row a vector, one bit a dimension, 64 to a number, filled up with zeros."""
    return _packed(vectors > 0)


def _packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    found = np.packbits(bits, axis=1, bitorder="little")
    padded = np.zeros((len(found), -(-found.shape[1] // 8) * 8), np.uint8)
    padded[:, : found.shape[1]] = found
    return padded.view("<u8")


def slices(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The same signs, one row a dimension, one bit a vector."""
    size, words = rows.shape
    found = np.zeros((WORD * words, -(-size // WORD) * 8), np.uint8)
    for first in range(0, size, _BLOCK):
        bits = np.unpackbits(rows[first : first + _BLOCK].view(np.uint8), axis=1, bitorder="little")
        packed = np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little")
        found[:, first // 8 : first // 8 + packed.shape[1]] = packed
    return found.view("<u8")


class SignList:
    """Memory-mapped."""

    def __init__(self, folder: Path, dimension: int, present: NDArray[np.bool_]) -> None:
        size = len(present)
        self._rows = mapped(folder / "signs.u8", "<u8").reshape(size, -(-dimension // WORD))
        self._slices = mapped(folder / "slices.u8", "<u8").reshape(-1, max(1, -(-size // WORD)))
        self._present = _packed(present[np.newaxis])[0]
        self._missing = np.flatnonzero(~present)
        self._telling = _telling(self._slices if size > FEW else self._slices[:0], int(np.count_nonzero(present)))
        self._columns = np.ascontiguousarray(self._rows.T) if size <= FEW else None

    def near(self, vector: NDArray[np.float32], many: int) -> NDArray[np.int64]:
        """The rows, ascending, of about so many that are nearest: more when several are equally near, but not twice as many."""
        if self._columns is not None:
            return _cut(self._distances(self._columns, vector), many)
        near, even = self._nearest(vector, many)
        rows = _rows(near | even)
        return rows if len(rows) <= 2 * many else np.sort(np.concatenate([_rows(near), _rows(even)[:many]]))

    def nearer(self, vector: NDArray[np.float32], rows: NDArray[np.int64], many: int) -> NDArray[np.int64]:
        """Of these rows about so many, ascending, that are nearest when each dimension weighs as much as the question's number."""
        return rows[_cut(self._weighed(vector, rows), many)]

    def _distances(self, columns: NDArray[np.uint64], vector: NDArray[np.float32]) -> NDArray[np.uint16]:
        """In how many signs each passage's vector differs from this one; past all others where there is no vector."""
        wanted = signs(vector[np.newaxis])[0]
        differing = np.bitwise_count(columns ^ wanted[:, np.newaxis])
        distances: NDArray[np.uint16] = differing.sum(axis=0, dtype=np.uint16)
        if len(self._missing):
            distances[self._missing] = NOWHERE
        return distances

    def _weighed(self, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.uint16]:
        wanted, low, high = _weights(vector)
        differing = np.ascontiguousarray(self._rows.take(rows, axis=0).T)
        differing ^= wanted
        counts = np.bitwise_count(differing & high)
        counts += counts
        counts += np.bitwise_count(differing & low)
        found: NDArray[np.uint16] = counts.sum(axis=0, dtype=np.uint16)
        return found

    def _nearest(self, vector: NDArray[np.float32], many: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Bits of fewer than `many` passages, and of those that come next, which are equally near."""
        looked_at, agreeing = self._looked_at(vector)
        near, rest = np.zeros_like(self._present), self._present
        for bit in reversed(summed(looked_at)):
            without = np.bitwise_and(rest, bit)
            within = np.bitwise_xor(rest, without)
            if agreeing:
                within, without = without, within
            found = int(np.add.reduce(np.bitwise_count(within), dtype=np.uint32))
            if found >= many:
                rest = within
            else:
                near, rest, many = near | within, without, many - found
        return near, rest

    def _looked_at(self, vector: NDArray[np.float32]) -> tuple[NDArray[np.uint64], bool]:
        """The slices of the question's largest numbers, and whether their bits say that a passage agrees, or that it differs."""
        numbers = np.zeros(len(self._slices), np.float32)
        numbers[: len(vector)] = vector
        many = (1 << (len(numbers) // _SHARE).bit_length() - 1) - 1
        largest = (np.abs(numbers) * self._telling).argpartition(-many)[-many:]
        above = numbers[largest] > 0
        up, down = largest[above], largest[~above]
        agreeing = len(up) >= len(down)
        fewer, more = (down, up) if agreeing else (up, down)
        found = self._slices.take(np.concatenate([fewer, more]), axis=0)
        np.invert(found[: len(fewer)], out=found[: len(fewer)])
        return found, agreeing


def _telling(slices: NDArray[np.uint64], size: int) -> NDArray[np.float32]:
    """How much the sign of each dimension tells passages apart: nothing where it is the same for all."""
    above: NDArray[np.float32] = np.bitwise_count(slices).sum(axis=1, dtype=np.float32) / np.float32(max(1, size))
    return above * (1 - above)


def _weights(vector: NDArray[np.float32]) -> NDArray[np.uint64]:
    """The sign of each dimension, and the low and the high bit of its weight."""
    sizes = np.abs(vector)
    place = max(0, len(sizes) - max(1, len(sizes) * _HEAVIEST // 512))
    scale = _WEIGHT / max(float(np.partition(sizes, place)[place]), 1e-30)
    weights = np.minimum(sizes * np.float32(scale) + np.float32(0.5), _WEIGHT).astype(np.uint8)
    return _packed(np.stack([vector > 0, weights & 1, weights >> 1]).view(np.bool_))[:, :, np.newaxis]


def summed(rows: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
    """How many of these rows have each bit set, as bits of that number, the lowest first. Overwrites the rows.

    There are 2 ** k - 1 rows: three at a time are added up to numbers of two bits, and two numbers and one more row to a number
    of one bit more, until there is one number.
    """
    many = (len(rows) + 1) // 4
    spare = np.empty((many, rows.shape[1]), np.uint64)
    _add(rows[:many], rows[many : 2 * many], rows[2 * many : 3 * many], spare)
    numbers, used = [rows[2 * many : 3 * many], rows[:many]], 3 * many
    while many := many // 2:
        carry = rows[used : used + many]
        used += many
        longer = []
        for bits in numbers:
            _add(bits[:many], bits[many:], carry, spare[:many])
            longer.append(carry)
            carry = bits[:many]
        numbers = [*longer, carry]
    return [bits[0] for bits in numbers]


def _add(one: NDArray[np.uint64], other: NDArray[np.uint64], carry: NDArray[np.uint64], spare: NDArray[np.uint64]) -> None:
    """Add up three bits: the sum stands in `carry` then, and what is carried in `one`."""
    np.bitwise_xor(one, other, spare)
    np.bitwise_and(one, other, one)
    np.bitwise_and(spare, carry, other)
    np.bitwise_xor(spare, carry, carry)
    np.bitwise_or(one, other, one)


def _rows(bits: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.unpackbits(bits.view(np.uint8), bitorder="little").view(np.bool_).nonzero()[0]


def _cut(distances: NDArray[np.uint16], many: int) -> NDArray[np.int64]:
    """Where about so many of the smallest stand, ascending: of several equal ones at the end all, but not twice as many."""
    if many >= len(distances):
        return (distances < NOWHERE).nonzero()[0]
    farthest = min(np.partition(distances, many - 1)[many - 1], NOWHERE - 1)
    places: NDArray[np.int64] = (distances <= farthest).nonzero()[0]
    if len(places) <= 2 * many:
        return places
    nearer = (distances < farthest).nonzero()[0]  # many copies of one vector: no need to look at all of them
    return np.sort(np.concatenate([nearer, (distances == farthest).nonzero()[0][:many]]))
