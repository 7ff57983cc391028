"""While the model fails, questions are answered from the documents without it, and said to be so."""

from __future__ import annotations

import pytest

from rag.abstaining import wording
from rag.errors import ModelRefused, ModelTimeout, ModelUnavailable
from tests.rag.talking import LEAVE, LEAVE_ANSWER, THREAD, Desk

BY_RULE = "Employees get 25 days of annual leave a year [1]."
REMARK = wording("en").by_rule
GONE = ModelUnavailable("The model is gone.")


@pytest.mark.parametrize("error", [GONE, ModelRefused("The key is refused."), ModelTimeout("It was too slow.")])
async def test_a_model_that_fails_is_done_without_and_the_answer_says_so(desk: Desk, error: Exception) -> None:
    answer = await desk.talk(error, degraded=True).reply(THREAD, LEAVE)

    assert answer.text.startswith(BY_RULE)
    assert (answer.remark, [source.document for source in answer.sources]) == (REMARK, ["leave.md"])


async def test_the_trace_tells_why(desk: Desk) -> None:
    await desk.talk(GONE, degraded=True).reply(THREAD, LEAVE)

    run = await desk.memory.last_run(THREAD)
    assert run is not None
    assert (run.error, run.notes["degraded"]) == ("", "ModelUnavailable: The model is gone.")
    assert [(step.name, bool(step.error)) for step in run.steps if step.name == "compose"] == [
        ("compose", True),
        ("compose", False),
    ]


async def test_the_remark_is_no_part_of_what_the_thread_remembers(desk: Desk) -> None:
    answer = await desk.talk(GONE, degraded=True).reply(THREAD, LEAVE)

    assert await desk.said() == [("user", "", LEAVE), ("assistant", "", answer.text)]
    assert REMARK not in answer.text


async def test_what_was_shown_of_an_answer_that_broke_off_is_replaced_by_a_whole_one(desk: Desk) -> None:
    drafts: list[str] = []

    answer = await desk.talk(["Employees never ", GONE], ["Employees ", GONE], degraded=True).reply(THREAD, LEAVE, drafts.append)

    assert drafts == ["Employees never"]
    assert "never" not in answer.text
    assert answer.text.startswith(BY_RULE)


async def test_an_answer_without_the_model_comes_before_the_question_is_too_late(desk: Desk) -> None:
    answer = await desk.talk(["Slow", 60.0, " answer"], degraded=True, seconds=2.0).reply(THREAD, LEAVE)

    assert answer.remark == REMARK


async def test_an_abstention_without_the_model_says_so_too(desk: Desk) -> None:
    answer = await desk.talk(GONE, degraded=True).reply(THREAD, "Wer war Napoleon?")

    assert (answer.abstained, answer.remark) == (True, wording("de").by_rule)


async def test_a_follow_up_is_expanded_by_rule(desk: Desk) -> None:
    await desk.talk(LEAVE_ANSWER).reply(THREAD, LEAVE)

    answer = await desk.talk(GONE, GONE, degraded=True).reply(THREAD, "and when are they requested?")

    assert "annual" in answer.question
    assert answer.remark == REMARK


async def test_without_it_the_failure_goes_to_who_asked(desk: Desk) -> None:
    with pytest.raises(ModelUnavailable) as raised:
        await desk.talk(GONE).reply(THREAD, LEAVE)

    assert raised.value is GONE
