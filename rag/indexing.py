"""Bring one base's index up to date, touching only what changed."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag.errors import FootnoteError, StoreError, TooManyRemovals
from rag.intake import Intake, IntakeSettings
from rag.planning import Plan, lost, make_plan, offers, refuse_losses
from rag.tallying import Tally

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from rag.ports import Catalog, DocumentSource, Embedder, IndexWriter, OnProgress, PassageIndex
    from rag.types import Document, Passage, Progress, Signature


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """`max_removed` is the share of documents that a run may remove without being allowed to."""

    max_removed: float = 0.2
    intake: IntakeSettings = field(default_factory=IntakeSettings)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would do, and why it would refuse to. `unread` is what it tries again as it was, and why it could not be read."""

    plan: Plan
    refusal: str = ""
    unread: Mapping[str, str] = field(default_factory=dict)


class Indexer:
    """`split` cuts a document of this base into passages; `signature` says what the index is made with.

    `after` is called at the end of a run that changed something; what goes wrong there is a remark on a good run.
    """

    def __init__(  # noqa: PLR0913 - one argument for each part, all by name
        self,
        *,
        base: str,
        sources: Sequence[DocumentSource],
        split: Callable[[Document], list[Passage]],
        signature: Signature,
        index: PassageIndex,
        catalog: Catalog,
        embedder: Embedder | None,
        settings: IndexSettings,
        after: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._base = base
        self._sources = sources
        self._split = split
        self._signature = signature
        self._index = index
        self._catalog = catalog
        self._embedder = embedder
        self._settings = settings
        self._after = after

    async def run(self, on_progress: OnProgress | None = None, *, allow_removals: bool = False, rebuild: bool = False) -> Progress:
        """`rebuild` makes the index anew beside the one that is searched meanwhile, and switches at the end.

        Raises TooManyRemovals, RunInProgress, RunCancelled, StoreError, ModelError; a document that cannot be read is only
        reported.
        """
        run = str(uuid.uuid4())
        async with self._catalog.lease(self._base, run):
            tally = Tally(self._base, run, self._catalog, on_progress)
            try:
                await tally.tell(at_once=True)
                async with self._index.write(self._base, self._signature, anew=rebuild) as writer:
                    await self._bring_up_to_date(writer, tally, allow_removals=allow_removals)
                await self._follow_up(tally)
            except asyncio.CancelledError:
                await asyncio.shield(tally.end("cancelled"))
                raise
            except BaseException as error:
                await tally.end("failed", error=str(error))
                raise
            return await tally.end("done")

    async def preview(self, *, rebuild: bool = False, allow_removals: bool = False) -> Preview:
        """What a run would do to what is searched now. Nothing is written, and a run may go on meanwhile."""
        live = await self._catalog.entries(self._base, await self._index.live(self._base))
        anew = rebuild or await self._index.signature(self._base) != self._signature
        entries = {} if anew else live
        offered, problems = await offers(self._sources)
        plan = make_plan(offered, problems, entries, {document: entry.passages for document, entry in entries.items()})
        same = {offer.listing.id: offer.listing.stamp for offer in plan.to_read}
        unread = {name: entry.error for name, entry in entries.items() if entry.error and same.get(name) == entry.stamp}
        try:
            refuse_losses(self._base, plan, live, self._settings.max_removed)
        except TooManyRemovals as refusal:
            return Preview(plan, "" if allow_removals else str(refusal), unread)
        return Preview(plan, unread=unread)

    async def _follow_up(self, tally: Tally) -> None:
        if self._after and (tally.now.added or tally.now.changed or tally.now.removed):
            try:
                await self._after()
            except FootnoteError as error:
                tally.remark(f"The index is good, but its threshold could not be set ({error}). Run: footnote calibrate")

    async def _bring_up_to_date(self, writer: IndexWriter, tally: Tally, *, allow_removals: bool) -> None:
        plan = await self._plan(writer)
        live = await self._catalog.entries(self._base, writer.live)
        if not allow_removals:
            refuse_losses(self._base, plan, live, self._settings.max_removed)
        await tally.begin(plan)
        intake = Intake(
            base=self._base,
            split=self._split,
            embedder=self._embedder,
            writer=writer,
            catalog=self._catalog,
            tally=tally,
            settings=self._settings.intake,
        )
        await intake.bring_in(plan.to_read)
        if plan.vanished:
            await writer.remove(plan.vanished)
            await self._catalog.remove(self._base, writer.build, plan.vanished)
        tally.add(removed=len(lost(plan, live)))
        await tally.move_to("publishing")
        await self._publish(writer)

    async def _plan(self, writer: IndexWriter) -> Plan:
        offered, problems = await offers(self._sources)
        entries = await self._catalog.entries(self._base, writer.build)
        return make_plan(offered, problems, entries, await writer.counts())

    async def _publish(self, writer: IndexWriter) -> None:
        """A build made beside takes the live one's place only when everything that was written is in it (I6)."""
        if writer.rebuilding:
            entries = await self._catalog.entries(self._base, writer.build)
            expected = {document: entry.passages for document, entry in entries.items() if entry.passages}
            written = {document: count for document, count in (await writer.counts()).items() if count}
            if written != expected:
                raise StoreError(
                    f"The new index of base {self._base!r} holds {sum(written.values())} passages where {sum(expected.values())} "
                    "were written, so the old one stays in use. Run `footnote index` again."
                )
        await writer.publish(switch=writer.rebuilding)
        await self._catalog.keep_only(self._base, writer.build)
