"""Lexical scores worked out from those of a list, beside BM25 itself."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from storage.lexical_list import K1, B
from storage.weaviate_index.weighing import Counted, Weighing

LISTED = 50


class Rows:
    """Made-up rows, frequent terms and rare ones, scored exactly as a server does that keeps them in one shard."""

    def __init__(self, many: int, *, lengths: tuple[int, int] = (20, 160), seed: int = 1) -> None:
        self.chance = random.Random(seed)
        self.weights = [1 / (number + 3) for number in range(2000)]
        self.texts = [Counter(self.words(self.chance.randint(*lengths))) for _ in range(many)]
        self.lengths = [text.total() for text in self.texts]
        self.mean = sum(self.lengths) / many

    def words(self, many: int) -> list[int]:
        return self.chance.choices(range(2000), self.weights, k=many)

    def terms(self, many: int = 8) -> list[int]:
        return list(dict.fromkeys(self.words(many)))

    def scores(self, terms: list[int]) -> dict[int, float]:
        """By row; float32, as they come over the wire."""
        found: dict[int, float] = dict.fromkeys(range(len(self.texts)), 0.0)
        for term in terms:
            rows = [row for row, text in enumerate(self.texts) if term in text]
            idf = math.log(1 + (len(self.texts) - len(rows) + 0.5) / (len(rows) + 0.5))
            for row in rows:
                count = self.texts[row][term]
                found[row] += idf * count / (count + K1 * (1 - B + B * self.lengths[row] / self.mean))
        return {row: float(np.float32(score)) for row, score in found.items() if score}

    def counted(self, row: int, terms: list[int]) -> Counted:
        return Counted(tuple(self.texts[row][term] for term in terms), self.lengths[row])


def split(rows: Rows, terms: list[int], *, listed: int = LISTED) -> tuple[list[int], list[int], dict[int, float]]:
    """The rows of the list, others that hold a term, and all scores."""
    scores = rows.scores(terms)
    ranked = sorted(scores, key=lambda row: -scores[row])
    return ranked[:listed], rows.chance.sample(ranked[listed:], min(LISTED, len(ranked) - listed)), scores


def weighed(weighing: Weighing, rows: Rows, terms: list[int], listed: list[int], others: list[int]) -> list[float | None]:
    scores = rows.scores(terms)
    return weighing.scores(
        [rows.counted(row, terms) for row in listed],
        [scores[row] for row in listed],
        [rows.counted(row, terms) for row in others],
    )


def test_rows_that_the_list_does_not_hold_get_the_scores_that_the_server_would_give() -> None:
    rows, weighing, worked_out, all_of_them = Rows(3000), Weighing(), 0, 0
    for _ in range(40):
        terms = rows.terms()
        listed, others, scores = split(rows, terms)
        found = weighed(weighing, rows, terms, listed, others)
        certain = {row: score for row, score in zip(others, found, strict=True) if score is not None}
        worked_out, all_of_them = worked_out + len(certain), all_of_them + len(others)
        assert certain == pytest.approx({row: scores[row] for row in certain}, rel=5e-5)

    assert worked_out > 0.95 * all_of_them


def test_a_row_whose_term_is_in_no_row_of_the_list_is_not_guessed() -> None:
    rows = Rows(500)
    listed, others, _ = split(rows, terms := rows.terms(5))
    known = [rows.counted(row, terms) for row in listed]
    unheard = [Counted((*rows.counted(row, terms).counts, 1), rows.lengths[row]) for row in others[:3]]
    scores = rows.scores(terms)

    found = Weighing().scores(
        [Counted((*one.counts, 0), one.length) for one in known],
        [scores[row] for row in listed],
        [*unheard, Counted((*rows.counted(others[3], terms).counts, 0), rows.lengths[others[3]])],
    )

    assert found[:3] == [None, None, None]
    assert found[3] == pytest.approx(scores[others[3]], rel=1e-4)


def test_nothing_is_guessed_from_a_list_that_is_too_short() -> None:
    rows = Rows(500)
    terms = rows.terms(8)
    listed, others, _ = split(rows, terms, listed=3)

    assert set(weighed(Weighing(), rows, terms, listed, others)) == {None}
    assert weighed(Weighing(), rows, terms, [], others) == [None] * len(others)
    assert weighed(Weighing(), rows, terms, listed, []) == []


def test_rows_of_one_length_do_not_tell_the_mean_length_and_what_was_told_before_is_kept() -> None:
    rows, weighing = Rows(800), Weighing()
    terms = rows.terms(6)
    listed, others, scores = split(rows, terms, listed=200)
    alike = [row for row in listed if rows.lengths[row] == rows.lengths[listed[0]]] * 8

    assert set(weighed(Weighing(), rows, terms, alike, others)) == {None}
    weighed(weighing, rows, terms, listed, others)
    for row, score in zip(others, weighed(weighing, rows, terms, alike, others), strict=True):
        assert score is None or score == pytest.approx(scores[row], rel=1e-4)


def test_scores_that_two_shards_made_are_not_explained_and_soon_not_looked_at_any_more() -> None:
    """Each shard counts its own rows: no weight of a term holds for both."""
    one, other, weighing = Rows(400, lengths=(10, 40), seed=2), Rows(900, lengths=(80, 200), seed=3), Weighing()
    for _ in range(5):
        terms = one.terms(6)
        found = []
        for rows in (one, other):
            scores = rows.scores(terms)
            found += [(rows.counted(row, terms), scores[row]) for row in list(scores)[:60]]
        known, wanted = found[:25] + found[60:85], found[30:40]
        assert weighing.scores([row for row, _ in known], [score for _, score in known], [row for row, _ in wanted]) == [None] * 10

    listed, others, _ = split(one, terms := one.terms(6))
    assert set(weighed(weighing, one, terms, listed, others)) == {None}  # it has given up


def test_when_rows_were_added_the_mean_length_is_found_anew() -> None:
    before, weighing = Rows(1000, lengths=(20, 60)), Weighing()
    after = Rows(1000, lengths=(60, 200), seed=4)
    for rows in (before, after):
        terms = rows.terms()
        listed, others, scores = split(rows, terms)
        found = weighed(weighing, rows, terms, listed, others)
        certain = {row: score for row, score in zip(others, found, strict=True) if score is not None}
        assert certain
        assert certain == pytest.approx({row: scores[row] for row in certain}, rel=1e-4)
