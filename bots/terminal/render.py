"""How an answer looks in a terminal, in a pipe, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markdown import Markdown
from rich.text import Text

from bots.terminal.wording import visible
from rag.abstaining import wording
from rag.footers import entry, render
from rag.text import well_formed

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from rag.types import Answer, Source

MARGIN = 4  # lines of the window that a growing draft leaves free: a longer one would scroll away under its own redrawing


def growing(draft: str, height: int) -> RenderableType:
    """The newest lines of a draft."""
    return Text("\n".join(visible(draft).splitlines()[-max(1, height - MARGIN) :]))


def show(answer: Answer, console: Console) -> None:
    """The answer as Markdown, what follows it as plain lines: a link must stay whole to be clickable."""
    console.print(Markdown(visible(answer.text)))
    if below := after(answer):
        console.print()
        console.print(Text(visible(below)), soft_wrap=True)


def as_text(answer: Answer) -> str:
    return visible("\n\n".join(part for part in (answer.text, after(answer)) if part))


def after(answer: Answer) -> str:
    """The footer, or the nearest documents where the answer abstains (R32, R33)."""
    told = render(answer).removeprefix(answer.text).strip()
    if not answer.abstained or not answer.suggestions:
        return told
    nearest = [f"- {entry(source).partition('] ')[2]}" for source in answer.suggestions]
    return "\n\n".join(part for part in (told, "\n".join([wording(answer.language).suggestions, *nearest])) if part)


def _source(source: Source) -> dict[str, object]:
    """`link` and `place` are those of the first place that is cited in it."""
    places = [{"place": place.label, "link": place.link} for place in source.places]
    first = places[0] if places else {"place": "", "link": ""}
    return {"n": source.n, "title": source.title, **first, "places": places}


def as_json(answer: Answer) -> dict[str, object]:
    return {
        "answer": answer.text,
        "abstained": answer.abstained,
        "remark": answer.remark,
        "sources": [_source(source) for source in answer.sources],
        "standalone_question": answer.question,
        "passages": [
            {
                "document": match.passage.document,
                "text": well_formed(match.passage.text),
                "score": match.score,
                "relevance": match.relevance,
                **match.scores,
            }
            for match in answer.matches
        ],
        "run": answer.run,
    }
