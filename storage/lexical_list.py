"""The lexical list of one generation: BM25 over passages' terms, each score worked out when the list is built.

Laid out as bm25s does it, every posting with its finished score, so that a search only adds up; the tests hold the scores
equal to bm25s's own. Built here since postings that are kept with each passage make it ten times faster than from tokens.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rag.text import well_formed
from storage.arrays import mapped, save

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

K1, B = 0.9, 0.4  # measured on the labelled sets of all languages: every one gains over 1.5 and 0.75
BUCKETS = 32  # postings are sorted one bucket of words at a time, so that memory stays bounded
REMEMBERED = 50_000  # terms
BLOCK = 64  # the best of every block bounds the best of all from below
_LEAST = np.nextafter(np.float32(0), np.float32(1))  # that is above zero
FILES = ("words.u8", "starts.i8", "rows.i4", "scores.f4")

_POSTING = np.dtype([("word", "<u8"), ("row", "<i4"), ("count", "<u2")])


class Postings(NamedTuple):
    """One passage's distinct words as 8-byte keys, and how often each stands in it (2 bytes, at most 65,535)."""

    words: bytes
    counts: bytes


@lru_cache(maxsize=50_000)
def word_key(word: str) -> int:
    """64 bits stand for a word: among ten million words two share one with a chance of 1 in 370,000."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


def postings(terms: str) -> Postings:
    counted = Counter(terms.split(" "))
    counted.pop("", None)
    words = np.fromiter(map(word_key, counted), "<u8", len(counted))
    counts = np.fromiter(counted.values(), np.int64, len(counted))
    return Postings(words.tobytes(), np.minimum(counts, 0xFFFF).astype("<u2").tobytes())


class LexicalBuilder:
    """Takes passages' postings block by block, in the order of their rows, and keeps them on disk until `finish`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._spill = [folder / f"bucket{number}.tmp" for number in range(BUCKETS)]
        self._files = [path.open("wb") for path in self._spill]
        self._lengths: list[NDArray[np.int64]] = []
        self._size = 0

    def close(self) -> None:
        for file in self._files:
            file.close()

    def add(self, block: Sequence[Postings]) -> None:
        words = np.frombuffer(b"".join(each.words for each in block), "<u8")
        found = np.empty(len(words), _POSTING)
        found["word"] = words
        found["count"] = np.frombuffer(b"".join(each.counts for each in block), "<u2")
        local = np.repeat(np.arange(len(block)), [len(each.words) // 8 for each in block])
        found["row"] = local + self._size
        self._lengths.append(np.bincount(local, found["count"], len(block)).astype(np.int64))
        self._size += len(block)
        bucket = (words >> np.uint64(59)).astype(np.uint8)
        found = found[np.argsort(bucket, kind="stable")]
        ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
        for file, start, end in zip(self._files, [0, *ends[:-1]], ends, strict=True):
            found[start:end].tofile(file)

    def finish(self) -> None:
        self.close()
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, np.int64)
        norms = K1 * ((1 - B) + B * lengths / (lengths.mean() if lengths.any() else 1.0))
        all_words, all_counts = [], []
        with (self._folder / "rows.i4").open("wb") as rows, (self._folder / "scores.f4").open("wb") as scores:
            for path in self._spill:
                words, counts, bucket_rows, bucket_scores = self._score(path, norms)
                bucket_rows.tofile(rows)
                bucket_scores.tofile(scores)
                all_words.append(words)
                all_counts.append(counts)
                path.unlink()
        starts = np.concatenate([[0], np.cumsum(np.concatenate(all_counts))])
        save(self._folder / "words.u8", np.concatenate(all_words))
        save(self._folder / "starts.i8", starts.astype("<i8"))

    def _score(self, path: Path, norms: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
        """Words, how many postings each has, their rows and scores: lucene's BM25, with the rounding of bm25s."""
        found = np.fromfile(path, _POSTING)
        found = found[np.argsort(found["word"], kind="stable")]
        words, counts = runs(found["word"])
        idf = np.log(1 + (self._size - counts + 0.5) / (counts + 0.5)).astype(np.float32)
        often = found["count"].astype(np.float32)
        part = often / (norms[found["row"]] + often)
        return words, counts, found["row"].astype("<i4"), (np.repeat(idf, counts) * part).astype("<f4")


def runs(ascending: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct values, and how often each stands there."""
    edges = np.flatnonzero(ascending[1:] != ascending[:-1]) + 1
    starts = np.concatenate([[0], edges]) if len(ascending) else edges
    return ascending[starts], np.diff(np.append(starts, len(ascending)))


class LexicalList:
    """Postings by word, memory-mapped: `rows[starts[w]:starts[w + 1]]` are the passages that hold word `w`, ascending."""

    def __init__(self, folder: Path, size: int) -> None:
        self._long = -(-size // BLOCK) * BLOCK
        self._words = mapped(folder / "words.u8", "<u8")
        self._starts = mapped(folder / "starts.i8", "<i8")
        self._rows = mapped(folder / "rows.i4", "<i4")
        self._scores = mapped(folder / "scores.f4", "<f4")
        self._places: dict[str, slice | None] = {}  # of terms that were asked for: most of them are again

    def look(self, terms: Sequence[str]) -> Look:
        known = self._known(terms)
        if not known:
            return Look((), np.zeros(0, np.int64), np.zeros(0, np.intp), np.zeros(self._long, np.float32))
        rows = np.concatenate([self._rows[where] for *_, where in known], dtype=np.intp)  # else each use of them converts them
        parts = [self._scores[where] if weight == 1 else self._scores[where] * np.float32(weight) for _, weight, where in known]
        scores = np.zeros(self._long, np.float32)
        np.add.at(scores, rows, np.concatenate(parts))
        lengths = np.array([where.stop - where.start for *_, where in known])
        return Look(tuple([term for term, *_ in known]), lengths, rows, scores)

    def _known(self, terms: Sequence[str]) -> list[tuple[str, int, slice]]:
        """Each distinct term that stands anywhere, in order of first use, with its weight and where its postings lie."""
        weights = Counter(term for term in terms if term)
        places = self._places
        if new := [term for term in weights if term not in places]:
            if len(places) > REMEMBERED:
                places = self._places = {}
                new = list(weights)
            places.update(zip(new, self._found(new), strict=True))
        return [(term, weight, where) for term, weight in weights.items() if (where := places[term])]

    def _found(self, terms: Sequence[str]) -> list[slice | None]:
        if not len(self._words):
            return [None] * len(terms)
        keys = np.fromiter((word_key(well_formed(term)) for term in terms), np.uint64, len(terms))
        places = np.minimum(np.searchsorted(self._words, keys), len(self._words) - 1)
        hit = self._words[places] == keys
        starts, ends = self._starts[places].tolist(), self._starts[places + 1].tolist()
        return [slice(*where) if found else None for found, *where in zip(hit.tolist(), starts, ends, strict=True)]


class Look(NamedTuple):
    """What the list says to some terms: those that stand anywhere, their postings one after the other (`lengths` says how
    many each has), and BM25 of every passage. `scores` is longer than that, by less than a block, and ends in zeros.
    """

    terms: tuple[str, ...]
    lengths: NDArray[np.int64]
    rows: NDArray[np.intp]
    scores: NDArray[np.float32]

    def matched(self, rows: NDArray[np.int64]) -> list[frozenset[str]]:
        """The terms that stand in each of these passages."""
        if not self.terms:
            return [frozenset()] * len(rows)
        patterns = self._held(rows).view(f"V{len(self.terms)}").ravel().tolist()
        known = {pattern: frozenset(compress(self.terms, pattern)) for pattern in set(patterns)}  # many hold the same terms
        return [known[pattern] for pattern in patterns]

    def _held(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Which of the terms stand in each passage, one column a term."""
        numbers = np.zeros(len(self.scores), np.min_scalar_type(len(rows)))  # few bytes stay near the processor
        numbers[rows] = np.arange(1, len(rows) + 1, dtype=numbers.dtype)
        found = numbers.take(self.rows)
        hits = (found != 0).nonzero()[0]
        held = np.zeros((len(rows) + 1, len(self.terms)), np.uint8)
        held[found[hits], self.lengths.cumsum().searchsorted(hits, side="right")] = 1
        return held[1:]


def best(scores: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """The rows of the best scores above zero, best first, equal ones in order of their rows."""
    if limit <= 0 or not len(scores):
        return np.zeros(0, np.int64)
    heads = scores.reshape(BLOCK, -1).max(axis=0)  # every column has one passage at least as good as its head
    least = np.partition(heads, -limit)[-limit] if len(heads) > limit else np.float32(0)
    rows = (scores >= max(least, _LEAST)).nonzero()[0]
    found: NDArray[np.int64] = rows[(-scores[rows]).argsort(kind="stable")[:limit]]
    return found
