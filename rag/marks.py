"""Citation marks in all the forms that models write them. One linear pattern: no repetition within a repetition."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rag.code_spans import code_spans, pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Cited

_NUMBERS = r"\d++(?:\s{0,2}(?:[,，、;；&–—~‑-]|and\b|und\b|y\b|e\b|et\b|и\b|和|と)?\s{0,2}[#^]?\d++)*+"
_SOURCES = (
    r"(?:sources?|src|passages?|excerpts?|references?|refs?|citations?|fuentes?|fontes?|trechos?|quellen?|extraits?|fonti|fonte|"
    r"bronnen?|источники?|来源|來源|资料|資料|参考|參考|出典|引用|출처|자료)"
)
_WORDS = rf"(?:{_SOURCES}|docs?|documents?|documentos?|dokumente?|документы?|cite|id|文档|文檔|段落)"
_COLON = r"\s{0,2}[:：#.]?\s{0,2}#?"
_TARGET = r"(?:\([^()\s]*+\))?"  # [[1]](http://…), [1](http://…)
_LONGEST = 6  # digits of a number that could have been given
_MARK = re.compile(
    rf"\\?\[(?P<double>\\?\[)?\s{{0,2}}(?:[#^]|{_WORDS}{_COLON})?(?P<square>{_NUMBERS})\s{{0,2}}\\?\](?(double)\\?\]){_TARGET}"
    rf"|[［〔]\s?(?:{_WORDS}{_COLON})?(?P<wide>{_NUMBERS})\s?[］〕]"
    rf"|【\s?(?:{_WORDS}{_COLON})?(?P<lens>{_NUMBERS})(?P<inner>:\d++)?(?:†[^】\n]{{0,80}})?\s?】"
    rf"|[(（]\s?{_SOURCES}{_COLON}\[?(?P<round>{_NUMBERS})\]?\s?[)）]"
    rf"|<sup>\s?\[?(?P<sup>{_NUMBERS})\]?\s?</sup>",
    re.IGNORECASE,
)
_PLAIN_MARK = re.compile(rf"\[([0-9]{{1,{_LONGEST}}})\](?!\()")  # as most are
OPENING = re.compile(r"[\\\[［〔【(（<]")  # what each form of a mark begins with
_BOUNDS = re.compile(r"(\d+)\s{0,2}[–—~‑-]\s{0,2}(\d+)|(\d+)")
_WIDEST = 50  # numbers in one range


class Mark(NamedTuple):
    """A mark at characters `start` to `end`, with the numbers it names; 0 stands for one that was never given."""

    start: int
    end: int
    numbers: tuple[int, ...]


_made = partial(tuple.__new__, Mark)  # in half of the time of calling it


def marks(text: str) -> list[Mark]:
    """The marks of a text, in order. What looks like one within code is code."""
    if not code_spans(text):
        return _found(text, 0, len(text))
    found: list[Mark] = []
    for start, end, is_code in pieces(text):
        if not is_code:
            found += _found(text, start, end)
    return found


def _found(text: str, start: int, end: int) -> list[Mark]:
    """The same as by `_MARK.finditer`: looking for one character first takes a fraction of the time."""
    found: list[Mark] = []
    while (opening := OPENING.search(text, start, end)) is not None:
        at = opening.start()
        if plain := _PLAIN_MARK.match(text, at, end):
            start = plain.end()
            found.append(_made((at, start, (int(plain[1]),))))
        elif match := _MARK.match(text, at, end):
            start = match.end()
            found.append(_mark(match))
        else:
            start = at + 1
    return found


def _mark(match: re.Match[str]) -> Mark:
    named = match["square"] or match["wide"] or match["lens"] or match["round"] or match["sup"]
    return Mark(match.start(), match.end(), (0,) if match["inner"] else _named(named))


def _named(numbers: str) -> tuple[int, ...]:
    if numbers.isdecimal():  # as most are
        return (_value(numbers),)
    named: list[int] = []
    for first, last, single in _BOUNDS.findall(numbers):
        if single:
            named.append(_value(single))
        elif 0 <= _value(last) - _value(first) < _WIDEST:
            named.extend(range(_value(first), _value(last) + 1))
        else:
            named.extend((_value(first), _value(last)))
    return tuple(dict.fromkeys(named))


def _value(digits: str) -> int:
    return int(digits) if len(digits) <= _LONGEST else 0


# --- citations that the model gives beside its text -----------------------------------------------------------------

_WHOLE = re.compile(r"\[[^\[\]\n]{0,300}\]\([^()\s]{0,2000}\)|https?://\S+|<[^<>\s]{1,2000}>")
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_BEFORE_STOP = re.compile(r"[\s.!?,;:。！？，；：、…\"'”’»)\]）」』*_]{0,8}$")


def with_native_marks(text: str, cited: Sequence[Cited]) -> str:
    """The text with a mark at the end of each stretch that the model itself gave as cited.

    Of several marks alike in one sentence only the last is written.
    """
    if not cited:
        return text
    spans = sorted((c for c in cited if 0 <= c.start < c.end <= len(text) and c.excerpts), key=lambda c: c.end)
    wholes = wholes_of(text) if spans else []
    places = [(_insertion_point(text, span, wholes), span.excerpts) for span in spans]
    parts: list[str] = []
    done = 0
    for index, (at, numbers) in enumerate(places):
        if index + 1 < len(places) and places[index + 1][1] == numbers and not _SENTENCE_END.search(text, at, places[index + 1][0]):
            continue
        parts.extend((text[done:at], _written(text, at, numbers)))
        done = max(done, at)
    return "".join((*parts, text[done:]))


def wholes_of(text: str) -> list[tuple[int, int]]:
    """Code, links and marks, in order: no mark is put inside one."""
    found: list[tuple[int, int]] = []
    for start, end, is_code in pieces(text):
        if is_code:
            found.append((start, end))
        else:
            inner = [match.span() for match in _WHOLE.finditer(text, start, end)]
            found.extend(sorted(inner + [(mark.start, mark.end) for mark in _found(text, start, end)]))
    return found


def _insertion_point(text: str, span: Cited, wholes: list[tuple[int, int]]) -> int:
    before = _BEFORE_STOP.search(text, max(span.start, span.end - 8), span.end)
    at = before.start() if before and before.start() > span.start else span.end
    while at < len(text) and at and text[at - 1].isalnum() and text[at].isalnum() and text[at].isascii():
        at += 1  # never inside a word
    return outside(at, wholes)


def outside(at: int, wholes: list[tuple[int, int]]) -> int:
    index = bisect_right(wholes, (at, 0)) - 1
    return wholes[index][1] if index >= 0 and wholes[index][0] < at < wholes[index][1] else at


def _written(text: str, at: int, numbers: tuple[int, ...]) -> str:
    written = "".join(f"[{n}]" for n in dict.fromkeys(numbers))
    before = text[at - 1 : at]
    if text[:at].endswith(("```", "~~~")):
        return f"\n{written}"
    return written if before.isspace() or is_wide(before) else f" {written}"


def is_wide(character: str) -> bool:
    """Whether text in this character's script is written without spaces between words."""
    return "\u2e80" <= character <= "\ud7a3" or "\uf900" <= character <= "\uffef"
