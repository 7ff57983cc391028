"""The dense list by itself: which few of many vectors are worth an exact look, and what it says of these (R11)."""

import sys
from collections.abc import Sequence
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag.types import Vector
from storage import code_list, dense_list
from storage.dense_list import DenseBuilder, DenseList

LIMIT = 50


def listed(folder: Path, vectors: Sequence[Vector | None], dimension: int) -> DenseList:
    with closing(DenseBuilder(folder, dimension)) as builder:
        for start in range(0, len(vectors), 1_000):
            builder.add(vectors[start : start + 1_000])
        builder.finish()
    return DenseList(folder, len(vectors), dimension)


def clustered(size: int, dimension: int) -> NDArray[np.float32]:
    """Vectors of unit length about some centres, each with a few large numbers, as those of embedders are."""
    chance = np.random.default_rng(3)
    centres = chance.standard_t(4, (size // 50, dimension))
    vectors = centres[chance.integers(0, len(centres), size)] + chance.standard_normal((size, dimension))
    found: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f4")
    return found


def as_bytes(vectors: NDArray[np.float32]) -> list[Vector]:
    return [vector.tobytes() for vector in vectors]


@pytest.mark.parametrize("limit", [5, 20, 50])
def test_nearly_all_of_the_exact_best_are_found_by_codes(tmp_path: Path, limit: int) -> None:
    vectors = clustered(9_000, 512)
    held = listed(tmp_path, as_bytes(vectors), 512)
    chance = np.random.default_rng(4)
    found = 0

    for row in chance.integers(0, len(vectors), 60):
        question = vectors[row] + 0.03 * chance.standard_normal(512).astype(np.float32)
        cosines = vectors @ question
        rows, scores = held.best(question, limit)
        others = held.cosines(question, np.array([0, 8_999]))
        assert scores == pytest.approx(cosines[rows], abs=1e-5)
        assert others == pytest.approx(cosines[[0, 8_999]], abs=1e-5)
        assert sorted(scores, reverse=True) == scores.tolist()
        found += len(set(rows.tolist()) & set((-cosines).argsort()[:limit].tolist()))
        assert limit < len(held._near(question, limit)) < 900

    assert found >= 0.97 * 60 * limit


@pytest.mark.parametrize("dimension", [1, 2, 7, 70, 384, 1_025])
def test_vectors_of_any_dimension_are_coded(tmp_path: Path, dimension: int) -> None:
    vectors = clustered(2_500, dimension)
    held = listed(tmp_path, as_bytes(vectors), dimension)

    for row in range(0, 2_500, 100):
        assert len(held._near(vectors[row], 20)) < 200
        rows, scores = held.best(vectors[row], 20)
        cosines = np.vecdot(vectors, vectors[row])
        assert scores[0] == pytest.approx(cosines.max(), abs=1e-3)
        assert np.array_equal(scores, cosines[rows])


def test_up_to_some_vectors_all_are_looked_at(tmp_path: Path) -> None:
    vectors = clustered(dense_list.EXACT, 64)
    held = listed(tmp_path, as_bytes(vectors), 64)

    rows, _ = held.best(vectors[7], LIMIT)

    assert rows.tolist() == (-np.vecdot(vectors, vectors[7])).argsort(kind="stable")[:LIMIT].tolist()
    assert (tmp_path / "codes.faiss").read_bytes() == b""


def test_where_there_is_no_package_for_codes_all_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(3_000, 64)
    listed(tmp_path, as_bytes(vectors), 64)
    assert (tmp_path / "codes.faiss").read_bytes()
    monkeypatch.setattr(code_list, "available", lambda: False)
    brought = DenseList(tmp_path, 3_000, 64)
    (tmp_path / "there").mkdir()
    made_there = listed(tmp_path / "there", as_bytes(vectors), 64)

    for held in (brought, made_there):
        rows, _ = held.best(vectors[7], LIMIT)
        assert rows.tolist() == (-np.vecdot(vectors, vectors[7])).argsort(kind="stable")[:LIMIT].tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_many_copies_of_one_vector_are_not_all_looked_at(tmp_path: Path, sign: int) -> None:
    vector = sign * clustered(50, 64)[0]
    held = listed(tmp_path, [vector.tobytes()] * 6_000, 64)

    rows = held._near(vector, LIMIT).tolist()

    assert rows == list(range(len(rows)))
    assert LIMIT <= len(rows) < 300


@pytest.mark.parametrize("copies", [40, 300, 3_000])
@pytest.mark.parametrize("seed", range(5))
def test_of_copies_of_one_vector_the_first_are_found(tmp_path: Path, copies: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = clustered(6_000, 64)
    same = np.sort(chance.choice(6_000, copies, replace=False))
    vectors[same] = vectors[same[0]]
    held = listed(tmp_path, as_bytes(vectors), 64)

    for noise in (0.0, 0.1, 0.3):
        question = vectors[same[0]] + noise * chance.standard_normal(64).astype(np.float32)
        rows, scores = held.best(question, LIMIT)
        found = rows[np.isin(rows, same)]
        assert found.tolist() == same[: len(found)].tolist()
        assert len(set(scores[np.isin(rows, same)].tolist())) <= 1
        assert noise or len(found) == min(LIMIT, copies)


def test_of_many_passages_few_of_which_have_a_vector_these_are_found(tmp_path: Path) -> None:
    vectors = as_bytes(clustered(60, 64))
    held = listed(tmp_path, [vectors[row // 100] if row % 100 == 0 else None for row in range(6_000)], 64)

    rows, _ = held.best(np.frombuffer(vectors[7], "<f4"), 100)

    assert rows[0] == 700
    assert sorted(rows.tolist()) == list(range(0, 6_000, 100))


def test_passages_without_a_vector_are_not_found_among_many_that_have_one(tmp_path: Path) -> None:
    vectors = clustered(6_000, 64)
    held = listed(tmp_path, [vector.tobytes() if row % 3 else None for row, vector in enumerate(vectors)], 64)

    for row in (1, 2_999, 5_998):
        found, cosines = held.best(vectors[row], LIMIT)
        assert found[0] == row
        assert (found % 3).all()
        assert cosines == pytest.approx((vectors @ vectors[row])[found], abs=1e-5)


@pytest.mark.parametrize("size", [100, 3_000])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_vector_of_what_is_no_number_is_not_found(tmp_path: Path, size: int, wrong: float) -> None:
    vectors = clustered(size, 64)
    vectors[::2, 5] = wrong
    held = listed(tmp_path, as_bytes(vectors), 64)

    rows, cosines = held.best(vectors[7], LIMIT)

    assert len(rows) == LIMIT
    assert rows[0] == 7
    assert (rows % 2).all()
    assert np.isfinite(cosines).all()


@pytest.mark.parametrize("vectors", [clustered(6_000, 64), np.repeat(np.eye(64, dtype="<f4")[:1], 6_000, axis=0)])
def test_a_question_as_near_to_all_finds_the_first(tmp_path: Path, vectors: NDArray[np.float32]) -> None:
    held = listed(tmp_path, as_bytes(vectors), 64)
    question = np.zeros(64, np.float32) if vectors[0, 1] else np.eye(64, dtype=np.float32)[1]

    rows, scores = held.best(question, LIMIT)

    assert rows.tolist() == list(range(LIMIT))
    assert not scores.any()


def test_more_than_there_are_may_be_wanted(tmp_path: Path) -> None:
    vectors = clustered(3_000, 64)
    held = listed(tmp_path, as_bytes(vectors), 64)

    rows, _ = held.best(vectors[7], 5_000)

    assert rows.tolist() == (-np.vecdot(vectors, vectors[7])).argsort(kind="stable").tolist()


def made(folder: Path, size: int) -> tuple[bytes, bool]:
    """The codes of some vectors, and whether the library that makes and reads them was loaded."""
    folder.mkdir()
    listed(folder, as_bytes(clustered(size, 64)), 64).best(np.zeros(64, np.float32), LIMIT)
    return (folder / "codes.faiss").read_bytes(), "faiss" in sys.modules


def test_the_same_vectors_get_the_same_codes_in_every_process(tmp_path: Path) -> None:
    with get_context("spawn").Pool(1) as pool:
        elsewhere = pool.apply(made, (tmp_path / "elsewhere", 3_000))

    assert elsewhere == made(tmp_path / "here", 3_000)


def test_who_has_few_vectors_does_not_load_what_makes_codes(tmp_path: Path) -> None:
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(made, (tmp_path / "few", dense_list.EXACT)) == (b"", False)


def test_the_cosines_of_rows_are_theirs_in_whatever_order_they_are_asked_for(tmp_path: Path) -> None:
    """All rows of a small base in the order of its lexical list."""
    numbers = np.random.default_rng(1).standard_normal((9, 8)).astype("<f4")
    vectors = as_bytes(numbers / np.linalg.norm(numbers, axis=1, keepdims=True))
    held, question = listed(tmp_path, vectors, 8), np.frombuffer(vectors[2], "<f4")
    rows = np.array([4, 0, 8, 2, 1, 3, 7, 6, 5])

    assert held.cosines(question, rows).tolist() == [held.cosines(question, np.array([row]))[0] for row in rows]
    assert held.cosines(question, rows).argmax() == 3
