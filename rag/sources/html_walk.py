"""The walk through a page's elements that makes its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from rag.sources.building import TextBuilder

# No part of what a page says. Selected at once, in C, and skipped by the walk.
_LEFT_OUT = (
    "head, script, style, noscript, template, iframe, object, embed, svg, canvas, video, audio, map,"
    "nav, footer, aside:not(.footnote, .footnote-list, .admonition, .topic), menu, dialog,"
    "[role=navigation], [role=banner], [role=contentinfo], [role=search], form[role=search],"
    "button, input, select, textarea, datalist, fieldset,"
    "[hidden], [aria-hidden=true], [style*='display:none'], [style*='display: none'],"
    "[style*='visibility:hidden'], [style*='visibility: hidden'], .sr-only, .visually-hidden, .skip-link,"
    ".navheader, .navfooter, .docnav, .toc, div.contents.topic, .contents.local, .breadcrumb, .breadcrumbs,"
    ".sphinxsidebar, .sphinxsidebarwrapper, .sidebar, .related, .headerlink, .hash-link, .anchor-link, .anchorjs-link,"
    ".edit-this-page, .linenos, .lineno, #banner, body > header:not(:has(h1, h2))"
)
_BOXES = ".note, .warning, .tip, .caution, .important, .admonition, .sidebar-box, .callout"
# The heading of a box says what kind of box it is: what follows the box does not stand under it.
_BOX_TITLES = ", ".join(f"h{level}" for level in range(2, 7))
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure form header hr html "
        "li main ol p section summary table tbody td tfoot th thead tr ul",
    )
)
_CODE = frozenset({"code", "tt", "kbd", "samp", "var"})  # a leaf, whatever highlighting is in it
_PARTS = "dd, p, div, dl, ul, ol, table, pre, blockquote"
_WORDS = re.compile(r"(?=[^\W\d_])(?:[^\W_]|[ ,.'’&/+:：()（）-]){1,80}(?<![)）])")
_CONTAINERS = frozenset({"section", "div", "article", "main", "body", "dl", "dt", "li", "header", "table", "td"})
_CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_CJK_BREAK = re.compile(f"(?<=[{_CJK}])[ \\t]*\\n\\s*(?=[{_CJK}])")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush:\s*)-?\s*([a-zA-Z][\w+#-]{0,20})")
_DEEPEST = 150  # elements within elements: what lies deeper comes as plain text
_LINE_BREAK = "\0"


class HtmlWalk:
    def __init__(self, page: LexborHTMLParser, builder: TextBuilder) -> None:
        self.first_heading = ""
        self._builder = builder
        self._skipped = {node.mem_id for node in page.css(_LEFT_OUT)}
        self._box_titles = {
            title.mem_id for box in page.css(_BOXES) for title in box.css(_BOX_TITLES) if title.mem_id != box.mem_id
        }
        named = ((node, node.attributes) for node in page.css("[id], a[name]"))
        self._ids = {node.mem_id: found for node, attributes in named if (found := attributes.get("id") or attributes.get("name"))}
        self._inline: list[str] = []
        self._anchor = ""  # an id met since the last text: it leads to what comes next
        self._container_anchor = ""
        self._lists: list[tuple[str, int]] = []  # kind and how many items so far, outermost first
        self._marker = ""
        self._tight = False
        self._term_end = -1
        self._term = ""  # as words, where it is no code and the only one of its definition
        self._joint = ""

    def run(self, root: LexborNode) -> None:
        self._note_id(root, "body")
        self._children(root, 0)
        self._flush()

    def _children(self, node: LexborNode, depth: int) -> None:
        if depth > _DEEPEST:
            self._inline.append(node.text())
            return
        for child in node.iter(include_text=True):
            tag = child.tag
            if tag == "-text":
                self._inline.append(child.text_content or "")
            elif tag is not None and tag[0] not in "-!" and child.mem_id not in self._skipped:
                self._element(child, tag, depth)

    def _element(self, node: LexborNode, tag: str, depth: int) -> None:
        if tag in _HEADINGS and node.mem_id not in self._box_titles:
            self._heading(node, tag, depth)
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._block(node, tag, depth)
        elif tag == "pre":
            self._preformatted(node)
        elif tag == "br":
            self._inline.append(_LINE_BREAK)
        elif tag in _CODE:
            self._note_id(node, tag)
            self._inline.append(node.text())
        else:
            self._note_id(node, tag)
            self._children(node, depth + 1)

    def _block(self, node: LexborNode, tag: str, depth: int) -> None:
        self._flush()
        self._note_id(node, tag)
        if tag in {"ul", "ol", "dl"}:
            self._list(node, tag, depth)
        elif tag == "li":
            self._item(node, depth)
        elif tag == "dt":
            self._defined(node, depth)
        elif tag == "dd":
            self._definition(node, depth)
        elif tag in _HEADINGS:
            self._children(node, depth + 1)
            self._flush()
            self._tight = True
            return
        elif tag == "table" and (rows := self._rows(node)):
            self._table(rows)
        else:
            self._children(node, depth + 1)
        self._flush()

    # --- text ---

    def _taken(self) -> str:
        """The inline text met so far, on as many lines as it has line breaks."""
        joined = "".join(self._inline)
        self._inline.clear()
        if not joined.strip(" \t\n\r\f\0"):
            return ""
        if not joined.isascii():
            joined = _CJK_BREAK.sub("", joined)
        if _LINE_BREAK not in joined:
            return " ".join(joined.split())
        return "\n".join(line for part in joined.split(_LINE_BREAK) if (line := " ".join(part.split())))

    def _flush(self) -> None:
        if self._inline and (text := self._taken()):
            self._say(text)

    def _say(self, text: str) -> None:
        indent = "  " * max(len(self._lists) - 1, 0) if self._lists else ""
        if self._marker:
            text = f"{indent}{self._marker}{text}"
            indent += " " * len(self._marker)
        elif self._lists and self._lists[-1][0] != "dl":
            indent += "  "
            text = indent + text
        if indent:
            text = text.replace("\n", "\n" + indent)
        self._builder.block(text, self._joint or ("\n" if self._tight else "\n\n"))
        self._marker, self._tight, self._joint = "", False, ""
        self._anchor = self._container_anchor = ""

    def _captured(self, node: LexborNode, depth: int) -> str:
        """An element's text on one line."""
        self._flush()
        self._children(node, depth + 1)
        return " ".join(self._taken().split())

    # --- places ---

    def _note_id(self, node: LexborNode, tag: str) -> None:
        found = self._ids.get(node.mem_id)
        if not found:
            return
        self._anchor = found
        if tag in _CONTAINERS:
            self._container_anchor = found

    def _heading(self, node: LexborNode, tag: str, depth: int) -> None:
        self._flush()
        before = self._container_anchor or self._anchor
        own = self._ids.get(node.mem_id, "")
        self._anchor = ""
        inner: list[str] = []
        for child in node.iter(include_text=True):
            if child.mem_id in self._skipped:
                continue
            if child.tag == "-text":
                inner.append(child.text_content or "")
            elif child.tag is not None and child.tag[0] not in "-!":
                self._note_id(child, child.tag)
                inner.append(self._inner_text(child, depth))
        text = " ".join("".join(inner).split()).rstrip("¶#\u200b").strip()
        if text:
            self._builder.heading(_HEADINGS[tag], text, own or self._anchor or before)
            self.first_heading = self.first_heading or text
            self._marker, self._tight, self._anchor, self._container_anchor = "", False, "", ""

    def _inner_text(self, node: LexborNode, depth: int) -> str:
        kept, self._inline = self._inline, []
        if node.tag == "br":
            self._inline.append(" ")
        self._children(node, depth + 1)
        text, self._inline = "".join(self._inline).replace(_LINE_BREAK, " "), kept
        return text

    # --- lists ---

    def _list(self, node: LexborNode, tag: str, depth: int) -> None:
        self._lists.append((tag, 0))
        self._children(node, depth + 1)
        self._flush()
        self._lists.pop()
        self._marker = ""

    def _item(self, node: LexborNode, depth: int) -> None:
        kind, count = self._lists[-1] if self._lists else ("ul", 0)
        if self._lists:
            self._lists[-1] = (kind, count + 1)
        self._marker = f"{count + 1}. " if kind == "ol" else "- "
        self._tight = count > 0 or len(self._lists) > 1
        self._children(node, depth + 1)
        self._flush()

    def _defined(self, node: LexborNode, depth: int) -> None:
        """A term that is being defined; one with an id is a place of its own."""
        anchor = self._ids.get(node.mem_id, "")
        text = self._captured(node, depth)
        if not text:
            return
        another = self._builder.length == self._term_end  # two terms of one definition are one place
        self._tight = self._tight or another
        start = self._builder.length + 2 if self._builder.length else 0
        self._say(text)
        self._term_end = self._builder.length
        self._term = text if not another and node.css_first("code, tt, samp, kbd") is None and _WORDS.fullmatch(text) else ""
        if anchor and not another:
            level = 7 + sum(kind == "dl" for kind, _ in self._lists)
            self._builder.section(level, text[:100], anchor, start)

    def _definition(self, node: LexborNode, depth: int) -> None:
        """On one line with its term where both are words: what is said of it, it is said of by name."""
        self._tight = True
        if self._term and self._builder.length == self._term_end and len(node.css(_PARTS)) <= 1 + (node.css_first("p") is not None):
            self._joint = " " if self._term[-1] in ":：" else "：" if self._term[-1] > "\u2e80" else ": "
        self._children(node, depth + 1)
        self._flush()
        self._joint = ""

    # --- preformatted text and tables ---

    def _preformatted(self, node: LexborNode) -> None:
        self._flush()
        self._note_id(node, "pre")
        broken = node.css_first("br, [hidden], [aria-hidden=true], .linenos, .lineno") is not None
        text = (self._inner_text(node, 0) if broken else node.text()).rstrip().lstrip("\n")
        if not text.strip():
            return
        longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
        fence = "`" * max(3, longest + 1)
        lists, self._lists, self._marker = self._lists, [], ""
        self._say(f"{fence}{_language_of(node)}\n{text}\n{fence}")
        self._lists = lists

    def _rows(self, node: LexborNode) -> list[LexborNode]:
        """The rows of a table of data; none where the table only lays out the page."""
        blocks = node.css("pre, table, h1, h2, h3, h4, ul, ol, dl, blockquote")
        if any(block.mem_id != node.mem_id for block in blocks):
            return []
        rows = [row for row in node.css("tr") if row.mem_id not in self._skipped]
        return rows if len(rows) > 1 and len(rows[0].css("td, th")) > 1 else []

    def _table(self, rows: list[LexborNode]) -> None:
        lines = [[self._cell(cell) for cell in row.css("td, th") if cell.mem_id not in self._skipped] for row in rows]
        filled = [cells for cells in lines if any(cells)]
        if not filled:
            return
        width = max(map(len, filled))
        padded = ["| " + " | ".join(cells + [""] * (width - len(cells))) + " |" for cells in filled]
        lists, self._lists, self._marker = self._lists, [], ""
        self._say("\n".join((padded[0], "|" + " --- |" * width, *padded[1:])))
        self._lists = lists

    def _cell(self, node: LexborNode) -> str:
        return " ".join(self._inner_text(node, 0).replace("\n", " ").split()).replace("|", "\\|")


def _language_of(node: LexborNode) -> str:
    inner = node.css_first("code")
    for element in (node, inner, node.parent, node.parent.parent if node.parent else None):
        found = _LANGUAGE.search((element.attributes.get("class") or "") if element is not None else "")
        if found:
            return "" if found[1] in {"default", "none", "text"} else found[1].removesuffix("3")
    return ""
