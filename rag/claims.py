"""Which words each mark of an answer stands for."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from rag.content import says_words
from rag.marks import marks, outside, wholes_of
from rag.sentences import FULL_STOPS, segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.sentences import Segment

_BETWEEN = re.compile(r"[ \t]{0,8}[,，、;；]?[ \t]{0,8}")
_LEAD_IN = re.compile(r"[:：]\W{0,4}$")
_FEW_WORDS = 2  # content words: a claim of fewer says too little by itself
_SHORT = 100  # characters: a longer sentence has more words than that
_NEXT = 6  # sentences, items or rows that a lead-in may speak for
_FEWEST_TO_ATTACH = 3
_LONGEST, _STRIDE = 2_000, 1_000  # characters of a claim, and what stretches of an endless sentence differ by


class Group(NamedTuple):
    """Marks that stand together at `at` in a text without marks. `start` to `end` is the sentence they stand for.

    Any one of `claims` that is supported will do: the words since the marks before, or the sentence with what it needs.
    """

    at: int
    start: int
    end: int
    numbers: tuple[int, ...]
    claims: tuple[str, ...]
    block: int = 0


class Standing(NamedTuple):
    """Marks taken out of a text: `at` is where, in the text without marks."""

    at: int
    numbers: tuple[int, ...]


def without_marks(text: str) -> tuple[str, list[Standing]]:
    """The text without its marks, and those that stood together as one."""
    parts: list[str] = []
    found: list[tuple[int, dict[int, None]]] = []
    done = length = 0
    for mark in marks(text):
        between = text[done : mark.start]
        if not (found and found[-1][0] == length and _BETWEEN.fullmatch(between)):
            parts.append(between)
            length += len(between)
            found.append((length, {}))
        found[-1][1].update(dict.fromkeys(mark.numbers))
        done = mark.end
    parts.append(text[done:])
    return "".join(parts), [Standing(at, tuple(numbers)) for at, numbers in found]


def groups(plain: str, found: Sequence[Standing]) -> list[Group]:
    if not found:
        return []
    parts = segments(plain)
    starts = [part.start for part in parts]
    made: list[Group] = []
    for one in found:
        index = _segment_of(plain, one.at, parts, starts)
        if index is None:
            made.append(Group(one.at, one.at, one.at, (), ()))
            continue
        part = parts[index]
        previous = made[-1].at if made and made[-1].block == part.block and made[-1].at > part.start else part.start
        clause = plain[max(previous, one.at - _LONGEST) : min(one.at, part.end)].strip() if one.at > part.start else ""
        start, end = _around(one.at, part)
        alone = plain[start:end].strip()
        claims = dict.fromkeys((*_short(clause, alone), _sentence(plain, parts, index, alone)))
        made.append(Group(one.at, start, end, one.numbers, tuple(claims), part.block))
    return made


def _short(clause: str, alone: str) -> list[str]:
    """Those of the two that say enough by themselves."""
    words, sentence = clause.rstrip(FULL_STOPS), alone.rstrip(FULL_STOPS)
    enough = says_words(words, _FEW_WORDS)
    also = (enough and words == sentence) or says_words(sentence, 1)
    return [*[clause] * enough, *[alone] * also]


def _says(text: str, least: int) -> bool:
    return says_words(text.rstrip(FULL_STOPS), least)


def _around(at: int, part: Segment) -> tuple[int, int]:
    """The sentence, or of an endless one the stretch that a mark stands in."""
    if part.end - part.start <= _LONGEST:
        return part.start, part.end
    start = part.start + max(0, (at - part.start) // _STRIDE - 1) * _STRIDE
    return start, min(part.end, start + _LONGEST)


def sentences_of(plain: str) -> list[Group]:
    """Every sentence of a text that says enough to be marked, as a group without numbers at its end."""
    parts = segments(plain)
    wholes = wholes_of(plain)
    made = []
    for index, part in enumerate(parts):
        if part.kind not in ("prose", "title", "item"):
            continue
        text = plain[part.start : part.end]
        if says_words(text, _FEWEST_TO_ATTACH):
            made.append(
                Group(
                    outside(_before_stop(plain, part), wholes),
                    part.start,
                    part.end,
                    (),
                    (_sentence(plain, parts, index, text[:_LONGEST]),),
                    part.block,
                )
            )
    return made


_STOPS = re.compile(r"[\s.!?。！？…:：*_\"'”’»)）」]{0,8}$")


def _before_stop(plain: str, part: Segment) -> int:
    stop = _STOPS.search(plain, max(part.start + 1, part.end - 8), part.end)
    return stop.start() if stop else part.end


def _segment_of(plain: str, at: int, parts: Sequence[Segment], starts: Sequence[int]) -> int | None:
    """A mark stands for what comes before it; at the start of a line, for what comes after it there."""
    before = bisect_left(starts, at) - 1
    line_start = plain.rfind("\n", max(0, at - _LONGEST), at) + 1
    if (line_start or at < _LONGEST) and not plain[line_start:at].strip(" \t#>*-•.)0123456789"):
        line_end = plain.find("\n", at, at + _LONGEST)
        if plain[at : line_end if line_end >= 0 else at + _LONGEST].strip(" \t.,;:"):
            following = before if before >= 0 and parts[before].end > at else before + 1
            return following if following < len(parts) else None
    return before if before >= 0 else None


def _sentence(plain: str, parts: Sequence[Segment], index: int, text: str) -> str:
    """The sentence, with what it introduces, and with the one before it when it says too little alone."""
    part = parts[index]
    if _LEAD_IN.search(text[-8:]):
        following = parts[index + 1 : index + 1 + _NEXT]
        led = (one for one in following if one.kind not in ("prose", "title") or one.block == part.block)
        text = "\n".join((text, *(_cut(plain, one) for one in led)))
    if index and len(text) < _SHORT and not _says(text, _FEW_WORDS):
        text = f"{_cut(plain, parts[index - 1])} {text}"
    return text


def _cut(plain: str, part: Segment) -> str:
    return plain[part.start : min(part.end, part.start + _LONGEST)]
