"""Calls that are made in one turn of the event loop, done in one visit to a thread: the way there costs more than most calls."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Sequence

K = TypeVar("K")
T = TypeVar("T")


class Gathered(Generic[K, T]):
    """`visit` takes the calls to one base, in the order they were made, and promises one answer for each."""

    def __init__(self, visit: Callable[[str, list[K]], Future[list[T]]]) -> None:
        self._visit = visit
        self._waiting: dict[str, list[tuple[K, Future[T]]]] = {}

    async def ask(self, base: str, call: K) -> T:
        loop = asyncio.get_running_loop()
        answer: Future[T] = loop.create_future()
        if base not in self._waiting:
            self._waiting[base] = []
            loop.call_soon(self._send, base)
        self._waiting[base].append((call, answer))
        return await answer

    def _send(self, base: str) -> None:
        calls = self._waiting.pop(base)
        answers = [answer for _, answer in calls]
        try:
            visited = self._visit(base, [call for call, _ in calls])
        except RuntimeError as error:  # the threads were shut down
            _fail(answers, error)
        else:
            visited.add_done_callback(partial(_deliver, answers))


def _deliver(answers: Sequence[Future[T]], visited: Future[list[T]]) -> None:
    if visited.cancelled():
        for answer in answers:
            answer.cancel()
    elif error := visited.exception():
        _fail(answers, error)
    else:
        for answer, found in zip(answers, visited.result(), strict=True):
            if not answer.done():
                answer.set_result(found)


def _fail(answers: Sequence[Future[T]], error: BaseException) -> None:
    for answer in answers:
        if not answer.done():
            answer.set_exception(error)
