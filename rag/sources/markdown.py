"""Markdown: the text stays as it is, line by line; headings become sections with the anchors that GitHub gives them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from rag.sources.encodings import decode
from rag.sources.reading import Reading, language_code, one_line
from rag.types import Section

if TYPE_CHECKING:
    from markdown_it.token import Token

    from rag.sources.reading import Raw, ReadLimits

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = r"^{name}[ \t]*[:=][ \t]*(.+?)[ \t]*$"
_EXPLICIT = re.compile(r"\s*\{:?\s*#([^\s{}]+)[^{}]*\}\s*$")
_COMMENT = re.compile(r"\s*<!--(?:(?!-->).)*-->\s*", re.DOTALL)
_ANCHOR = re.compile(r"""<(?:a|span)\s+(?:id|name)\s*=\s*["']?([^\s"'>]+)["']?\s*/?>""", re.IGNORECASE)
_ONLY_ANCHORS = re.compile(r"""\s*(?:<(?:a|span)\s[^<>]*/?>\s*(?:</(?:a|span)>)?\s*)+""", re.IGNORECASE)


def read(raw: Raw, limits: ReadLimits) -> Reading:  # noqa: ARG001 - every reader has this form
    text = decode(raw.name, raw.content, raw.charset)
    title, language, text = _without_front_matter(text)
    tokens = MarkdownIt("commonmark").disable(["inline"]).parse(text)
    text = _without_comments(text, tokens)
    sections = tuple(_sections(text, tokens))
    if not title and sections:
        title = next((section.headings[0] for section in sections if section.headings[0]), "")
    return Reading(text, title, "markdown", sections, language=language, lines=True)


def _without_front_matter(text: str) -> tuple[str, str, str]:
    """Title, language and the text; its lines keep their numbers, since the front matter's become blank."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return "", "", text
    fields = found[2]
    title = _field(fields, "title")
    language = language_code(_field(fields, "lang") or _field(fields, "language"))
    return one_line(title), language, "\n" * found[0].count("\n") + text[found.end() :]


def _field(fields: str, name: str) -> str:
    found = re.search(_FIELD.format(name=name), fields, re.MULTILINE | re.IGNORECASE)
    return found[1].strip("\"'") if found else ""


def _without_comments(text: str, tokens: list[Token]) -> str:
    """What no reader of the page sees is left out; the lines keep their numbers."""
    hidden = [token.map for token in tokens if token.type == "html_block" and _COMMENT.fullmatch(token.content) and token.map]
    if not hidden:
        return text
    lines = text.split("\n")
    for first, last in hidden:
        lines[first:last] = [""] * (last - first)
    return "\n".join(lines)


def _sections(text: str, tokens: list[Token]) -> list[Section]:
    inline = MarkdownIt("commonmark")
    offsets = _line_offsets(text)
    slugs = Slugs()
    path: list[tuple[int, str]] = []
    sections = []
    for index, token in enumerate(tokens):
        if token.type != "heading_open" or token.map is None or token.level:
            continue
        heading, anchor = _heading(inline, tokens[index + 1].content)
        slug = slugs.of(heading)
        level = int(token.tag[1])
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, heading))
        start = offsets[token.map[0]]
        before, moved = _anchor_before(tokens, index, offsets)
        sections.append(Section(min(start, moved), tuple(part for _, part in path), anchor or before or slug))
    return sections


def _heading(inline: MarkdownIt, content: str) -> tuple[str, str]:
    """The heading as it is read, and the anchor that it gives itself."""
    explicit = _EXPLICIT.search(content)
    if explicit:
        content = content[: explicit.start()]
    own = _ANCHOR.search(content)
    anchor = explicit[1] if explicit else own[1] if own else ""
    parsed = inline.parseInline(content)[0].children or []
    shown = "".join(
        " " if child.type in {"softbreak", "hardbreak"} else child.content for child in parsed if child.type != "html_inline"
    )
    return one_line(shown), anchor


def _anchor_before(tokens: list[Token], index: int, offsets: list[int]) -> tuple[str, int]:
    """The anchor of a line that holds nothing else and stands right before the heading, and where that line starts."""
    closing = index - 1
    if closing < 0:
        return "", offsets[-1]
    token = tokens[closing] if tokens[closing].type == "html_block" else tokens[closing - 1] if closing >= 1 else tokens[closing]
    found = _ANCHOR.search(token.content) if token.type in {"html_block", "inline"} else None
    if not found or token.map is None or not _ONLY_ANCHORS.fullmatch(token.content):
        return "", offsets[-1]
    return found[1], offsets[token.map[0]]


def _line_offsets(text: str) -> list[int]:
    offsets = [0]
    offsets.extend(found.end() for found in re.finditer("\n", text))
    offsets.append(len(text))
    return offsets


class Slugs:
    """Anchors as GitHub makes them, each given once per document."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def of(self, heading: str) -> str:
        kept = (character for character in heading.lower() if character in " -" or unicodedata.category(character) in _WORD)
        slug = first = "".join(kept).replace(" ", "-")
        while slug in self._given:
            self._given[first] += 1
            slug = f"{first}-{self._given[first]}"
        self._given[slug] = 0
        return slug


_WORD = frozenset({"Ll", "Lu", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
