"""Desks that do wrong on purpose: the judge must find each of them out."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bots.delivery import Delivery
from bots.desk import Desk
from bots.surfaces import Notice, Part
from bots.wording import words
from rag.errors import StoreError

if TYPE_CHECKING:
    from bots.answering import Replies
    from bots.surfaces import Surface
    from rag.types import Question

_LATE: set[asyncio.Task[Any]] = set()


class SaysTwice(Desk):
    async def _answer(self, surface: Surface[Any], question: Question, delivery: Delivery) -> None:
        await super()._answer(surface, question, delivery)
        answer = await self._inbox.answer(question.id)
        assert answer is not None
        for message in next(iter(surface.forms(question, answer))):
            await surface.post(question, message, Part(1, 1))


class ApologisesToo(Desk):
    async def _answer(self, surface: Surface[Any], question: Question, delivery: Delivery) -> None:
        await super()._answer(surface, question, delivery)
        for message in next(iter(surface.forms(question, Notice(words("").failed)))):
            await surface.post(question, message, Part(1, 1))


class SaysNothing(Desk):
    """To the second question of all."""

    async def _answer(self, surface: Surface[Any], question: Question, delivery: Delivery) -> None:
        if question.text == "q1?":
            await self._holding.finish(question.id, "delivered")
        else:
            await super()._answer(surface, question, delivery)


class SaysHalf(Desk):
    """Takes a part of the answer for all of it."""

    async def _answer(self, surface: Surface[Any], question: Question, delivery: Delivery) -> None:
        delivery = Delivery(surface, self._inbox, question, again=False)
        outcome = await self._answering.outcome(surface, question, Delivery(surface, self._inbox, question, again=True))
        await delivery.say(replace(outcome.said, text=outcome.said.text[: len(outcome.said.text) // 2]))
        await self._holding.finish(question.id, outcome.state)


class SaysLater(Desk):
    """What answers the first question of a thread comes after what answers the next."""

    async def _answer(self, surface: Surface[Any], question: Question, delivery: Delivery) -> None:
        delivery = Delivery(surface, self._inbox, question, again=False)
        outcome = await self._answering.outcome(surface, question, Delivery(surface, self._inbox, question, again=True))
        await self._holding.finish(question.id, outcome.state)

        async def say() -> None:
            await asyncio.sleep(1.5 if question.text == "q0?" else 0.0)
            await delivery.say(outcome.said)

        _LATE.add(asyncio.create_task(say()))


class AnswersAnother(Desk):
    """Says under one question what answers another."""

    async def _answer(self, surface: Surface[Any], question: Question, delivery: Delivery) -> None:
        if question.text == "q1?":
            question = replace(question, text="q3?")
        await super()._answer(surface, question, delivery)


class PaidTwice:
    """Asks the model once more for an answer that is stored."""

    def __init__(self, core: Replies) -> None:
        self._core = core

    async def reply(self, *arguments: Any, **more: Any) -> Any:
        answer = await self._core.reply(*arguments, **more)
        with suppress(StoreError):
            await self._core.reply(*arguments, **more)
        return answer


DESKS: dict[str, type[Desk]] = {
    "says it twice": SaysTwice,
    "apologises too": ApologisesToo,
    "says nothing": SaysNothing,
    "says half": SaysHalf,
    "says it later": SaysLater,
    "answers another": AnswersAnother,
}
PAYS_AGAIN = "pays again"
WAYS = (*DESKS, PAYS_AGAIN)


def broken(way: str, desk: type[Desk], core: Replies) -> tuple[type[Desk], Replies]:
    """As it is where `way` is ""."""
    return DESKS.get(way, desk), PaidTwice(core) if way == PAYS_AGAIN else core
