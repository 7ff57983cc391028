"""A model's own list of sources, anywhere in its text: found and taken out (R28). Ours is the only one that is shown.

Sentences that merely begin with the word stay: what follows it must look like entries (a mark, a link, a title that was
given, the name of a file), not like prose.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from rag.code_spans import code_spans
from rag.marks import OPENING, marks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

NAMES = tuple(
    "sources|source|references|reference|citations|citation|bibliography|"  # noqa: SIM905 - one text reads more easily
    "works cited|sources used|sources cited|sources consulted|list of sources|footnotes|fuentes|fuente|referencias|referencia|"
    "bibliografía|fuentes consultadas|quellen|quelle|quellenangaben|"
    "quellenangabe|quellenverzeichnis|quellennachweise|quellennachweis|belege|literatur|literaturverzeichnis|fontes|fonte|"
    "referências|referência|bibliografia|références|référence|fonti|riferimenti|bronnen|bron|bronvermelding|источники|источник|"
    "ссылки|литература|список источников|джерела|джерело|źródła|źródło|källor|källa|kilder|kilde|lähteet|lähde|kaynaklar|kaynak|"
    "kaynakça|zdroje|források|surse|nguồn|sumber|πηγές|المصادر|المراجع|مصادر|مراجع|המקורות|מקורות|स्रोत|"
    "来源|來源|資料來源|资料来源|信息来源|引用来源|參考來源|参考来源|参考资料|參考資料|参考文献|參考文獻|参考|參考|引用|引文|出处|出處|資料出處|"
    "来源文档|引用文献|出典|参照|参照元|参考情報|情報源|ソース|출처|참고|참고문헌|참고 자료|แหล่งที่มา|แหล่งอ้างอิง|อ้างอิง".split("|")
)
_NAMES = "|".join(sorted(NAMES, key=len, reverse=True))
_DECORATION = r"[\s>#*_\-•–—=~📚🔗📖ℹ️:]{0,20}"
_HEADER = re.compile(
    rf"^(?P<before>{_DECORATION})(?:\d{{1,2}}[.)]\s)?[\[(【（]?(?P<name>{_NAMES})[\])】）]?"
    r"(?P<after>[\s*_]{0,8}(?P<colon>[:：])?[\s*_=-]{0,8})(?P<rest>.*)$",
    re.IGNORECASE,
)
_INLINE = re.compile(
    rf"(?<=[.!?。！？)）\]】*_])\s{{0,3}}[(（\[【]?(?:\*\*|__|\*|_)?(?P<name>{_NAMES})(?:\*\*|__|\*|_)?\s?[:：](?P<rest>[^\n]{{1,2000}})$",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    rf"\s?[(（\[【]\s?(?P<name>{_NAMES})\s?[:：]\s?(?P<rest>(?:[^()（）\[\]【】\n]|\[[^\[\]\n]{{0,100}}\]){{1,300}})[)）\]】]",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^[\s>]{0,8}(?:[-*+•‣◦·–]\s|\(?\d{1,3}[.)、]\s?)?[\s*_]{0,4}")
_FOOTNOTE = re.compile(r"^[\s>]{0,8}(?:[-*+•]\s)?\[\^?\d{1,4}\]:")
_LINK = re.compile(
    r"!?\[[^\[\]\n]{0,500}\]\([^()\n]{0,2000}\)|<[^<>\n]{1,2000}>|(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s)）\]】>]{1,2000}",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"[\w./\\-]{1,200}\.(?:md|mdx|rst|pdf|html?|docx?|pptx?|xlsx?|csv|txt|epub|json|ya?ml|tex)\b(?:#[\w.=-]{1,100})?", re.IGNORECASE
)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_PROSE = re.compile(r"[.!?。！？]\s*$")
_RULE = re.compile(r"^\s{0,8}(?:[-*_]\s?){3,}\s*$")
Signs: TypeAlias = Literal["names", "trailing marks", ""]
_FEW_WORDS = 8
_MANY_WORDS = 20
_LONGEST_HEADING = 45 + max(map(len, NAMES))
_LONGEST_LEAD = 20  # characters before the mark that an entry begins with
_LONGEST_LINE = 1000  # a longer one is no entry of a list


class Stripped(NamedTuple):
    """The text without the model's own lists, and the numbers that stood in them."""

    text: str
    numbers: tuple[int, ...] = ()


