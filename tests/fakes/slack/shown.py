"""What a person sees of a message: blocks as text, and whom it pings."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from markdown_it.token import Token

_CONTROL = re.compile(r"<([@#!]?)([^<>|\s]+)(?:\|([^<>]*))?>")
_PLAIN_PING = re.compile(r"(?<![\w.@])@(channel|here|everyone)\b")
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("text_join")


def decoded(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def mrkdwn(text: str, name: Callable[[str], str]) -> str:
    """Slack's own mark-up as it is shown."""

    return decoded(_controlled(text, name))


def _controlled(text: str, name: Callable[[str], str]) -> str:
    def control(match: re.Match[str]) -> str:
        kind, body, label = match.groups()
        if kind == "@":
            return f"@{name(body)}"
        if kind == "#":
            return f"#{label or name(body)}"
        if kind == "!":
            return label or f"@{body}"
        return f"{label} <{body}>" if label and label != body else body

    return _CONTROL.sub(control, text)


def markdown(text: str, name: Callable[[str], str]) -> str:
    """Markdown as it is shown: what is bold has no asterisks any more."""
    tokens = _MARKDOWN.parse(text)
    return "\n".join(_lines(tokens, name))


def _lines(tokens: Sequence[Token], name: Callable[[str], str]) -> Iterator[str]:  # noqa: C901 - one way for each kind
    depth, marker = 0, ""
    numbers: list[int] = [0]
    row: list[str] = []
    for before, token in zip((None, *tokens), tokens, strict=False):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            depth += 1
            numbers.append(int(token.attrs.get("start", 1)) if token.type[0] == "o" else 0)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
            numbers.pop()
        elif token.type == "list_item_open":
            marker = f"{numbers[-1]}. " if numbers[-1] else "• "
            numbers[-1] += bool(numbers[-1])
        elif token.type in ("fence", "code_block"):
            yield f"```\n{token.content.rstrip()}\n```"
        elif token.type == "hr":
            yield "———"
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            yield " | ".join(row)
        elif token.type == "inline" and before is not None and before.type in ("th_open", "td_open"):
            row.append(_inline(token, name))
        elif token.type == "inline":
            yield f"{'  ' * max(0, depth - 1)}{marker}{_inline(token, name)}"
            marker = ""


def _inline(token: Token, name: Callable[[str], str]) -> str:
    parts: list[str] = []
    written: list[tuple[bool, str]] = []
    address = ""
    for child in token.children or []:
        if child.type in ("text", "text_special"):
            written.append((child.type == "text", child.content))
            continue
        parts.append(_written(written, name))
        written = []
        if child.type == "s_open":
            parts.append("~")
        elif child.type == "code_inline":
            parts.append(f"`{child.content}`")
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "link_open":
            address = str(child.attrs["href"])
        elif child.type == "link_close":
            parts.append(f" <{address}>")
        elif child.type == "image":
            parts.append(f"[image {child.attrs['src']}]")
    return "".join((*parts, _written(written, name)))


def _written(pieces: Sequence[tuple[bool, str]], name: Callable[[str], str]) -> str:
    """What was escaped by an entity is shown as it is, and means nothing."""
    whole = [(plain, "".join(text for _, text in group)) for plain, group in groupby(pieces, key=itemgetter(0))]
    return "".join(_controlled(text, name) if plain else text for plain, text in whole)


def message(text: str, blocks: Sequence[dict[str, Any]], name: Callable[[str], str]) -> str:
    """Where there are blocks, the text is only for notifications."""
    if not blocks:
        return mrkdwn(text, name)
    return "\n".join(shown for block in blocks if (shown := _block(block, name)))


