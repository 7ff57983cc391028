"""reStructuredText, line by line, as Markdown: headings, code and notes; anchors as docutils and Sphinx make them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from rag.sources.encodings import decode
from rag.sources.reading import Reading, language_code, one_line
from rag.types import Section

if TYPE_CHECKING:
    from rag.sources.reading import Raw, ReadLimits

_RULE = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")
_SHORTEST_RULE = 3
_DIRECTIVE = re.compile(r"(?P<indent>[ \t]*)\.\.[ \t]+(?:\|[^|]+\|[ \t]+)?(?P<name>[\w:+.-]+?)::(?:[ \t]+(?P<rest>.*))?$")
_TARGET = re.compile(r"[ \t]*\.\.[ \t]+_(?P<name>`[^`]+`|(?:\\:|[^:`])+):[ \t]*(?P<rest>.*)$")
_COMMENT = re.compile(r"[ \t]*\.\.(?:[ \t]|$)")
_OPTION = re.compile(r"[ \t]+:[\w -]+:")
_CODE = frozenset(
    {"code", "code-block", "sourcecode", "parsed-literal", "doctest", "testcode", "testoutput", "math", "prompt", "productionlist"}
)
_BOXES = frozenset(
    {"note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "error", "seealso", "admonition"},
)
_HISTORY = {"versionadded": "New in version", "versionchanged": "Changed in version", "deprecated": "Deprecated since version"}
_DROPPED = frozenset(
    {"toctree", "contents", "index", "image", "figure", "include", "raw", "highlight", "module", "currentmodule", "meta"}
    | {"sectionauthor", "moduleauthor", "only", "ifconfig", "tabularcolumns", "default-role", "role", "graphviz"}
    | {"automodule", "autoclass", "autofunction"}
)
_PLAIN = str.maketrans({"ß": "sz", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "ŧ": "t"})
_ROLE = re.compile(r":([\w:+.-]+):`(?:([^`<]*[^`<\s])\s*<[^`>]*>|([^`]+))`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]+>`__?")
_REFERENCE = re.compile(r"`([^`]+)`__?(?!\w)")
_SUBSTITUTION = re.compile(r"(?<![\w|])\|([\w -]+)\|(?![\w|])")


def read(raw: Raw, limits: ReadLimits) -> Reading:  # noqa: ARG001 - every reader has this form
    writing = _Writing(decode(raw.name, raw.content, raw.charset).split("\n"))
    writing.run()
    text = "\n".join(writing.lines)
    starts = [0]
    for line in writing.lines:
        starts.append(starts[-1] + len(line) + 1)
    sections = tuple(Section(starts[line], headings, anchor) for line, headings, anchor in writing.sections)
    title = sections[0].headings[0] if sections else ""
    return Reading(text, title, "markdown", sections, language=writing.language, lines=True)


class _Writing:
    """Each line becomes one line, so that line numbers stay right."""

    def __init__(self, lines: list[str]) -> None:
        self.lines: list[str] = []
        self.sections: list[tuple[int, tuple[str, ...], str]] = []
        self.language = ""
        self._source = lines
        self._at = 0
        self._levels: list[str] = []  # the adornments, in the order in which they appear
        self._path: list[tuple[int, str]] = []
        self._target = ""
        self._anchors: set[str] = set()

    def run(self) -> None:
        while self._at < len(self._source):
            line = self._source[self._at].expandtabs(8).rstrip()
            if not (self._heading(line) or self._explicit(line)):
                self._text(line)

    def _line(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._source[at].rstrip() if at < len(self._source) else ""

    def _put(self, *lines: str) -> None:
        self.lines.extend(lines)
        self._at += len(lines)

    # --- headings ---

    def _heading(self, line: str) -> bool:
        below, third = self._line(1), self._line(2)
        if _is_rule(line) and below.strip() and _is_rule(third) and third[0] == line[0] and len(line) >= _width(below.strip()):
            self._open_section(f"{line[0]}{line[0]}", below.strip(), 3)
            return True
        starts = bool(line) and not line[0].isspace() and not _is_rule(line)
        if starts and _is_rule(below) and len(below) >= min(_width(line), 4) and not self._in_paragraph():
            self._open_section(below[0], line, 2)
            return True
        return False

    def _in_paragraph(self) -> bool:
        before = self._line(-1) if self._at else ""
        return bool(before.strip()) and not _is_rule(before) and not before.lstrip().startswith("..")

    def _open_section(self, adornment: str, title: str, lines: int) -> None:
        if adornment not in self._levels:
            self._levels.append(adornment)
        level = self._levels.index(adornment) + 1
        heading = one_line(_inline(title))
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, heading))
        self.sections.append((len(self.lines), tuple(name for _, name in self._path), self._anchor(title)))
        self._put(f"{'#' * min(level, 6)} {heading}", *[""] * (lines - 1))

    def _anchor(self, title: str) -> str:
        """The explicit target before the heading; else the heading as an identifier, once per document."""
        named, self._target = self._target, ""
        anchor = named or identifier(_inline(title))
        if not anchor or anchor in self._anchors:
            number = 1
            while f"id{number}" in self._anchors:
                number += 1
            anchor = f"id{number}"
        self._anchors.add(anchor)
        return anchor

    # --- explicit markup ---

    def _explicit(self, line: str) -> bool:
        if not line.lstrip().startswith(".."):
            return False
        target, directive = _TARGET.match(line), _DIRECTIVE.match(line)
        if target:
            self._target = "" if target["rest"] else identifier(target["name"].strip("`").replace("\\", ""))
            self._put("")
        elif directive:
            self._directive(
                directive["name"].rpartition(":")[2].lower() or directive["name"], directive["rest"] or "", directive["indent"]
            )
        elif _COMMENT.match(line) and not line.lstrip().startswith(".. ["):
            self._drop_block(line)
        else:
            self._put(_inline(re.sub(r"^(\s*)\.\.\s+", r"\1", line)))  # a footnote or citation
        return True

    def _directive(self, name: str, rest: str, indent: str) -> None:
        if name in _CODE:
            self._code(indent, rest if re.fullmatch(r"[\w+#-]+", rest) else "")
        elif name in _DROPPED:
            self._language_of(name)
            self._drop_block(self._line())
        elif name in _BOXES:
            self._put(f"{indent}{name.capitalize() if name != 'admonition' else ''}: {_inline(rest)}".rstrip())
            self._drop_options()
        else:
            known = f"{_HISTORY[name]} {rest}" if name in _HISTORY else rest
            self._put(f"{indent}{_inline(known)}".rstrip())
            self._drop_options()

    def _language_of(self, name: str) -> None:
        for ahead in range(1, 6) if name == "meta" else ():
            found = re.match(r"\s+:(?:language|lang):\s*(\S+)", self._line(ahead))
            self.language = self.language or language_code(found[1] if found else "")

    def _drop_options(self) -> None:
        while _OPTION.match(self._line()):
            self._put("")

    def _drop_block(self, first: str) -> None:
        """A directive or a comment, with all that is indented below it."""
        depth = _indent(first)
        self._put("")
        while self._at < len(self._source) and (not self._line().strip() or _indent(self._line()) > depth):
            self._put("")

    def _code(self, indent: str, language: str) -> None:
        self._put(f"{indent}```{language}")
        while _OPTION.match(self._line()):
            self._put("")
        self._fenced(len(indent), len(self.lines) - 1)

    def _fenced(self, depth: int, opening: int) -> None:
        """What is indented deeper, closed on the blank line behind it."""
        start = len(self.lines)
        while self._at < len(self._source) and (not self._line().strip() or _indent(self._line()) > depth):
            self._put(self._source[self._at].expandtabs(8).rstrip())
        last = len(self.lines)
        while last > start and not self.lines[last - 1].strip():
            last -= 1
        if last == start:
            self.lines[opening] = ""
        elif last < len(self.lines):
            self.lines[last] = f"{' ' * depth}```"
        else:
            self.lines[-1] += f"\n{' ' * depth}```"  # no blank line is left: the last line becomes two

    # --- text ---

    def _text(self, line: str) -> None:
        self._target = "" if line.strip() else self._target
        if _is_rule(line) and len(line) > _SHORTEST_RULE and set(line) <= set("-=_~*"):
            self._put("")
        elif line.endswith("::") and not line.lstrip().startswith(".."):
            self._literal(line)
        else:
            self._put(_inline(line))

    def _literal(self, line: str) -> None:
        """`::` at the end of a paragraph: what is indented below is code."""
        before = line[:-2].rstrip()
        self._put(_inline(f"{before}:" if before == line[:-2] and before else before))
        opening = len(self.lines)
        blank = 0
        while self._at < len(self._source) and not self._line().strip():
            self._put("")
            blank += 1
        if blank and self._at < len(self._source) and _indent(self._line()) > _indent(line):
            self.lines[opening + blank - 1] = f"{' ' * _indent(line)}```"
            self._fenced(_indent(line), opening + blank - 1)


def _is_rule(line: str) -> bool:
    return bool(_RULE.fullmatch(line)) and len(line) >= _SHORTEST_RULE


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _indent(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())


def _inline(text: str) -> str:
    """Roles, references and substitutions as what is read."""
    if "`" not in text and "|" not in text:
        return text
    text = _ROLE.sub(_role, text)
    text = _REFERENCE.sub(r"\1", _LINK.sub(r"\1", text))
    return text.replace("``", "`") if "``" in text else _SUBSTITUTION.sub(r"\1", text)


def _role(found: re.Match[str]) -> str:
    shown = (found[2] or found[3]).lstrip("~!")
    return f"{found[1].upper()} {shown}" if found[1] in {"pep", "rfc"} else shown


def identifier(name: str) -> str:
    """As docutils makes ids: plain letters and digits, everything else a hyphen."""
    plain = unicodedata.normalize("NFKD", name.lower().translate(_PLAIN)).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"^[-0-9]+|-+$", "", re.sub(r"[^a-z0-9]+", "-", plain))
