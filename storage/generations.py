"""Generations: what searches read, made from the rows of one build, never changed once made.

A generation is a folder of arrays, written under a name of its own and forced to disk before anything points to it. Its
manifest says how large each file is, with a checksum: what is missing or torn is noticed when it is opened.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag.types import Candidate, Signature
from storage import dense_list, lexical_list
from storage.arrays import fingerprint, force_all, mapped, save
from storage.dense_list import DenseBuilder, DenseList
from storage.lexical_list import LexicalBuilder, LexicalList, best

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rag.types import Search
    from storage.passage_rows import PassageRows

FILES = (*lexical_list.FILES, *dense_list.FILES, "ids.txt", "ids.i8")
MANIFEST = "manifest.json"


class Torn(Exception):
    """A generation whose files are not as its manifest says. Never leaves storage: it is made again."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`languages` are those of the passages, the most frequent first; `files` are name, size and checksum."""

    size: int
    signature: Signature
    languages: tuple[str, ...]
    files: tuple[tuple[str, int, int], ...]


def make(rows: PassageRows, build: Path, number: int, signature: Signature) -> str:
    """Make the generation of this number; the name of its folder."""
    name = f"{number:08}-{uuid.uuid4().hex[:8]}"
    folder = build / name
    folder.mkdir()
    try:
        size, languages = _write_lists(rows, folder, number, signature.dimension)
        files = tuple((each, *fingerprint(folder / each)) for each in FILES)
        (folder / MANIFEST).write_text(json.dumps(asdict(Manifest(size, signature, languages, files))), "utf-8")
        force_all([*(folder / each for each in (*FILES, MANIFEST)), folder, build])
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return name


def _write_lists(rows: PassageRows, folder: Path, number: int, dimension: int) -> tuple[int, tuple[str, ...]]:
    languages: Counter[str] = Counter()
    lengths = [0]
    with ExitStack() as files:
        lexical = files.enter_context(closing(LexicalBuilder(folder)))
        dense = files.enter_context(closing(DenseBuilder(folder, dimension)))
        ids = files.enter_context((folder / "ids.txt").open("wb"))
        for block in rows.blocks(number):
            names = [name.encode() for name, *_ in block]
            ids.write(b"".join(names))
            lengths += map(len, names)
            languages.update(language for _, language, *_ in block if language)
            lexical.add([found for *_, found, _ in block])
            dense.add([vector for *_, vector in block])
        lexical.finish()
        dense.finish()
    save(folder / "ids.i8", np.cumsum(np.array(lengths, "<i8")))
    ranked = sorted(languages, key=lambda language: (-languages[language], language))
    return len(lengths) - 1, tuple(ranked)


class Generation:
    """One generation, open. Its files may be deleted meanwhile: what is mapped stays readable."""

    def __init__(self, folder: Path) -> None:
        """Raises Torn."""
        manifest = _manifest(folder)
        self.size = manifest.size
        self.signature = manifest.signature
        self.languages = manifest.languages
        self._lexical = LexicalList(folder, self.size)
        self._dense = DenseList(folder, self.size, self.signature.dimension)
        self._ids = mapped(folder / "ids.txt", "u1")
        self._places = mapped(folder / "ids.i8", "<i8")

    def search(self, search: Search) -> list[Candidate]:
        if not self.size or search.limit <= 0:
            return []
        known = self._lexical.known(search.terms)
        scores = self._lexical.scores(known)
        lexical = best(scores, search.limit)
        vector = None if search.vector is None or not self._dense.filled else np.frombuffer(search.vector, "<f4")
        near = np.zeros(0, np.int64) if vector is None else self._dense.best(vector, search.limit)
        rows = np.union1d(lexical, near)
        cosines = np.zeros(len(rows)) if vector is None else self._dense.cosines(vector, rows)
        columns = (
            self._names(rows),
            scores[rows].tolist(),
            cosines.tolist(),
            ranks(rows, lexical),
            ranks(rows, near),
            map(frozenset, self._matched(rows, known)),
        )
        return [Candidate(*fields) for fields in zip(*columns, strict=True)]

    def _matched(self, rows: NDArray[np.int64], known: Sequence[tuple[str, int, slice]]) -> list[list[str]]:
        matched: list[list[str]] = [[] for _ in rows]
        for term, _, where in known:
            for place in np.flatnonzero(self._lexical.holding(rows, where)).tolist():
                matched[place].append(term)
        return matched

    def _names(self, rows: NDArray[np.int64]) -> list[str]:
        starts, ends = self._places[rows].tolist(), self._places[rows + 1].tolist()
        return [self._ids[start:end].tobytes().decode() for start, end in zip(starts, ends, strict=True)]


def ranks(rows: NDArray[np.int64], ranked: NDArray[np.int64]) -> list[int]:
    """Each row's place in a ranked list, from 1; 0 where it is not in it."""
    places = {row: rank for rank, row in enumerate(ranked.tolist(), 1)}
    return [places.get(row, 0) for row in rows.tolist()]


def check(folder: Path) -> None:
    """Raises Torn."""
    _manifest(folder)


def _manifest(folder: Path) -> Manifest:
    try:
        found = json.loads((folder / MANIFEST).read_text("utf-8"))
        files = tuple((name, size, checksum) for name, size, checksum in found["files"])
        for name, size, checksum in files:
            if fingerprint(folder / name) != (size, checksum):
                raise Torn(f"{folder / name} is not as it was written")
        return Manifest(found["size"], Signature(**found["signature"]), tuple(found["languages"]), files)
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError) as error:
        raise Torn(f"{folder} is not complete") from error
