"""HTML: what a reader of the page reads, as Markdown-like text; navigation, forms and hidden text are left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from rag.errors import Unreadable
from rag.sources.building import TextBuilder
from rag.sources.encodings import decode
from rag.sources.html_walk import HtmlWalk
from rag.sources.reading import Reading, language_code, one_line

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from rag.sources.reading import Raw, ReadLimits

_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(rb"""<html[^>]{0,300}?\blang\s*=\s*["']?([\w-]{1,20})""", re.IGNORECASE)
_HEAD = 4_096


def read(raw: Raw, limits: ReadLimits) -> Reading:  # noqa: ARG001 - every reader has this form
    charset = raw.charset or declared_charset(raw.content)
    page = LexborHTMLParser(decode(raw.name, raw.content, charset, declared_language(raw.content)))
    if page.root is None or page.body is None:
        raise Unreadable(raw.name, "it holds no text")
    builder = TextBuilder()
    walk = HtmlWalk(page, builder)
    walk.run(main_part(page, page.body))
    title = _title(page, walk.first_heading)
    if not builder.length:
        raise Unreadable(raw.name, "it holds no text apart from navigation")
    return Reading(
        builder.text, title, "markdown", tuple(builder.sections), language=language_code(page.root.attributes.get("lang"))
    )


def declared_charset(content: bytes) -> str:
    found = _CHARSET.search(content[:_HEAD])
    return (found[1] or found[2]).decode("ascii", "ignore") if found else ""


def declared_language(content: bytes) -> str:
    found = _LANGUAGE.search(content[:_HEAD])
    return language_code(found[1].decode("ascii", "ignore")) if found else ""


def main_part(page: LexborHTMLParser, body: LexborNode) -> LexborNode:
    """The element that holds the page's own text, where the page says which."""
    main = page.css_first("main, [role=main]")
    if main is None:
        return body
    inner = main.css("article")
    return inner[0] if len(inner) == 1 and inner[0].css_first("h1") is not None else main


def _title(page: LexborHTMLParser, first_heading: str) -> str:
    """The page's title; its first heading where the title only adds the name of the site."""
    element = page.css_first("head > title") or page.css_first("title")
    title = one_line(element.text()) if element is not None else ""
    heading = one_line(first_heading)
    return heading if heading and (not title or heading.casefold() in title.casefold()) else title
