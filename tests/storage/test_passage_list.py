"""The packed passages of a generation: found by a checksum, told apart by what they are."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rag.types import Passage, Stretch
from storage import passage_list
from storage.passage_list import Packed, PassageBuilder, PassageList


def packed(document: str, ordinal: int, text: str = "text", headings: tuple[str, ...] = ()) -> Packed:
    short = (f"{document}#{ordinal}", "b", document, "Title", "link", "anchor", "pt", "digest", "", *headings)
    return Packed(short, text, f"terms of {text}", (ordinal, 2, 3, 40, 50, 1))


def listed(folder: Path, *passages: Packed) -> PassageList:
    with closing(PassageBuilder(folder)) as builder:
        builder.add(passages[:2])
        builder.add(passages[2:])
        builder.finish()
    return PassageList(folder)


@pytest.fixture
def colliding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_list, "crc32", lambda data: len(data) % 2)


def test_a_passage_is_read_as_it_was_packed(tmp_path: Path) -> None:
    held = listed(tmp_path, packed("a", 0), packed("a", 1, "açaí 北京 \n", ("One", "", "Zwei")), packed("b", 0, ""))

    assert held.passage(1) == Passage(
        "a#1",
        "b",
        "a",
        1,
        "açaí 北京 \n",
        "Title",
        "link",
        ("One", "", "Zwei"),
        "anchor",
        2,
        3,
        40,
        50,
        "pt",
        "terms of açaí 北京 \n",
        "digest",
    )
    assert held.passage(0).headings == ()
    assert held.passage(2).text == ""
    assert held.ids(np.array([2, 0])) == ["b#0", "a#0"]


@pytest.mark.usefixtures("colliding")
def test_ids_and_documents_that_share_a_checksum_are_told_apart(tmp_path: Path) -> None:
    names = ["a", "b", "cc", "dd", "eee"]
    held = listed(tmp_path, *(packed(name, ordinal) for name in names for ordinal in (0, 1, 2)))

    for name in names:
        assert [each.id for each in held.between(Stretch(name, 1, 5))] == [f"{name}#1", f"{name}#2"]
        assert [each.id for each in held.named([f"{name}#2", f"{name}#0"]) or ()] == [f"{name}#2", f"{name}#0"]
    assert held.between(Stretch("f", 0, 2)) == []
    assert held.named(["a#0", "f#0"]) is None


def test_an_empty_list_holds_nothing(tmp_path: Path) -> None:
    held = listed(tmp_path)

    assert held.named(["a#0"]) is None
    assert held.named([]) == []
    assert held.between(Stretch("a", 0, 9)) == []


def test_passages_are_read_on_after_their_pages_were_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_list, "GIVEN_BACK_AFTER", 2)
    monkeypatch.setattr(passage_list, "SMALL", 0)
    held = listed(tmp_path, *(packed("a", ordinal, str(ordinal)) for ordinal in range(7)))

    assert [each.text for each in held.between(Stretch("a", -3, 99))] == list("0123456")


@pytest.mark.parametrize(
    ("rooms", "wanted"),
    [
        (((3, 5),), [2, 4]),  # of four characters each, fewer than five
        (((3, 9),), [1, 2, 4, 5]),
        (((3, 4),), []),
        (((0, 5), (6, 5)), [1, 5]),
        (((2, 9), (3, 5)), [0, 1, 4]),
        (((9, 99),), []),
    ],
)
def test_only_what_fits_beside_what_has_room_is_read(tmp_path: Path, rooms: tuple[tuple[int, int], ...], wanted: list[int]) -> None:
    held = listed(tmp_path, *(packed("a", ordinal, "é" * 4) for ordinal in range(7)))

    assert [each.ordinal for each in held.between(Stretch("a", 0, 6, rooms))] == wanted
