"""Marks in their final form: numbered by document, in order of first use (R27, R30)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag.code_spans import code_spans, pieces
from rag.content import between_blanks
from rag.labels import place_of
from rag.lexical import words
from rag.marks import is_wide, marks
from rag.sentences import FULL_STOPS
from rag.types import Source
from rag.within import standing_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.claims import Group
    from rag.types import Match, Passage, SourcePlace

# How a verified mark is written until the text is finished, so that nothing else can pass for one.
OPEN, CLOSE = "\ue000", "\ue001"
_VERIFIED = re.compile(f"{OPEN}(\\d+){CLOSE}")
_RESERVED = str.maketrans("", "", OPEN + CLOSE)
_BRACKETS = str.maketrans("", "", "[]［］〔〕【】")
_LABEL = re.compile(rf"\[([^\[\]\n]{{1,300}})\]([ ]?{OPEN})")

_SEVERAL = 2
_BEGINNING = 60  # characters of a sentence that tell where it stands
_MOST_PLACES = 3  # of one document in the footer
_SCREEN = 15  # lines
_MOST_COPIES = 1  # further documents that say the same, with a mark of their own (R20)
_BLANKS = " \t"
_STOP = frozenset(".,;!?)]}…。，；：！？、）】」』”’»")


class Numbering:
    """Gives each document its number when it is first cited, and gathers the places cited in it."""

    def __init__(self, given: Sequence[Match]) -> None:
        self._given = given
        self._numbers: dict[tuple[str, str], int] = {}
        self._passages: dict[int, list[Passage]] = {}

    def of(self, n: int, said: str) -> list[int]:
        """The numbers of passage n's document, and of others that say the very same where it says `said`."""
        match = self._given[n - 1]
        part = part_of(match, said)
        numbers = [self._number(standing_at(part, said))]
        for copy in match.copies:
            if len(numbers) > _MOST_COPIES:
                break
            if copy.text == part.text and (copy.base, copy.document) != (match.passage.base, match.passage.document):
                numbers.append(self._number(standing_at(copy, said)))
        return numbers

    def sources(self) -> tuple[Source, ...]:
        return tuple(
            [
                Source(n, passages[0].base, passages[0].document, passages[0].title or passages[0].document, _places(passages))
                for n, passages in self._passages.items()
            ]
        )

    def _number(self, passage: Passage) -> int:
        n = self._numbers.setdefault((passage.base, passage.document), len(self._numbers) + 1)
        self._passages.setdefault(n, []).append(passage)
        return n


def part_of(match: Match, said: str) -> Passage:
    """Of several passages joined, the one that a sentence rests on: that is where its footnote leads (R31)."""
    if len(match.parts) < _SEVERAL:
        return match.passage
    start = said.strip()[:_BEGINNING]
    likely = [part for part in match.parts if start in part.text] or match.parts
    if len(likely) == 1 or not (match.copies or _differ(likely)):
        return likely[0]
    hit_first = sorted(likely, key=lambda part: part.id != match.passage.id)
    told = between_blanks(said.strip().rstrip(FULL_STOPS)) or [f" {word} " for word in set(words(said))]
    return _holding_most(hit_first, told)


def _differ(parts: Sequence[Passage]) -> bool:
    """Whether it matters to a footnote which of them is meant."""
    leads = [_leads_to(part) for part in parts]
    return leads.count(leads[0]) < len(leads)


def _leads_to(part: Passage) -> tuple[object, ...]:
    """All that a footnote takes from it."""
    return part.link, part.headings, part.page, part.anchor, part.line, part.within and part.id


def _holding_most(parts: Sequence[Passage], told: Sequence[str]) -> Passage:
    """Of several alike the first. Others are read only as far as they may still be the one."""
    best, least = parts[0], len(told) + 1
    for part in parts:
        spaced = f" {_terms_of(part)} "
        missing = 0
        for word in told:
            missing += word not in spaced
            if missing >= least:
                break
        if missing < least:
            best, least = part, missing
    return best


def _terms_of(part: Passage) -> str:
    """An indexed passage has them, stems beside its words."""
    return part.terms or " ".join(words(part.text))


