"""What the core needs from the outside. Every port is async, and one contract suite runs over all that implement it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from rag.types import Progress, Tally

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from rag.types import (
        Answer,
        Candidate,
        Document,
        Entry,
        Indexed,
        Listing,
        Passage,
        Piece,
        Place,
        Post,
        Problem,
        Prompt,
        Question,
        QuestionState,
        Run,
        Search,
        Signature,
        Stretch,
        Thread,
        Turn,
        Vector,
    )

T = TypeVar("T")


# --- models ---------------------------------------------------------------------------------------------------------


class Embedder(Protocol):
    """Texts to vectors of unit length. Any text is taken: empty, with NUL, with lone surrogates, a megabyte long.

    `name` changes whenever the vectors do: it is part of an index's signature.
    """

    name: str
    dimension: int

    async def embed_question(self, text: str) -> Vector: ...

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, in order. Safe to call several times at once: that is how it is kept busy."""
        ...


class Reranker(Protocol):
    """How well each passage answers a question, by a stronger model than retrieval's.

    `absolute`: its scores lie between 0 and 1 and mean the same for every question, so that a threshold can cut on them (R17).
    """

    name: str
    absolute: bool

    async def rerank(self, question: str, passages: Sequence[Passage], *, seconds: float) -> list[float | None]:
        """One score a passage, in order, the higher the better; None for a passage that had no time left."""
        ...


class Writer(Protocol):
    """Streams an answer, and native citations where the model gives them; the last piece is a `Usage`.

    `is_model` False says that it writes by rule: it can neither condense a question nor combine partial answers, and where
    it finds nothing to say it writes nothing.
    `context_tokens` bounds prompt and answer together.
    """

    name: str
    is_model: bool
    context_tokens: int

    def write(self, prompt: Prompt) -> AsyncIterator[Piece]:
        """Consume under `contextlib.aclosing`. Raises ModelError."""
        ...


# --- documents ------------------------------------------------------------------------------------------------------


class DocumentSource(Protocol):
    """Where documents come from: files, a website, a repository."""

    async def list(self) -> tuple[list[Listing], list[Problem]]:
        """Every document there is, in a stable order, without reading any; and what cannot be one, with its reason."""
        ...

    async def read(self, listing: Listing) -> Document:
        """Raises Unreadable, and nothing else, whatever the file holds."""
        ...


# --- stores ---------------------------------------------------------------------------------------------------------


class IndexWriter(Protocol):
    """One run's hold on one base's index.

    `build` names the index that is written: the live one, or one beside it while `rebuilding`. `live` names the one
    that searches see; it is the same unless `rebuilding`, and empty where nothing was published yet.
    """

    build: str
    live: str
    rebuilding: bool

    async def vectors(self, digests: Collection[str]) -> Mapping[str, Vector]:
        """The vectors that passages of these digests already have in this build."""
        ...

    async def put(self, document: str, passages: Sequence[Indexed]) -> None:
        """Replace all passages of one document, atomically. Searches see it from the next `publish` on."""
        ...

    async def remove(self, documents: Collection[str]) -> None: ...

    async def counts(self) -> Mapping[str, int]:
        """Passages by document, as written so far."""
        ...

    async def publish(self, *, switch: bool = False) -> None:
        """Make what was written searchable, at once. `switch` puts a build that was made beside in the live one's place."""
        ...


class AtHand(Protocol):
    """The passages of one base, where they lie: as a PassageIndex gives them, at once."""

    def passages(self, ids: Sequence[str]) -> Sequence[Passage]: ...

    def neighbours(self, stretches: Sequence[Stretch]) -> Sequence[Sequence[Passage]]: ...


class Work(Protocol[T]):
    """What is to be made of the candidates of a search, beside the passages.

    So that another process can do it, `order` names a function ("module:function") and what to give it, plain values, to have
    the same work there; what is done there comes back as plain values, `packed` and `unpacked`.
    """

    def done(self, candidates: Sequence[Candidate], at_hand: AtHand) -> T: ...

    def lighter(self) -> Work[T]:
        """With less of it done there, for a process that is asked faster than it works."""
        ...

    def order(self) -> tuple[str, Any]: ...

    def packed(self, done: T) -> object: ...

    def unpacked(self, packed: Any) -> T: ...


