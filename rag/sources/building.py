"""Puts a text together block by block, noting where sections and pages start."""

from __future__ import annotations

from rag.sources.reading import one_line
from rag.types import Section


class TextBuilder:
    """Blocks are parted by a blank line. Headings become Markdown headings in the text."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.pages: list[int] = []
        self._parts: list[str] = []
        self._length = 0
        self._path: list[tuple[int, str, str]] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def length(self) -> int:
        return self._length

    def block(self, text: str, separator: str = "\n\n") -> int:
        """Add a block; gives the offset at which it starts."""
        if self._length:
            self._add(separator)
        start = self._length
        self._add(text)
        return start

    def heading(self, level: int, text: str, anchor: str = "") -> None:
        self.section(level, text, anchor, self.block(f"{'#' * min(max(level, 1), 6)} {text}"))

    def section(self, level: int, text: str, anchor: str, start: int) -> None:
        """A section that starts at an offset, under the sections of lower levels; without an anchor it has that above it."""
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        anchor = anchor or (self._path[-1][2] if self._path else "")
        self._path.append((level, one_line(text), anchor))
        self.sections.append(Section(start, tuple(heading for _, heading, _ in self._path), anchor))

    def page(self) -> None:
        """What is added from here on stands on the next page."""
        self.pages.append(self._length + 2 if self._length else 0)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
