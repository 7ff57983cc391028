"""Chosen sentences put together so that they read well and stay Markdown, each with its mark where a reader looks for it."""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter
from textwrap import dedent
from typing import TYPE_CHECKING

from rag.models.enumerating import how_many, numbered
from rag.models.neighbouring import number_of
from rag.text import width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag.models.extracting import Sentence

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_STOP = re.compile(r"[.!?。！？…।؟]+$")
_CELL_END = re.compile(r"\s*\|?\s*$")
_BULLET = re.compile(r"^(?:[-*+•‣◦·–]|\d{1,3}[.)])\s+")
_WORDS = re.compile(r"(?:[^\W_]|[ '’&,/-])+")
_WIDE = re.compile(r"[\u2e80-\ud7a3\uf900-\uffef]")
_APART, _BELOW = "\n\n", "\n"
_CLOSERS = "\"'”’`)"
_CLAUSE = re.compile(r"[;；，。]|[,:：](?=\s)")


def quoted(chosen: Sequence[Sentence], longest: int) -> Iterator[str]:
    """Piece by piece: by passage, the best one first, in the passage's order.

    `longest` bounds a sentence, in columns: a Chinese character takes two.
    """
    order = {n: at for at, n in enumerate(dict.fromkeys(sentence.n for sentence in chosen))}
    previous: Sentence | None = None
    for together in _together(sorted(set(chosen), key=lambda one: (order[one.n], one.index))):
        yield _between(previous, together[0]) + _written(together, previous, longest)
        previous = together[-1]


def _together(ranked: Sequence[Sentence]) -> list[list[Sentence]]:
    """A lead-in with what follows it; the steps of a procedure with all that belongs to each; the items of one list, the rows of
    one table; every other sentence alone.
    """
    found: list[list[Sentence]] = []
    listed = {step: steps[0] for steps in numbered(ranked) if _is_procedure(steps) for step in steps}
    for sentence in ranked:
        last = found[-1][-1] if found else None
        if sentence in listed:
            together = last is not None and listed.get(last) is listed[sentence]
        else:
            together = last is not None and (_is_led(sentence, found[-1][0]) or _goes_on(last, sentence))
        if together:
            found[-1].append(sentence)
        else:
            found.append([sentence])
    return found


def _is_led(sentence: Sentence, lead: Sentence) -> bool:
    return sentence.before is lead and (sentence.kind in ("code", "row") or lead.is_open or lead.kind != sentence.kind)


def _goes_on(last: Sentence, sentence: Sentence) -> bool:
    """Whether both are rows of one table, or items of a list."""
    alike = last.n == sentence.n and last.kind == sentence.kind and (last.header, last.table) == (sentence.header, sentence.table)
    return alike and (
        sentence.kind == "row" or (sentence.kind == "item" and last.block != sentence.block and _follows(last, sentence))
    )


def _follows(last: Sentence, sentence: Sentence) -> bool:
    """Where both are numbered, in order: else they are of two lists."""
    before, after = number_of(last), number_of(sentence)
    return before is None or after is None or before < after


def _between(previous: Sentence | None, sentence: Sentence) -> str:
    if previous is None:
        return ""
    if previous.n == sentence.n and previous.block == sentence.block:
        return "" if _WIDE.match(previous.text[-1]) else " "
    return _APART


def _written(together: Sequence[Sentence], previous: Sentence | None, longest: int) -> str:
    first, rest = together[0], together[1:]
    mark = f"[{first.n}]"
    if first.kind == "code":
        led = previous is not None and first.before is previous
        return _fenced(first.text) if led else f"{_marked(first.heading, mark)}\n\n{_fenced(first.text)}"
    if first.kind == "row":
        return _table(together, mark, longest)
    if first.kind == "item" and _is_procedure(together):
        return _steps(together, mark, longest)
    if not rest:
        return _marked(_BULLET.sub("", _prose(first, longest, previous)), mark)
    if _is_led(rest[0], first):
        return _led(first, rest, mark, longest)
    return "\n".join(_marked(_prose(one, longest), mark) for one in together)


