"""What an indexing run has to do: the sources as they are against the catalog as it is, by each document's own id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.errors import TooManyRemovals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag.ports import DocumentSource
    from rag.types import Entry, Listing, Problem


@dataclass(frozen=True, slots=True)
class Offer:
    """A listing with the source that can read it."""

    source: DocumentSource
    listing: Listing


@dataclass(frozen=True, slots=True)
class Plan:
    """`to_read` are new documents and those whose stamp changed; `vanished` are indexed and offered no more."""

    to_read: tuple[Offer, ...]
    unchanged: tuple[Entry, ...]
    vanished: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def offered(self) -> dict[str, str]:
        """Stamps by document."""
        stamps = {offer.listing.id: offer.listing.stamp for offer in self.to_read}
        return stamps | {entry.document: entry.stamp for entry in self.unchanged}


async def offers(sources: Sequence[DocumentSource]) -> tuple[list[Offer], list[Problem]]:
    """What all sources offer; a document that two of them offer is the first one's."""
    found: dict[str, Offer] = {}
    problems: list[Problem] = []
    for source in sources:
        listings, unlisted = await source.list()
        problems += unlisted
        for listing in listings:
            found.setdefault(listing.id, Offer(source, listing))
    return list(found.values()), problems


def make_plan(
    offered: Sequence[Offer], problems: Sequence[Problem], entries: Mapping[str, Entry], counts: Mapping[str, int]
) -> Plan:
    """`counts` are the passages the index holds by document: where the catalog says otherwise, the document is read again."""
    to_read, unchanged = [], []
    for offer in offered:
        entry = entries.get(offer.listing.id)
        if entry and not entry.error and entry.stamp == offer.listing.stamp and entry.passages == counts.get(entry.document, 0):
            unchanged.append(entry)
        else:
            to_read.append(offer)
    ids = {offer.listing.id for offer in offered}
    vanished = tuple(document for document in {**entries, **counts} if document not in ids)
    return Plan(tuple(to_read), tuple(unchanged), vanished, tuple(problems))


def lost(plan: Plan, live: Mapping[str, Entry]) -> list[str]:
    """Documents of the live index that are gone for good: a renamed one keeps its stamp, and is not lost."""
    offered = plan.offered
    new_stamps = {stamp for document, stamp in offered.items() if document not in live}
    return [
        document for document, entry in live.items() if entry.passages and document not in offered and entry.stamp not in new_stamps
    ]


def refuse_losses(base: str, plan: Plan, live: Mapping[str, Entry], max_removed: float) -> None:
    """Stop a run that finds nothing, or that would remove too much: a folder that is not mounted looks like that (I7)."""
    indexed = sum(1 for entry in live.values() if entry.passages)
    gone = len(lost(plan, live))
    if gone and gone == indexed and not plan.offered:
        raise TooManyRemovals(
            f"No document of base {base!r} was found where its sources say, so nothing was changed. "
            "Check the sources, or use --allow-removals to empty the base."
        )
    if gone > max_removed * indexed:
        raise TooManyRemovals(
            f"Of base {base!r}, {gone} of {indexed} {'document is' if indexed == 1 else 'documents are'} gone, which is more than "
            f"{max_removed:.0%} (max_removed), so nothing was changed. Use --allow-removals if that is right."
        )
