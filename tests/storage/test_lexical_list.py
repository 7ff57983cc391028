"""The lexical list by itself: what a search of many terms finds, and what it remembers of terms."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from storage import lexical_list
from storage.lexical_list import LexicalBuilder, LexicalList, postings


def listed(folder: Path, *texts: str) -> LexicalList:
    with closing(LexicalBuilder(folder)) as builder:
        builder.add([postings(text) for text in texts])
        builder.finish()
    return LexicalList(folder, len(texts))


@pytest.mark.parametrize("many", [1, 7, 8, 9, 16, 33, 64, 65, 130])
def test_of_any_number_of_terms_each_passage_tells_those_it_holds(tmp_path: Path, many: int) -> None:
    terms = [f"w{n}" for n in range(many)]
    texts = [" ".join(term for n, term in enumerate(terms) if n % (passage + 1) == 0) for passage in range(9)]
    held = listed(tmp_path, *texts)

    matched = held.look(terms).matched(np.array([8, 0, 3, 5]))

    assert matched == [frozenset(texts[passage].split()) for passage in (8, 0, 3, 5)]


@pytest.mark.parametrize("many", [1, 254, 255, 256, 257, 600])
def test_of_any_number_of_passages_each_tells_its_terms(tmp_path: Path, many: int) -> None:
    texts = [" ".join(term for n, term in enumerate("abcdefgh") if passage >> n & 1) for passage in range(many)]
    held = listed(tmp_path, *texts)
    rows = np.arange(many)[::-1]

    assert held.look("hgfedcba").matched(rows) == [frozenset(texts[row].split()) for row in rows]


def test_terms_are_found_again_after_many_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical_list, "REMEMBERED", 5)
    held = listed(tmp_path, "a b", "b c", "c a")

    for _ in range(3):
        for n in range(8):
            look = held.look(["a", f"unknown{n}", "b", "a"])
            assert look.terms == ("a", "b")
            assert look.matched(np.arange(3)) == [{"a", "b"}, {"b"}, {"a"}]
