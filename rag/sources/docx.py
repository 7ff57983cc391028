"""Word: headings by their styles, lists, tables, notes; headers, footers, tables of contents and deleted text left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag.sources.archive import attribute, child, local
from rag.sources.building import TextBuilder
from rag.sources.office import Package, table_lines
from rag.sources.reading import Reading

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from rag.sources.reading import Raw, ReadLimits

_HEADING = re.compile(r"(?:heading|überschrift|titre|título|kop|rubrik|titolo|заголовок|标题|標題|見出し)\s*(\d)", re.IGNORECASE)
_LEFT_OUT = frozenset({"del", "moveFrom", "instrText", "delText", "Fallback", "pPr", "rPr", "sectPr"})


def read(raw: Raw, limits: ReadLimits) -> Reading:
    package = Package(raw, limits, "document")
    styles = package.archive.xml(package.main.replace("document.xml", "styles.xml"))
    writing = _Writing(_levels(styles), _list_styles(styles))
    body = child(package.archive.xml(package.main), "body")
    writing.blocks(body)
    for part in ("footnotes", "endnotes"):
        writing.notes(package.archive.xml(package.main.replace("document.xml", f"{part}.xml")))
    builder = writing.builder
    return Reading(builder.text, package.title or writing.title, "markdown", tuple(builder.sections), language=package.language)


def _list_styles(styles: Element | None) -> frozenset[str]:
    return frozenset(
        attribute(style, "styleId") for style in (styles if styles is not None else ()) if child(style, "pPr", "numPr") is not None
    )


def _levels(styles: Element | None) -> dict[str, int]:
    """The heading level of each style: 0 is the document's title, -1 a table of contents."""
    levels: dict[str, int] = {}
    for style in styles if styles is not None else ():
        identity, name = attribute(style, "styleId"), child(style, "name")
        title = attribute(name, "val") if name is not None else ""
        outline = child(style, "pPr", "outlineLvl")
        found = _HEADING.match(title)
        if found:
            levels[identity] = int(found[1])
        elif outline is not None and attribute(outline, "val") in set("012345678"):
            levels[identity] = int(attribute(outline, "val")) + 1
        elif title.lower() == "title":
            levels[identity] = 0
        elif re.match(r"toc\b", title, re.IGNORECASE):
            levels[identity] = -1
    return levels


class _Writing:
    def __init__(self, levels: dict[str, int], list_styles: frozenset[str]) -> None:
        self.builder = TextBuilder()
        self.title = ""
        self._levels = levels
        self._list_styles = list_styles
        self._in_list = False

    def blocks(self, parent: Element | None) -> None:
        for element in parent if parent is not None else ():
            name = local(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name in {"sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"}:
                self.blocks(element)

    def notes(self, root: Element | None) -> None:
        for note in root if root is not None else ():
            if not attribute(note, "type"):  # the others are the rules above them
                self.blocks(note)

    def _paragraph(self, element: Element) -> None:
        text = "\n".join(line for part in _text(element).split("\n") if (line := " ".join(part.split())))
        if not text:
            return
        style = child(element, "pPr", "pStyle")
        identity = attribute(style, "val") if style is not None else ""
        outline = child(element, "pPr", "outlineLvl")
        level = self._levels.get(identity, int(found[1]) if (found := _HEADING.match(identity)) else None)
        if level is None and outline is not None and attribute(outline, "val") in set("01234567"):
            level = int(attribute(outline, "val")) + 1
        if level == -1:
            return
        if level is not None:
            self._heading(level, " ".join(text.split()))
        else:
            self._say(element, text, in_list=identity in self._list_styles)

    def _heading(self, level: int, text: str) -> None:
        self._in_list = False
        self.title = self.title or text
        self.builder.heading(level, text)

    def _say(self, element: Element, text: str, *, in_list: bool) -> None:
        numbered = child(element, "pPr", "numPr")
        if numbered is None and not in_list:
            self._in_list = False
            self.builder.block(text)
            return
        depth = child(numbered, "ilvl")
        indent = "  " * min(int(attribute(depth, "val") or 0), 8) if depth is not None else ""
        self.builder.block(f"{indent}- {text}", "\n" if self._in_list else "\n\n")
        self._in_list = True

    def _table(self, element: Element) -> None:
        self._in_list = False
        rows = [[_text(cell, " ") for cell in row if local(cell) == "tc"] for row in element if local(row) == "tr"]
        if len(rows) == 1 or all(len(row) == 1 for row in rows):  # lays out the page
            for row in element.iter():
                if local(row) == "tc":
                    self.blocks(row)
        elif lines := table_lines(rows):
            self.builder.block(lines)


def _text(element: Element, end: str = "") -> str:
    parts: list[str] = []
    _gather(element, parts, end, 0)
    return "".join(parts)


def _gather(element: Element, parts: list[str], end: str, depth: int) -> None:
    for below in element:
        name = local(below)
        if name == "t":
            parts.append(below.text or "")
        elif name in {"br", "cr"}:
            parts.append("\n")
        elif name in {"tab", "ptab"}:
            parts.append("\t")
        elif name == "noBreakHyphen":
            parts.append("-")
        elif name == "r" and child(below, "rPr", "vanish") is not None:
            continue  # hidden text
        elif name not in _LEFT_OUT and depth < 100:  # noqa: PLR2004 - nothing that is real lies deeper
            _gather(below, parts, end, depth + 1)
            if name == "p":
                parts.append(end or "\n")
