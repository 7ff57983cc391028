"""The passages of a run with all their scores, in one table that fits a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from bots.terminal.wording import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bots.terminal.fates import Fate

WIDE = 140  # columns from which on titles, and the ranks in the two lists, fit in
OTHERS = 118  # columns that all but the title take then
LONGEST = 34  # characters of a passage's id
HEADINGS = ("score", "relev.", "words", "meaning", "cover", "rerank")


def table_of(found: Iterable[Fate], width: int) -> Table:
    """The rank in a list stands in brackets after the score of that list."""
    wide = width >= WIDE
    table = Table(box=None, pad_edge=False, padding=(0, 2 if wide else 1, 0, 0), header_style="bold")
    table.add_column("passage", no_wrap=True, overflow="ellipsis", max_width=LONGEST, min_width=10)
    table.add_column("what became of it", no_wrap=True, overflow="ellipsis", min_width=16)
    for name in HEADINGS:
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    if wide:
        table.add_column("title", no_wrap=True)
    for fate in found:
        cells = [Text(visible(short_id(fate.id, LONGEST if wide else 24))), Text(fate.outcome)]
        title = [Text(beginning(visible(fate.title), width - OTHERS))] if wide else []
        table.add_row(*cells, *scores_of(fate, ranks=wide), *title, style="" if fate.n else "dim")
    return table


def scores_of(fate: Fate, *, ranks: bool) -> Iterator[str]:
    columns = (
        ("score", 3, 0),
        ("relevance", 2, 0),
        ("bm25", 1, fate.lexical_rank),
        ("cosine", 2, fate.dense_rank),
        ("coverage", 2, 0),
    )
    for name, digits, rank in (*columns, ("rerank", 2, 0)):
        value = fate.scores.get(name)
        shown = "–" if value is None else f"{value:.{digits}f}"
        yield f"{shown} ({rank})" if ranks and rank else shown


def beginning(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def short_id(passage: str, longest: int) -> str:
    """The end of a passage's id tells it from others: its file and its number."""
    return passage if len(passage) <= longest else f"…{passage[1 - longest :]}"
