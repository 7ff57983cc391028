"""The judge of the kills: a desk that does wrong is found out, whatever it does wrong; one that does right is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bots.wording import words
from rag.errors import ModelTimeout
from tests.harness import killing
from tests.harness.broken import WAYS
from tests.harness.judging import Call, Evidence, Seen, Verdict, judge
from tests.harness.killing import Plan

if TYPE_CHECKING:
    from pathlib import Path

ANSWERS = {"q0": "Answer to q0: yes.", "q1": "Answer to q1:\n\nyes, and more.", "q2": "Answer to q2: no."}
GOOD = Evidence(
    asked=[["q0", "q1"], ["q2"]],
    seen=[
        [Seen("q0", "Answer to q0: yes."), Seen("q1", "Answer to q1:"), Seen("q1", "yes, and more.")],
        [Seen("q2", words("").too_old)],
    ],
    answers=ANSWERS,
    calls=[
        Call("q0", 1, 1.0, stored=False, end="answered", ended=2.0),
        Call("q1", 1, 3.0, stored=False),
        Call("q1", 2, 5.0, stored=False, end="stopped", ended=6.0),
        Call("q1", 3, 5.9, stored=False, end="answered", ended=9.0),
    ],
    killed={1},
)


def with_first_thread(*seen: Seen) -> Verdict:
    return judge(replace(GOOD, seen=[list(seen), GOOD.seen[1]]))


def with_calls(*calls: Call) -> Verdict:
    return judge(replace(GOOD, calls=calls))


Q0, Q1, Q1_TOO = GOOD.seen[0]


def test_one_answer_or_one_apology_for_each_is_good() -> None:
    verdict = judge(GOOD)

    assert verdict.is_good
    assert (verdict.questions, verdict.answers, verdict.apologies) == (3, 2, 1)
    assert (verdict.paid, verdict.paid_after_kills, verdict.paid_after_lost_leases) == (4, 1, 1)


def test_a_question_without_an_answer_is_missing_though_another_got_an_apology() -> None:
    verdict = with_first_thread(Q1, Q1_TOO)

    assert verdict.missing == ["q0"]
    assert not verdict.is_good


def test_an_answer_that_stands_there_twice_is_not_good() -> None:
    assert with_first_thread(Q0, Q0, Q1, Q1_TOO).doubled == ["q0"]


def test_an_apology_beside_the_answer_is_not_good() -> None:
    assert with_first_thread(Q0, Seen("q0", words("").failed), Q1, Q1_TOO).doubled == ["q0"]


def test_two_apologies_are_one_too_many() -> None:
    sorry = Seen("q0", words("").failed)

    assert with_first_thread(sorry, sorry, Q1, Q1_TOO).doubled == ["q0"]


def test_where_the_model_failed_an_apology_is_good_and_what_it_began_to_say_is_not() -> None:
    answers = {**ANSWERS, "q0": ""}
    sorry, begun = Seen("q0", ModelTimeout.user_message), Seen("q0", "An answer that breaks off")

    for seen, good in (([sorry], True), ([begun], False), ([begun, sorry], False), ([sorry, sorry], False), ([], False)):
        verdict = judge(replace(GOOD, answers=answers, seen=[[*seen, Q1, Q1_TOO], GOOD.seen[1]]))
        assert verdict.is_good is good, str(verdict)


def test_half_an_answer_is_none() -> None:
    verdict = with_first_thread(Q0, Q1)

    assert [each[:3] for each in verdict.unfinished] == ["q1:"]
    assert not verdict.is_good


def test_a_draft_that_was_left_beside_the_answer_is_not_good() -> None:
    assert not with_first_thread(Seen("q0", "Answer to"), Q0, Q1, Q1_TOO).is_good


def test_parts_in_the_wrong_order_are_no_answer() -> None:
    assert not with_first_thread(Q0, Q1_TOO, Q1).is_good


def test_answers_in_another_order_than_the_questions_are_not_good() -> None:
    verdict = with_first_thread(Q1, Q1_TOO, Q0)

    assert verdict.disordered == ["q1 q0"]
    assert not verdict.is_good


def test_an_answer_between_the_parts_of_another_is_not_in_order() -> None:
    assert with_first_thread(Q1, Q0, Q1_TOO).disordered == ["q1 q0 q1"]


def test_a_message_of_ours_for_nobody_and_one_in_a_wrong_thread_are_not_good() -> None:
    for stray in (replace(Q0, name=""), Seen("q2", ANSWERS["q2"])):
        verdict = with_first_thread(Q0, Q1, Q1_TOO, stray)
        assert len(verdict.strays) == 1
        assert not verdict.is_good


def test_an_answer_to_another_question_is_none_to_this() -> None:
    assert not with_first_thread(Seen("q0", ANSWERS["q2"]), Q1, Q1_TOO).is_good


def test_a_stream_that_is_left_open_is_not_good() -> None:
    assert not with_first_thread(Q0, Q1, Q1_TOO, Seen("", "Answer", open=True)).is_good


def test_an_answer_that_was_stored_may_not_be_paid_for() -> None:
    assert not with_calls(*GOOD.calls, Call("q0", 2, 9.0, stored=True)).is_good


def test_paying_again_needs_a_kill_of_that_worker_or_a_lost_lease() -> None:
    alive = Call("q2", 7, 1.0, stored=False)

    assert with_calls(alive, Call("q2", 8, 2.0, stored=False)).paid_for_nothing == ["q2"]
    assert not with_calls(replace(alive, worker=1, end="answered", ended=1.5), Call("q2", 8, 2.0, stored=False)).is_good
    assert with_calls(replace(alive, worker=1), Call("q2", 8, 2.0, stored=False)).is_good
    assert with_calls(replace(alive, end="stopped", ended=1.5), Call("q2", 8, 2.0, stored=False)).is_good


SMALL = Plan("", questions=4, threads=2, kills=0, pause=0.0, patience=5.0, trouble=False, inside=True)


FOUND_OUT = {
    "says it twice": "doubled",
    "apologises too": "doubled",
    "says nothing": "missing",
    "says half": "unfinished",
    "says it later": "disordered",
    "answers another": "unfinished",
    "pays again": "paid_though_stored",
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_desk_that_does_wrong_is_called_bad(tmp_path: Path, way: str) -> None:
    outcome = await killing.killing(replace(SMALL, database=f"sqlite:///{tmp_path}/footnote.db", broken=way), tmp_path)

    assert not outcome.is_good
    assert getattr(outcome.verdict, FOUND_OUT[way]), str(outcome)


async def test_the_desk_as_it_is_is_called_good(tmp_path: Path) -> None:
    outcome = await killing.killing(replace(SMALL, database=f"sqlite:///{tmp_path}/footnote.db"), tmp_path)

    assert outcome.is_good, str(outcome)