def _places(passages: Sequence[Passage]) -> tuple[SourcePlace, ...]:
    """Lines that are seen together are one place. The top of a document, which has no name beside its title, has that one behind
    another place.
    """
    kept: list[Passage] = []
    for passage in passages:
        if not (passage.line and any(_seen_from(other, passage) for other in kept)):
            kept.append(passage)
    if len(kept) == 1:
        return (place_of(kept[0]),)
    first, *others = list(dict.fromkeys(map(place_of, kept)))[:_MOST_PLACES]
    title = passages[0].title or passages[0].document
    return (first, *[place if place.label else place._replace(label=title) for place in others])


def _seen_from(other: Passage, passage: Passage) -> bool:
    there, here = (other.headings, other.page, other.anchor), (passage.headings, passage.page, passage.anchor)
    return there == here and abs(other.line - passage.line) <= _SCREEN


def rewritten(plain: str, kept: Sequence[tuple[Group, Sequence[int]]], numbering: Numbering) -> str:
    """The text with a mark for what each group keeps; where one keeps nothing, nothing is left of it, nor of its spaces."""
    parts: list[str] = []
    done = 0
    for group, passages in kept:
        before = plain[done : group.at]
        after = plain[group.at : group.at + 1]
        said = plain[group.start : group.end]
        numbers = dict.fromkeys([number for n in passages for number in numbering.of(n, said)])
        done = group.at
        if numbers:
            parts.extend((_spaced(before), "".join([f"{OPEN}{number}{CLOSE}" for number in numbers])))
            done += _skipped(plain, done)
            parts.append(" " if plain[done : done + 1] in ("(", "[") else "")  # "[1](" would begin a link
        else:
            parts.append(before)
            done += _closed_gap(parts, plain, done) if not after.isalnum() else 0
    return "".join((*parts, plain[done:]))


def without_reserved(text: str) -> str:
    return text.translate(_RESERVED) if OPEN in text or CLOSE in text else text


def finished(text: str, sources: tuple[Source, ...] = ()) -> tuple[str, tuple[Source, ...]]:
    """The text with its verified marks as `[n]` and without any other ("[1[9]]" leaves one behind), and what it cites.

    A mark that went with the link or the code it had come to stand in takes its source along.
    """
    while found := marks(text):
        for mark in reversed(found):
            text = text[: mark.start] + text[mark.end :]
        if marks(text):
            text = "".join(text[a:b] if is_code else text[a:b].translate(_BRACKETS) for a, b, is_code in pieces(text))
    if "[" in text:
        text = _LABEL.sub(r"\1\2", text)
    if code_spans(text):
        text = "".join([_VERIFIED.sub("", text[a:b]) if is_code else text[a:b] for a, b, is_code in pieces(text)])
    order: dict[int, int] = {}
    text = _VERIFIED.sub(lambda match: f"[{order.setdefault(int(match[1]), len(order) + 1)}]", text).strip()
    named = {source.n: source for source in sources}
    cited = tuple([named[n] if n == at else named[n]._replace(n=at) for n, at in order.items() if n in named])
    return text, cited


def _spaced(before: str) -> str:
    """A mark that the model set directly behind a word, a Latin one, gets its space."""
    return f"{before} " if before and before[-1].isalnum() and not is_wide(before[-1]) else before


def _skipped(plain: str, at: int) -> int:
    """How many blanks stand before a stop: "text [1] ." becomes "text [1]."."""
    blanks = _blanks_at(plain, at)
    return blanks if plain[at + blanks : at + blanks + 1] in _STOP or at + blanks == len(plain) else 0


def _blanks_at(plain: str, at: int) -> int:
    end = at
    while end < len(plain) and plain[end] in _BLANKS:
        end += 1
    return end - at


def _closed_gap(parts: list[str], plain: str, at: int) -> int:
    """Tidy up where a mark went: no blank before a stop, no two in a row, no empty brackets. How much of `plain` to skip."""
    before, after = parts[-1], plain[at : at + 1]
    if before[-1:] in ("(", "（") and after in (")", "）"):
        parts[-1] = before[:-1].rstrip(_BLANKS)
        return 1
    blanks = _blanks_at(plain, at)
    stop = plain[at + blanks : at + blanks + 1]
    stripped = before.rstrip(_BLANKS)
    if (not stop or stop == "\n" or stop in _STOP) and stripped and stripped[-1] != "\n":
        parts[-1] = stripped
        return blanks
    return blanks if stripped != before or not stripped or stripped[-1] == "\n" else max(0, blanks - 1)
