"""What of an unfinished answer may be shown: nothing that the finished one would take back (R26, R28, X1)."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from rag.claims import Group, without_marks
from rag.code_spans import code_spans
from rag.own_sources import NAMES, without_own_sources
from rag.renumbering import Numbering, finished, rewritten, without_reserved
from rag.sanitizing import Links, sanitized
from rag.text import well_formed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag.ports import OnDraft
    from rag.types import Match

_LONGEST_HEADER = 80
_TAIL = 2_500  # characters at the end in which something unfinished may begin
_LINK_LIKE = re.compile(
    r"!?\[[^\[\]\n]*(?:\[[^\[\]\n]*\]?)?[^\[\]\n]*$|!?\[(?!\d+\])[^\[\]\n]*\]$"
    r"|!?\[[^\[\]\n]*\]\]?\([^()\n]*(?:\([^()\n]*\)?)?[^()\n]*$|[【［〔][^】］〕\n]*$|<[^<>\n]*$"
)
_ADDRESS = re.compile(
    r"(?:\b(?:ht{0,2}|https?|ftp|javascript|data|mailto)(?::(?://?[^\s)\]>]*)?)?|\bwww\.[^\s)\]>]*|!)$",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[(（][^()（）\n]{0,300}$")
_SENTENCE = re.compile(r"(?<=[.!?。！？)）\]】])[\s*_]{0,6}([^.!?。！？)）\]】\n]{1,40})$")
_DECORATION = " \t>#*_-•–—=~📚🔗📖:：([（【0123456789."
_MARKED_LINE = re.compile(r"^[\s>*•-]{0,8}(?:\d{1,3}[.)]\s)?\[\^?\d{1,4}\]:?\s?(?P<rest>.{0,200})$")
# "- handbook." may become the name of a file.
_ENTRY_STOP = re.compile(r"(^[ \t]{0,8}(?:[-*+•]|\d{1,3}[.)])[ \t][^\n]{0,200})\.\Z", re.MULTILINE)
_NAMES = tuple(name.casefold() for name in NAMES)


def paced(show: OnDraft, clean: Callable[[str], str], seconds: float) -> OnDraft:
    """Shows drafts as they come, those aside that come too soon after another one.

    To clean a draft costs a fifth of a turn's processor time, a model sends hundreds, and no reader sees more than a few a second.
    """
    next_at = 0.0

    def put(draft: str) -> None:
        nonlocal next_at
        if (now := time.monotonic()) >= next_at:
            next_at = now + seconds
            show(clean(draft))

    return put


class DraftCleaner:
    """A filter for drafts: a pure function of all the text so far, numbered like the finished answer where nothing is dropped."""

    def __init__(self, given: Sequence[Match], hosts: Sequence[str] = ()) -> None:
        self._given = given
        self._links = Links((), hosts)
        self._titles = {name for match in given for name in (match.passage.title, match.passage.document)}

    def clean(self, draft: str) -> str:
        text = self._held_back(without_reserved(well_formed(draft)))
        plain, found = without_marks(without_own_sources(text, self._titles).text)
        shown = [(Group(one.at, 0, 0, one.numbers, ()), [n for n in one.numbers if 1 <= n <= len(self._given)]) for one in found]
        return finished(sanitized(rewritten(plain, shown, Numbering(self._given)), self._links))[0]

    def _held_back(self, text: str) -> str:
        """The text up to what may still become a mark, a link, an image or a list of sources."""
        spans = code_spans(text)
        if spans and spans[-1][1] == len(text) and "\n" in text[spans[-1][0] :]:
            return text.rstrip("`~")  # within a block of code; half of its end is not shown
        start = max(len(text) - _TAIL, spans[-1][1] if spans else 0)
        cuts = [match.start() for pattern in (_LINK_LIKE, _ADDRESS) if (match := pattern.search(text, start))]
        text = text[: min(cuts, default=len(text))]
        bracket = _BRACKET.search(text, min(start, len(text)))
        if bracket and (len(bracket[0]) == 1 or _may_name(bracket[0][1:])):
            text = text[: bracket.start()]
        sentence = _SENTENCE.search(text, max(0, len(text) - 60))
        if sentence and not sentence[1].lstrip(_DECORATION)[:1].islower() and _may_name(sentence[1]):
            text = text[: sentence.start()]
        return _ENTRY_STOP.sub(r"\1", text[: self._line_to_hold(text)])

    def _line_to_hold(self, text: str) -> int:
        start = text.rfind("\n") + 1
        line = text[start:]
        marked = _MARKED_LINE.match(line)
        if marked and self._may_be_title(marked["rest"]):
            return start
        if len(line) > _LONGEST_HEADER:
            return len(text)
        return start if not line.strip(_DECORATION + "`") or _may_name(line) else len(text)

    def _may_be_title(self, rest: str) -> bool:
        said = rest.strip(' *_`"').casefold()
        return any(title.casefold().startswith(said) for title in self._titles)


def _may_name(start: str) -> bool:
    """Whether this may be the beginning of "Sources:", in any language."""
    said = start.lstrip(_DECORATION).rstrip(" \t*_:：0123456789,，").casefold()
    return bool(said) and any(name.startswith(said) for name in _NAMES)
