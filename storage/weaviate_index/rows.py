"""Passages as Weaviate holds them, and back.

`born` and `died` are generation numbers: a row is found in those from `born` on, before `died`. So searches see what was
published last while the next state is being written beside it, in the same collection.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any

from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter

from rag.text import well_formed
from rag.types import Passage
from storage.weaviate_index.naming import key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from weaviate.collections.classes.filters import _Filters
    from weaviate.collections.classes.internal import Object

    from rag.types import Indexed, Stretch, Vector

NEVER = 2**53 - 1  # the greatest number that every part of the way takes as it is
LEXICAL = "lexical"
# Weaviate cuts terms apart at every kind of white space, ours stand between spaces and may hold the others
_SPACES = [code for code in range(0x3001) if chr(code).isspace() and chr(code) != " "]
_ESCAPED = {code: chr(0xF0000 + code) for code in _SPACES}
_PLAIN = {0xF0000 + code: chr(code) for code in _SPACES}


def escaped(terms: str) -> str:
    return terms.translate(_ESCAPED)


def plain(terms: str) -> str:
    return terms.translate(_PLAIN)


def row(indexed: Indexed, document: str, born: int) -> DataObject[Any, Any]:
    held = indexed.passage
    properties = {
        "passage": well_formed(held.id),
        "base": well_formed(held.base),
        "document": document,
        "ordinal": held.ordinal,
        "digest": well_formed(held.digest),
        "language": well_formed(held.language),
        "born": born,
        "died": NEVER,
        LEXICAL: escaped(well_formed(held.terms)),
        "text": well_formed(held.text),
        "title": well_formed(held.title),
        "link": well_formed(held.link),
        "headings": json.dumps([well_formed(each) for each in held.headings], ensure_ascii=False) if held.headings else "",
        "anchor": well_formed(held.anchor),
        "page": held.page,
        "line": held.line,
        "start": held.start,
        "stop": held.end,
        "expandable": held.expandable,
        "within": well_formed(held.within),
    }
    name = key(born, document, held.ordinal, properties["passage"])
    return DataObject(properties, uuid=name, vector=None if indexed.vector is None else _numbers(indexed.vector))


def until(found: Object[Any, Any], died: int) -> DataObject[Any, Any]:
    """The same row, found no more from this generation on. Its vector stays as it is, so the vector index is not touched."""
    return DataObject({**found.properties, "died": died}, uuid=found.uuid, vector=vector_in(found))


def passage(found: Mapping[str, Any]) -> Passage:
    return Passage(
        id=found["passage"],
        base=found["base"],
        document=found["document"],
        ordinal=found["ordinal"],
        text=found["text"],
        title=found["title"],
        link=found["link"],
        headings=tuple(json.loads(found["headings"])) if found["headings"] else (),
        anchor=found["anchor"],
        page=found["page"],
        line=found["line"],
        start=found["start"],
        end=found["stop"],
        language=found["language"],
        terms=plain(found[LEXICAL]),
        digest=found["digest"],
        expandable=found["expandable"],
        within=found.get("within") or "",  # rows of an earlier version have none
    )


def vector_of(found: Object[Any, Any]) -> Vector | None:
    numbers = vector_in(found)
    return array("f", numbers).tobytes() if numbers else None


def vector_in(found: Object[Any, Any]) -> Sequence[float] | None:
    numbers = found.vector.get("default")
    return numbers or None  # type: ignore[return-value] # one vector, not one for each token


def _numbers(vector: Vector) -> Sequence[float]:
    return array("f", vector).tolist()


# --- which rows -----------------------------------------------------------------------------------------------------


def visible(generation: int) -> _Filters:
    """Those that are found in this generation.

    While a row is given the end of its time it has none for a moment: it must not count as dead, so "not dead yet" is no way
    to say it.
    """
    return Filter.by_property("born").less_or_equal(generation) & Filter.not_(dead_by(generation))


def alive() -> _Filters:
    return Filter.by_property("died").equal(NEVER)


def dead_by(generation: int) -> _Filters:
    return Filter.by_property("died").less_or_equal(generation)


def of_document(document: str) -> _Filters:
    return Filter.by_property("document").equal(document)


def within(stretch: Stretch) -> _Filters:
    ordinal = Filter.by_property("ordinal")
    return of_document(stretch.document) & ordinal.greater_or_equal(stretch.first) & ordinal.less_or_equal(stretch.last)


def among(name: str, values: Sequence[str]) -> _Filters:
    return Filter.by_property(name).contains_any(list(values))


def with_uuids(uuids: Sequence[UUID]) -> _Filters:
    return Filter.by_id().contains_any(list(uuids))
