"""The words this program is written in: one word for each thing, in code, tables, commands and documentation."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

# A vector of unit length as float32, little-endian: 4 bytes for each dimension. Opaque to the core, stored as it is.
Vector: TypeAlias = bytes
Role: TypeAlias = Literal["user", "assistant"]


# --- where people talk ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thread is: a platform, a workspace (a guild on Discord) and a channel; `direct` for a private talk."""

    platform: str
    workspace: str = ""
    channel: str = ""
    direct: bool = False


@dataclass(frozen=True, slots=True)
class Thread:
    """A place and an id: equal threads share one memory, unequal ones share nothing."""

    place: Place
    id: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said, by whom. `assistant` is this bot alone: another bot is a `user` with a name.

    `bases` names the knowledge bases that an answer was made from. `abstained`: it only says that the documents do not say.
    """

    role: Role
    text: str
    speaker: str = ""
    bases: tuple[str, ...] = ()
    said_at: datetime | None = None
    abstained: bool = False


QuestionState: TypeAlias = Literal["waiting", "answering", "answered", "delivered", "failed", "cancelled", "expired"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question that somebody asked in a thread, as the desk holds it. `id` is given by the inbox that takes it in.

    `author` is a name, `person` the platform's id of who asked. `message` is the platform's id of what was asked, and
    `gesture` what else names the same act of asking: either is claimed once in its channel. `reply_to` is what the surface
    needs in order to answer, in its own form. `asked_at` is by the platform's clock, `taken_at` when the inbox took it in.
    `language` is the one that the platform says they use. `base` is the knowledge base that was asked for, if one was. A
    `notice` is said instead of an answer. `failure` says why there is none. `attempts` counts how often it was taken up,
    `deliveries` how often what was to be said could not be shown.
    """

    id: str
    thread: Thread
    text: str
    author: str = ""
    roles: tuple[str, ...] = ()
    person: str = ""
    message: str = ""
    gesture: str = ""
    reply_to: str = ""
    language: str = ""
    base: str = ""
    notice: str = ""
    state: QuestionState = "waiting"
    failure: str = ""
    attempts: int = 0
    deliveries: int = 0
    asked_at: datetime | None = None
    taken_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Post:
    """A message of ours that shows an answer, by the platform's id; `open` while it is still being streamed into."""

    message: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """How many questions were asked: by one person and in one place in the last minute, in one thread in all, and by everybody
    today. What got only a notice does not count.
    """

    person: int = 0
    place: int = 0
    thread: int = 0
    today: int = 0


# --- what is known --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Listing:
    """A document that a source offers, not read yet. While its stamp stays the same it need not be read again."""

    id: str
    stamp: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading: where its text starts in the document's text, the path of headings down to it, its anchor."""

    start: int
    headings: tuple[str, ...]
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A source, read into text.

    `id` is unique and stable within its base (a relative path, an address). `digest` is that of the content read.
    `link` leads to the whole document, without a fragment; it may hold `{line}`.
    `pages[i]` is the offset in `text` at which page i + 1 starts; empty where there are no pages.
    `lines` says that `text` has the lines of the file, so that passages can be given their line.
    `expandable` False keeps neighbouring passages from being added to a hit (R18).
    """

    id: str
    title: str
    text: str
    digest: str
    link: str = ""
    format: Literal["markdown", "text"] = "text"
    sections: tuple[Section, ...] = ()
    pages: tuple[int, ...] = ()
    language: str = ""
    lines: bool = False
    expandable: bool = True


class Passage(NamedTuple):
    """A stretch of one document, with its place.

    `start` and `end` are offsets in characters into the document's text, `line` and `page` count from 1 (0: none).
    `link` leads to the very place. `terms` is the passage as the lexical list sees it: normalised tokens, joined by
    spaces. `digest` is that of the text that is embedded: equal digests share one vector. `within` tells what further
    sections and pages begin in it, and how a link leads to a line of it, as `rag.within` writes them: the fields before are of
    what most of it is about.
    """

    id: str
    base: str
    document: str
    ordinal: int
    text: str
    title: str = ""
    link: str = ""
    headings: tuple[str, ...] = ()
    anchor: str = ""
    page: int = 0
    line: int = 0
    start: int = 0
    end: int = 0
    language: str = ""
    terms: str = ""
    digest: str = ""
    expandable: bool = True
    within: str = ""

    @property
    def embedded(self) -> str:
        """What is embedded: the text under its title and its headings."""
        return "\n".join(part for part in (self.title, *self.headings, self.text) if part)


# --- finding --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lookup:
    """A question made ready for searching, and how.

    `question` stands by itself. `lexical` holds texts with their weights, whose words make the terms; `dense` is the
    text that is embedded. A passage must hold one of the terms that are `needed`, if any are. `notes` say what was tried and
    rejected.
    """

    question: str
    lexical: tuple[tuple[str, int], ...]
    dense: str
    how: Literal["as asked", "rewritten", "expanded"] = "as asked"
    needed: frozenset[str] = frozenset()
    notes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for: terms (a term that stands twice weighs twice), and a vector where there is one.

    `limit` bounds each of the two ranked lists.
    """

    terms: tuple[str, ...]
    vector: Vector | None = None
    limit: int = 50


class Stretch(NamedTuple):
    """Passages of one document, from the ordinal `first` to `last`, both included.

    Where `rooms` names ordinals, each with a number of characters, passages are wanted to grow on either side of these, which
    need not be told again. What does not fit beside one of them, with all that lies between, into fewer characters may be left
    out.
    """

    document: str
    first: int
    last: int
    rooms: tuple[tuple[int, int], ...] = ()


