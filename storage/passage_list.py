"""The passages of one generation, packed: what a question reads of them is found and read in microseconds, without SQLite.

They lie by document and ordinal, so that neighbours are neighbours. All texts of one are joined by NUL, which no text
holds; its numbers stand apart. Ids and documents are found by a checksum of 32 bits, and told apart by what is read then.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from rag.text import well_formed
from rag.types import Passage
from storage.arrays import Pieces, mapped, mapped_bytes, save

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rag.types import Stretch

FILES = (
    "passages.txt",
    "numbers.i8",
    "ids.txt",
    "ids.i8",
    "ids.u4",
    "ids.i4",
    "documents.u4",
    "documents.i4",
)
SEPARATOR = "\0"
FEW = 20_000


class Packed(NamedTuple):
    """A passage as it is kept here."""

    short: tuple[str, ...]  # id, base, document, title, link, anchor, language, digest, within, and the headings
    text: str
    terms: str
    numbers: tuple[int, ...]  # ordinal, page, line, start, end, expandable

    @property
    def id(self) -> str:
        return self.short[0]

    @property
    def document(self) -> str:
        return self.short[2]

    @property
    def language(self) -> str:
        return self.short[6]


# where a passage begins and ends in the file; how many characters its text has; its numbers
_COLUMNS, _LENGTH, _ORDINAL = 9, 2, 3


def key(name: str) -> int:
    return crc32(name.encode())


class PassageBuilder:
    """Takes passages block by block, by document and ordinal."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._passages = (folder / "passages.txt").open("wb")
        self._ids = (folder / "ids.txt").open("wb")
        self._size = 0
        self._numbers: list[tuple[int, ...]] = []
        self._id_lengths = [0]
        self._keys: list[int] = []
        self._documents: dict[str, list[int]] = {}  # its first row, and how many it has

    def close(self) -> None:
        self._passages.close()
        self._ids.close()

    def add(self, block: Sequence[Packed]) -> None:
        for row, each in enumerate(block, len(self._keys)):
            self._documents.setdefault(each.document, [row, 0])[1] += 1
        ids = [each.id.encode() for each in block]
        self._keys += map(crc32, ids)
        self._ids.write(b"".join(ids))
        self._id_lengths += map(len, ids)
        self._passages.write(b"".join([self._packed(each) for each in block]))

    def _packed(self, each: Packed) -> bytes:
        packed = SEPARATOR.join((*each.short, each.text, each.terms)).encode()
        self._numbers.append((self._size, self._size + len(packed), len(each.text), *each.numbers))
        self._size += len(packed)
        return packed

    def finish(self) -> None:
        self.close()
        save(self._folder / "numbers.i8", np.array(self._numbers, "<i8"))
        save(self._folder / "ids.i8", np.cumsum(np.array(self._id_lengths, "<i8")))
        keys, order = _sorted(self._keys)
        save(self._folder / "ids.u4", keys)
        save(self._folder / "ids.i4", order)
        keys, order = _sorted([key(document) for document in self._documents])
        save(self._folder / "documents.u4", keys)
        save(self._folder / "documents.i4", np.array(list(self._documents.values()), "<i4").reshape(-1, 2)[order])


