"""Sentences taken out of passages, and put together again so that they read well and stay Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag.lexical import detect, terms
from rag.sentences import segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag.sentences import Kind, Segment
    from rag.types import Excerpt

_MARK = re.compile(r"(`[^`\n]*`)|\s?[\[【［][\^#]?\d+(?:[,\s–-]+\d+)*[\]】］](?=(\w)?)")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_STRAY_FENCE = re.compile(r"`{3,}|~{3,}")
_QUOTE = re.compile(r"^\s{0,3}>\s?", re.MULTILINE)
_BLANKS = re.compile(r"\s+")
_STOPS = re.compile(r"[\s.!?。！？…:：*_\"'”’»)）」|]*$")
_DELIMITER_ROW = re.compile(r"^\s*\|[\s|:-]+\|?\s*$")
_WIDE = re.compile(r"[\u2e80-\ud7a3\uf900-\uffef]")
_LEAD_IN = re.compile(r"[:：]\W{0,4}$")
_POINTS_BACK = re.compile(
    r"(?:(?:he|she|it|they|his|her|its|their|this|these|that|those|such|however|therefore|thus|but|so|also|instead|otherwise|then|"
    r"él|ella|ellos|ellas|esto|este|esta|estos|estas|eso|ese|esa|sin embargo|además|por eso|pero|así|también|"
    r"ele|ela|eles|elas|isto|isso|este|esta|estes|esse|essa|porém|além disso|por isso|mas|assim|também|"
    r"er|sie|es|dies|diese|dieser|dieses|jedoch|außerdem|daher|deshalb|aber|dann|"
    r"il|elle|ils|elles|cela|ce|cette|ces|cependant|toutefois|mais|donc|ainsi|"
    r"он|она|оно|они|это|этот|эта|эти|однако|поэтому|но|также)\b|"
    r"他|她|它|这|該|该|其|此|但|因此|所以|然而|不过|また|しかし|これ|それ|その|この|そのため|그|이것|하지만)",
    re.IGNORECASE,
)
_NEAR = 0.8
_LONGEST_CODE = 600


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """One sentence (item, row, block of code) of excerpt `n`: as it is shown, with the terms of its surroundings.

    `rank` is the excerpt's, from 0, `index` the sentence's place in it. `before` is the one before it in its paragraph,
    or the lead-in of its list; `header` the table's first rows.
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


def sentences_of(excerpt: Excerpt, rank: int) -> list[Sentence]:
    """Headings, and rows that only head a table, are context, no sentences."""
    passage = excerpt.passage
    language = (passage.language if passage else "") or detect(excerpt.text)
    title_terms = frozenset(terms(excerpt.title, language))
    heading_terms = frozenset(terms(passage.headings[-1], language)) if passage and passage.headings else frozenset()
    found: list[Sentence] = []
    table: list[str] = []
    parts = segments(excerpt.text)
    for index, part in enumerate(parts):
        raw = excerpt.text[part.start : part.end]
        if part.kind == "heading":
            heading_terms = frozenset(terms(raw, language))
            continue
        table = _table(table, parts, index, raw)
        text = raw if part.kind == "code" else _shown(raw)
        if (
            not any(c.isalnum() for c in text)
            or (part.kind == "row" and raw in table)
            or (part.kind == "code" and len(text) > _LONGEST_CODE)
        ):
            continue
        before = _before(found, part)
        words = frozenset(terms(text, language))
        found.append(
            Sentence(
                excerpt.n,
                rank,
                index,
                part.block,
                part.kind,
                text,
                language,
                words,
                heading_terms,
                title_terms,
                before,
                tuple(table),
            )
        )
    return found


def _table(table: list[str], parts: Sequence[Segment], index: int, raw: str) -> list[str]:
    """The first row and the delimiter row of the table that this part belongs to."""
    if parts[index].kind != "row":
        return []
    if index == 0 or parts[index - 1].kind != "row":
        return [raw]
    return [*table, raw] if len(table) == 1 and _DELIMITER_ROW.match(raw) else table


