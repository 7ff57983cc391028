"""A model that keeps failing is left alone; one call tries it again, and lets the others in."""

from __future__ import annotations

import asyncio
import logging

import pytest

from rag.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from rag.models.breaker import Breaker, BreakerSettings

NAME = "Cohere's command-a"
SLOW = ModelTimeout("It did not answer in time.")
GONE = ModelUnavailable("It cannot be reached.")


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(NAME, BreakerSettings(failures=2, rest=30.0), clock)


def ask(breaker: Breaker, outcome: BaseException | None = None) -> str:
    """What becomes of one call: `answered`, or the words of its error."""
    try:
        with breaker.call():
            if outcome is not None:
                raise outcome
    except ModelError as error:
        return str(error)
    return "answered"


def is_let_in(breaker: Breaker) -> bool:
    return ask(breaker) == "answered"


async def test_after_so_many_failures_in_a_row_it_is_not_asked_and_the_error_says_why(breaker: Breaker, clock: Clock) -> None:
    assert [ask(breaker, SLOW), ask(breaker, GONE)] == [str(SLOW), str(GONE)]
    clock.time += 4.5

    with pytest.raises(ModelUnavailable) as raised, breaker.call():
        pytest.fail("it was asked")

    assert str(raised.value) == f"{NAME} is left alone for 26 s more, since it kept failing: It cannot be reached."


def waited_in_vain(breaker: Breaker, clock: Clock, seconds: float, *, heard: bool = False) -> None:
    call = breaker.call()
    call.__enter__().heard = heard
    clock.time += seconds
    assert not call.__exit__(ModelTimeout, SLOW, None)


@pytest.mark.parametrize(("seconds", "many"), [(1.5, 3), (5.0, 2), (30.0, 1)])
async def test_the_longer_it_was_waited_for_in_vain_the_sooner_it_is_left_alone(clock: Clock, seconds: float, many: int) -> None:
    breaker = Breaker(NAME, BreakerSettings(failures=3), clock)
    for _ in range(many):  # each of them was let in
        waited_in_vain(breaker, clock, seconds)

    assert "is left alone" in ask(breaker)


async def test_one_long_answer_that_came_too_slowly_is_no_hanging_model(clock: Clock) -> None:
    breaker = Breaker(NAME, BreakerSettings(failures=3), clock)
    for _ in range(2):
        waited_in_vain(breaker, clock, 60.0, heard=True)

    assert is_let_in(breaker)


async def test_a_success_in_between_begins_the_count_anew(breaker: Breaker) -> None:
    for _ in range(3):
        assert ask(breaker, SLOW) == str(SLOW)
        assert ask(breaker) == "answered"


async def test_failures_that_lie_far_apart_do_not_count_together(breaker: Breaker, clock: Clock) -> None:
    ask(breaker, SLOW)
    clock.time += 301
    ask(breaker, SLOW)

    assert is_let_in(breaker)


async def test_one_that_refuses_a_request_has_answered(breaker: Breaker) -> None:
    ask(breaker, SLOW)

    assert [ask(breaker, ModelRefused("No.")) for _ in range(5)] == ["No."] * 5
    assert ask(breaker, SLOW) == str(SLOW)
    assert is_let_in(breaker)


async def test_one_call_tries_it_again_and_success_lets_all_in(breaker: Breaker, clock: Clock) -> None:
    ask(breaker, SLOW)
    ask(breaker, SLOW)
    clock.time += 30

    with breaker.call():
        assert "is left alone until another call has tried it" in ask(breaker)

    assert [ask(breaker) for _ in range(3)] == ["answered"] * 3


async def test_a_trial_that_fails_leaves_it_alone_once_more(breaker: Breaker, clock: Clock) -> None:
    ask(breaker, SLOW)
    ask(breaker, SLOW)
    for _ in range(3):
        clock.time += 30
        assert ask(breaker, GONE) == str(GONE)
        assert "is left alone for 30 s more" in ask(breaker)


async def test_a_trial_that_nobody_waits_for_any_more_makes_room_for_another(breaker: Breaker, clock: Clock) -> None:
    ask(breaker, SLOW)
    ask(breaker, SLOW)
    clock.time += 30
    with pytest.raises(asyncio.CancelledError):
        ask(breaker, asyncio.CancelledError())

    assert ask(breaker, GONE) == str(GONE)
    assert "is left alone for 30 s more" in ask(breaker)


async def test_calls_that_were_under_way_do_not_prolong_it(breaker: Breaker, clock: Clock) -> None:
    under_way = [breaker.call() for _ in range(50)]
    for call in under_way:
        call.__enter__()
    for call in under_way:
        clock.time += 1
        assert not call.__exit__(type(SLOW), SLOW, None)

    assert is_let_in(breaker)  # the second one failed 48 s ago


async def test_a_success_of_a_call_that_was_under_way_lets_all_in(breaker: Breaker) -> None:
    with breaker.call():
        ask(breaker, SLOW)
        ask(breaker, SLOW)
        assert "is left alone" in ask(breaker)

    assert is_let_in(breaker)


async def test_whoever_goes_away_tells_nothing_of_the_model(breaker: Breaker) -> None:
    for _ in range(5):
        with pytest.raises(asyncio.CancelledError):
            ask(breaker, asyncio.CancelledError())

    assert is_let_in(breaker)


async def test_one_that_asks_to_wait_longer_than_anybody_would_is_left_alone_as_long(breaker: Breaker, clock: Clock) -> None:
    ask(breaker, ModelUnavailable("Too many requests.", retry_after=60.0))
    clock.time += 59
    assert "is left alone for 1 s more" in ask(breaker)
    clock.time += 1
    assert is_let_in(breaker)

    ask(breaker, ModelUnavailable("Too many requests.", retry_after=3600.0))
    clock.time += 120
    assert is_let_in(breaker)


async def test_one_that_asks_to_wait_a_moment_is_asked_again(breaker: Breaker) -> None:
    ask(breaker, ModelUnavailable("Too many requests.", retry_after=2.0))

    assert is_let_in(breaker)


async def test_with_no_failures_set_it_is_never_left_alone(clock: Clock) -> None:
    breaker = Breaker(NAME, BreakerSettings(failures=0), clock)

    assert [ask(breaker, ModelUnavailable("Busy.", retry_after=99.0)) for _ in range(9)] == ["Busy."] * 9


async def test_the_log_tells_when_it_is_left_alone_and_when_it_answers_again(
    breaker: Breaker, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        ask(breaker, SLOW)
        ask(breaker, ModelTimeout("Somebody's words"))
        clock.time += 30
        ask(breaker)
        ask(breaker)

    assert caplog.messages == [f"{NAME} is left alone for 30 s: ModelTimeout", f"{NAME} answers again"]
