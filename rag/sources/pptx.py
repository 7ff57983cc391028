"""PowerPoint: each slide is a page, its title a heading; tables and speaker notes are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.sources.archive import attribute, child, local
from rag.sources.building import TextBuilder
from rag.sources.office import Package, table_lines
from rag.sources.reading import Reading, too_many_pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from rag.sources.reading import Raw, ReadLimits

_FURNITURE = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})  # date, footer, header, number of every slide


def read(raw: Raw, limits: ReadLimits) -> Reading:
    package = Package(raw, limits, "presentation")
    builder = TextBuilder()
    slides = _slides(package)
    if len(slides) > limits.pages:
        raise too_many_pages(raw.name, len(slides), limits)
    for slide in slides:
        builder.page()
        root = package.archive.xml(slide)
        title, blocks = _contents(root) if root is not None else ("", [])
        if title:
            builder.heading(1, title)
        for block in blocks:
            builder.block(block)
        for note in _notes(package, slide):
            builder.block(note)
    title = package.title or (builder.sections[0].headings[0] if builder.sections else "")
    return Reading(builder.text, title, "markdown", tuple(builder.sections), tuple(builder.pages), package.language)


def _slides(package: Package) -> list[str]:
    relations = package.archive.relations(package.main)
    listed = child(package.archive.xml(package.main), "sldIdLst")
    ids = (value for slide in (listed if listed is not None else ()) for key, value in slide.attrib.items() if key.endswith("}id"))
    return [relations[identity] for identity in ids if identity in relations]


def _contents(root: Element) -> tuple[str, list[str]]:
    """The slide's title, and its other text in the order of its shapes."""
    title, blocks = "", []
    for shape in root.iter():
        if local(shape) == "sp":
            kind = _placeholder(shape)
            text = _paragraphs(shape)
            if kind in {"title", "ctrTitle"} and not title:
                title = " ".join(text.split())
            elif text and kind not in _FURNITURE:
                blocks.append(text)
        elif local(shape) == "tbl":
            rows = [[_paragraphs(cell) for cell in row if local(cell) == "tc"] for row in shape if local(row) == "tr"]
            blocks.append(table_lines(rows))
    return title, [block for block in blocks if block]


def _notes(package: Package, slide: str) -> Iterator[str]:
    for target in package.archive.relations(slide).values():
        root = package.archive.xml(target) if "/notesSlides/" in f"/{target}" else None
        if root is not None:
            yield from _contents(root)[1]


def _placeholder(shape: Element) -> str:
    found = child(shape, "nvSpPr", "nvPr", "ph")
    return attribute(found, "type") if found is not None else ""


def _paragraphs(shape: Element) -> str:
    lines = []
    for paragraph in shape.iter():
        if local(paragraph) != "p":
            continue
        parts = (" " if local(run) == "br" else run.text or "" for run in paragraph.iter() if local(run) in {"t", "br"})
        text = " ".join("".join(parts).split())
        properties = child(paragraph, "pPr")
        depth = int(attribute(properties, "lvl") or 0) if properties is not None else 0
        if text:
            lines.append(f"{'  ' * (depth - 1)}- {text}" if depth else text)
    return "\n".join(lines)
