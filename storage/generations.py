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
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.errors import IndexMismatch
from rag.types import Candidate, Signature
from storage import dense_list, lexical_list, passage_list, sketch_list
from storage.arrays import fingerprint, force_all
from storage.dense_list import DenseBuilder, DenseList
from storage.lexical_list import LexicalBuilder, LexicalList, best
from storage.passage_list import PassageBuilder, PassageList
from storage.sketch_list import SketchBuilder, SketchList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Executor
    from pathlib import Path
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rag.types import Search
    from storage.passage_rows import PassageRows

    _Near: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float32]]

FILES = (*lexical_list.FILES, *dense_list.FILES, *passage_list.FILES, *sketch_list.FILES)
MANIFEST = "manifest.json"
LAYOUT = 7  # of what stands in the files: whoever changes that must count on, so that those of other versions are made again
_candidate = partial(tuple.__new__, Candidate)  # in half of the time of Candidate._make


class Torn(Exception):
    """A generation whose files are not as its manifest says. Never leaves storage: it is made again."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`languages` are those of the passages, the most frequent first; `files` are name, size and checksum."""

    layout: int
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
        (folder / MANIFEST).write_text(json.dumps(asdict(Manifest(LAYOUT, size, signature, languages, files))), "utf-8")
        force_all([*(folder / each for each in (*FILES, MANIFEST)), folder, build])
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return name


def _write_lists(rows: PassageRows, folder: Path, number: int, dimension: int) -> tuple[int, tuple[str, ...]]:
    languages: Counter[str] = Counter()
    size = 0
    with ExitStack() as files:
        lexical = files.enter_context(closing(LexicalBuilder(folder)))
        dense = files.enter_context(closing(DenseBuilder(folder, dimension)))
        passages = files.enter_context(closing(PassageBuilder(folder)))
        sketched = files.enter_context(closing(SketchBuilder(folder)))
        for block in rows.blocks(number):
            size += len(block)
            languages.update(each.passage.language for each in block if each.passage.language)
            postings = [each.postings for each in block]
            lexical.add(postings)
            sketched.add(postings)
            dense.add([each.vector for each in block])
            passages.add([each.passage for each in block])
        for each in (lexical, dense, passages, sketched):
            each.finish()
    ranked = sorted(languages, key=lambda language: (-languages[language], language))
    return size, tuple(ranked)


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
        self.passages = PassageList(folder)
        self._sketches = SketchList(folder)

    def search(self, search: Search, aside: Executor | None = None) -> list[Candidate]:
        """With a thread that has nothing else to do, both lists are looked through at once."""
        if not self.size or search.limit <= 0:
            return []
        nearest = self._nearest(search, aside)
        look = self._lexical.look(search.terms)
        lexical = best(look.scores, search.limit)
        near, cosines = nearest(lexical)
        rows, first = np.unique(np.concatenate([near, lexical]), return_index=True)
        columns = (
            self.passages.ids(rows),
            look.scores[rows].tolist(),
            cosines[first].tolist(),
            ranks(rows, lexical),
            ranks(rows, near),
            look.matched(rows),
            self._sketches.of(rows),
        )
        return candidates(columns)

    def _nearest(self, search: Search, aside: Executor | None) -> Callable[[NDArray[np.int64]], _Near]:
        """Gives the rows of the dense list, best first, and their cosines, followed by those of the lexical list's rows."""
        if search.vector is None or not self._dense.filled:
            return lambda lexical: (np.zeros(0, np.int64), np.zeros(len(lexical), np.float32))
        vector = np.frombuffer(search.vector, "<f4")
        look = partial(self._dense.best, vector, search.limit)
        begun = aside.submit(look) if aside and self._dense.is_long else None

        def found(lexical: NDArray[np.int64]) -> _Near:
            others = self._dense.cosines(vector, lexical)
            near, cosines = look() if begun is None or begun.cancel() else begun.result()  # a thread may find no processor
            return near, np.concatenate([cosines, others])

        return found


def candidates(columns: Iterable[Sequence[Any]]) -> list[Candidate]:
    return list(map(_candidate, zip(*columns, strict=True)))


def searched(base: str, generation: Generation, search: Search, aside: Executor | None = None) -> list[Candidate]:
    dimension = generation.signature.dimension
    if search.vector is not None and len(search.vector) != 4 * dimension:
        raise IndexMismatch(
            f"The index of base {base!r} was made with vectors of {dimension} dimensions, the question's has "
            f"{len(search.vector) // 4}. Make it again with `footnote index --rebuild`."
        )
    return generation.search(search, aside)


def ranks(rows: NDArray[np.int64], ranked: NDArray[np.int64]) -> list[int]:
    """Each row's place in a ranked list, from 1; 0 where it is not in it. Rows ascend."""
    places = np.zeros(len(rows), np.int64)
    places[np.searchsorted(rows, ranked)] = np.arange(1, len(ranked) + 1)
    found: list[int] = places.tolist()
    return found


def check(folder: Path) -> None:
    """Raises Torn."""
    _manifest(folder)


def _manifest(folder: Path) -> Manifest:
    try:
        found = json.loads((folder / MANIFEST).read_text("utf-8"))
        files = tuple((name, size, checksum) for name, size, checksum in found["files"])
        if found["layout"] != LAYOUT:
            raise Torn(f"{folder} was made by another version")
        for name, size, checksum in files:
            if fingerprint(folder / name) != (size, checksum):
                raise Torn(f"{folder / name} is not as it was written")
        return Manifest(LAYOUT, found["size"], Signature(**found["signature"]), tuple(found["languages"]), files)
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError) as error:
        raise Torn(f"{folder} is not complete") from error