def without_own_sources(text: str, titles: Iterable[str] = ()) -> Stripped:
    """`titles` are those of the documents that were given: a line that names one is an entry."""
    if not _is_worth_reading(text):
        return Stripped(text)
    known = _Titles(titles)
    lines = text.split("\n")
    code = _code_lines(text, lines)
    removed: list[str] = []
    kept: list[str | None] = list(lines)
    for first, last in _listed(lines, code, known):
        removed.extend(lines[first:last])
        kept[first:last] = [None] * (last - first)
    for index, line in enumerate(lines):
        if kept[index] is not None and index not in code:
            kept[index], cut = _inline_cut(line, known)
            removed.extend(cut)
    if kept == lines:
        return Stripped(text)
    numbers = [n for mark in marks("\n".join(removed).replace("`", "")) for n in mark.numbers]
    return Stripped(_joined(kept), tuple(dict.fromkeys(numbers)))


_ENTRY_BEGINS = re.compile(r"^\W{0,8}[\[【［]\^?\d", re.MULTILINE)
_BEHIND_MARK = re.compile(r"\](?:[:(]|\s*$)", re.MULTILINE)
_FOLDED = {name.casefold() for name in NAMES}
_LEAST_NAMES = tuple(name for name in _FOLDED if not any(other in name for other in _FOLDED if other != name))
_LEAST_PLAIN_NAMES = tuple(filter(str.isascii, _LEAST_NAMES))


def _is_worth_reading(text: str) -> bool:
    """Looking for each name by itself takes a fifth of the time that one pattern for all of them takes."""
    if ":" not in text and "：" not in text and not any(map(_may_be_listed, filter(None, text.split("\n")))):
        return False
    folded = text.casefold()
    names = _LEAST_PLAIN_NAMES if folded.isascii() else _LEAST_NAMES
    return any(map(folded.__contains__, names)) or "://" in text or any(each.search(text) for each in (_BEHIND_MARK, _ENTRY_BEGINS))


def _may_be_listed(line: str) -> bool:
    """Without a colon only a heading alone on its line, and what begins with a mark, are of a list."""
    return len(line.rstrip(" *_")) <= _LONGEST_HEADING or OPENING.search(line, 0, _LONGEST_LEAD) is not None


class _Titles:
    """Titles as one looks them up in a line: the longest first, so that none is left as a piece of another."""

    def __init__(self, titles: Iterable[str]) -> None:
        self._titles = titles

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        """Made when a line is met that may name one: it takes a quarter of a millisecond."""
        names = {title.strip() for title in self._titles if len(title.strip()) > 1}
        ordered = sorted(names, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, ordered)), re.IGNORECASE) if ordered else None

    def taken_out(self, line: str) -> tuple[str, bool]:
        if self._pattern is None:
            return line, False
        rest, count = self._pattern.subn(" ", line)
        return rest, count > 0


def _code_lines(text: str, lines: Sequence[str]) -> set[int]:
    """The lines that belong to fenced code."""
    inside: set[int] = set()
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    spans = [(start, end) for start, end in code_spans(text) if "\n" in text[start:end]]
    index = 0
    for start, end in spans:
        while starts[index + 1] <= start:
            index += 1
        while index < len(lines) and starts[index] < end:
            inside.add(index)
            index += 1
        index = max(0, index - 1)
    return inside


def _listed(lines: Sequence[str], code: Collection[int], known: _Titles) -> Iterator[tuple[int, int]]:
    """The runs of lines that are a list of sources, its heading included."""
    index = 0
    while index < len(lines):
        end = index if index in code or len(lines[index]) > _LONGEST_LINE else _list_end(lines, index, code, known)
        if end > index:
            yield index, end
        index = max(end, index + 1)


def _list_end(lines: Sequence[str], index: int, code: Collection[int], known: _Titles) -> int:
    line = lines[index]
    if _FOOTNOTE.match(line) or _is_bare_entry(line, known):
        return index + 1
    header = _HEADER.match(line)
    if header is None:
        return index
    rest = header["rest"].strip(" *_")
    decorated = bool(header["colon"] or set(header["before"]) & set("#*_") or header["name"].isupper())
    if rest:
        if not header["colon"] or not (
            _is_entry(rest, known, strong=False) or (header["name"].isupper() and not _is_long_prose(rest))
        ):
            return index
        return _entries_end(lines, index + 1, code, known)
    end = _entries_end(lines, index + 1, code, known)
    return end if decorated or end > index + 1 or _is_last(lines, index) else index


def _is_last(lines: Sequence[str], index: int) -> bool:
    return not any(line.strip() for line in lines[index + 1 : index + 51])


def _entries_end(lines: Sequence[str], index: int, code: Collection[int], known: _Titles) -> int:
    """Where the entries under a heading end: at a line of prose, or at a blank line with no sure entry after it."""
    end, blank = index, False
    while index < len(lines) and index not in code and len(lines[index]) <= _LONGEST_LINE:
        line = lines[index]
        if not line.strip():
            blank = True
        elif _is_entry(line, known, strong=blank and end > 0 and not _LEAD_LIST.match(line)) and _HEADER.match(line) is None:
            end, blank = index + 1, False
        else:
            break
        index += 1
    return end


