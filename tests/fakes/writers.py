"""A writer that follows a script and keeps a record of what it was asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from rag.types import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from rag.types import Piece, Prompt

Said: TypeAlias = "str | Sequence[Piece | Exception | float] | Exception"
Line: TypeAlias = "Said | Callable[[Prompt], Said]"


class OutOfScript(AssertionError):
    """The writer was asked more often than its script foresaw."""


class ScriptedWriter:
    """Answers the n-th call with the n-th line of its script.

    A text is streamed word by word and ended with a Usage; a sequence of pieces is streamed as it stands, raising the
    error or pausing for the seconds where such stand in it; an error is raised before the first piece; a function is
    asked with the prompt.
    `delay` seconds pass before each piece. `prompts` holds what was asked, `closed` how many streams were closed,
    `at_once` the most streams that were ever open together.
    """

    def __init__(
        self,
        script: Sequence[Line] = (),
        *,
        name: str = "scripted",
        is_model: bool = True,
        context_tokens: int = 100_000,
        delay: float = 0.0,
    ) -> None:
        self.name = name
        self.is_model = is_model
        self.context_tokens = context_tokens
        self.prompts: list[Prompt] = []
        self.closed = 0
        self.at_once = 0
        self._script = list(script)
        self._delay = delay
        self._open = 0

    async def write(self, prompt: Prompt) -> AsyncIterator[Piece]:
        self.prompts.append(prompt)
        self._open += 1
        self.at_once = max(self.at_once, self._open)
        try:
            for piece in self._pieces(prompt):
                await asyncio.sleep(piece if isinstance(piece, float) else self._delay)
                if isinstance(piece, Exception):
                    raise piece
                if not isinstance(piece, float):
                    yield piece
        finally:
            self._open -= 1
            self.closed += 1

    def _pieces(self, prompt: Prompt) -> Sequence[Piece | Exception | float]:
        if len(self.prompts) > len(self._script):
            raise OutOfScript(
                f"{self.name} was asked {len(self.prompts)} times; the script has {len(self._script)} lines: {prompt}"
            )
        line = self._script[len(self.prompts) - 1]
        if callable(line):
            line = line(prompt)
        if isinstance(line, Exception):
            return [line]
        if isinstance(line, str):
            return [*_words(line), Usage(self.name, len(prompt.user.split()), len(line.split()), "complete")]
        return line


def _words(text: str) -> list[str]:
    """The text in pieces that joined make the text again."""
    return [word + " " for word in text.split(" ")[:-1]] + text.split(" ")[-1:] if text else []
