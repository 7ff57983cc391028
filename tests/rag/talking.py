"""A conversation with everything real about it but the models: a small handbook, and salaries that few may see."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rag.citing import Support
from rag.composing import Composer, ComposeSettings
from rag.condensing import Condenser, CondenseSettings
from rag.conversation import Conversation, ConversationSettings
from rag.indexing import Indexer, IndexSettings
from rag.models.extractive import ExtractiveWriter
from rag.prompting import Prompts
from rag.retrieval import RetrievalSettings, Retriever
from rag.routing import Base, Route, Router, Routes
from rag.splitting import SplitSettings, split
from rag.types import Place, Signature, Thread
from storage.catalog import DatabaseCatalog
from storage.conversations import DatabaseMemory
from tests.fakes.sources import CountingEmbedder, DictSource
from tests.fakes.writers import ScriptedWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.ports import Observer, PassageIndex
    from rag.types import Sampling
    from storage.database import Database
    from tests.fakes.writers import Line

HANDBOOK = {
    "leave.md": "Employees get 25 days of annual leave a year. Requests for leave go to the manager two weeks before.",
    "sick.md": "Sick leave needs a note from a doctor after three days of illness.",
    "travel.md": "Travel costs are refunded within 30 days when receipts are handed in.",
}
SALARIES = {"bands.md": "The pay band of engineers in Lisbon begins at 50,000 euros."}
LEAVE = "How many days of annual leave do employees get?"
LEAVE_ANSWER = "Employees get 25 days of annual leave a year [1]."
THREAD = Thread(Place("slack", "T1", "C1"), "100.1")
HR = Place("slack", "T1", "HR")
SPLITTING = SplitSettings(200, 400)


class Desk:
    """Documents, an index, a database; `talk` makes a conversation whose writer follows a script."""

    def __init__(self, database: Database, index: PassageIndex) -> None:
        self.memory = DatabaseMemory(database)
        self.catalog = DatabaseCatalog(database)
        self.index = index
        self.embedder = CountingEmbedder()
        self.writer = ScriptedWriter()
        self.prompts = Prompts.load()

    async def know(self, texts: dict[str, str], base: str = "handbook") -> None:
        indexer = Indexer(
            base=base,
            sources=[DictSource(dict(texts))],
            split=partial(split, base=base, settings=SPLITTING),
            signature=Signature(self.embedder.name, self.embedder.dimension, SPLITTING.signature, "1"),
            index=self.index,
            catalog=self.catalog,
            embedder=self.embedder,
            settings=IndexSettings(max_removed=1.0),
        )
        await indexer.run(allow_removals=True)

    def talk(  # noqa: PLR0913 - what a test sets apart from the rest, by name
        self,
        *script: Line,
        observers: Sequence[Observer] = (),
        threshold: float = 0.0,
        hosts: Sequence[str] = (),
        history_turns: int = 12,
        seconds: float = 30.0,
        is_model: bool = True,
        sampling: Sampling | None = None,
        degraded: bool = False,
        writer: ScriptedWriter | None = None,
    ) -> Conversation:
        self.writer = writer or ScriptedWriter(script, is_model=is_model)
        bases = [Base("handbook", "how we work"), Base("salaries", "pay", restricted=True)]
        routes = Routes(bases, [Route(("salaries", "handbook"), HR.platform, HR.workspace, HR.channel)])
        composing = ComposeSettings() if sampling is None else ComposeSettings(sampling=sampling)
        return Conversation(
            memory=self.memory,
            router=Router(routes, self.writer, self.prompts),
            condenser=Condenser(self.writer, self.prompts, CondenseSettings(seconds=seconds)),
            retriever=Retriever(self.index, self.embedder, None, RetrievalSettings(threshold=threshold, expansion="none")),
            composer=Composer(self.writer, self.prompts, composing),
            degraded=Composer(ExtractiveWriter(), self.prompts, composing) if degraded else None,
            support=Support(None),
            settings=ConversationSettings(
                history_turns=history_turns, deadline_seconds=seconds, allowed_hosts=tuple(hosts), draft_seconds=0.0
            ),
            observers=observers,
        )

    async def said(self, thread: Thread = THREAD) -> list[tuple[str, str, str]]:
        return [(turn.role, turn.speaker, turn.text) for turn in await self.memory.recall(thread, 100)]
