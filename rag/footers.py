"""An answer with its footer, for surfaces that show text: with links, or on one line (R27)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from rag.labels import plain_title

if TYPE_CHECKING:
    from rag.types import Answer, Source

_ENCODED = re.compile(r"[\x00-\x20\x7f-\xa0()<>\"`\\\[\]\u200b-\u200f\u2028-\u202e\u2060-\u2069]")


def render(answer: Answer, *, links: bool = True) -> str:
    """The text, its remark, `SOURCES:` and one entry a cited document; an abstaining answer has no footer (R32)."""
    text = "\n\n".join(part for part in (answer.text, answer.remark) if part)
    if answer.abstained or not answer.sources:
        return text
    entries = "\n".join(entry(source, links=links) for source in answer.sources)
    return f"{text}\n\nSOURCES:\n{entries}"


def one_line(answer: Answer) -> str:
    """`SOURCES: title, title`, for surfaces without links; "" where there is nothing to name."""
    titles = dict.fromkeys(title_of(source).replace(",", ";") for source in answer.sources)
    return f"SOURCES: {', '.join(titles)}" if titles and not answer.abstained else ""


def entry(source: Source, *, links: bool = True) -> str:
    """`[n] title — section or page (link)`; further places cited in the same document follow, each with its own link."""
    title = title_of(source)
    places = source.places if links else source.places[:1] + tuple(p for p in source.places[1:] if p.label)
    if not places:
        return f"[{source.n}] {title}"
    shown = "; ".join(_place(plain_title(place.label), safe_link(place.link) if links else "") for place in places)
    between = " " if shown.startswith("(") else " — " if shown else ""
    return f"[{source.n}] {title}{between}{shown}"


def title_of(source: Source) -> str:
    return plain_title(source.title) or plain_title(source.document) or "Document"


def _place(label: str, link: str) -> str:
    return " ".join(part for part in (label, f"({link})" if link else "") if part)


def safe_link(link: str) -> str:
    """The link with what could end it early encoded."""
    return _ENCODED.sub(lambda match: quote(match[0], safe=""), link)