def _sorted(keys: Sequence[int]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    found = np.array(keys, "<u4")
    order = np.argsort(found, kind="stable")
    return found[order], order.astype("<i4")


class PassageList:
    """Memory-mapped. Reading a passage takes a few microseconds."""

    def __init__(self, folder: Path) -> None:
        self._numbers = _numbers(folder / "numbers.i8", "<i8")
        self._texts = Pieces(folder / "passages.txt")
        self._ids = mapped_bytes(folder / "ids.txt")
        self._id_places = mapped(folder / "ids.i8", "<i8")
        self._id_keys = _numbers(folder / "ids.u4", "<u4")
        self._id_rows = _numbers(folder / "ids.i4", "<i4")
        self._known_ids: list[str] = []  # of few passages: every search takes a hundred
        if len(self._id_places) <= FEW:
            self._known_ids = self._names(np.arange(len(self._id_places) - 1))
        self._document_keys = _numbers(folder / "documents.u4", "<u4")
        self._document_rows = _numbers(folder / "documents.i4", "<i4")  # of each its first row, and how many it has
        self._just_found: dict[str, int] = {}  # and where it lies: some of these are about to be asked for

    def ids(self, rows: NDArray[np.int64]) -> list[str]:
        names = self._names(rows)
        self._just_found = dict(zip(names, rows.tolist(), strict=True))
        return names

    def _names(self, rows: NDArray[np.int64]) -> list[str]:
        if self._known_ids:
            return [self._known_ids[row] for row in rows.tolist()]
        starts, ends = self._id_places[rows].tolist(), self._id_places[rows + 1].tolist()
        return [self._ids[start:end].decode() for start, end in zip(starts, ends, strict=True)]

    def named(self, ids: Sequence[str]) -> list[Passage] | None:
        """In the order asked for; None where one of them is not here."""
        found = []
        just_found = self._just_found
        for name in ids:
            row = just_found.get(name)
            passage = self._named(well_formed(name)) if row is None else self.passage(row)
            if passage is None:
                return None
            found.append(passage)
        return found

    def between(self, stretch: Stretch) -> list[Passage]:
        """In order."""
        name = well_formed(stretch.document)
        for at in _places(self._document_keys, name):
            rows = self._within(self._document_rows[2 * at], self._document_rows[2 * at + 1], stretch)
            if stretch.rooms and len(rows) > 1:
                numbers = self._numbers
                places = [(numbers[row * _COLUMNS + _LENGTH], numbers[row * _COLUMNS + _ORDINAL]) for row in rows]
                wanted = [rows[place] for place in _fitting(places, stretch.rooms)]
            else:
                wanted = [] if stretch.rooms else [*rows]
            found = self._near(wanted)
            if found and found[0].document == name:
                return found
        return []

    def _near(self, rows: Sequence[int]) -> list[Passage]:
        """Those of a few rows, ascending: what lies between is read along with them, which takes less time than a second look."""
        if not rows:
            return []
        from_, to = self._numbers[rows[0] * _COLUMNS], self._numbers[rows[-1] * _COLUMNS + 1]
        block = self._texts.read(from_, to)
        return [self._unpacked(row, block, from_) for row in rows]

    def passage(self, row: int) -> Passage:
        first, after = self._numbers[row * _COLUMNS], self._numbers[row * _COLUMNS + 1]
        return self._unpacked(row, self._texts.read(first, after), first)

    def _unpacked(self, row: int, block: bytes, from_: int) -> Passage:
        """From a block of the file that begins at `from_`."""
        numbers = self._numbers[row * _COLUMNS : (row + 1) * _COLUMNS]
        first, after, _, ordinal, page, line, start, end, expandable = numbers
        texts = block[first - from_ : after - from_].decode().split(SEPARATOR)
        name, base, document, title, link, anchor, language, digest, within, *headings, text, terms = texts
        fields = (
            *(name, base, document, ordinal, text, title, link, tuple(headings), anchor),
            *(page, line, start, end, language, terms, digest, expandable == 1, within),
        )
        return tuple.__new__(Passage, fields)  # in two thirds of the time of calling it

    def _within(self, start: int, count: int, stretch: Stretch) -> range:
        """The rows of a stretch; where no ordinal of the document is left out, they need not be looked for."""
        rows = range(start, start + count)
        first = self._ordinal(start)
        if self._ordinal(rows[-1]) == first + count - 1:
            return rows[max(0, stretch.first - first) : max(0, stretch.last + 1 - first)]
        return rows[bisect_left(rows, stretch.first, key=self._ordinal) : bisect_right(rows, stretch.last, key=self._ordinal)]

    def _ordinal(self, row: int) -> int:
        return self._numbers[row * _COLUMNS + _ORDINAL]

    def _named(self, name: str) -> Passage | None:
        found = (self.passage(self._id_rows[at]) for at in _places(self._id_keys, name))
        return next((passage for passage in found if passage.id == name), None)


def _fitting(places: Sequence[tuple[int, int]], rooms: Sequence[tuple[int, int]]) -> list[int]:
    """Which of some passages, each with its length and its ordinal, fit beside one that has room, what lies between included."""
    at = {ordinal: row for row, (_, ordinal) in enumerate(places)}
    found: set[int] = set()
    for ordinal, room in rooms:
        if (here := at.get(ordinal)) is not None:
            for beside in (range(here + 1, len(places)), range(here - 1, -1, -1)):
                left = room
                for row in beside:
                    if (length := places[row][0]) >= left:
                        break
                    found.add(row)
                    left -= length
    return sorted(found.difference([at.get(ordinal) for ordinal, _ in rooms]))


def _numbers(path: Path, kind: str) -> Sequence[int]:
    """Looked at one by one, a view gives them in a third of the time that an array takes."""
    return mapped(path, kind).data


def _places(keys: Sequence[int], name: str) -> Iterator[int]:
    """Where a name's checksum stands."""
    wanted = key(name)
    at = bisect_left(keys, wanted)
    while at < len(keys) and keys[at] == wanted:
        yield at
        at += 1
