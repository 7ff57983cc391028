"""Sketches as the generation keeps them: what rag/sketches.py reads of them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag.sketches import BITS, COUNT_BYTES, read, unlike
from storage.lexical_list import postings
from storage.sketch_list import SketchBuilder, SketchList, sketches

if TYPE_CHECKING:
    from pathlib import Path

WORDS = st.sets(st.integers(0, 400).map(lambda number: f"word{number}"), max_size=120)


def sketch(words: set[str]) -> int:
    return read(sketches([postings(" ".join(sorted(words)))]).tobytes())


@given(WORDS, WORDS, st.floats(0.5, 0.95))
def test_passages_that_are_alike_are_never_taken_for_unlike(some: set[str], others: set[str], share: float) -> None:
    one, other = some | others, some
    alike = len(one & other) >= share * len(one | other)

    assert not (alike and unlike(sketch(one), sketch(other), share))
    assert not unlike(sketch(one), sketch(one), share)


def test_passages_that_have_nothing_in_common_are_told_apart() -> None:
    one, other = ({f"{side}{number}" for number in range(150)} for side in ("left", "right"))

    assert unlike(sketch(one), sketch(other), 0.85)


def test_without_a_sketch_nothing_is_known() -> None:
    assert not unlike(sketch({"one"}), read(b""), 0.85)


def test_sketches_are_kept_in_the_order_of_their_rows(tmp_path: Path) -> None:
    texts = ["one two", "", "three", "one two"]
    with closing(SketchBuilder(tmp_path)) as builder:
        builder.add([postings(text) for text in texts[:3]])
        builder.add([postings(text) for text in texts[3:]])
        builder.finish()

    first, empty, other, same = SketchList(tmp_path).of(np.arange(4))

    assert {len(each) for each in (first, empty, other)} == {COUNT_BYTES + BITS // 8}
    assert first == same != other
    assert empty == bytes(COUNT_BYTES + BITS // 8)
    assert read(first) & 0xFF == len(texts[0].split())


def test_an_empty_generation_has_none(tmp_path: Path) -> None:
    with closing(SketchBuilder(tmp_path)) as builder:
        builder.finish()

    assert SketchList(tmp_path).of(np.zeros(0, np.int64)) == []