class Candidate(NamedTuple):
    """One passage of either ranked list, with both raw scores.

    `lexical_rank` and `dense_rank` count from 1; 0 says that the passage is not in that list. A list holds only what
    really matched. `matched` holds the distinct terms of the search that stand in the passage. `sketch` is that of all its
    terms (rag/sketches.py); empty where the store keeps none.
    """

    id: str
    bm25: float
    cosine: float
    lexical_rank: int = 0
    dense_rank: int = 0
    matched: frozenset[str] = frozenset()
    sketch: bytes = b""


class Match(NamedTuple):
    """A passage and how well it answers one question: `score` orders, `scores` names each part of it.

    `relevance`, between 0 and 1, means the same for every question: thresholds cut on it. After context expansion
    the passage may be several joined ones: `members` holds their ids, `parts` the passages themselves, each with its own
    place. `copies` are passages that say the same.
    """

    passage: Passage
    score: float
    relevance: float = 0.0
    scores: Mapping[str, float] = MappingProxyType({})
    members: tuple[str, ...] = ()
    copies: tuple[Passage, ...] = ()
    parts: tuple[Passage, ...] = ()


# --- answering ------------------------------------------------------------------------------------------------------


class SourcePlace(NamedTuple):
    """One place that an answer cites: its name for a reader (a section, a page) and the link that leads there."""

    label: str
    link: str


class Source(NamedTuple):
    """One entry of the SOURCES footer: a cited document and the places in it, the first one first."""

    n: int
    base: str
    document: str
    title: str
    places: tuple[SourcePlace, ...] = ()

    @property
    def link(self) -> str:
        return self.places[0].link if self.places else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said: mark `[n]` in the text means `sources[n - 1]`; the footer is not part of the text.

    An answer that abstains has no sources; `suggestions` are the nearest documents ("you may look at").
    `remark`, where there is one, is shown below the text: what the reader must know about how the answer came about.
    `question` is the standalone question that was searched for. `matches` are the passages that the writer was given.
    """

    text: str
    sources: tuple[Source, ...] = ()
    abstained: bool = False
    suggestions: tuple[Source, ...] = ()
    question: str = ""
    language: str = ""
    bases: tuple[str, ...] = ()
    matches: tuple[Match, ...] = ()
    intermediate: tuple[str, ...] = ()
    run: str = ""
    remark: str = ""


class Step(NamedTuple):
    """One step of a run: its name, how long it took, what it noted, and its error where it failed."""

    name: str
    started: float
    seconds: float
    notes: Mapping[str, object] = MappingProxyType({})
    error: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """The trace of one question. `notes` are JSON values only; `started_at` is in UTC."""

    id: str
    kind: str
    started_at: datetime
    seconds: float
    notes: Mapping[str, object] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    error: str = ""


# --- writing --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings of one model call; None leaves the choice to the provider (R25). Seconds bound one call."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    seconds: float = 60.0


class Excerpt(NamedTuple):
    """A passage as a writer sees it: the number it is cited by, its title and its text, which begins under `headings`."""

    n: int
    title: str
    text: str
    passage: Passage | None = None
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """One call of a writer: `system` and `user` are the rendered templates and say it all to a language model; a writer by
    rule has none.

    `question`, `excerpts` and `history` are what the templates were rendered from, for writers that take documents
    apart from text (Cohere) or that write from the passages themselves (the extractive one). `weights` tells these how much
    the words of each text weigh: those of a follow-up more than what was added to it.
    """

    system: str
    user: str
    question: str = ""
    excerpts: tuple[Excerpt, ...] = ()
    history: tuple[Turn, ...] = ()
    language: str = ""
    sampling: Sampling = Sampling()
    weights: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation that the model itself gave: characters `start` to `end` of its text rest on these excerpts."""

    start: int
    end: int
    excerpts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call cost, in tokens, and why the model stopped: "complete" or "stop", "max_tokens" where its answer was cut off.

    `note` says what was not as it should be and could be mended.
    """

    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    finish: str = ""
    note: str = ""


Piece: TypeAlias = str | Cited | Usage


# --- indexing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signature:
    """What an index was made with: two indexes of unequal signatures cannot be mixed (I6)."""

    embedder: str
    dimension: int
    splitting: str
    lexical: str


@dataclass(frozen=True, slots=True)
class Indexed:
    """A passage with its vector, as a store takes it; no vector where there is no embedder."""

    passage: Passage
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What the catalog knows of one document: the stamp and digest it was indexed with, or why it could not be."""

    document: str
    stamp: str
    digest: str = ""
    title: str = ""
    link: str = ""
    passages: int = 0
    error: str = ""
    indexed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A document that could not be read, and why, in one clear sentence."""

    document: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """An indexing run, counted. `found` is None while the sources are still being listed; of what is done, nothing stands in the
    index of the `unread` ones.

    `joined` says that another process runs it, or another task, and we only watch. `remark` is what went wrong beside the run:
    the index is good all the same.
    """

    base: str
    run: str = ""
    state: Literal["listing", "indexing", "publishing", "done", "failed", "cancelled"] = "listing"
    found: int | None = None
    done: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    embedded: int = 0
    seconds: float = 0.0
    problems: tuple[Problem, ...] = ()
    error: str = ""
    remark: str = ""
    joined: bool = False
    unread: int = 0
