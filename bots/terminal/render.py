"""How an answer looks in a terminal, in a pipe, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markdown import Markdown
from rich.text import Text

from rag.footers import render

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rag.types import Answer

TAIL = 30  # lines of a growing draft that are shown: a longer one would scroll away under its own redrawing


def growing(draft: str) -> RenderableType:
    return Text("\n".join(draft.splitlines()[-TAIL:]))


def whole(answer: Answer) -> RenderableType:
    """The answer as Markdown, its footer as plain lines: a link must stay whole to be clickable."""
    return Markdown(answer.text) if not answer.sources else _Stack(answer)


class _Stack:
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __rich_console__(self, console: object, options: object) -> list[RenderableType]:
        footer = render(self._answer).removeprefix(self._answer.text)
        return [Markdown(self._answer.text), Text(footer.rstrip())]


def as_json(answer: Answer) -> dict[str, object]:
    return {
        "answer": answer.text,
        "abstained": answer.abstained,
        "sources": [
            {"n": source.n, "title": source.title, "link": source.link, "place": source.label} for source in answer.sources
        ],
        "standalone_question": answer.question,
        "passages": [
            {"document": match.passage.document, "text": match.passage.text, "relevance": match.relevance, **match.scores}
            for match in answer.matches
        ],
        "run": answer.run,
    }
