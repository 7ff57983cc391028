"""An answer's Markdown in Slack's own mark-up, for messages without blocks and for notifications. Everything in it is escaped."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from bots.slack.limits import LINK
from bots.slack.markdown import HAIR, readable, shown
from bots.tables import with_tables_aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

_BULLETS = "•◦▪"
LIKE_A_BACKTICK = "\N{MODIFIER LETTER GRAVE ACCENT}"  # within code, Slack ends at the first real one
_STYLES = {"strong": "*", "em": "_", "s": "~"}


def escaped(text: str) -> str:
    """Slack knows these three entities and no others."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def link(address: str, label: str) -> str:
    """The label alone where the address is none that Slack takes."""
    if not address.startswith(("https://", "http://")) or len(address) > LINK:
        return escaped(label)
    address = address.replace("|", "%7C").replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")
    named = escaped(label).replace("|", "¦")
    return f"<{escaped(address)}|{named}>" if label and label != address else f"<{escaped(address)}>"


@cache  # to make one takes longer than to read an answer
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("strikethrough")


def mrkdwn(text: str) -> str:
    return _Writing().write(_parser().parse(shown(with_tables_aligned(readable(text))))).replace(HAIR, " ")


@dataclass(slots=True)
class _Writing:
    """One pass over the tokens. `numbers` holds a number an open list: the next item's, or 0 for bullets."""

    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    quotes: int = 0
    marker: str = ""

    def write(self, tokens: Sequence[Token]) -> str:
        for before, token in zip((None, *tokens), tokens, strict=False):
            self._take(token, before)
        return "\n".join(self.lines).strip("\n")

    def _take(self, token: Token, before: Token | None) -> None:
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            self._apart()
            self.numbers.append(int(token.attrs.get("start", 1)) if kind[0] == "o" else 0)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self.numbers.pop()
        elif kind == "list_item_open":
            self._begin_item()
        elif kind in ("blockquote_open", "blockquote_close"):
            self._apart()
            self.quotes += 1 if kind.endswith("open") else -1
        elif kind == "inline":
            self._paragraph(token, heading=before is not None and before.type == "heading_open")
        elif kind in ("fence", "code_block"):
            self._apart()
            self._add(f"```\n{escaped(token.content.rstrip().replace('```', 3 * LIKE_A_BACKTICK))}\n```")
        elif kind == "hr":
            self._apart()
            self._add("———")

    def _begin_item(self) -> None:
        depth = len(self.numbers) - 1
        if self.numbers[-1]:
            self.marker = f"{self.numbers[-1]}. "
            self.numbers[-1] += 1
        else:
            self.marker = f"{_BULLETS[min(depth, len(_BULLETS) - 1)]} "

    def _paragraph(self, token: Token, *, heading: bool) -> None:
        if not self.numbers:
            self._apart()
        text = _inline(token.children or [])
        self._add(f"*{text.replace('*', '')}*" if heading and text.strip() else text)

    def _add(self, text: str) -> None:
        quote, indent = "> " * self.quotes, "    " * max(0, len(self.numbers) - 1)
        if text.startswith("```"):  # fences stand at the beginning of their lines
            self.lines += [f"{quote}{indent}{self.marker}".rstrip()] if self.marker else []
            self.lines += [f"{quote}{line}" for line in text.split("\n")]
        else:
            hanging = indent + ("   " if self.numbers else "")
            first, *rest = text.split("\n")
            self.lines.append(f"{quote}{indent}{self.marker}{first}" if self.marker else f"{quote}{hanging}{first}")
            self.lines += [f"{quote}{hanging}{line}" for line in rest]
        self.marker = ""

    def _apart(self) -> None:
        """A blank line between blocks, none within a list."""
        if self.lines and self.lines[-1] and not self.numbers:
            self.lines.append("")


def _inline(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    label: list[str] | None = None
    address = ""
    for token in tokens:
        style = _STYLES.get(token.tag) if token.type.endswith(("_open", "_close")) else None
        if token.type == "link_open":
            label, address = [], str(token.attrs.get("href", ""))
        elif token.type == "link_close":
            parts.append(link(address, "".join(label or [])))
            label = None
        elif label is not None:
            label.append(token.content)
        elif style:
            parts.append(f" {style}" if token.nesting > 0 and parts and _joins(parts[-1]) else style)
            if token.nesting < 0:
                parts.append("")  # where a space may have to follow
        elif token.type == "code_inline":
            parts.append(f"`{escaped(token.content.replace('`', LIKE_A_BACKTICK))}`")
        elif token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.content:
            follows = len(parts) > 1 and parts[-1] == "" and parts[-2].strip() in _STYLES.values()
            parts.append(f" {escaped(token.content)}" if follows and _joins(token.content[:1]) else escaped(token.content))
    return "".join(parts)


def _joins(text: str) -> bool:
    """Slack's marks are seen only beside a space or a punctuation mark."""
    return bool(text) and text[-1].isalnum()
