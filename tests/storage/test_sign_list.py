"""The signs of vectors by themselves: which few of many vectors they find to be worth an exact look (R11)."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag.types import Vector
from storage import dense_list, sign_list
from storage.dense_list import DenseBuilder, DenseList
from storage.sign_list import WORD, signs, slices, summed

LIMIT = 50


def listed(folder: Path, vectors: Sequence[Vector | None], dimension: int) -> DenseList:
    with closing(DenseBuilder(folder, dimension)) as builder:
        for start in range(0, len(vectors), 1_000):
            builder.add(vectors[start : start + 1_000])
        builder.finish()
    return DenseList(folder, len(vectors), dimension)


def bits(packed: NDArray[np.uint64]) -> NDArray[np.uint8]:
    return np.unpackbits(packed.view(np.uint8), axis=-1, bitorder="little")


@given(st.integers(2, 9), st.integers(1, 5), st.integers(0, 2**32))
def test_the_sum_of_rows_of_bits_is_how_many_of_them_are_set(power: int, words: int, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 2**64, (2**power - 1, words), np.uint64)
    wanted = bits(rows).sum(axis=0, dtype=np.int64)

    found = summed(rows.copy())

    assert len(found) == power
    assert np.array_equal(sum(bits(each).astype(np.int64) << place for place, each in enumerate(found)), wanted)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 4_095, 4_096, 4_097, 9_000])
@pytest.mark.parametrize("dimension", [1, 64, 70])
def test_slices_are_the_signs_by_dimension(size: int, dimension: int) -> None:
    vectors = np.random.default_rng(size).standard_normal((size, dimension)).astype("<f4")

    found = bits(slices(signs(vectors)))

    assert np.array_equal(found[:dimension, :size], (vectors > 0).T)
    assert not found[dimension:].any()
    assert not found[:, size:].any()
    assert len(found) % WORD == 0


def clustered(size: int, dimension: int) -> NDArray[np.float32]:
    """Vectors of unit length about some centres, each with a few large numbers, as those of embedders are."""
    chance = np.random.default_rng(3)
    centres = chance.standard_t(4, (size // 50, dimension))
    vectors = centres[chance.integers(0, len(centres), size)] + chance.standard_normal((size, dimension))
    found: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f4")
    return found


@pytest.mark.parametrize("few", [0, 10_000])
def test_nearly_all_of_the_exact_best_fifty_are_found_by_signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(sign_list, "FEW", few)
    vectors = clustered(9_000, 512)
    held = listed(tmp_path, [vector.tobytes() for vector in vectors], 512)
    chance = np.random.default_rng(4)
    found = 0

    for row in chance.integers(0, len(vectors), 60):
        question = vectors[row] + 0.03 * chance.standard_normal(512).astype(np.float32)
        cosines = vectors @ question
        rows, scores, others = held.best(question, LIMIT, np.array([0, 8_999]))
        assert scores == pytest.approx(cosines[rows], abs=1e-5)
        assert others == pytest.approx(cosines[[0, 8_999]], abs=1e-5)
        assert sorted(scores, reverse=True) == scores.tolist()
        found += len(set(rows.tolist()) & set((-cosines).argsort()[:LIMIT].tolist()))
        assert len(held._near(question, LIMIT)) <= 2 * dense_list.RESCORED

    assert found >= 0.96 * 60 * LIMIT


@pytest.mark.parametrize("few", [0, 10_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_many_copies_of_one_vector_are_not_all_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int, sign: int
) -> None:
    monkeypatch.setattr(sign_list, "FEW", few)
    vector = sign * clustered(50, 64)[0]
    held = listed(tmp_path, [vector.tobytes()] * 6_000, 64)

    rows = held._near(vector, LIMIT).tolist()

    assert rows == list(range(len(rows)))
    assert LIMIT <= len(rows) <= dense_list.RESCORED


@pytest.mark.parametrize("few", [0, 10_000])
def test_of_many_passages_few_of_which_have_a_vector_these_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(sign_list, "FEW", few)
    vectors = [each.tobytes() for each in clustered(60, 64)]
    held = listed(tmp_path, [vectors[row // 100] if row % 100 == 0 else None for row in range(6_000)], 64)

    rows, *_ = held.best(np.frombuffer(vectors[7], "<f4"), 100, np.zeros(0, np.int64))

    assert rows[0] == 700
    assert sorted(rows.tolist()) == list(range(0, 6_000, 100))


@pytest.mark.parametrize("few", [0, 10_000])
def test_a_question_of_zeros_finds_passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(sign_list, "FEW", few)
    held = listed(tmp_path, [each.tobytes() for each in clustered(6_000, 64)], 64)

    rows, scores, _ = held.best(np.zeros(64, np.float32), LIMIT, np.zeros(0, np.int64))

    assert len(rows) == LIMIT
    assert not scores.any()


def test_dimensions_whose_sign_is_the_same_for_all_are_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_list, "FEW", 0)
    vectors = clustered(9_000, 512)
    vectors[:, :256] = np.abs(vectors[:, :256])
    vectors[:, 256:] /= 5
    held = listed(tmp_path, [vector.tobytes() for vector in vectors], 512)
    found = 0

    for question in vectors[::300]:
        cosines = vectors @ question
        best = set((-cosines).argsort()[:LIMIT].tolist())
        found += len(best & set(held._signs.near(question, 500).tolist()))

    assert found >= 0.9 * 30 * LIMIT
