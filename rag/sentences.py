"""Text to sentences, in any language and in Markdown: by rule, in linear time whatever the text holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from rag import lines

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL_STOPS = " .!?…。！？"  # without those at its end a sentence says the same
Kind: TypeAlias = Literal["prose", "item", "heading", "term", "title", "row", "code"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r"[ \t]{0,12}(`{3,}(?=[^`\n]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_RULE = re.compile(r"\s*([=\-~^*_#\"])\1{2,}\s*$")
_BULLET = re.compile(
    r"\s{0,12}(?:[-*+•‣◦·–]\s|[a-z]\)\s|[（(][0-9一二三四五六七八九十]{1,3}[)）]|[一二三四五六七八九十]{1,3}、|[①-⑳])"
)
_NUMBER = re.compile(r"\s{0,12}([0-9]{1,3})[.)]\s")
_DEFINITION = re.compile(r" {0,3}:[ \t]")  # as in Markdown Extra, below the term
_INDENTED = re.compile(r"(?: {4}|\t)")
_WITHIN_ITEM = re.compile(r" {2,4}(?=\S)")

_CLOSERS = "\"'”’»)\\]）」』】》〉*_"
# Runs of stops with what closes a quotation after them, or code in a line, in which no sentence ends.
_STOP = re.compile(rf"`[^`\n]{{1,200}}`|(?P<wide>[。！？｡]++)[{_CLOSERS}]*+|(?P<stop>[.!?…．؟۔।॥։።။។]++)[{_CLOSERS}]*+")
_STOP_BEGINS = re.compile("[`。！？｡.!?…．؟۔।॥։።။]")
_TOKEN = re.compile(r"[^\s(\[{\"'“‘«*_]*$")
_LOOKBACK = 24  # longer than any abbreviation: bounds the work at each full stop
_ABBREVIATIONS = frozenset(
    "dr mr mrs ms prof st jr sr vs cf al nr vol vols pp fig figs eq ed eds approx dept inc ltd co corp "  # noqa: SIM905 - one text reads more easily
    "gen col sgt lt capt rev hon gov sen rep pres ave blvd rd mt ft ca bzw usw evtl ggf vgl abb bd hrsg str tel "
    "geb gest jh mio mrd inkl zzgl núm num pág págs pag págs sra dra srta ud uds av avda aprox ej prof profa eng "
    "exmo máx mín mme mlle éd p m n env tél dott sig pagg blz bijv enz dhr mevr ca др руб ул стр рис табл "
    "тыс млн млрд проф акад см ср напр np tzn tzw itd itp ul r s w św örn bkz vb sn yy".split()
)
# words otherwise, or at the end of a sentence
_BEFORE_NUMBERS = frozenset(("no", "nos", "art", "cap", "kap", "abs", "ch", "sec", "max", "min", "ca", "hl"))
_MONTH = re.compile(
    r"(?:Jan|Feb|Mär|Mar|Apr|Ma[ij]|Jun|Jul|Aug|Sep|Okt|Oct|Nov|Dez|Des|Dec|"
    r"Jahrhundert|Jh|Platz|Auflage|Kapitel|Tag|Geburtstag|Klasse|Stock|Weltkrieg|Bundesliga)"
)
_SHORT = 60  # a title that stands on a line of its own above its text is no longer than this


class Segment(NamedTuple):
    """Characters `start` to `end` of a text: a sentence, a heading, a table's row, or code that is kept whole.

    A term is a name or a signature alone on its line, above its description; a title any other short line above its text.
    `block` counts paragraphs, list items, tables and so on: sentences of one paragraph share it.
    """

    start: int
    end: int
    kind: Kind
    block: int


_segment = partial(tuple.__new__, Segment)  # in half of the time of calling it


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence starts and ends. Spans are trimmed, in order, and leave out white space alone."""
    return [(segment.start, segment.end) for segment in segments(text)]


def segments(text: str) -> list[Segment]:
    found: list[Segment] = []
    for block, (start, end, kind) in enumerate(_parts(text)):
        spans = _sentences(text, start, end, kind) if kind in ("prose", "item") else [(start, end)]
        for first, last in spans:
            trimmed = _trim(text, first, last)
            if trimmed:
                found.append(_segment((*trimmed, kind, block)))
    return found


def _parts(text: str) -> Iterator[tuple[int, int, Kind]]:
    for start, end, kind in _blocks(text):
        if kind == "prose":
            yield from lines.parts(text, start, end)
        else:
            yield start, end, kind


# --- blocks ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    """The block that is being read: it has no kind while there is none."""

    start: int = 0
    end: int = 0
    kind: Kind | None = None
    lines: int = 0
    fence: str = ""
    blank: bool = True
    in_list: bool = False

    def begin(self, start: int, end: int, kind: Kind, fence: str = "", *, in_list: bool = False) -> None:
        self.start, self.end, self.kind, self.lines, self.fence, self.blank = start, end, kind, 1, fence, False
        self.in_list = in_list

    def extend(self, end: int) -> None:
        self.end, self.lines = end, self.lines + 1

    def close(self) -> Iterator[tuple[int, int, Kind]]:
        if self.kind is not None:
            yield self.start, self.end, self.kind
        self.kind, self.fence = None, ""


