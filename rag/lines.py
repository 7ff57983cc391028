"""Where the lines of a paragraph mean something: a name above its description, a record, a line that ends before the margin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag.text import width

if TYPE_CHECKING:
    from collections.abc import Iterator

Part: TypeAlias = Literal["prose", "term"]

# csv.DictWriter and its arguments after "class", `max_connections (integer)`, `int PyList_Size(PyObject *list) -> int`
_SIGNATURE = re.compile(
    r"(?:[\w.*]{1,40} ){0,3}[\w.:$@*/-]{1,80} ?\((?:[^\n()]|\([^\n()]{0,200}\)){0,500}\)(?: ?(?:->|→) ?[^\n]{1,80})?"
)
_NAME = re.compile(r"[\w$@*/<-][\w.:$@*/<>=-]{0,60}")  # row_factory, --with-assertions
_ENDED = re.compile(r"[.!?。！？…:：;；)）\]|\"”'’`*_]\Z")
_COLON = re.compile(r"[:：]\Z")
_JOINING = re.compile(  # words at the end of a line behind which a sentence goes on
    r"(?<![\w-])(?:and|or|nor|but|of|to|in|on|at|by|for|from|with|than|as|the|an?|y|e|o|u|de|del|la|el|los|las|en|con|por|para|que|"
    r"do|da|dos|das|em|no|na|com|os?|as?|und|oder|von|mit|für|der|die|das|dem|den|et|ou|du|des|les?|avec|pour)\Z"
)
_FIELD = re.compile(r"[^\W\d_][^\n:：;；,.]{0,30}[:：]")
_CLEARLY = 0.6  # a line that much shorter than the longest one was not broken by the margin
_SEEN = 80  # characters before a line that are looked at
_MARGIN = 60  # columns: where lines are shorter than that, nothing is known of their margin


def parts(text: str, start: int, end: int) -> Iterator[tuple[int, int, Part]]:
    """A paragraph cut at each line that names what is described below it."""
    if text.find("\n", start, end - 1) < 0:  # one line, as most paragraphs of an answer are
        yield start, end, "prose"
        return
    lines = _lines(text, start, end)
    first = start
    for index, (begin, stop) in enumerate(lines[:-1]):
        above, below = text[begin:stop].strip(), text[slice(*lines[index + 1])].strip()
        if is_term(above, below) and (begin == first or _ENDED.search(text[max(first, begin - _SEEN) : begin].rstrip()[-1:])):
            if begin > first:
                yield first, begin, "prose"
            yield begin, stop, "term"
            first = stop
    if first < end:
        yield first, end, "prose"


def is_term(above: str, below: str) -> bool:
    """A signature or a name alone on its line, and below it a text that begins anew."""
    if not above or not below or below[0].islower() or not (below[0].isalnum() or below[0] in "\"“‘'`(["):
        return False
    if _NAME.fullmatch(above):
        return len(above) * 5 <= len(below) * 3 and (above[0].islower() or not above.isalpha())
    return _SIGNATURE.fullmatch(above) is not None


def breaks(text: str, start: int, end: int) -> list[int]:
    """Where a line ends on purpose: behind a colon, or long before the margin that the other lines reach."""
    if text.find("\n", start, end - 1) < 0:
        return []
    lines = _lines(text, start, end)
    widths = [width(text[begin:stop].strip()) for begin, stop in lines]
    margin = max(widths)
    found = []
    for (begin, stop), (following, _), wide in zip(lines, lines[1:], widths, strict=False):
        next_one = text[following : following + 1]
        ended = _COLON.search(text[begin:stop].rstrip()[-1:]) is not None
        short = margin >= _MARGIN and wide < _CLEARLY * margin and not next_one.islower()
        short = short and _JOINING.search(text[max(begin, stop - _SEEN) : stop].rstrip()) is None
        if ended or _is_record(text, begin, following) or (short and text[begin:stop].rstrip()[-1:] not in (",", "，", "、")):
            found.append(stop)
    return found


def _is_record(text: str, begin: int, following: int) -> bool:
    """Both lines begin with the same name of a field."""
    here, there = _FIELD.match(text, begin), _FIELD.match(text, following)
    return here is not None and there is not None and here[0] == there[0]


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found = []
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        found.append((start, stop))
        start = stop
    return found