class PassageIndex(Protocol):
    """Passages of one knowledge base, found by terms and by vector."""

    async def search(self, base: str, search: Search) -> list[Candidate]:
        """The candidates of both ranked lists, each once, with both raw scores; [] for a base not indexed yet."""
        ...

    async def beside(self, base: str, search: Search, work: Work[T]) -> T | None:
        """The same search, with work done on its candidates where the passages are. None where it is not done there."""
        ...

    async def passages(self, base: str, ids: Sequence[str]) -> list[Passage]:
        """In the order asked for. Ids come from a `search` just made; one that is gone since is left out."""
        ...

    async def neighbours(self, base: str, stretches: Sequence[Stretch]) -> list[list[Passage]]:
        """The passages of each stretch, in order."""
        ...

    async def signature(self, base: str) -> Signature | None:
        """What the live index was made with; None where there is none."""
        ...

    async def size(self, base: str) -> int:
        """How many passages can be found."""
        ...

    async def live(self, base: str) -> str:
        """The name of the build that searches see; "" where there is none."""
        ...

    async def languages(self, base: str) -> tuple[str, ...]:
        """The languages of the passages, the most frequent first."""
        ...

    def write(self, base: str, signature: Signature, *, anew: bool = False) -> AbstractAsyncContextManager[IndexWriter]:
        """Begin or take up again a run: on the live index if its signature is equal, else on one beside it.

        `anew` always takes one beside it, with nothing of the live one in it, which may be damaged.
        """
        ...

    async def drop(self, base: str) -> None: ...


class Catalog(Protocol):
    """What is indexed, with which stamp and digest; who runs; what each base was set to by command."""

    async def entries(self, base: str, build: str) -> Mapping[str, Entry]: ...

    async def record(self, base: str, build: str, entries: Sequence[Entry]) -> None: ...

    async def remove(self, base: str, build: str, documents: Collection[str]) -> None: ...

    async def keep_only(self, base: str, build: str) -> None:
        """Forget the entries of every other build."""
        ...

    def lease(self, base: str, owner: str, *, seconds: float = 30.0) -> AbstractAsyncContextManager[None]:
        """Hold the one run of a base, renewed until left; `owner` is the run's id.

        Raises RunInProgress, with the other run's progress in words; and RunCancelled in its body, once `cancel` was called.
        """
        ...

    async def report(self, progress: Progress) -> None:
        """Note how the run stands, for others to see."""
        ...

    async def progress(self, base: str, run: str = "") -> Progress | None:
        """The run of this id, or the newest of a base, as last reported."""
        ...

    async def running(self, base: str) -> Progress | None:
        """The run that holds the base's lease now, as last reported; None where none does, or its process is known to be dead."""
        ...

    async def last_done(self, base: str) -> datetime | None:
        """When a run of the base last ended well, in UTC; None where none ever did."""
        ...

    async def cancel(self, base: str) -> bool:
        """Ask the run under way to stop, in whichever process; it does so within a second or two. False where none is."""
        ...

    async def remembered(self, key: str) -> Mapping[str, object] | None:
        """A value kept by name (calibration, sources given by command)."""
        ...

    async def remember(self, key: str, value: Mapping[str, object]) -> None: ...


class Memory(Protocol):
    """Threads, and the runs that explain them."""

    async def recall(self, thread: Thread, turns: int) -> list[Turn]:
        """The newest `turns` turns, oldest first; 0 gives none."""
        ...

    async def remember(self, thread: Thread, asked: Turn, answer: Answer, run: Run, *, question: str = "") -> None:
        """Store question, full answer and run together, or none of them.

        `question` is the id of one that an inbox holds. Raises StoreError where that is answered already.
        """
        ...

    async def fail(self, thread: Thread, asked: Turn, failure: str, run: Run, *, question: str = "") -> None:
        """Store a question that got no answer, with why; no part of an answer is kept."""
        ...

    async def adopt(self, thread: Thread, turns: Sequence[Turn]) -> None:
        """Store what was said before we were asked; a thread that has turns already is left as it is."""
        ...

    async def forget(self, thread: Thread) -> int:
        """Delete a thread's memory; how many turns went."""
        ...

    async def run(self, id: str) -> Run | None:  # noqa: A002 - the word for it
        """A run by its id, or by a beginning of it that no other run shares."""
        ...

    async def last_run(self, thread: Thread | None = None) -> Run | None:
        """The newest run of a thread, or of all."""
        ...


