"""What Slack refuses in a message, with its own error codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_TEXT = 40_000
LONGEST_UPDATE = 4_000
LONGEST_MARKDOWN = 12_000
LONGEST_SUM = 13_200
MOST_BLOCKS = 50
STREAM_SECONDS = 300.0
STATUS_SECONDS = 120.0
ACK_SECONDS = 3.0
MOST_METADATA = 8_000

# A minute's calls of each method; what is not named is of tier 3.
TIERS = {
    "apps.connections.open": 60,  # tier 1 in the books, yet reconnecting works
    "assistant.threads.setStatus": 60,
    "auth.test": 600,
    "chat.appendStream": 100,
    "chat.getPermalink": 600,
    "chat.postEphemeral": 100,
    "chat.postMessage": 60,  # for each channel
    "chat.startStream": 20,
    "chat.stopStream": 20,
    "conversations.list": 20,
    "conversations.members": 100,
    "users.info": 100,
    "users.list": 20,
    "views.open": 100,
    "views.publish": 100,
}
TIER_3 = 50

_LONGEST = {"action_id": 255, "block_id": 255, "url": 3000, "image_url": 3000, "value": 2000, "alt_text": 2000}


class Refused(Exception):
    """An answer with `ok: false`."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.more = more


def check_blocks(blocks: Any) -> None:
    if not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    problems = list(_problems(blocks))
    if problems:
        raise Refused("invalid_blocks", errors=problems, response_metadata={"messages": [f"[ERROR] {one}" for one in problems]})
    if sum(map(len, texts(blocks))) > LONGEST_SUM:
        raise Refused("msg_blocks_too_long")


def texts(part: Any) -> Iterator[str]:
    """Every text that counts, wherever it stands in a block."""
    if isinstance(part, list):
        for each in part:
            yield from texts(each)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key == "text" and isinstance(value, str):
                yield value
            else:
                yield from texts(value)


def _problems(blocks: list[Any]) -> Iterator[str]:
    if not 0 < len(blocks) <= MOST_BLOCKS:
        yield f"no more than {MOST_BLOCKS} items allowed [json-pointer:/blocks]" if blocks else "no blocks [json-pointer:/blocks]"
    ids = [block["block_id"] for block in blocks if isinstance(block, dict) and "block_id" in block]
    if len(ids) != len(set(ids)):
        yield "block_id is used twice [json-pointer:/blocks]"
    if sum(isinstance(block, dict) and block.get("type") == "table" for block in blocks) > 1:
        yield "only_one_table_allowed [json-pointer:/blocks]"
    for at, block in enumerate(blocks):
        where = f"[json-pointer:/blocks/{at}"
        check = _BLOCKS.get(str(block.get("type"))) if isinstance(block, dict) else None
        if check is None:
            yield f"unsupported type {where}/type]"
        else:
            yield from (f"{problem} {where}]" for problem in (*_fields(block), *check(block)))


def _fields(part: dict[str, Any]) -> Iterator[str]:
    for key, longest in _LONGEST.items():
        if isinstance(value := part.get(key), str) and len(value) > longest:
            yield f"{key} must be less than {longest + 1} characters"
        elif key in part and part[key] == "":
            yield f"{key} must be more than 0 characters"


def _text(part: Any, longest: int, *kinds: str) -> Iterator[str]:
    if not isinstance(part, dict) or part.get("type") not in (kinds or ("mrkdwn", "plain_text")):
        yield "a text object of the right type is missing"
        return
    if not part.get("text"):
        yield "must be more than 0 characters"
    elif len(part["text"]) > longest:
        yield f"must be less than {longest + 1} characters"


def _section(block: dict[str, Any]) -> Iterator[str]:
    if "text" in block:
        yield from _text(block["text"], 3000)
    elif not block.get("fields"):
        yield "missing required field: text"
    fields = block.get("fields", [])
    if len(fields) > 10:
        yield "no more than 10 fields"
    for field in fields:
        yield from _text(field, 2000)
    if "accessory" in block:
        yield from _element(block["accessory"])


