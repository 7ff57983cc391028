"""Sentences taken out of passages, with what each needs beside it to be understood."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag.lexical import content_words, detect, terms
from rag.sentences import segments
from rag.text import width

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rag.sentences import Kind, Segment
    from rag.types import Excerpt

_MARK = re.compile(r"(`[^`\n]*`)|\s?[\[【［][\^#]?\d+(?:[,\s–-]+\d+)*[\]】］](?=(\w)?)")
_STRAY_FENCE = re.compile(r"`{3,}|~{3,}")
_QUOTE = re.compile(r"^\s{0,3}>\s?|^ {0,3}:[ \t]", re.MULTILINE)  # and what stands before a definition
_WRAPPED = re.compile(r"(?<=[\u2e80-\ud7a3\uf900-\uffef])[ \t]*\n[ \t]*(?=[\u2e80-\ua4cf\uf900-\uffef])")  # no blank stood there
_DELIMITER_ROW = re.compile(r"^\s*\|[\s|:-]+\|?\s*$")
_LEAD_IN = re.compile(
    r"(?:[:：]\W{0,4}|\b(?:for example|for instance|e\.g\.|such as|as follows|like this|por ejemplo|por exemplo|zum Beispiel|"
    r"par exemple|например)[,.:]?|(?:例如|比如|如下|如下所示|たとえば|例えば)[，,。]?)$",
    re.IGNORECASE,
)
_COMPLETE = re.compile(r"[.!?。！？…।؟](?:[\"'”’»)）\]」』】*_`]|\s)*$")
_DIRECTIVE = re.compile(r"\.\. [\w:-]+::|:[\w-]+: ")  # of reStructuredText that is read as it stands
_ROLE = re.compile(r":(?:[a-z]{1,20}:){1,2}`[~!]?([^`<\n]{1,100})(?:<[^>`\n]{0,100}>)?`")
_UNDERLINE = re.compile(r"\n\s*([=\-~^*_#\"])\1{2,}\s*\Z")
_LINKED = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LINK = re.compile(r"!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://[^\s>]+>?")
_SEE = re.compile(
    r"\W*(?:(?:for (?:more|details)[^,]{0,30}, )?(?:see|read|siehe|véase|vea|veja|voir|vedi|zie|см\.?)(?=[\s:])|"
    r"另?请?参[见阅看]|另见|詳細は|詳しくは)",
    re.IGNORECASE,
)
_POINTER_BEHIND = re.compile(r"[;:,]\s+(?:see|siehe|véase|vea|veja|voir|vedi|zie)\s+\[[^\]\n]*\]\([^)\n]*\)(?=\W*$)", re.IGNORECASE)
_FEW = 2  # words beside a link
_POINTER = 90  # columns of a sentence that says nothing but where to look
_WORD = re.compile(r"\w+")
_LONGEST_CODE = 600
_DESCRIPTION = 300  # characters below a name that are told with it: what is longer is a section
_NUMBERED = re.compile(r"\s*\d{1,3}[.)]\s")
_BRACKETS = (("(", ")"), ("（", "）"))


@dataclass(slots=True, eq=False)  # not frozen: a hundred are made for an answer, in a fifth of the time
class Sentence:
    """One sentence (item, row, block of code) of excerpt `n`: as it is shown, with the terms of its surroundings.

    `rank` is the excerpt's, from 0, `index` the sentence's place in it. `before` is the one before it in its paragraph, or
    what leads in to its list, table or code; `header` the table's first rows, `table` where it starts. `term` is the name that
    its paragraph describes, where that stands directly above it: it counts as its own words. `heading` is what it stands under,
    `is_first` says that nothing is between.
    """

    n: int
    rank: int
    index: int
    block: int
    kind: Kind
    text: str
    language: str
    terms: frozenset[str]
    heading_terms: frozenset[str]
    title_terms: frozenset[str]
    before: Sentence | None = field(default=None, repr=False)
    header: tuple[str, ...] = ()
    table: int = 0
    term: str = ""
    heading: str = ""
    is_first: bool = False

    @property
    def section(self) -> tuple[int, str]:
        """The excerpt, and what it stands under there."""
        return self.n, self.heading

    @property
    def is_open(self) -> bool:
        """Whether it only leads in to what follows it."""
        return self.kind in ("prose", "item") and _LEAD_IN.search(self.text[-20:]) is not None

    @property
    def points_elsewhere(self) -> bool:
        """Whether it says only where something is told: "See Installing.", or nothing but a link."""
        if self.kind not in ("prose", "item"):
            return False
        sees = _SEE.match(self.text) is not None
        if "](" not in self.text and "://" not in self.text:
            return sees and width(self.text) <= _POINTER
        beside, links = _LINK.subn("", self.text)
        little = len(_WORD.findall(beside)) <= _FEW or not content_words(beside, self.language)  # "All of them are in"
        return (sees and width(_LINK.sub("link", self.text)) <= _POINTER) or (links > 0 and little)

    @property
    def is_complete(self) -> bool:
        return self.kind != "prose" or _COMPLETE.search(self.text[-8:]) is not None


def in_one_piece(found: Iterable[str]) -> frozenset[str]:
    """With each Wi-Fi as wifi, too."""
    known = frozenset(found)
    return known.union([term.replace("-", "") for term in known if "-" in term])


def _said(text: str) -> str:
    """Without the addresses of links, and without what only points elsewhere at the end: "…; see [how to delete it](asking.md)"."""
    return without_links(_POINTER_BEHIND.sub("", text)) if "](" in text else text


def without_links(text: str) -> str:
    """As it is shown: with the words of its links, whose addresses are left out."""
    return _LINKED.sub(r"\1", text) if "](" in text else text


def sentences_of(excerpt: Excerpt, rank: int) -> list[Sentence]:
    """Headings, terms, and rows that only head a table, are context, no sentences."""
    parts = segments(excerpt.text)
    names = {_name(excerpt.text[part.start : part.end]) for part in parts if part.kind in ("term", "title")}
    reader = _Reader(excerpt, rank, names)
    for index in range(len(parts)):
        reader.read(parts, index)
    return reader.found


class _Reader:
    """What was read so far of one excerpt."""

    def __init__(self, excerpt: Excerpt, rank: int, names: Collection[str]) -> None:
        """What is described under one of the `names` is not described under another, nor under all of them."""
        passage = excerpt.passage
        self.found: list[Sentence] = []
        self._excerpt, self._rank = excerpt, rank
        self._language = (passage.language if passage else "") or detect(excerpt.text)
        self._title_terms = self._terms(passage.title if passage else excerpt.title)  # an excerpt's names one section of several
        self._heading = excerpt.headings[-1] if excerpt.headings else ""
        self._under = self._terms(self._heading)
        self._section = frozenset() if self._heading in names else self._under
        self._term = ""
        self._described, self._described_to = -1, 0  # the block that describes it, and how far
        self._entered = False
        self._lead: Sentence | None = None
        self._table: list[str] = []
        self._table_start = 0

    def read(self, parts: Sequence[Segment], index: int) -> None:
        part = parts[index]
        raw = self._excerpt.text[part.start : part.end]
        if part.kind in ("heading", "term", "title"):
            self._enter("heading" if _NUMBERED.match(raw) else part.kind, _name(raw))
            self._described_to = part.end + _DESCRIPTION
            return
        if part.kind == "row" and _heads_a_table(parts, index, self._excerpt.text):
            self._table, self._table_start = [], index
        self._table = _table(self._table, part.kind, raw)
        text = raw if part.kind == "code" else _shown(raw)
        if part.kind == "code" and len(text) > _LONGEST_CODE:
            self._lead = None
        elif not _says_nothing(part.kind, text) and not (part.kind == "row" and raw in self._table):
            self._take(part, index, text)

    def _enter(self, kind: Kind, text: str) -> None:
        self._heading, self._lead, self._described, self._entered = text, None, -1, True
        self._term = "" if kind == "heading" else text
        if kind == "heading":
            self._section = frozenset()
        self._under = self._section | self._terms(text)
        if kind == "heading":
            self._section = self._under

    def _take(self, part: Segment, index: int, text: str) -> None:
        last = self.found[-1] if self.found else None
        same = last is not None and part.block == last.block and part.kind != "row"
        if self._described not in (-1, part.block) or part.start > self._described_to:
            self._term = ""
        term = self._term
        before = last if same else self._lead if part.kind in ("item", "code", "row") else None
        if before is None and last is not None and last.kind == "item" and self._is_within_an_item(part):
            before = last
        sentence = Sentence(
            self._excerpt.n,
            self._rank,
            index,
            part.block,
            part.kind,
            text,
            self._language,
            self._terms(f"{term}\n{_said(text)}"),
            self._under,
            self._title_terms,
            before,
            tuple(self._table),
            self._table_start,
            term,
            self._heading or self._excerpt.title,
            self._entered,
        )
        self._described, self._entered = part.block, False
        self.found.append(sentence)
        if sentence.is_open:
            self._lead = sentence
        elif part.kind == "prose":
            self._lead = None if sentence.is_complete else sentence
        elif part.kind == "code":
            self._lead = None

    def _is_within_an_item(self, part: Segment) -> bool:
        """Code that is indented behind an item belongs to it."""
        text = self._excerpt.text
        return part.kind == "code" and text[text.rfind("\n", 0, part.start) + 1 : part.start] != ""

    def _terms(self, text: str) -> frozenset[str]:
        return in_one_piece(terms(text, self._language))


def _name(raw: str) -> str:
    """Without what it is underlined with."""
    return _shown(_UNDERLINE.sub("", raw) if "\n" in raw else raw).lstrip("# ")


def _says_nothing(kind: Kind, text: str) -> bool:
    """Signs alone, a directive, or a word alone on its line: the cell of a table that was flattened, "Note"."""
    is_word = kind == "prose" and text.isascii() and " " not in text and text[-1:].isalnum()
    return is_word or not any(map(str.isalnum, text)) or _DIRECTIVE.match(text) is not None


def _heads_a_table(parts: Sequence[Segment], index: int, text: str) -> bool:
    """The first of its rows; or one above a rule, where passages were joined and one table follows upon another."""
    if index == 0 or parts[index - 1].kind != "row":
        return True
    following = parts[index + 1 : index + 2]
    return bool(following) and following[0].kind == "row" and _is_rule(text[following[0].start : following[0].end])


def _table(table: list[str], kind: Kind, raw: str) -> list[str]:
    """The first row and the delimiter row of the table that this part belongs to."""
    if kind != "row":
        return []
    return [*table, raw] if not table or (len(table) == 1 and _is_rule(raw)) else table


def _is_rule(raw: str) -> bool:
    return _DELIMITER_ROW.match(raw) is not None


def _shown(raw: str) -> str:
    """On one line, without marks of its own (they would be taken for ours) and without half of a pair of Markdown signs."""
    text = _on_one_line(raw)
    if text.endswith("::"):
        text = text[:-1]
    for sign in ("**", "__", "`"):
        if text.count(sign) % 2:
            text = re.sub(rf"(?<=\w){re.escape(sign)}(?=\w)", " ", text).replace(sign, "")
    for opening, closing in _BRACKETS:
        if text.startswith(opening) and closing not in text:
            text = text[1:]
        if text.rstrip(".。").endswith(closing) and opening not in text:
            text = "".join(text.rsplit(closing, 1))
    if text.endswith("”") and "“" not in text and text.count("”") % 2:
        text = text[:-1]
    return text.strip()


def _on_one_line(raw: str) -> str:
    """Each sign is looked for before the pattern that it belongs to: most sentences have none of them."""
    text = _QUOTE.sub("", raw) if ">" in raw or ":" in raw else raw
    if "\n" in text and not text.isascii():
        text = _WRAPPED.sub("", text)
    if ":`" in text:
        text = _ROLE.sub(r"`\1`", text)
    if "[" in text or "【" in text or "［" in text:
        text = _MARK.sub(lambda match: match[1] or (" " if match[2] else ""), text)
    text = " ".join(text.split())
    return _STRAY_FENCE.sub("", text).strip() if "```" in text or "~~~" in text else text
