"""What rows score by their terms that are not in the lexical list, worked out from the scores of those that are.

BM25 adds up, for each term, a weight that only the server knows (it depends on how many rows hold the term) times what count
and length of the row make of it. A list of rows with their scores tells these weights, by least squares; and what the mean
length is, which the server alone knows as well. Nothing is told where the list does not settle it: then the server is asked,
which takes a second round trip and walks through all rows of each term.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from storage.lexical_list import K1, B

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_TOLERANCE: Final = 1e-5  # of the highest score: what rounding makes of scores, and no more
_SMALLEST: Final = 0.01  # of the largest singular value: what depends on smaller ones would carry more of the rounding
_OUTSIDE: Final = 1e-6  # of a row that no row of the list tells of
_TELLING: Final = 1e-3  # of what lengths make: below it the rows of the list are too much alike to tell the mean length
_STEPS: Final = 20
_MISFITS: Final = 3


class Counted(NamedTuple):
    """How often each term of a search stands in a row, and how many terms the row has."""

    counts: tuple[int, ...]
    length: int


class Weighing:
    """Of one state of one build. It gives up where scores are not made as it thinks: by several shards, which count apart."""

    def __init__(self) -> None:
        self._slope: float | None = None  # K1 * B / mean length
        self._misfits = 0

    def scores(self, known: Sequence[Counted], scores: Sequence[float], wanted: Sequence[Counted]) -> list[float | None]:
        """One for each wanted row, None where it is not certain."""
        nothing: list[float | None] = [None] * len(wanted)
        if self._misfits >= _MISFITS or not known or not wanted:
            return nothing
        counts, lengths = _columns(known)
        given = np.array(scores, np.float64)
        fit = self._fit(counts, lengths, given)
        if fit is None:
            return nothing
        rows = _shares(*_columns(wanted), fit.slope)
        inside = rows @ fit.told.T
        outside = np.abs(rows - inside @ fit.told).max(axis=1)
        return [float(score) if off < _OUTSIDE else None for score, off in zip(inside @ fit.weights, outside, strict=True)]

    def _fit(self, counts: Numbers, lengths: Numbers, scores: Numbers) -> _Fit | None:
        """With the mean length that was found before, where that does; else with one that is looked for."""
        if self._slope is not None and (fit := _fitted(counts, lengths, scores, self._slope)):
            self._misfits = 0
            return fit
        self._slope = _slope(counts, lengths, scores)
        if self._slope is None:
            return None
        fit = _fitted(counts, lengths, scores, self._slope)
        self._misfits = 0 if fit else self._misfits + 1
        return fit


class _Fit(NamedTuple):
    """`told` are the directions, among all terms, that the list tells of, and `weights` what is told of each."""

    slope: float
    told: Numbers
    weights: Numbers


def _fitted(counts: Numbers, lengths: Numbers, scores: Numbers, slope: float) -> _Fit | None:
    """None where the scores are not made so."""
    shares = _shares(counts, lengths, slope)
    left, sizes, right = np.linalg.svd(shares, full_matrices=False)
    kept = sizes > _SMALLEST * sizes[0]
    told, weights = right[kept], (left[:, kept].T @ scores) / sizes[kept]
    off = np.abs(shares @ (told.T @ weights) - scores).max()
    return _Fit(slope, told, weights) if off <= _TOLERANCE * np.abs(scores).max() else None


def _columns(rows: Sequence[Counted]) -> tuple[Numbers, Numbers]:
    return np.array([row.counts for row in rows], np.float64), np.array([[row.length] for row in rows], np.float64)


def _shares(counts: Numbers, lengths: Numbers, slope: float) -> Numbers:
    """What of each term's weight each row gets."""
    return counts / (counts + K1 * (1 - B) + slope * lengths)


def _weights(shares: Numbers, scores: Numbers) -> Numbers:
    found = np.linalg.lstsq(shares, scores, rcond=None)[0]
    return found.astype(np.float64, copy=False)


def _slope(counts: Numbers, lengths: Numbers, scores: Numbers) -> float | None:
    """By Newton's method, from the mean length of these rows; None where their lengths tell nothing of it."""
    slope = K1 * B / float(lengths.mean())
    for _ in range(_STEPS):
        shares = _shares(counts, lengths, slope)
        weights = _weights(shares, scores)
        bent = -(shares * lengths / (counts + K1 * (1 - B) + slope * lengths)) @ weights
        beyond = bent - shares @ _weights(shares, bent)  # what no other weights could make as well
        size = float(beyond @ beyond)
        if size < (_TELLING**2) * float(bent @ bent) or size == 0:
            return None
        step = float(beyond @ (scores - shares @ weights)) / size
        slope = max(slope + step, slope / 10)
        if abs(step) < 1e-9 * slope:
            return slope
    return None