def _blocks(text: str) -> Iterator[tuple[int, int, Kind]]:
    block = _Open()
    for match in _LINE.finditer(text):
        line, end = match[0], match.end()
        if block.fence:
            block.extend(end)
            fence = _FENCE.match(line)
            if fence and fence[1].startswith(block.fence) and not line[fence.end() :].strip():
                yield from block.close()
        elif not line.strip():
            yield from block.close()
            block.blank = True
        elif block.kind == "prose" and block.lines == 1 and _RULE.match(line) and line.strip()[0] in "=-~^":
            block.kind = "heading"  # a title underlined
            block.extend(end)
            yield from block.close()
        elif _continues(text, block, line, match.start()):
            block.extend(end)
        else:
            kind = _kind(line, block)
            if kind == "prose" and block.kind in ("prose", "item"):
                block.kind = "title"  # only a title above it keeps prose from going on
            yield from block.close()
            fence = _FENCE.match(line) if kind == "code" else None
            in_list = kind == "item" or (block.in_list and line[0].isspace())
            block.begin(match.start(), end, kind, fence[1] if fence else "", in_list=in_list)
    yield from block.close()


def _kind(line: str, block: _Open) -> Kind:
    is_plain = line[0].isascii() and line[0].isalpha() and line[1:2] != ")"  # as most lines are
    return "prose" if is_plain else _marked_kind(line, block)


def _marked_kind(line: str, block: _Open) -> Kind:
    if _FENCE.match(line):
        return "code"
    if _HEADING.match(line):
        return "heading"
    if line.lstrip().startswith("|"):
        return "row"
    if _starts_item(line, block) or (block.in_list and block.blank and _WITHIN_ITEM.match(line)):  # a further paragraph of one
        return "item"
    if block.blank and _INDENTED.match(line):
        return "code"
    return "prose"


def _starts_item(line: str, block: _Open) -> bool:
    if _BULLET.match(line):
        return True
    number = _NUMBER.match(line)
    # As in CommonMark: "24. " at the start of a wrapped line is not a list, "1. " is.
    return bool(number) and (block.kind != "prose" or number[1] in ("1", "01"))  # type: ignore[index]  # bool(number) says it is there


def _continues(text: str, block: _Open, line: str, start: int) -> bool:
    """Whether a line goes on with the block above it."""
    if block.kind == "code":
        return bool(_INDENTED.match(line))
    if block.kind not in ("prose", "item") or _kind(line, block) != "prose":
        return False
    return not (block.lines == 1 and _is_title(text[block.start : start], line, numbered=block.kind == "item"))


def _is_title(above: str, below: str, *, numbered: bool) -> bool:
    """A short line above a much longer one that begins anew: a title, not the first line of a wrapped paragraph or item."""
    if numbered:
        number = _NUMBER.match(above)
        if not number or below[0].isspace():
            return False
        above = above[number.end() :]
    is_definition = _DEFINITION.match(below) is not None
    above, below = above.strip(), below.lstrip(" \t:").rstrip()
    return bool(above and below) and (
        len(above) <= _SHORT
        and (is_definition or len(above) * 5 <= len(below) * 3)
        and above[-1].isalnum()
        and (is_definition or not (above[0].islower() or below[0].islower()))
        and below[0].isalnum()
    )


# --- sentences ------------------------------------------------------------------------------------------------------


def _sentences(text: str, start: int, end: int, kind: Kind) -> Iterator[tuple[int, int]]:
    first = start
    for last in lines.breaks(text, start, end) if kind == "prose" else ():
        yield from _between_breaks(text, first, last)
        first = last
    yield from _between_breaks(text, first, end)


def _between_breaks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    first = start
    for match in _stops(text, _after_marker(text, start, end), end):
        wide = match["wide"] is not None
        if (wide and _ends_wide(text, match)) or (match["stop"] and _ends(text, match, first, end)):
            yield first, match.end()
            first = match.end()
    if first < end:
        yield first, end


def _stops(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The same as `_STOP.finditer`: looking for one character first takes a third of the time."""
    while (begins := _STOP_BEGINS.search(text, start, end)) is not None:
        match = _STOP.match(text, begins.start(), end)
        if match is not None:
            yield match
        start = begins.end() if match is None else match.end()


def _after_marker(text: str, start: int, end: int) -> int:
    """Behind the "1." of a list item, which ends no sentence."""
    number = _NUMBER.match(text, start, end)
    return number.end() if number else start


def _ends_wide(text: str, match: re.Match[str]) -> bool:
    """A Japanese quotation that ends in a stop goes on: 「はい。」と言った。"""
    return not (match.end() > match.end("wide") and text[match.end() : match.end() + 1] in ("と", "っ", "の", "は", "が"))


def _ends(text: str, match: re.Match[str], first: int, end: int) -> bool:
    after = match.end()
    if after < end and not text[after].isspace():
        return False
    following = _next_word(text, after, end)
    if not following:
        return True
    if following[0].islower():
        return False
    return match["stop"] not in (".", "．") or not _is_abbreviated(
        text[max(first, match.start() - _LOOKBACK) : match.start()], following
    )


def _next_word(text: str, after: int, end: int) -> str:
    return text[after : min(end, after + _LOOKBACK)].lstrip().lstrip("\"'“‘«([*_")


def _is_abbreviated(before: str, following: str) -> bool:
    token = _TOKEN.search(before)
    word = token[0] if token else ""
    if len(word) == 1 and word.isalpha() and word not in "Iіяıó" and not _is_wide(word):
        return True  # an initial, or "z. B."
    if "." in word.strip(".") and not word[-1:].isdigit() and "/" not in word and all(len(part) <= 2 for part in word.split(".")):  # noqa: PLR2004 - e.g, U.S, Ph.D
        return True
    if word.isdigit() and len(word) <= 2:  # noqa: PLR2004 - "3. Oktober", not "1995. Then"
        return bool(_MONTH.match(following))
    return word.lower() in _ABBREVIATIONS or (word.lower() in _BEFORE_NUMBERS and following[0].isdigit())


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\uffff"


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without white space around it. Slices are stripped in C: a million blanks cost nothing."""
    piece = text[start:end]
    stripped = piece.strip()
    if not stripped:
        return None
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(stripped)
