"""An answer made of the passages that were found, streamed as it is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from rag.questions import only_asks_for_more
from rag.sentences import sentence_spans
from rag.sentinel import answer_of, draft_of
from rag.strategies import Calls, Outcome, Task, map_reduce, refine, size_of, stuff, stuff_prompt
from rag.types import Cited, Excerpt, Sampling, Usage
from rag.within import begins_under

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag.ports import OnDraft, Writer
    from rag.prompting import Prompts
    from rag.tracing import Trace
    from rag.types import Lookup, Match, Passage, Turn

Strategy: TypeAlias = Literal["stuff", "map_reduce", "refine"]
CUT_OFF = "max_tokens"
_TOLD = 3  # answers, that are not to be given again to who only asks for more
_ANSWER_TOKENS = 1024  # room left for an answer whose length nothing bounds


@dataclass(frozen=True, slots=True)
class ComposeSettings:
    """`token_max` bounds the passages, or the partial answers, of one call of map_reduce and refine."""

    strategy: Strategy | Literal["auto"] = "auto"
    answer_question: Literal["standalone", "original"] = "original"
    sampling: Sampling = field(default_factory=Sampling)
    token_max: int = 8000
    keep_intermediate: bool = False
    at_once: int = 4


class Composed(NamedTuple):
    """The answer as the model wrote it; "" where it says that the passages do not hold one.

    A mark `[n]` in it names `excerpts[n - 1]`, and so do the numbers in `cited`. `usage` has one entry a call.
    """

    text: str
    cited: tuple[Cited, ...]
    excerpts: tuple[Excerpt, ...]
    usage: tuple[Usage, ...]
    strategy: Strategy
    intermediate: tuple[str, ...] = ()


class Composer:
    def __init__(self, writer: Writer, prompts: Prompts, settings: ComposeSettings) -> None:
        self._writer = writer
        self._prompts = prompts
        self._settings = settings

    async def compose(  # noqa: PLR0913, PLR0917 - an answer rests on all of these, and each is there already
        self,
        asked: str,
        lookup: Lookup,
        matches: Sequence[Match],
        history: Sequence[Turn],
        language: str,
        trace: Trace,
        on_draft: OnDraft | None = None,
        deadline: float | None = None,
    ) -> Composed:
        """`asked` is the question as it was asked; `deadline` is a time of the event loop's clock.

        Without matches the model is not asked (R21). Raises ModelError, PassageTooLong, DeadlineExceeded: what was drafted
        until then is no answer.
        """
        task = self._task(asked, lookup, excerpts_of(matches), history, language)
        calls = self._calls(deadline)
        with trace.step("compose") as notes:
            strategy = self._strategy(task, calls)
            notes.update(strategy=strategy, model=self._writer.name, question=task.question)
            try:
                outcome = await _run(strategy, task, calls, on_draft) if task.excerpts else Outcome("")
            finally:
                notes.update(_account(calls))
            text = answer_of(outcome.text, outcome.cited)
            if calls.done and calls.done[-1].usage.finish == CUT_OFF:
                text = without_the_last_sentence(text)
                notes["cut_off"] = True
            notes["no_answer"] = not text
        cited = tuple(one for one in outcome.cited if one.end <= len(text))
        intermediate = outcome.intermediate if self._settings.keep_intermediate else ()
        return Composed(text, cited, task.excerpts, tuple(one.usage for one in calls.done), strategy, intermediate)

    def _task(self, asked: str, lookup: Lookup, excerpts: tuple[Excerpt, ...], history: Sequence[Turn], language: str) -> Task:
        """What the prompt shows (R11). A writer by rule cannot make anything of a conversation: it gets the standalone form, and
        what was told last where it is only asked for more.
        """
        if not self._writer.is_model:
            told = [turn for turn in history if turn.role == "assistant"][-_TOLD:]
            said = tuple(told) if told and only_asks_for_more(asked) else ()
            return Task(lookup.question, excerpts, said, language, lookup.lexical)
        if self._settings.answer_question == "standalone":
            return Task(lookup.question, excerpts, (), language)
        return Task(asked, excerpts, tuple(history), language)

    def _calls(self, deadline: float | None) -> Calls:
        settings = self._settings
        answer_tokens = settings.sampling.max_tokens or _ANSWER_TOKENS
        return Calls(self._writer, self._prompts, settings.sampling, settings.token_max, answer_tokens, settings.at_once, deadline)

    def _strategy(self, task: Task, calls: Calls) -> Strategy:
        if not self._writer.is_model:
            return "stuff"
        if self._settings.strategy != "auto":
            return self._settings.strategy
        fits = size_of(stuff_prompt(task, calls)) + calls.answer_tokens <= self._writer.context_tokens
        return "stuff" if fits else "map_reduce"


def without_the_last_sentence(text: str) -> str:
    """Of an answer that was cut off: what is left of its last sentence may say the opposite of the whole."""
    spans = sentence_spans(text)
    return f"{text[: spans[-2][1]]} …" if len(spans) > 1 else text


_made = partial(tuple.__new__, Excerpt)  # in half of the time of calling it


def excerpts_of(matches: Sequence[Match]) -> tuple[Excerpt, ...]:
    """The passages as a writer sees them, numbered from 1, each under its title and headings."""
    return tuple([_excerpt(n, match) for n, match in enumerate(matches, start=1)])


def _excerpt(n: int, match: Match) -> Excerpt:
    """What was joined begins where its first part does, though it is about the best one's section."""
    passage, first = match.passage, match.parts[0] if match.parts else match.passage
    return _made((n, _title(passage), passage.text, passage, begins_under(first) if first.within else first.headings))


def _title(passage: Passage) -> str:
    return " › ".join(filter(None, (passage.title, *passage.headings)))


async def _run(strategy: Strategy, task: Task, calls: Calls, on_draft: OnDraft | None) -> Outcome:
    on_text = _drafting(on_draft) if on_draft is not None else None
    if strategy == "stuff":
        return await stuff(task, calls, on_text)
    return await (map_reduce if strategy == "map_reduce" else refine)(task, calls, on_text)


def _drafting(on_draft: OnDraft) -> Callable[[str], None]:
    def tell(text: str) -> None:
        if shown := draft_of(text):
            on_draft(shown)

    return tell


def _account(calls: Calls) -> dict[str, object]:
    """For the trace: what was asked, and what it cost."""
    told = {"broke_off": calls.broken, "remarks": [one.usage.note for one in calls.done if one.usage.note]}
    return {
        **{name: texts for name, texts in told.items() if texts},
        "calls": len(calls.asked),
        "prompts": [{"system": prompt.system, "user": prompt.user} for prompt in calls.asked if prompt.user],
        "tokens_in": sum(one.usage.tokens_in for one in calls.done),
        "tokens_out": sum(one.usage.tokens_out for one in calls.done),
        "finish": [one.usage.finish for one in calls.done],
        "seconds": [round(one.seconds, 3) for one in calls.done],
    }
