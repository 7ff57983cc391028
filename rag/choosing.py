"""What of the ranked passages the writer gets: the relevant ones, with their neighbours, within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rag.expansion import Expansion
from rag.languages import likeliest
from rag.noting import matches_noted
from rag.relevance import by_standing
from rag.selection import within_budget
from rag.translations import at_home, in_their_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag.expansion import Direction
    from rag.types import Match

NEAREST = 3  # how many are offered as "you may look at" when nothing is answered
Copies = list[tuple[str, str]]  # ids, each with that of what it is a copy or a translation of


class Choosing(NamedTuple):
    """How it is chosen, in plain values: it may be done in another process.

    `language` is the one to answer in, and `needed` are terms of which a passage has to hold one. `thresholds` are those of each
    base; the others are of RetrievalSettings.
    """

    question: str
    language: str
    needed: frozenset[str]
    thresholds: Mapping[str, float]
    k: int
    expansion: Direction
    context_size: int
    token_budget: int


class Chosen(NamedTuple):
    """`matches` are for the writer, `nearest` the best before any threshold, `ranked` all; `relevance` is that of the best.

    `notes` are for the trace.
    """

    matches: list[Match]
    nearest: list[Match]
    ranked: list[Match]
    relevance: float
    notes: dict[str, object]


def in_one_language(matches: Sequence[Match], folded: Copies, choosing: Choosing) -> tuple[list[Match], Copies]:
    """Of copies and of translations one each, and what is left out for it."""
    found, copies = at_home(matches, folded)
    theirs, translations = in_their_language(found, _spoken(choosing, found))
    return theirs, [*copies, *translations]


def _spoken(choosing: Choosing, matches: Sequence[Match]) -> str:
    """Where a question may as well be in several languages, that of what fits it best."""
    language = choosing.language
    best = matches[0].passage.language if matches and language else ""
    return best if best != language and best in likeliest(choosing.question) else language


def with_needed(matches: Sequence[Match], choosing: Choosing) -> list[Match]:
    needed = choosing.needed
    return [match for match in matches if not (needed and needed.isdisjoint(match.passage.terms.split()))]


class Choice:
    """Takes neighbours, as its `expansion` wants them, until it is made. `judged`: an absolute reranker gave the relevance."""

    def __init__(self, ranked: list[Match], copies: Copies, choosing: Choosing, *, judged: bool = False) -> None:
        self._ranked, self._copies, self._choosing = ranked, copies, choosing
        first = ranked[: choosing.k]
        self._best = first if judged else by_standing(first)
        self._relevant = [match for match in self._best if match.relevance >= choosing.thresholds[match.passage.base]]
        self.expansion = Expansion(self._relevant, choosing.expansion, choosing.context_size)

    def made(self) -> Chosen:
        hits = {match.passage.id: match for match in self._relevant}
        kept, dropped, was_cut = within_budget(self.expansion.matches(), self._choosing.token_budget, hits)
        thresholds, relevance = self._choosing.thresholds, max((match.relevance for match in self._best), default=0.0)
        notes: dict[str, object] = {
            "relevance": round(relevance, 4),
            "kept": matches_noted(kept),
            "copies": [{"id": copy, "of": original} for copy, original in self._copies],
            "below_threshold": matches_noted([match for match in self._best if match not in self._relevant]),
            "thresholds": {base: thresholds[base] for base in {match.passage.base for match in self._best}},
            "over_budget": dropped,
            "cut": was_cut,
        }
        return Chosen(kept, self._best[:NEAREST], self._ranked, relevance, notes)