def _led(lead: Sentence, rest: Sequence[Sentence], mark: str, longest: int) -> str:
    """One mark for a lead-in and all that it introduces: behind its colon, or at the end where both are one line."""
    introduction = _BULLET.sub("", _prose(lead, longest))
    if rest[0].kind in ("code", "row"):
        below = _fenced(rest[0].text) if rest[0].kind == "code" else _table(rest, "", longest)
        return f"{_marked(introduction, mark)}\n\n{below}"
    if len(rest) == 1:
        text = _BULLET.sub("", _prose(rest[0], longest))
        return _marked(f"{introduction}{'' if _WIDE.match(introduction[-1]) else ' '}{text}", mark)
    return "\n".join((f"{_marked(introduction, mark)}\n", *(_prose(one, longest) for one in rest)))


def _is_procedure(steps: Sequence[Sentence]) -> bool:
    """Several steps, some with more than one sentence."""
    return 1 < how_many(steps) < len(steps)


def _steps(steps: Sequence[Sentence], mark: str, longest: int) -> str:
    """One mark for each paragraph of a step, at its end."""
    written = ""
    for _, group in groupby(steps, key=attrgetter("block")):
        part = list(group)
        code = part[0].kind == "code"
        text = _fenced(part[0].text) if code else _marked(" ".join(_prose(one, longest) for one in part), mark)
        apart = code or written.endswith("`")
        written += f"{'' if not written else _APART if apart else _BELOW}{text}"
    return written


def _prose(sentence: Sentence, longest: int, previous: Sentence | None = None) -> str:
    """Behind the name that it describes, unless it stands behind another sentence about that."""
    text = sentence.text if width(sentence.text) <= longest else shortened(sentence.text, longest)
    told = previous is not None and (previous.n, previous.block) == (sentence.n, sentence.block)
    if not sentence.term or told or sentence.term in text:
        return text
    return f"{_named(sentence.term)}{'：' if _WIDE.match(sentence.term[-1]) else ': '}{text}"


def _named(term: str) -> str:
    return term if "`" in term or _WORDS.fullmatch(term) else f"`{term}`"


def _table(rows: Sequence[Sentence], mark: str, longest: int) -> str:
    """With its head, and the mark at the end of the last cell: nothing may stand behind a row."""
    lines = [shortened(row.text, longest) if width(row.text) > longest else row.text for row in rows]
    if mark:
        end = _CELL_END.search(lines[-1])
        at = end.start() if end else len(lines[-1])
        lines[-1] = f"{lines[-1][:at]} {mark}{lines[-1][at:]}"
    return "\n".join((*rows[0].header, *lines))


def _marked(text: str, mark: str) -> str:
    """Before the full stop, behind everything else: no bracket or quotation is broken up."""
    stop = _STOP.search(text)
    at = stop.start() if stop and stop.start() else len(text)
    wide = _WIDE.match(text[at - 1 : at]) or (text[at - 1 : at] in _CLOSERS and _WIDE.match(text[at : at + 1]))
    return f"{text[:at]}{'' if wide else ' '}{mark}{text[at:]}"


def _fenced(text: str) -> str:
    """In a fence that has an end: a passage may begin or stop within one."""
    opening = _FENCE.match(text)
    if opening is None:
        return f"```\n{dedent(text)}\n```"
    first, _, body = text.partition("\n")  # within an item only the fence lost its indentation
    text = f"{first}\n{dedent(body)}" if body else text
    ended = text.rpartition("\n")[2].strip().startswith(opening[1]) and "\n" in text
    return text if ended else f"{text}\n{opening[1]}"


def shortened(text: str, longest: int) -> str:
    """Cut where a clause ends, or a word."""
    room = len(text)
    while room and width(text[:room]) > longest - 1:
        room = min(room - 1, int(room * (longest - 1) / width(text[:room])))
    clauses = [match.start() for match in _CLAUSE.finditer(text[:room]) if match.start() > room // 2]
    cut = text[: clauses[-1]] if clauses else text[:room].rpartition(" ")[0] if " " in text[room // 2 : room] else text[:room]
    return f"{cut.rstrip(' ,;:，；：')}…"