def _before(found: Sequence[Sentence], part: Segment) -> Sentence | None:
    last = found[-1] if found else None
    if last is None or (part.block == last.block and part.kind != "row"):
        return last
    if part.kind in ("item", "code", "row"):
        if _LEAD_IN.search(last.text[-8:]):
            return last
        return (
            last.before if last.kind == part.kind and last.before is not None and _LEAD_IN.search(last.before.text[-8:]) else None
        )
    return None


def _shown(raw: str) -> str:
    """On one line, without marks of its own (they would be taken for ours) and without half of a pair of Markdown signs."""
    text = _BLANKS.sub(" ", _MARK.sub(lambda match: match[1] or (" " if match[2] else ""), _QUOTE.sub("", raw))).strip()
    text = _STRAY_FENCE.sub("", text).strip()
    for sign in ("**", "__", "`"):
        if text.count(sign) % 2:
            text = re.sub(rf"(?<=\w){re.escape(sign)}(?=\w)", " ", text).replace(sign, "")
    return text


def needs_the_one_before(sentence: Sentence) -> bool:
    return sentence.kind in ("item", "code", "row") or _POINTS_BACK.match(sentence.text) is not None


def is_near_copy(sentence: Sentence, other: Sentence) -> bool:
    smaller = min(len(sentence.terms), len(other.terms)) or 1
    larger = max(len(sentence.terms), len(other.terms)) or 1
    shared = len(sentence.terms & other.terms)
    return shared / larger >= _NEAR or (shared == smaller and smaller > 3)  # noqa: PLR2004 - a few common words are no copy


# --- put together ---------------------------------------------------------------------------------------------------


def quoted(chosen: Sequence[Sentence], longest: int) -> Iterator[str]:
    """Piece by piece: by passage, the best one first, in the passage's order, each sentence with its mark."""
    order = {n: at for at, n in enumerate(dict.fromkeys(sentence.n for sentence in chosen))}
    previous: Sentence | None = None
    for sentence in sorted(set(chosen), key=lambda one: (order[one.n], one.index)):
        yield _between(previous, sentence) + _marked(sentence, longest, previous)
        previous = sentence


def _between(previous: Sentence | None, sentence: Sentence) -> str:
    if previous is None:
        return ""
    if previous.n == sentence.n and previous.block == sentence.block:
        return "" if _WIDE.match(previous.text[-1]) else " "
    if previous.n == sentence.n and previous.kind == sentence.kind and sentence.kind in ("item", "row"):
        return "\n"
    return "\n\n"


def _marked(sentence: Sentence, longest: int, previous: Sentence | None) -> str:
    mark = f"[{sentence.n}]"
    if sentence.kind == "code":
        return f"{_fenced(sentence.text)}\n{mark}"
    text = sentence.text if len(sentence.text) <= longest else _shortened(sentence.text, longest)
    stop = _STOPS.search(text)
    at = stop.start() if stop else len(text)
    marked = f"{text[:at]}{'' if _WIDE.match(text[at - 1 : at]) else ' '}{mark}{text[at:]}"
    same_table = previous is not None and previous.kind == "row" and previous.header == sentence.header and previous.n == sentence.n
    return "\n".join((*(() if same_table else sentence.header), marked))


def _fenced(text: str) -> str:
    """In a fence that has an end: a passage may begin or stop within one."""
    opening = _FENCE.match(text)
    if opening is None:
        return f"```\n{text}\n```"
    ended = text.rpartition("\n")[2].strip().startswith(opening[1]) and "\n" in text
    return text if ended else f"{text}\n{opening[1]}"


def _shortened(text: str, longest: int) -> str:
    cut = text[:longest]
    at_word = cut.rpartition(" ")[0] if " " in cut[longest // 2 :] else cut
    return f"{at_word.rstrip(' ,;:，；：')}…"