def _block(block: dict[str, Any], name: Callable[[str], str]) -> str:  # noqa: PLR0911 - one way for each kind
    kind = block["type"]
    if kind == "markdown":
        return markdown(block["text"], name)
    if kind in ("section", "header"):
        parts = [block["text"], *block.get("fields", [])] if "text" in block else block["fields"]
        shown = "\n".join(_text(part, name) for part in parts)
        return f"{shown} {_element(block['accessory'])}" if "accessory" in block else shown
    if kind == "context":
        return "  ".join(_text(part, name) for part in block["elements"] if "text" in part)
    if kind in ("actions", "context_actions"):
        return " ".join(_element(element) for element in block["elements"])
    if kind == "divider":
        return "———"
    if kind == "rich_text":
        return rich_text(block, name)
    if kind == "table":
        return "\n".join(" | ".join(_cell(cell, name) for cell in row) for row in block["rows"])
    return f"[{kind}]"


def _cell(cell: dict[str, Any], name: Callable[[str], str]) -> str:
    return str(cell["text"]) if cell.get("type") == "raw_text" else rich_text(cell, name)


def rich_text(block: dict[str, Any], name: Callable[[str], str]) -> str:
    parts = []
    for element in block.get("elements", []):
        kind = element.get("type")
        if kind == "text":
            parts.append(element["text"])
        elif kind == "user":
            parts.append(f"@{name(element['user_id'])}")
        elif kind == "channel":
            parts.append(f"#{name(element['channel_id'])}")
        elif kind == "broadcast":
            parts.append(f"@{element['range']}")
        elif kind == "link":
            parts.append(f"{element['text']} <{element['url']}>" if element.get("text") else element["url"])
        elif kind == "emoji":
            parts.append(f":{element['name']}:")
        elif "elements" in element:
            parts.append(rich_text(element, name))
    return "".join(parts)


def _text(part: dict[str, Any], name: Callable[[str], str]) -> str:
    return mrkdwn(part["text"], name) if part["type"] == "mrkdwn" else str(part["text"])


def _element(element: dict[str, Any]) -> str:
    if element["type"] == "feedback_buttons":
        return " ".join(f"[{element[name]['text']['text']}]" for name in ("positive_button", "negative_button"))
    return f"[{element['text']['text']}]" if "text" in element else f"[{element['type']}]"


def buttons(blocks: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each button's text, and the action it sends."""
    for block in blocks:
        elements = [*block.get("elements", []), *([block["accessory"]] if "accessory" in block else [])]
        for element in elements if block["type"] in ("actions", "context_actions", "section") else ():
            base = {"action_id": element.get("action_id", ""), "block_id": block.get("block_id", ""), "type": element["type"]}
            if element["type"] == "feedback_buttons":
                for name in ("positive_button", "negative_button"):
                    button = element[name]
                    yield button["text"]["text"], {**base, "text": button["text"], "value": button["value"]}
            elif "text" in element:
                yield element["text"]["text"], {**base, "text": element["text"], "value": element.get("value")}


def pings(text: str, blocks: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Who is notified: ids of people, and `channel`, `here`, `everyone`."""
    found: list[str] = list(_tokens(text))
    for block in blocks:
        if block["type"] == "markdown":
            for token in _MARKDOWN.parse(block["text"]):
                texts = groupby(token.children or [], key=lambda child: child.type == "text")
                for written in ("".join(child.content for child in group) for plain, group in texts if plain):
                    found += [*_tokens(written), *_PLAIN_PING.findall(written)]
        else:
            found += _in_block(block)
    return tuple(dict.fromkeys(found))


def _tokens(text: str) -> Iterator[str]:
    for kind, body, _ in _CONTROL.findall(text):
        if kind == "@":
            yield body
        elif kind == "!":
            yield body.partition("^")[0] if not body.startswith("subteam") else body


def _in_block(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for each in part:
            yield from _in_block(each)
    elif isinstance(part, dict):
        if part.get("type") == "mrkdwn":
            yield from _tokens(part["text"])
        elif part.get("type") == "user":
            yield part["user_id"]
        elif part.get("type") == "broadcast":
            yield part["range"]
        for value in part.values():
            yield from _in_block(value)
