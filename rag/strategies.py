"""How an answer is made of passages that are too many for one call, or not (R22)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rag import material
from rag.errors import ModelUnavailable, PassageTooLong
from rag.marks import marks, with_native_marks
from rag.prompting import NO_ANSWER
from rag.sentinel import answer_of
from rag.text import estimated_tokens
from rag.types import Cited, Prompt, Sampling
from rag.writing import Written, written

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rag.ports import Writer
    from rag.prompting import Prompts
    from rag.types import Excerpt, Turn

T = TypeVar("T")


class Task(NamedTuple):
    """What is answered, from what."""

    question: str
    excerpts: tuple[Excerpt, ...]
    history: tuple[Turn, ...] = ()
    language: str = ""
    weights: tuple[tuple[str, int], ...] = ()


class Outcome(NamedTuple):
    """What came out; `intermediate` are the answers on the way to it."""

    text: str
    cited: tuple[Cited, ...] = ()
    intermediate: tuple[str, ...] = ()


class Partial(NamedTuple):
    """An answer made from some of the passages, and which these are."""

    text: str
    passages: tuple[int, ...]

    @property
    def size(self) -> int:
        return estimated_tokens(material.answer(self.text, self.passages))


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one answer: how they are made, and what each was and gave."""

    writer: Writer
    prompts: Prompts
    sampling: Sampling
    token_max: int
    answer_tokens: int
    at_once: int
    deadline: float | None = None
    asked: list[Prompt] = field(default_factory=list)
    done: list[Written] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    async def one(self, prompt: Prompt, on_text: Callable[[str], None] | None = None) -> Written:
        """A call that breaks off in the middle is made once more, unseen: what was shown so far stands until it is replaced."""
        begun = False

        def tell(text: str) -> None:
            nonlocal begun
            begun = True
            if on_text is not None:
                on_text(text)

        self.asked.append(prompt)
        try:
            whole = await written(self.writer, prompt, deadline=self.deadline, on_text=tell)
        except ModelUnavailable as error:
            if not begun:  # then the adapter has tried again itself
                raise
            self.broken.append(str(error))
            whole = await written(self.writer, prompt, deadline=self.deadline)
        self.done.append(whole)
        return whole

    async def all(self, prompts: Sequence[Prompt]) -> list[Written]:
        """One call a prompt, a few at once, in order; the first failure ends the others."""
        free = asyncio.Semaphore(self.at_once)

        async def in_turn(prompt: Prompt) -> Written:
            async with free:
                return await self.one(prompt)

        return await _together([in_turn(prompt) for prompt in prompts])

    def room(self, prompt: Prompt, *, answers: int = 1) -> int:
        """How many tokens of passages fit into one call beside this prompt, which holds none, and so many answers."""
        return min(self.token_max, self.writer.context_tokens - answers * self.answer_tokens - size_of(prompt))

    def prompt(self, task: Task, user: str, excerpts: tuple[Excerpt, ...]) -> Prompt:
        system = self.prompts.answer_system(task.language)
        return Prompt(system, user, task.question, excerpts, task.history, task.language, self.sampling)

    def text_prompt(self, task: Task, user: str) -> Prompt:
        """For what no passages apart from the text can replace: a writer must send `user` as it stands."""
        return Prompt(self.prompts.answer_system(task.language), user, language=task.language, sampling=self.sampling)


def size_of(prompt: Prompt) -> int:
    return estimated_tokens(prompt.system) + estimated_tokens(prompt.user)


def stuff_prompt(task: Task, calls: Calls) -> Prompt:
    """A writer by rule reads no prompt: it has the excerpts themselves."""
    if not calls.writer.is_model:
        return Prompt("", "", task.question, task.excerpts, task.history, task.language, calls.sampling, task.weights)
    user = calls.prompts.answer_user(task.question, task.excerpts, task.history, task.language)
    return calls.prompt(task, user, task.excerpts)


async def stuff(task: Task, calls: Calls, on_text: Callable[[str], None] | None) -> Outcome:
    whole = await calls.one(stuff_prompt(task, calls), on_text)
    return Outcome(whole.text, whole.cited)


async def map_reduce(task: Task, calls: Calls, on_text: Callable[[str], None] | None) -> Outcome:
    groups = _passage_groups(task, calls)
    if len(groups) == 1:
        return await stuff(task, calls, on_text)
    asked = [calls.prompts.map(task.question, group, task.history, task.language) for group in groups]
    prompts = [calls.prompt(task, user, tuple(group)) for user, group in zip(asked, groups, strict=True)]
    made = [_partial(whole, [e.n for e in group]) for whole, group in zip(await calls.all(prompts), groups, strict=True)]
    partials = await _collapsed([partial for partial in made if partial.text], task, calls)
    intermediate = tuple(partial.text or NO_ANSWER for partial in made)
    if not partials:
        return Outcome(NO_ANSWER, intermediate=intermediate)
    whole = await calls.one(_combining(partials, task, calls), on_text)
    return Outcome(whole.text, whole.cited, intermediate)


