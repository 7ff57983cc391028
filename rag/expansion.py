"""Context expansion: each hit grows by its neighbours, hits that touch become one, and none is lost (R18)."""

from __future__ import annotations

from itertools import chain, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from rag.side_by_side import side_by_side
from rag.types import Match, Stretch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rag.ports import PassageIndex
    from rag.types import Passage

Direction: TypeAlias = Literal["forward", "backward", "both", "none"]

_STEPS: Final[dict[str, tuple[int, ...]]] = {"forward": (1,), "backward": (-1,), "both": (1, -1), "none": ()}
_FARTHEST = 8  # how many neighbours on a side are fetched at first


class _Grown(NamedTuple):
    """Passages `first` to `last` of a document around one hit; `unknown` ones would have been looked at next, in `room`."""

    hit: Match
    first: int
    last: int
    unknown: tuple[int, ...]
    room: int


class _Document:
    """The passages around the hits in one document, as far as they are known; None where there is none."""

    def __init__(self, hits: Sequence[Match], steps: Sequence[int], size: int) -> None:
        passages = [hit.passage for hit in hits]
        self._hits = hits
        self._steps = steps
        self._size = size
        self._wanted = [_in_reach(each, steps, size) for each in passages]
        self._rooms = tuple([(each.ordinal, size - len(each.text)) for each in passages])
        self.base = passages[0].base
        self.known: dict[int, Passage | None] = {each.ordinal: each for each in passages}
        self.grown: list[_Grown] = []

    def stretches(self) -> list[Stretch]:
        """Both sides of a hit at once."""
        wanted = _merged(self._wanted)
        self.known = dict.fromkeys(chain.from_iterable(wanted)) | self.known
        return [Stretch(self._hits[0].passage.document, each.start, each.stop - 1, self._rooms) for each in wanted]

    def grow(self) -> bool:
        """As far as the passages that are known reach; whether more must be known."""
        self.grown = [_grow(hit, self.known, self._steps, self._size) for hit in self._hits]
        growing = [each for each in self.grown if each.unknown]
        self._wanted = [_around(at, self._steps, _FARTHEST - 1) for each in growing for at in each.unknown]
        self._rooms = tuple([(at, each.room) for each in growing for at in (each.first, each.last)])
        return bool(growing)


async def grow(index: PassageIndex, expansion: Expansion) -> None:
    while wanted := expansion.wanted():
        found = await side_by_side([index.neighbours(base, stretches) for base, stretches in wanted.items()])
        expansion.take(chain.from_iterable(found))


class Expansion:
    """Takes neighbours until every match has those that fit.

    Runs of one document that touch are one match with the best score of its members, shown as the best of its hits.
    """

    def __init__(self, matches: Sequence[Match], direction: Direction, size: int) -> None:
        steps = _STEPS[direction]
        grouped: dict[tuple[str, str], list[Match]] = {}
        self._alone: list[Match] = []
        for match in matches:
            if match.passage.expandable and steps:
                grouped.setdefault((match.passage.base, match.passage.document), []).append(match)
            else:
                self._alone.append(match)
        self._documents = [_Document(hits, steps, size) for hits in grouped.values()]
        self._growing = self._documents
        self._asked: list[_Document] = []

    def wanted(self) -> dict[str, list[Stretch]]:
        """What is to be known next, by base; nothing where all have grown."""
        found: dict[str, list[tuple[_Document, Stretch]]] = {}
        while self._growing and not found:
            for document in self._growing:
                for stretch in document.stretches():
                    found.setdefault(document.base, []).append((document, stretch))
            if not found:
                self._grow()
        self._asked = [document for of in found.values() for document, _ in of]
        return {base: [stretch for _, stretch in of] for base, of in found.items()}

    def take(self, found: Iterable[Sequence[Passage]]) -> None:
        """The passages of each stretch that was wanted, in order."""
        for document, passages in zip(self._asked, found, strict=True):
            document.known |= {each.ordinal: each for each in passages}
        self._grow()

    def _grow(self) -> None:
        self._growing = [document for document in self._growing if document.grow()]

    def matches(self) -> list[Match]:
        """The best first."""
        expanded = self._alone + [_joined(run, document.known) for document in self._documents for run in _runs(document.grown)]
        return sorted(expanded, key=attrgetter("score"), reverse=True)


def joined_text(passages: Sequence[Passage]) -> str:
    """Neighbouring passages as one text, what they share said once.

    A passage that is not an exact slice of its document (a table cut with its head repeated) is set on a line of its own.
    """
    text = passages[0].text
    for before, after in pairwise(passages):
        text += _continuation(before, after)
    return text