def _markdown(block: dict[str, Any]) -> Iterator[str]:
    if not isinstance(block.get("text"), str) or not block["text"]:
        yield "must be more than 0 characters"
    elif len(block["text"]) > LONGEST_MARKDOWN:
        yield f"must be less than {LONGEST_MARKDOWN + 1} characters"


def _header(block: dict[str, Any]) -> Iterator[str]:
    yield from _text(block.get("text"), 150, "plain_text")


def _context(block: dict[str, Any]) -> Iterator[str]:
    elements = block.get("elements", [])
    if not 0 < len(elements) <= 10:
        yield "1 to 10 elements are allowed"
    for element in elements:
        if element.get("type") == "image":
            yield from _image(element)
        else:
            yield from _text(element, 3000)


def _actions(block: dict[str, Any]) -> Iterator[str]:
    yield from _elements(block, 25, set(_ELEMENTS) - {"feedback_buttons", "icon_button"})


def _context_actions(block: dict[str, Any]) -> Iterator[str]:
    yield from _elements(block, 5, {"feedback_buttons", "icon_button"})


def _elements(block: dict[str, Any], most: int, kinds: set[str]) -> Iterator[str]:
    elements = block.get("elements", [])
    if not 0 < len(elements) <= most:
        yield f"1 to {most} elements are allowed"
    ids = [element.get("action_id") for element in elements]
    if len(set(ids)) != len(ids):
        yield "action_id is used twice"
    for element in elements:
        if element.get("type") not in kinds:
            yield f"unsupported element {element.get('type')}"
        else:
            yield from _element(element)


def _element(element: dict[str, Any]) -> Iterator[str]:
    yield from _fields(element)
    check = _ELEMENTS.get(element.get("type", ""))
    if check is None:
        yield f"unsupported element {element.get('type')}"
    else:
        yield from check(element)


def _button(element: dict[str, Any]) -> Iterator[str]:
    yield from _text(element.get("text"), 75, "plain_text")
    if element.get("style", "primary") not in ("primary", "danger"):
        yield "style must be primary or danger"


def _feedback(element: dict[str, Any]) -> Iterator[str]:
    for name in ("positive_button", "negative_button"):
        button = element.get(name)
        if not isinstance(button, dict) or not button.get("value"):
            yield f"{name} is missing"
        else:
            yield from _fields(button)
            yield from _text(button.get("text"), 75, "plain_text")


def _icon(element: dict[str, Any]) -> Iterator[str]:
    yield from _text(element.get("text"), 75, "plain_text")
    if element.get("icon") != "trash":
        yield "icon must be trash"


def _image(block: dict[str, Any]) -> Iterator[str]:
    if not block.get("image_url") and not block.get("slack_file"):
        yield "image_url is missing"
    if "alt_text" not in block:
        yield "alt_text is missing"


def _table(block: dict[str, Any]) -> Iterator[str]:
    rows = block.get("rows", [])
    if not 0 < len(rows) <= 100:
        yield "1 to 100 rows are allowed"
    if any(len(row) > 20 for row in rows):
        yield "no more than 20 columns"


def _input(block: dict[str, Any]) -> Iterator[str]:
    yield from _text(block.get("label"), 2000, "plain_text")
    yield from _element(block.get("element", {}))


def _anything(_: dict[str, Any]) -> Iterator[str]:
    return iter(())


_ELEMENTS = {
    "button": _button,
    "feedback_buttons": _feedback,
    "icon_button": _icon,
    "overflow": _anything,
    "static_select": _anything,
    "users_select": _anything,
    "plain_text_input": _anything,
    "image": _image,
}
_BLOCKS = {
    "section": _section,
    "markdown": _markdown,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "context_actions": _context_actions,
    "divider": _anything,
    "image": _image,
    "table": _table,
    "rich_text": _anything,
    "input": _input,
    "task_card": _anything,
    "plan": _anything,
}