async def refine(task: Task, calls: Calls, on_text: Callable[[str], None] | None) -> Outcome:
    first = calls.prompts.refine_first(task.question, (), task.history, task.language)
    _check_sizes(task.excerpts, calls.room(calls.text_prompt(task, first), answers=2))
    steps: list[str] = []
    for excerpt in task.excerpts[:-1]:
        whole = await calls.one(_refining(excerpt, steps, task, calls))
        steps.append(answer_of(with_native_marks(whole.text, whole.cited)) or NO_ANSWER)
    whole = await calls.one(_refining(task.excerpts[-1], steps, task, calls), on_text)
    return Outcome(whole.text, whole.cited, tuple(steps))


def _refining(excerpt: Excerpt, steps: Sequence[str], task: Task, calls: Calls) -> Prompt:
    if not steps:
        user = calls.prompts.refine_first(task.question, (excerpt,), task.history, task.language)
        return calls.prompt(task, user, (excerpt,))
    user = calls.prompts.refine_next(task.question, steps[-1], (excerpt,), task.history, task.language)
    return calls.text_prompt(task, user)


def _combining(partials: Sequence[Partial], task: Task, calls: Calls) -> Prompt:
    answers = [(partial.text, partial.passages) for partial in partials]
    return calls.text_prompt(task, calls.prompts.combine(task.question, answers, task.history, task.language))


async def _collapsed(partials: list[Partial], task: Task, calls: Calls) -> list[Partial]:
    """The partial answers, put together in groups until all of them fit into one call.

    Each round leaves fewer: where no two fit together they are cut so that two do.
    """
    room = max(calls.room(_combining([], task, calls)), 2)
    partials = [_cut(partial, room) for partial in partials]
    while len(partials) > 1 and sum(partial.size for partial in partials) > room:
        groups = _greedy(partials, [partial.size for partial in partials], room)
        if len(groups) == len(partials):
            partials = [_cut(partial, room // 2) for partial in partials]
            groups = [partials[i : i + 2] for i in range(0, len(partials), 2)]
        several = [group for group in groups if len(group) > 1]
        answered = iter(await calls.all([_combining(group, task, calls) for group in several]))
        merged = [_partial(next(answered), _united(group)) if len(group) > 1 else group[0] for group in groups]
        partials = [_cut(partial, room) for partial in merged if partial.text]
    return partials


def _partial(whole: Written, passages: Sequence[int]) -> Partial:
    """The partial answer, resting on the passages that it marks, or on all it was given."""
    text = answer_of(with_native_marks(whole.text, whole.cited))
    marked = {number for mark in marks(text) for number in mark.numbers}
    return Partial(text, tuple(n for n in passages if n in marked) or tuple(passages))


def _united(group: Sequence[Partial]) -> list[int]:
    return sorted({n for partial in group for n in partial.passages})


def _cut(partial: Partial, room: int) -> Partial:
    while partial.size > room and len(partial.text) > 1:
        keep = max(1, len(partial.text) * room // partial.size - 1)
        partial = Partial(partial.text[: min(keep, len(partial.text) - 1)], partial.passages)
    return partial


def _passage_groups(task: Task, calls: Calls) -> list[list[Excerpt]]:
    empty = calls.prompts.map(task.question, (), task.history, task.language)
    room = calls.room(calls.text_prompt(task, empty))
    _check_sizes(task.excerpts, room)
    return _greedy(task.excerpts, [_size(excerpt) for excerpt in task.excerpts], room)


def _check_sizes(excerpts: Sequence[Excerpt], room: int) -> None:
    for excerpt in excerpts:
        if (size := _size(excerpt)) > room:
            document = excerpt.passage.document if excerpt.passage else ""
            raise PassageTooLong(
                f"The passage {excerpt.title!r} of the document {document!r} has about {size} tokens, "
                f"one call has room for {room}. Make passages or their context smaller, or raise token_max."
            )


def _size(excerpt: Excerpt) -> int:
    return estimated_tokens(material.passages((excerpt,)))


def _greedy(items: Sequence[T], sizes: Sequence[int], room: int) -> list[list[T]]:
    """Neighbours together as long as they fit; every item is in one group."""
    groups: list[list[T]] = []
    left = 0
    for item, size in zip(items, sizes, strict=True):
        if not groups or size > left:
            groups.append([])
            left = room
        groups[-1].append(item)
        left -= size
    return groups


async def _together(calls: Sequence[Awaitable[T]]) -> list[T]:
    """The results, in order. The first error cancels the other calls and is raised as it is, not as a group."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
