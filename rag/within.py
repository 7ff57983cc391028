"""The sections and pages that begin inside a passage: a footnote leads to the one in which its sentence stands (R31)."""

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


def noted(begins: Sequence[Begin]) -> str:
    """As `Passage.within` holds them; "" for none."""
    if not begins:
        return ""
    return json.dumps([[begin.start, begin.page, begin.link, *begin.headings] for begin in begins], ensure_ascii=False)


def begins_in(passage: Passage) -> list[Begin]:
    if not passage.within:
        return []
    return [Begin(start, tuple(headings), page, link) for start, page, link, *headings in json.loads(passage.within)]


def standing_at(passage: Passage, said: str) -> Passage:
    """The passage with the place in it that a sentence rests on: where the sentence stands, else where most of its words do."""
    if not passage.within:
        return passage
    places = places_of(passage)
    beginning = said.strip()[:_BEGINNING]
    likely = [place for place in places if beginning in place.text] or places
    if len(likely) > 1:
        told = frozenset(words(said))
        best = max(likely, key=lambda place: len(told.intersection(words(f"{' '.join(place.headings)}\n{place.text}"))))
        likely = [best]
    found = likely[0]
    return passage._replace(headings=found.headings, page=found.page, link=found.link)


def places_of(passage: Passage) -> list[Passage]:
    """What stands in each place of it, in order: itself alone where there is but one."""
    begins = begins_in(passage)
    bounds = [0, *(begin.start for begin in begins), len(passage.text)]
    texts = [passage.text[start:end] for start, end in pairwise(bounds)]
    places = [passage._replace(text=texts[0], within="")]
    for text, begin in zip(texts[1:], begins, strict=True):
        places.append(places[0]._replace(text=text, headings=begin.headings, page=begin.page, link=begin.link))
    return [place for place in places if place.text.strip()] or places[:1]
