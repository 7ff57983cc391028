"""Documents into an index: read, cut, embedded and written side by side, with a bounded number of them held at once."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from rag.errors import Unreadable, first_of
from rag.languages import detect_after
from rag.lexical import terms
from rag.types import Entry, Indexed, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rag.planning import Offer
    from rag.ports import Catalog, Embedder, IndexWriter
    from rag.tallying import Tally
    from rag.types import Document, Passage, Vector


@dataclass(frozen=True, slots=True)
class IntakeSettings:
    """`reading` documents are read at once, `embedding` groups of `group` passages embedded at once (I10).

    The first group has `first` passages and each one after it twice as many, so that embedding starts right away.
    """

    reading: int = 8
    embedding: int = 4
    group: int = 192
    first: int = 8
    publish_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that was read, and its passages with all but their vectors."""

    entry: Entry
    passages: tuple[Passage, ...]


Group: TypeAlias = "asyncio.Task[list[tuple[Prepared, list[Indexed]]]]"


class Intake:
    """One run's way in. Each queue between two stages bounds what is held at once."""

    def __init__(  # noqa: PLR0913 - one argument for each part, all by name
        self,
        *,
        base: str,
        split: Callable[[Document], list[Passage]],
        embedder: Embedder | None,
        writer: IndexWriter,
        catalog: Catalog,
        tally: Tally,
        settings: IntakeSettings,
    ) -> None:
        self._base = base
        self._split = split
        self._embedder = embedder
        self._writer = writer
        self._catalog = catalog
        self._tally = tally
        self._settings = settings
        self._read: asyncio.Queue[Prepared | None] = asyncio.Queue(settings.reading * 4)
        self._embedded: asyncio.Queue[Group | None] = asyncio.Queue(settings.embedding)

    async def bring_in(self, to_read: Sequence[Offer]) -> None:
        entries = await self._catalog.entries(self._base, self._writer.build)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._read_all(to_read, entries))
                tasks.create_task(self._embed_all(tasks))
                tasks.create_task(self._write_all())
        except BaseExceptionGroup as group:
            raise first_of(group) from group

    async def _read_all(self, to_read: Sequence[Offer], entries: Mapping[str, Entry]) -> None:
        waiting = iter(to_read)

        async def reader() -> None:
            for offer in waiting:
                await self._read.put(await self._prepare(offer, entries.get(offer.listing.id)))

        async with asyncio.TaskGroup() as readers:
            for _ in range(self._settings.reading):
                readers.create_task(reader())
        await self._read.put(None)

    async def _prepare(self, offer: Offer, known: Entry | None) -> Prepared:
        try:
            document = await offer.source.read(offer.listing)
            passages = await asyncio.to_thread(self._cut, document)
        except Unreadable as error:
            return Prepared(unread(offer, known, error.reason), ())
        if not passages:
            return Prepared(unread(offer, known, "it holds no text"), ())
        news = "added" if known is None or not known.passages else "changed" if known.digest != document.digest else "unchanged"
        self._tally.add(**{news: 1})
        stamp, now = offer.listing.stamp, datetime.now(UTC)
        entry = Entry(document.id, stamp, document.digest, document.title, document.link, len(passages), "", now)
        return Prepared(entry, passages)

    def _cut(self, document: Document) -> tuple[Passage, ...]:
        passages = []
        language = ""
        for passage in self._split(document):
            passages.append(ready(passage, language))
            language = passages[-1].language
        return tuple(passages)

    async def _embed_all(self, tasks: asyncio.TaskGroup) -> None:
        group: list[Prepared] = []
        size, enough = 0, min(self._settings.first, self._settings.group)
        while (prepared := await self._read.get()) is not None:
            group.append(prepared)
            size += max(1, len(prepared.passages))
            if size >= enough:
                await self._embedded.put(tasks.create_task(self._embed(group)))
                group, size, enough = [], 0, min(2 * enough, self._settings.group)
        if group:
            await self._embedded.put(tasks.create_task(self._embed(group)))
        await self._embedded.put(None)

    async def _embed(self, group: Sequence[Prepared]) -> list[tuple[Prepared, list[Indexed]]]:
        vectors = await self._vectors([passage for prepared in group for passage in prepared.passages])
        return [(document, [Indexed(passage, vectors.get(passage.digest)) for passage in document.passages]) for document in group]

    async def _vectors(self, passages: Sequence[Passage]) -> Mapping[str, Vector]:
        """Vectors by digest. What has one already is not embedded again (I4)."""
        if self._embedder is None:
            return {}
        texts = {passage.digest: passage.embedded for passage in passages}
        vectors = dict(await self._writer.vectors(texts.keys()))
        missing = [digest for digest in texts if digest not in vectors]
        for start in range(0, len(missing), self._settings.group):
            part = missing[start : start + self._settings.group]
            vectors.update(zip(part, await self._embedder.embed_passages([texts[digest] for digest in part]), strict=True))
            self._tally.add(embedded=len(part))
        return vectors

    async def _write_all(self) -> None:
        while (task := await self._embedded.get()) is not None:
            await self._write(await task)
            if self._tally.seconds_since_publish() > self._settings.publish_seconds and not self._writer.rebuilding:
                await self._writer.publish()
                self._tally.published()

    async def _write(self, group: Sequence[tuple[Prepared, Sequence[Indexed]]]) -> None:
        """The catalog comes last: a run killed in between does this part once more, and loses nothing (I5).

        Documents are put at once: a store far away takes them together.
        """
        async with asyncio.TaskGroup() as puts:
            for prepared, passages in group:
                if passages:
                    puts.create_task(self._writer.put(prepared.entry.document, passages))
        await self._catalog.record(self._base, self._writer.build, [prepared.entry for prepared, _ in group])
        for prepared, _ in group:
            if prepared.entry.error:
                self._tally.problem(Problem(prepared.entry.document, prepared.entry.error))
        self._tally.add(
            done=len(group),
            passages=sum(len(passages) for _, passages in group),
            unread=sum(not prepared.entry.passages for prepared, _ in group),
        )
        await self._tally.tell()


def ready(passage: Passage, before: str = "") -> Passage:
    """The passage with its terms, and the digest of what is embedded of it. What stands before it is in the language `before`."""
    text, language = passage.embedded, passage.language or detect_after(passage.text, before)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return passage._replace(language=language, terms=" ".join(terms(text, language)), digest=digest)


def unread(offer: Offer, known: Entry | None, reason: str) -> Entry:
    """What the catalog notes of a document that cannot be read: what was indexed of it before stays (I5)."""
    before = known or Entry(offer.listing.id, "")
    kept = f"{reason}; what was indexed of it before stays" if before.passages else reason
    return replace(before, stamp=offer.listing.stamp, error=kept)
