"""How much of what was asked a passage holds (R17)."""

import math

import pytest

from rag.coverage import NAME, Word, covered, parts_of
from rag.types import Candidate


def candidate(matched: str, *, near: bool = True) -> Candidate:
    return Candidate(matched, 1.0, 0.5, 1, int(near), frozenset(matched.split()))


def words(*forms: str, weight: int = 1, own: bool = True) -> list[Word]:
    return [Word(tuple(each.split("/")), weight, own) for each in forms]


def asked(question: list[Word], *candidates: Candidate) -> list[float]:
    found = covered(question, candidates).asked
    return [found[one.matched] for one in candidates]


def test_a_word_is_found_by_any_of_its_forms() -> None:
    question, found = words("running/run", "shoes/shoe"), [candidate("run"), candidate("running run shoe"), candidate("")]
    one, both, none = asked(question, *found)

    assert covered(question, found).words == [0.5, 1.0, 0.0]
    assert one < both
    assert none == 0.0


def test_a_word_that_few_passages_of_the_subject_hold_tells_more_than_one_that_most_hold() -> None:
    common, rare = asked(words("server", "vault"), *[candidate("server")] * 8, candidate("vault"))[7:]

    assert rare > common


def test_only_passages_that_are_near_in_sense_tell_how_common_a_word_is_about_the_subject() -> None:
    """The lexical list holds what has the rare words: there they look as common as any."""
    elsewhere = [candidate("vault", near=False)] * 8

    assert asked(words("server", "vault"), *[candidate("server")] * 8, candidate("vault"), *elsewhere)[:9] == pytest.approx(
        asked(words("server", "vault"), *[candidate("server")] * 8, candidate("vault"))
    )


def test_without_an_embedder_all_candidates_tell() -> None:
    common, rare = asked(words("server", "vault"), *[candidate("server", near=False)] * 8, candidate("vault", near=False))[7:]

    assert rare > common


def test_a_passage_without_the_name_that_was_asked_about_holds_less_than_one_without_another_word() -> None:
    question = [Word(("teams",), 1, size=NAME), Word(("work",), 1)]
    with_name, without = asked(question, candidate("teams"), candidate("work"))

    assert with_name > without


def test_of_more_words_that_are_all_found_more_was_asked_and_it_is_never_all() -> None:
    one = asked(words("vault"), candidate("vault"), candidate(""))[0]
    three = asked(words("vault", "backup", "night"), candidate("vault backup night"), candidate(""))[0]

    assert one < three < 1.0


def test_the_question_s_own_words_count_as_much_as_all_words_of_the_conversation() -> None:
    own, said = words("boots", "shoes", weight=3), words("park", "lake", "hill", own=False)
    mine, theirs = asked([*own, *said], candidate("boots shoes"), candidate("park lake hill"))

    assert mine > 3 * theirs


def test_a_passage_without_the_one_word_that_a_follow_up_brings_is_not_what_it_asks_for() -> None:
    """Else the last answer would be given again, whatever is asked next."""
    said = words("park", "lake", "hill", own=False)
    without, with_it = asked([*words("boots", weight=3), *said], candidate("park lake hill"), candidate("boots park lake hill"))

    assert without < 0.3 * with_it


def test_where_a_follow_up_brings_no_word_of_its_own_those_of_the_conversation_count() -> None:
    said = words("park", "lake", "hill", own=False)

    assert asked([*words("why", weight=3, own=False), *said], candidate("park lake hill"))[0] > 0.3


def test_pairs_are_taken_apart_into_characters_that_either_of_them_finds() -> None:
    assert [part.forms for part in parts_of(words("银行", "行卡", "挂失"))] == [
        ("银行",), ("银行", "行卡"), ("行卡",), ("挂失",), ("挂失",)
    ]  # fmt: skip


def test_a_pair_that_reaches_from_one_word_into_the_next_is_not_missed() -> None:
    """银行卡挂失 is two words: a passage that has both apart holds all of it, though no 卡挂."""
    question = words("银行", "行卡", "卡挂", "挂失")
    apart, together = asked(question, candidate("银行 行卡 挂失"), candidate("银行 行卡 卡挂 挂失"))

    assert apart == together


def test_a_character_is_half_a_word_beside_words() -> None:
    name, phrase = asked(words("footnote", "挂失"), candidate("footnote"), candidate("挂失"))

    assert name == pytest.approx(phrase)


def test_characters_by_themselves_count_only_where_there_is_nothing_else() -> None:
    assert [part.forms for part in parts_of(words("挂失", "卡"))] == [("挂失",), ("挂失",)]
    assert [part.forms for part in parts_of(words("卡"))] == [("卡",)]


def test_clusters_of_other_scripts_without_spaces_are_taken_apart_as_well() -> None:
    assert len(parts_of(words("กิน", "นข้", "ข้า"))) == 4


def test_no_words_find_nothing() -> None:
    assert covered([], [candidate(""), candidate("stray")]).words == [0.0, 0.0]
    assert asked([], candidate(""), candidate("stray")) == [0.0, 0.0]
    assert not any(math.isnan(each) for each in asked(words("vault"), candidate("")))
