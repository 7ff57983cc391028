import asyncio
from asyncio import Future

import pytest

from storage.gathered import Gathered


class Visits:
    """Answers each number with its square, a turn of the loop later; keeps a record of what was asked together."""

    def __init__(self, error: Exception | None = None) -> None:
        self.made: list[tuple[str, list[int]]] = []
        self._error = error

    def __call__(self, base: str, calls: list[int]) -> Future[list[int]]:
        self.made.append((base, calls))
        loop = asyncio.get_running_loop()
        visited: Future[list[int]] = loop.create_future()
        if self._error:
            loop.call_soon(visited.set_exception, self._error)
        else:
            loop.call_soon(visited.set_result, [call * call for call in calls])
        return visited


async def test_calls_made_together_are_one_visit_to_each_base() -> None:
    visits = Visits()
    gathered = Gathered(visits)
    assert await asyncio.gather(*(gathered.ask(base, n) for n in (2, 3) for base in "ab")) == [4, 4, 9, 9]
    assert visits.made == [("a", [2, 3]), ("b", [2, 3])]
    assert await gathered.ask("a", 5) == 25
    assert visits.made[2:] == [("a", [5])]


async def test_who_gave_up_waiting_does_not_disturb_the_others() -> None:
    gathered = Gathered(Visits())
    gone, there = (asyncio.create_task(gathered.ask("a", n)) for n in (2, 3))
    await asyncio.sleep(0)
    gone.cancel()
    assert await there == 9


async def test_an_error_reaches_everybody_who_asked() -> None:
    gathered = Gathered(Visits(OSError("gone")))
    assert [str(found) for found in await asyncio.gather(*(gathered.ask("a", n) for n in (2, 3)), return_exceptions=True)] == [
        "gone"
    ] * 2


async def test_a_visit_that_cannot_begin_is_an_error_and_no_endless_wait() -> None:
    def closed(base: str, calls: list[int]) -> Future[list[int]]:
        raise RuntimeError(f"cannot visit {base} for {calls}")

    with pytest.raises(RuntimeError, match="cannot visit a"):
        await Gathered(closed).ask("a", 1)
