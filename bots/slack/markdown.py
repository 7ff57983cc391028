"""An answer's Markdown as Slack's markdown block takes it: it shows Markdown by itself, yet nothing in it may ping or preview.

The beginning of a text always becomes the beginning of the whole one, so that it can be streamed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bots.slack.limits import LINK
from rag.code_spans import code_spans
from rag.code_spans import pieces as stretches
from rag.text import well_formed

if TYPE_CHECKING:
    from collections.abc import Callable

# Direction overrides turn around what follows them; the others show nothing. Joiners and marks of direction stay.
_UNSHOWN = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]")
_TOKEN = re.compile(r"<(?=!(?:channel|here|everyone|group|subteam|date)\b|[@#][A-Z0-9]{5})")
_CALL = re.compile(r"(?<![\w.])@(?=(?:here|channel|everyone|group)\b)", re.IGNORECASE)
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,500})\]\([^()\s]{0,3000}(?:\([^()\s]{0,500}\)[^()\s]{0,500}){0,5}\)")
_LINK = re.compile(r"\[(?P<label>[^\[\]\n]{1,1000})\]\(<?(?P<to>https?://[^\s<>]{1,10000}?)>?\)(?=[^)]|$)")
_KEPT = re.compile(r"<https?://[^\s<>|]{1,2900}>|\]\(https?://[^\s<>]{1,2900}\)")
_BARE = re.compile(r"(?<![\w<])https?://[^\s<>\[\]`|\"]{1,10000}", re.IGNORECASE)
_TRAILING = ".,;:!?)'*_~。，；：！？、）"
_BREAK = re.compile(r"<br[ ]?/?>", re.IGNORECASE)
# Scripts that set no spaces between words.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_STRONG = re.compile(
    rf"(?P<before>[{_UNSPACED}])?(?P<bold>\*\*(?=[^\s*])[^*\n]{{1,2000}}?(?<=[^\s*])\*\*(?!\*))(?P<after>(?=[{_UNSPACED}]))?"
)
HAIR = "\N{HAIR SPACE}"


def shown(text: str) -> str:
    """The whole text. What is code stays as it is, but for what Slack would read as a mention even there."""
    text = readable(text)
    return "".join(_defused(text[start:end]) if code else _prose(text[start:end]) for start, end, code in stretches(text))


def readable(text: str) -> str:
    """Without characters that Slack refuses or that reorder what stands around them."""
    return _UNSHOWN.sub("", well_formed(text).replace("\r\n", "\n"))


def _defused(code: str) -> str:
    return _TOKEN.sub("<\N{ZERO WIDTH SPACE}", code)


def _prose(text: str) -> str:
    text = _BREAK.sub(" ", _IMAGE.sub(lambda match: match[1], text))
    text = _LINK.sub(_link, text)
    text = _apart(text, _KEPT, _plain)
    return _STRONG.sub(_spaced, text)


def _link(match: re.Match[str]) -> str:
    address = match["to"].replace("(", "%28").replace(")", "%29")
    return match["label"] if len(address) > LINK else f"[{match['label']}]({address})"


def _apart(text: str, kept: re.Pattern[str], change: Callable[[str], str]) -> str:
    """Change what stands between what is kept."""
    parts: list[str] = []
    done = 0
    for match in kept.finditer(text):
        parts += [change(text[done : match.start()]), match[0]]
        done = match.end()
    return "".join([*parts, change(text[done:])])


def _plain(text: str) -> str:
    """No `<` is left that Slack could take for the beginning of a mention; addresses end where they end."""
    parts: list[str] = []
    done = 0
    for match in _BARE.finditer(text):
        address = _address(match[0])
        parts += [_escaped(text[done : match.start()]), f"<{address}>" if len(address) <= LINK else address]
        done = match.start() + len(address)
    return "".join([*parts, _escaped(text[done:])])


def _escaped(text: str) -> str:
    return _CALL.sub("@\N{ZERO WIDTH SPACE}", text).replace("<", "&lt;")


def _address(found: str) -> str:
    address = found.rstrip(_TRAILING)
    return found[: len(address) + 1] if found[len(address) :][:1] == ")" and address.count("(") > address.count(")") else address


def _spaced(match: re.Match[str]) -> str:
    """Next to scripts without spaces, marks of emphasis are not seen as such without one."""
    before = f"{match['before']}{HAIR}" if match["before"] else ""
    return f"{before}{match['bold']}{HAIR if match['after'] is not None else ''}"


# --- on its way -----------------------------------------------------------------------------------------------------

_LAST_FENCE = re.compile(r"(?:\A|(?<=\n))[ \t]{0,12}(?:`{3,}|~{3,})[^\n`]*\n?\s*$")
_HALF_FENCE = re.compile(r"\n[ \t]*[`~]+[ \t]*$")
_HALF_TOKEN = re.compile(r"<[!@#]?\w{0,9}$")
_CLOSED = re.compile(
    r"`[^`\n]+`|\*\*(?=[^\s*])[^*\n]+(?<=[^\s*])\*\*(?=[^*])|\[[^\[\]\n]{1,1000}\]\([^\s()]{1,3000}\)(?=[^)])|\[\d{1,4}\](?=[^(\[\d])"
)
_OPEN = re.compile(r"[`*\[<!@]|(?<!\w)https?:\S*$|\bh(?:t(?:tp?s?)?)?$", re.IGNORECASE)
_ITEM = re.compile(r"^[ \t]*(?:>[ \t]?)*[*+-][ \t]+")


def settled(draft: str) -> str:
    """The beginning of a draft that will look the same whatever follows it."""
    draft = _LAST_FENCE.sub("", readable(draft))
    spans = code_spans(draft)
    if spans and spans[-1][1] == len(draft) and "\n" in draft[spans[-1][0] :]:
        return _HALF_TOKEN.sub("", _HALF_FENCE.sub("", draft)).rstrip()
    start = draft.rfind("\n") + 1
    line = draft[start:]
    marker = _ITEM.match(line)
    at = marker.end() if marker else 0
    veiled = " " * at + _CLOSED.sub(lambda match: " " * len(match[0]), line[at:])
    found = _OPEN.search(veiled)
    if marker is None and not line.strip(" \t>*+-_~"):
        return draft[:start].rstrip()
    return (draft[: start + found.start()] if found else draft).rstrip()
