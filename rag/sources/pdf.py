"""PDF, page by page: running headers and footers left out, lines and divided words joined, bookmarks as headings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pypdfium2

from rag.errors import Unreadable
from rag.sources.pdf_layout import flowing, mended, without_running_lines
from rag.sources.reading import Reading, one_line, too_many_pages
from rag.types import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rag.sources.reading import Raw, ReadLimits

_DEEPEST = 8
_ENDLESS = 20_000  # bookmarks
_CHAPTER = re.compile(r"(\d{1,2})[.)]? [^\W\d_][^\n]{1,60}[^\W_]\n")
_CHAPTERS = re.compile(rf"^{_CHAPTER.pattern}(?=[^\W\d_a-zß-ÿ][^\n]{{60,}})", re.MULTILINE)
_UNNAMED = re.compile(r"^(untitled|microsoft \w+ - .*|.*\.(docx?|indd|tex|dvi|qxd|pptx?|xlsx?|odt))$", re.IGNORECASE)


def read(raw: Raw, limits: ReadLimits) -> Reading:
    try:
        document = pypdfium2.PdfDocument(raw.content)
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).lower()
        raise Unreadable(
            raw.name, "it is protected by a password" if locked else "it is damaged: it cannot be opened as a PDF"
        ) from error
    if len(document) > limits.pages:
        raise too_many_pages(raw.name, len(document), limits)
    lines = without_running_lines([_lines(document, number, raw.name, limits) for number in range(len(document))])
    text, pages = _joined(flowing(list(mended(lines))))
    title = one_line(document.get_metadata_dict().get("Title", ""))
    sections = tuple(_sections(document, text, pages)) or tuple(_chapters(text))
    if not title or _UNNAMED.match(title):
        title = next((line for line in text.split("\n") if line.strip()), "")[:200]
        if sections and _CHAPTER.match(f"{title}\n"):
            title = ""  # of the first chapter, not of them all
    return Reading(text, title, "text", sections, tuple(pages))


def _lines(document: pypdfium2.PdfDocument, number: int, name: str, limits: ReadLimits) -> list[str]:
    try:
        page = document[number]
        found = page.get_textpage()
        if found.count_chars() > limits.characters:
            raise Unreadable(name, f"it holds more than {limits.characters:,} characters of text: divide it, or raise the limit")
        text: str = found.get_text_range()
        found.close()
        page.close()
    except pypdfium2.PdfiumError as error:
        raise Unreadable(name, f"it is damaged: its page {number + 1} cannot be read") from error
    return [line.rstrip() for line in re.split(r"\r\n|\r|\n", text) if line.strip()]


def _joined(pages: Iterable[str]) -> tuple[str, list[int]]:
    """All pages as one text, and where each starts; a sentence that goes on over the page is not broken."""
    parts: list[str] = []
    starts: list[int] = []
    length = 0
    before = ""
    for page in pages:
        goes_on = bool(before) and page[:1].islower() and before[-1] not in ".!?:;。！？：；"
        separator = "" if not length else " " if goes_on else "\n\n"
        starts.append(length + len(separator))
        parts.extend((separator, page))
        length += len(separator) + len(page)
        before = page.rstrip() or before
    return "".join(parts), starts


# --- chapters and bookmarks ---


def _chapters(text: str) -> Iterator[Section]:
    """Numbered titles, each alone on its line above its text: only where there are several, in order from the first."""
    found = list(_CHAPTERS.finditer(text))
    if len(found) > 1 and [int(title[1]) for title in found] == list(range(1, len(found) + 1)):
        yield from (Section(title.start(), (one_line(title[0], 200),)) for title in found)


def _sections(document: pypdfium2.PdfDocument, text: str, pages: list[int]) -> Iterator[Section]:
    """Each bookmark leads to a page; its section starts where its title stands on that page, if it does."""
    path: list[tuple[int, str]] = []
    at = 0
    for level, title, page in _bookmarks(document):
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, title))
        if not title or not 0 <= page < len(pages):
            continue
        end = pages[page + 1] if page + 1 < len(pages) else len(text)
        start = _line_with(text, title, max(pages[page], at), end)
        if start < at:
            continue  # a bookmark that leads back
        at = start
        yield Section(start, tuple(heading for _, heading in path if heading))


def _bookmarks(document: pypdfium2.PdfDocument) -> Iterator[tuple[int, str, int]]:
    for count, bookmark in enumerate(document.get_toc(max_depth=_DEEPEST)):
        if count >= _ENDLESS:
            return
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        yield bookmark.level, one_line(bookmark.get_title(), 200), -1 if page is None else page


def _line_with(text: str, title: str, start: int, end: int) -> int:
    """Where the line starts that is this title, perhaps behind its number; else where the page does."""
    spaced = r"\s*".join(map(re.escape, title.replace(" ", "")[:80]))
    found = re.compile(rf"^[^\n]{{0,20}}?{spaced}", re.IGNORECASE | re.MULTILINE).search(text, start, end)
    return found.start() if found else start
