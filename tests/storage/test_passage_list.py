"""The packed passages of a generation: found by a checksum, told apart by what they are."""

import gc
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rag.types import Passage, Stretch
from storage import arrays, passage_list
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


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what is open")
def test_the_text_of_a_large_base_is_read_without_being_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "SMALL", 0)
    held = listed(tmp_path, *(packed("a", ordinal, f"é{ordinal}") for ordinal in range(7)))
    text = tmp_path / "passages.txt"
    assert is_open(text)
    assert str(text) not in Path("/proc/self/maps").read_text("utf-8")

    text.unlink()  # as when the next generation has been made

    assert [each.text for each in held.between(Stretch("a", -3, 99))] == [f"é{ordinal}" for ordinal in range(7)]
    del held
    gc.collect()
    assert not is_open(text)


def is_open(path: Path) -> bool:
    links = (each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink())
    return any(str(link).removesuffix(" (deleted)") == str(path) for link in links)


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
