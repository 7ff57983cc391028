"""One call of a writer: its stream followed to the end, within its time."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, NamedTuple, cast

from rag.errors import DeadlineExceeded, ModelTimeout, ModelUnavailable
from rag.types import Cited, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from rag.ports import Writer
    from rag.types import Piece, Prompt


class Written(NamedTuple):
    """What one call gave, whole."""

    text: str
    cited: tuple[Cited, ...]
    usage: Usage
    seconds: float


async def written(
    writer: Writer, prompt: Prompt, *, deadline: float | None = None, on_text: Callable[[str], None] | None = None
) -> Written:
    """The whole of what the writer says; `on_text` is told all the text so far as it grows.

    `deadline` is a time of the event loop's clock. Raises ModelError, also for a stream that is empty or breaks off
    before its end, ModelTimeout after the prompt's own seconds, DeadlineExceeded after the deadline.
    """
    started = time.perf_counter()
    if not writer.is_model:  # by rule: the time for the question is bound enough
        return _whole(writer, *await _follow(writer, prompt, on_text), started)
    limit = asyncio.get_running_loop().time() + prompt.sampling.seconds
    final = deadline is not None and deadline <= limit
    scope = asyncio.timeout_at(deadline if final else limit)
    try:
        async with scope:
            text, cited, usage = await _follow(writer, prompt, on_text)
    except TimeoutError as error:
        if not scope.expired():
            raise ModelTimeout(f"{writer.name} ran into a time limit of its own: {error}.") from error
        if final:
            raise DeadlineExceeded("The time for this question was over before the answer was complete.") from error
        raise ModelTimeout(f"{writer.name} took longer than {prompt.sampling.seconds:g} seconds.") from error
    return _whole(writer, text, cited, usage, started)


def _whole(writer: Writer, text: str, cited: tuple[Cited, ...], usage: Usage | None, started: float) -> Written:
    if usage is None:
        raise ModelUnavailable(f"{writer.name} broke off before its answer was complete. Try again.")
    if writer.is_model and not text.strip():  # a writer by rule that says nothing found nothing to say
        raise ModelUnavailable(
            f"{writer.name} ended without a word (it stopped with {usage.finish or 'no reason given'}). Try again."
        )
    return Written(text, cited, usage, time.perf_counter() - started)


async def _follow(
    writer: Writer, prompt: Prompt, on_text: Callable[[str], None] | None
) -> tuple[str, tuple[Cited, ...], Usage | None]:
    text, cited, usage = "", [], None
    # every writer is an async generator: the port says iterator, since that is how such a method is annotated
    async with aclosing(cast("AsyncGenerator[Piece]", writer.write(prompt))) as stream:
        async for piece in stream:
            if isinstance(piece, Usage):
                usage = piece
            elif isinstance(piece, Cited):
                cited.append(piece)
            elif piece:
                text += piece
                if on_text is not None:
                    on_text(text)
    return text, tuple(cited), usage
