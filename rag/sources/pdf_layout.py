"""Lines of printed pages as running text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EDGE = 2  # lines at the top and at the bottom that may be running ones
_SHARE = 0.25  # of the pages
_FEWEST = 3
_LEADER = re.compile(r"[.·…‥](?:\s?[.·…‥]){4,}\s*\w{0,6}$")  # a line of a table of contents
_LOST = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DIVIDED = re.compile("([^\\W\\d_]+)[\u00ad\ufffe\x02]\n?([^\\W\\d_]+)")
_MARKS = re.compile("[\u00ad\ufffe\x02]")
_HYPHEN_END = re.compile(r"([^\W\d_]+)-\n([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_ITEM = re.compile(r"\s*(?:[•–‣▪◦·*●○■□➢✓\uf0b7\uf0a7-]\s|\(?\d{1,3}[.)]\s|\(?[a-z][.)]\s)")
_ENDS = tuple(".!?:;。！？：；")
_CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_NARROWEST = 32  # columns of a line that may go on in the next one
_FULL = 0.78  # of the usual width: such a line goes on in the next one


def without_running_lines(pages: Sequence[list[str]]) -> list[list[str]]:
    """Pages without what stands at the top or bottom of many of them: titles, page numbers."""
    kept = [[line for line in page if not _LEADER.search(line)] for page in pages]
    for _ in range(_EDGE):
        for at in (0, -1):
            edges = [(number, page[at]) for number, page in enumerate(kept) if page]
            repeated = _repeated([_keys(number, line) for number, line in edges])
            for number, line in edges:
                if repeated.intersection(_keys(number, line)):
                    del kept[number][at]
    return kept


_Key: TypeAlias = tuple[str, str | int]


def _keys(number: int, line: str) -> tuple[_Key, ...]:
    """What tells a running line: all of it; its first or last two words, if a number is among them (`CHAPTER 2. SETTINGS`);
    a page number at either end, as far as it is ahead of the page's real one.
    """
    words = line.split()
    keys: list[_Key] = [("whole", " ".join(words))]
    if len(words) > 2:  # noqa: PLR2004 - two of more
        ends = (("first two", " ".join(words[:2])), ("last two", " ".join(words[-2:])))
        keys.extend(end for end in ends if re.search(r"\d", end[1]))
    for place, word in (("first", words[0]), ("last", words[-1])):
        if word.isdecimal() and len(word) < 6:  # noqa: PLR2004 - digits
            keys.append((place, int(word) - number))
    if re.fullmatch(r"[ivxlcIVXLC]{1,7}", line.strip()):
        keys.append(("whole", "a Roman number"))
    return tuple(keys)


def _repeated(pages: Sequence[tuple[_Key, ...]]) -> set[_Key]:
    """Keys that are on several pages, where such keys of their kind are on many."""
    counts = Counter(key for keys in pages for key in keys)
    several = {key: count for key, count in counts.items() if count >= _FEWEST}
    kinds: Counter[str] = Counter()
    for (kind, _), count in several.items():
        kinds[kind] += count
    return {key for key in several if kinds[key[0]] >= _SHARE * len(pages)}


def mended(pages: Sequence[list[str]]) -> Iterator[list[str]]:
    """Words that were divided at the end of a line are put together, unless their hyphen is their own."""
    known = Counter(word.lower() for page in pages for line in page for word in _WORD.findall(line))

    def whole(found: re.Match[str]) -> str:
        joined, hyphened = f"{found[1]}{found[2]}", f"{found[1]}-{found[2]}"
        return hyphened if known[hyphened.lower()] > known[joined.lower()] else joined

    def rejoined(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2]}" if known[f"{found[1]}{found[2]}".lower()] else f"{found[1]}-{found[2]}"

    for page in pages:
        text = _DIVIDED.sub(whole, "\n".join(page))
        text = _HYPHEN_END.sub(rejoined, text)
        yield _LOST.sub("\ufffd", _MARKS.sub("", text)).split("\n") if text else []


def flowing(pages: Sequence[Sequence[str]]) -> Iterator[str]:
    """Full lines of prose joined to paragraphs; a blank line behind a last line that ends a sentence."""
    widths = sorted(_width(line) for page in pages for line in page)
    full = max(_NARROWEST, _FULL * widths[int(0.9 * (len(widths) - 1))]) if widths else 0
    for lines in pages:
        parts = [*lines[:1]]
        for before, line in pairwise(lines):
            parts.extend((_between(before, line, full), line))
        yield "".join(parts)


def _between(before: str, line: str, full: float) -> str:
    if _ITEM.match(line):
        return "\n"
    if before.endswith(_ENDS):
        return "\n" if _width(before) >= full else "\n\n"
    if _width(before) >= full and _is_prose(before):
        return "" if _CJK.match(before[-1]) and _CJK.match(line.lstrip()[:1]) else " "
    return "\n"


def _is_prose(line: str) -> bool:
    """Not code, nor a row of a table."""
    return sum(character.isalpha() or character in " ,.'’-" for character in line) >= 0.85 * len(line)


def _width(line: str) -> int:
    if line.isascii():
        return len(line)
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)