def _continuation(before: Passage, after: Passage) -> str:
    shared = before.end - after.start
    exact = len(before.text) == before.end - before.start and len(after.text) == after.end - after.start
    if exact and shared == 0:
        return after.text
    if exact and shared > 0 and before.text[-shared:] == after.text[:shared]:
        return after.text[shared:]
    parted = exact and -shared > 1  # by a blank line: only what is blank stands in no passage
    return ("\n\n" if parted else "\n") + after.text


def _in_reach(hit: Passage, steps: Sequence[int], size: int) -> range:
    """The neighbours that fit if they are about as long as the hit is, which spares a second look."""
    room = size - len(hit.text)
    return _around(hit.ordinal, steps, min(room // max(len(hit.text), 1) + 1, _FARTHEST)) if room > 0 else range(0)


def _around(at: int, steps: Sequence[int], far: int) -> range:
    return range(max(0, at - far * (-1 in steps)), at + far * (1 in steps) + 1)


def _grow(hit: Match, known: dict[int, Passage | None], steps: Sequence[int], size: int) -> _Grown:
    """Take neighbours in turn from each side until the document ends there, or the next one does not fit: that of the hit's own
    section before that of another, or a procedure is begun in the middle for a table that follows upon it.
    """
    ends = {1: hit.passage.ordinal, -1: hit.passage.ordinal}
    room = size - len(hit.passage.text)
    growing, unknown = list(steps) if room > 0 else [], []
    while growing:
        for step in _own_section_first(hit.passage, growing, ends, known):
            at = ends[step] + step
            neighbour = known.get(at)
            if at >= 0 and at not in known:
                unknown.append(at)
            if neighbour is None or len(neighbour.text) >= room:
                growing.remove(step)
                continue
            ends[step] = at
            room -= len(neighbour.text) + 1
    return _Grown(hit, ends[-1], ends[1], tuple(unknown), room)


def _own_section_first(
    hit: Passage, growing: Sequence[int], ends: Mapping[int, int], known: Mapping[int, Passage | None]
) -> tuple[int, ...]:
    steps = tuple(growing)
    if len(steps) > 1 and hit.headings:
        before, after = known.get(ends[-1] - 1), known.get(ends[1] + 1)
        if before and after and hit.headings != after.headings:
            begun = hit.headings == before.headings or hit.headings[-1] in before.within
            return (-1, 1) if begun else steps
    return steps


def _merged(wanted: Sequence[range]) -> list[range]:
    """The ranges in order, those that overlap or touch as one."""
    if len(wanted) == 1:
        return [*filter(None, wanted)]
    merged: list[range] = []
    for each in sorted(filter(None, wanted), key=attrgetter("start")):
        if merged and each.start <= merged[-1].stop:
            merged[-1] = range(merged[-1].start, max(merged[-1].stop, each.stop))
        else:
            merged.append(each)
    return merged


def _runs(stretches: Sequence[_Grown]) -> list[list[_Grown]]:
    """Stretches that overlap or touch, together."""
    if len(stretches) == 1:
        return [[*stretches]]
    runs: list[list[_Grown]] = []
    reached = -2
    for stretch in sorted(stretches, key=attrgetter("first")):
        if stretch.first <= reached + 1:
            runs[-1].append(stretch)
            reached = max(reached, stretch.last)
        else:
            runs.append([stretch])
            reached = stretch.last
    return runs


def _joined(run: Sequence[_Grown], known: dict[int, Passage | None]) -> Match:
    """One match of a run: its place and its scores are those of the best hit in it."""
    first, last = run[0].first, max([stretch.last for stretch in run])
    if first == last:
        return run[0].hit
    members = [passage for at in range(first, last + 1) if (passage := known[at])]
    hits = [stretch.hit for stretch in run]
    best = max(hits, key=attrgetter("score"))
    return Match(
        best.passage._replace(
            text=joined_text(members), start=members[0].start, end=members[-1].end, terms=_joined_terms(members), within=""
        ),
        best.score,
        max([hit.relevance for hit in hits]),
        best.scores,
        members=tuple([passage.id for passage in members]),
        copies=tuple([copy for hit in hits for copy in hit.copies]),
        parts=tuple(members),
    )


def _joined_terms(members: Sequence[Passage]) -> str:
    """Those of all members, so that nobody has to read the joined text again; "" where they are not known of each."""
    terms = [member.terms for member in members]
    return " ".join(terms) if all(terms) else ""
