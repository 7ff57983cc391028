"""What the Office formats have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.errors import Unreadable
from rag.sources.archive import Archive, attribute, local
from rag.sources.reading import language_code, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.sources.reading import Raw, ReadLimits


class Package:
    """An Office file: its parts, its title, its language."""

    def __init__(self, raw: Raw, limits: ReadLimits, kind: str) -> None:
        self.archive = Archive(raw, limits)
        found = [target for target in self.archive.relations("").values() if target.endswith(f"{kind}.xml")]
        if not found:
            raise Unreadable(raw.name, "it is damaged, or not what its name says: its main part is missing")
        self.main = found[0]
        self.title, self.language = "", ""
        properties = self.archive.xml("docProps/core.xml")
        for element in properties if properties is not None else ():
            if local(element) == "title":
                self.title = one_line(element.text or "")
            elif local(element) == "language":
                self.language = language_code(element.text)


def table_lines(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of the rows that hold anything; the first one is its header."""
    filled = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not filled:
        return ""
    width = max(map(len, filled))
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in filled]
    return "\n".join((lines[0], "|" + " --- |" * width, *lines[1:]))


__all__ = ["Package", "attribute", "local", "table_lines"]