_LEAD_LIST = re.compile(r"^[\s>]{0,8}(?:[-*+•‣◦·–]\s|\(?\d{1,3}[.)、]\s)")


def _is_entry(line: str, known: _Titles, *, strong: bool) -> bool:
    """Whether a line names sources and says nothing; `strong` asks for a mark, a link, a title or a file in it."""
    rest, signs = _without_names(line, known)
    words = len(_WORD.findall(rest))
    if signs == "trailing marks":
        return words <= 3  # noqa: PLR2004 - a sentence with a mark at its end is prose
    if signs:
        return words <= _FEW_WORDS or (words <= _MANY_WORDS and not _PROSE.search(line.rstrip(" *_)")))
    if strong:
        return False
    listed = _LEAD_LIST.match(line) is not None
    return (
        words <= (_MANY_WORDS if listed else _FEW_WORDS) and not _PROSE.search(line) and (listed or not line.lstrip()[:1].islower())
    )


def _is_bare_entry(line: str, known: _Titles) -> bool:
    """An entry that needs no heading above it: a mark at its start, then a link, a file or a title, and hardly a word more."""
    first = next(iter(marks(line[:80])), None)
    lead = _LEAD.match(line)
    if first is None or lead is None or first.start > lead.end():
        return False
    rest, signs = _without_names(line[first.end :], known)
    return bool(signs) and len(_WORD.findall(rest)) <= 3  # noqa: PLR2004 - "p. 12", "see also"


def _without_names(line: str, known: _Titles) -> tuple[str, Signs]:
    """What a line says besides its marks, links, files and given titles; and whether it had any of them."""
    rest, titled = known.taken_out(line)
    rest, links = _LINK.subn(" ", rest)
    rest, files = _FILE.subn(" ", rest)
    found = marks(rest)
    named = bool(titled or links or files or (found and found[0].start <= _lead_length(rest)))
    for mark in reversed(found):
        rest = f"{rest[: mark.start]} {rest[mark.end :]}"
    return _LEAD.sub("", rest, count=1), "names" if named else "trailing marks" if found else ""


def _lead_length(line: str) -> int:
    lead = _LEAD.match(line)
    return lead.end() if lead else 0


def _is_long_prose(rest: str) -> bool:
    return len(_WORD.findall(rest)) > _MANY_WORDS or (
        rest[:1].islower() and len(_WORD.findall(rest)) > 3 and _PROSE.search(rest) is not None  # noqa: PLR2004 - "handbook.md."
    )


def _inline_cut(line: str, known: _Titles) -> tuple[str, list[str]]:
    """A line without "(Source: Handbook)" and without "SOURCES: …" at its end; and what was cut."""
    cut: list[str] = []

    def bracketed(match: re.Match[str]) -> str:
        rest, signs = _without_names(match["rest"], known)
        if not signs or len(_WORD.findall(rest)) > _FEW_WORDS:
            return match[0]
        found = [line_mark for line_mark in marks(match["rest"]) if line_mark.numbers]
        if found:
            return match[0][: len(match[0]) - len(match[0].lstrip())] + "".join(match["rest"][m.start : m.end] for m in found)
        cut.append(match[0])
        return ""

    if ":" not in line and "：" not in line:
        return line, cut
    line = _BRACKETED.sub(bracketed, line)
    inline = _INLINE.search(line)
    if inline is not None and not inline["name"][0].islower():
        rest, signs = _without_names(inline["rest"], known)
        few = _FEW_WORDS if inline["name"].isupper() and inline["name"].isascii() else 3
        if (signs and len(_WORD.findall(rest)) <= few) or (
            inline["name"].isupper() and inline["name"].isascii() and not _is_long_prose(rest)
        ):
            cut.append(inline[0])
            line = line[: inline.start()].rstrip()
    return line, cut


def _joined(kept: Sequence[str | None]) -> str:
    """The lines that are left: a gap becomes one blank line, a rule that stood above a list goes with it."""
    lines: list[str] = []
    gap = False
    for line in kept:
        if line is None:
            gap = True
            continue
        if gap:
            while lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
                lines.pop()
            if lines and line.strip():
                lines.append("")
            gap = not line.strip()
        if not gap:
            lines.append(line)
    while gap and lines and (not lines[-1].strip() or _RULE.match(lines[-1])):
        lines.pop()
    return "\n".join(lines).rstrip() if gap else "\n".join(lines)
