"""The sections, pages and lines of a passage: a footnote leads to the one in which its sentence stands (R31)."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from rag.lexical import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Passage

_BEGINNING = 60  # characters of a sentence that tell where it stands


class Begin(NamedTuple):
    """At `start` in the passage's text a section or a page begins, and `link` leads there."""

    start: int
    headings: tuple[str, ...]
    page: int
    link: str


class Lines(NamedTuple):
    """`link` leads to a line where its `{line}` stands, and the passage's text begins on line `first`."""

    link: str
    first: int


def noted(begins: Sequence[Begin], lines: Lines | None = None) -> str:
    """As `Passage.within` holds them; "" for none."""
    if not begins and not lines:
        return ""
    told: list[Sequence[object]] = [[begin.start, begin.page, begin.link, *begin.headings] for begin in begins]
    return json.dumps([lines, *told] if lines else told, ensure_ascii=False)


def begins_in(passage: Passage) -> list[Begin]:
    if not passage.within:
        return []
    told = [entry for entry in json.loads(passage.within) if isinstance(entry[0], int)]
    return [Begin(start, tuple(headings), page, link) for start, page, link, *headings in told]


def lines_of(passage: Passage) -> Lines | None:
    """None where links lead to no line."""
    if "{line}" not in passage.within:
        return None
    first = json.loads(passage.within)[0]
    return Lines(*first) if isinstance(first[0], str) else None


def begins_under(passage: Passage) -> tuple[str, ...]:
    """The headings above its first line: another section's, where it is about one that begins further on."""
    begins = begins_in(passage) if passage.within else ()
    return begins[0].headings if begins and begins[0].start == 0 else passage.headings


def standing_at(passage: Passage, said: str) -> Passage:
    """The passage with the place in it that a sentence rests on: where the sentence stands, else where most of its words do."""
    if not passage.within:
        return passage
    places = places_of(passage)
    beginning = _flat(said.strip()[:_BEGINNING])
    likely = [place for place in places if beginning in _flat(place.text)] or places
    if len(likely) > 1:
        told = frozenset(words(said))
        best = max(likely, key=lambda place: len(told.intersection(words(f"{' '.join(place.headings)}\n{place.text}"))))
        likely = [best]
    found = likely[0]
    placed = passage._replace(headings=found.headings, page=found.page, link=found.link)
    lines = lines_of(passage)
    return _on_its_line(placed, found.text, said, lines) if lines else placed


def _on_its_line(passage: Passage, text: str, said: str, lines: Lines) -> Passage:
    """`text` is what stands in the place that was found."""
    at = max(passage.text.find(text), 0)
    line = max(1, lines.first + passage.text.count("\n", 0, at + _begins_at(text, said)))
    return passage._replace(line=line, link=lines.link.replace("{line}", str(line)))


def _begins_at(text: str, said: str) -> int:
    """Where in it a sentence begins, or what it rests on: the first line that shares the most words with it."""
    at = _flat(text).find(_flat(said.strip()[:_BEGINNING]))
    if at >= 0:
        return at
    told = frozenset(words(said))
    best, most, at = len(text) - len(text.lstrip()), 0, 0
    for line in text.splitlines(keepends=True):
        shared = len(told.intersection(words(line)))
        if shared > most:
            best, most = at, shared
        at += len(line)
    return best


def _flat(text: str) -> str:
    """A sentence goes on across the ends of lines. As long as the text."""
    return text.replace("\n", " ")


def places_of(passage: Passage) -> list[Passage]:
    """What stands in each place of it, in order: itself alone where there is but one."""
    begins = begins_in(passage)
    bounds = [0, *(begin.start for begin in begins), len(passage.text)]
    texts = [passage.text[start:end] for start, end in pairwise(bounds)]
    places = [passage._replace(text=texts[0], within="")]
    for text, begin in zip(texts[1:], begins, strict=True):
        places.append(places[0]._replace(text=text, headings=begin.headings, page=begin.page, link=begin.link))
    return [place for place in places if place.text.strip()] or places[:1]
