"""EPUB: its chapters in reading order, each read as HTML."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from rag.errors import Unreadable
from rag.sources.archive import Archive, attribute, child, local
from rag.sources.building import TextBuilder
from rag.sources.encodings import decode
from rag.sources.html import declared_charset, declared_language, main_part
from rag.sources.html_walk import HtmlWalk
from rag.sources.reading import Reading, language_code, one_line, too_many_pages

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from rag.sources.reading import Raw, ReadLimits


def read(raw: Raw, limits: ReadLimits) -> Reading:
    archive = Archive(raw, limits)
    if archive.member("META-INF/encryption.xml") is not None and archive.member("META-INF/rights.xml") is not None:
        raise Unreadable(raw.name, "it is protected against copying")
    container = archive.xml("META-INF/container.xml")
    files = (element for element in (container.iter() if container is not None else ()) if local(element) == "rootfile")
    place = next((attribute(file, "full-path") for file in files), "")
    package = archive.xml(place)
    if package is None:
        raise Unreadable(raw.name, "it is damaged, or not what its name says: its list of chapters is missing")
    builder = TextBuilder()
    chapters = _chapters(package, posixpath.dirname(place))
    if len(chapters) > limits.pages:
        raise too_many_pages(raw.name, len(chapters), limits)
    for chapter in chapters:
        content = archive.member(chapter)
        if content and content.strip():
            _add_chapter(raw.name, content, builder)
    metadata = child(package, "metadata")
    title = _first(metadata, "title") or (builder.sections[0].headings[0] if builder.sections else "")
    return Reading(
        builder.text, one_line(title), "markdown", tuple(builder.sections), language=language_code(_first(metadata, "language"))
    )


def _chapters(package: Element, folder: str) -> list[str]:
    manifest, spine = child(package, "manifest"), child(package, "spine")
    items = {
        attribute(item, "id"): attribute(item, "href")
        for item in (manifest if manifest is not None else ())
        if "html" in attribute(item, "media-type") and "nav" not in attribute(item, "properties").split()
    }
    order = [attribute(entry, "idref") for entry in (spine if spine is not None else ())]
    return [posixpath.normpath(posixpath.join(folder, items[entry])) for entry in order if entry in items]


def _add_chapter(name: str, content: bytes, builder: TextBuilder) -> None:
    page = LexborHTMLParser(decode(name, content, declared_charset(content), declared_language(content)))
    if page.body is not None:
        HtmlWalk(page, builder).run(main_part(page, page.body))


def _first(metadata: Element | None, name: str) -> str:
    found = child(metadata, name)
    return (found.text or "").strip() if found is not None else ""