class Inbox(Protocol):
    """Questions, each from its claim to its delivery, shared by all processes (P3, P4).

    A `holder` is one process. What it holds it renews; when it no longer does, anybody may take it over. Times are by the
    database's clock. Whatever changes a question does so only while its holder still holds it, and says whether it did.
    """

    async def claim(
        self, asked: Question, holder: str = "", *, seconds: float = 0.0, limit: Limit | None = None
    ) -> Question | None:
        """Take a question in: it comes back with its id. None where its message or gesture was taken in before.

        For `seconds` nobody takes it up, unless `holder` hands it back before. `limit` is told how much was taken in before it,
        and says its notice; of many at once, on however many processes, each counts those before it.
        """
        ...

    async def next(self, thread: Thread, holder: str, *, seconds: float) -> Question | None:
        """The oldest question of the thread that is not done with; None where there is none, or somebody holds one.

        Its `attempts` count how often it was taken up. Its state is `answering`, or `answered` where its answer is stored.
        """
        ...

    async def renew(self, holder: str, questions: Collection[str], *, seconds: float) -> frozenset[str]:
        """The ids of those that are still held; the others were cancelled, edited or taken over."""
        ...

    async def finish(self, question: str, holder: str, state: QuestionState, failure: str = "") -> bool: ...

    async def hand_back(self, question: str, holder: str, *, seconds: float = 0.0, failed: bool = False) -> bool:
        """Let somebody else go on with it, after so many seconds. `failed`: it could not be shown, which is counted."""
        ...

    async def reopen(self, question: str) -> bool:
        """What it got is shown once more, by whoever takes it up next. False where it is not done with, or cancelled."""
        ...

    async def unfinished(self, platforms: Collection[str]) -> list[Thread]:
        """The threads with a question that nobody holds, and that is not done with."""
        ...

    async def answer(self, question: str) -> Answer | None:
        """The answer as it was stored."""
        ...

    async def question(self, id: str) -> Question | None: ...  # noqa: A002 - the word for it

    async def asked(self, place: Place, message: str) -> Question | None:
        """The question that this message asked."""
        ...

    async def shown(self, place: Place, message: str) -> Question | None:
        """The question whose answer this message shows."""
        ...

    async def revise(self, question: str, text: str) -> bool:
        """It was edited: it waits to be answered once more, its answer is forgotten, its posts stay. False: it says so already."""
        ...

    async def withdraw(self, question: str) -> bool:
        """It was deleted: it is cancelled and its answer forgotten, its posts stay. False: it was cancelled before."""
        ...

    async def readdress(self, question: str, reply_to: str) -> None:
        """What the surface needs in order to answer is known better than when the question was claimed."""
        ...

    async def note(self, question: str, post: Post) -> None:
        """A message shows its answer, or no longer grows."""
        ...

    async def unnote(self, question: str, message: str) -> None: ...

    async def posts(self, question: str) -> list[Post]:
        """The messages that show its answer, in order."""
        ...

    async def judge(self, question: str, person: str, verdict: int, remark: str = "") -> bool:
        """One verdict (1 or -1; 0 takes it back) for each answer and person. False where there is no answer to judge."""
        ...

    async def met(self, thread: Thread) -> bool:
        """Whether something was asked in this thread before."""
        ...

    async def askers(self, thread: Thread) -> frozenset[str]:
        """Who asked something in this thread; nobody where people talk among themselves since (`hush`)."""
        ...

    async def hush(self, thread: Thread) -> None:
        """People talk among themselves there, until one of them asks us again."""
        ...


class Installations(Protocol):
    """What platforms gave us when we were installed in a workspace; kept so that only we can read it (S10)."""

    async def keep(self, platform: str, enterprise: str, workspace: str, person: str, secret: str) -> None: ...

    async def get(self, platform: str, enterprise: str, workspace: str, person: str) -> str | None: ...

    async def forget(self, platform: str, enterprise: str, workspace: str) -> bool:
        """Of all persons. False where there was nothing."""
        ...


# --- watching -------------------------------------------------------------------------------------------------------


class Observer(Protocol):
    """Told of each step's start, end and error, by name; what it raises is logged and breaks nothing."""

    def on_start(self, run: str, step: str) -> None: ...

    def on_end(self, run: str, step: str, seconds: float, notes: Mapping[str, object]) -> None: ...

    def on_error(self, run: str, step: str, error: BaseException) -> None: ...


OnDraft: TypeAlias = Callable[[str], None]  # all the text so far, so a late one can be skipped
Limit: TypeAlias = Callable[[Tally], str]  # a notice where what was asked before is enough, else ""
OnProgress: TypeAlias = Callable[[Progress], None]
