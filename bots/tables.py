"""Markdown tables as text in columns, for surfaces that show no tables."""

from __future__ import annotations

import re

from rag.code_spans import code_spans
from rag.text import width

WIDEST = 60  # columns that a phone still shows on one line; a wider table is a list
_RULED = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
_CELLS = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"\[([^\]\n]*)\]\(<?[^)\s>]+>?\)")
_MARKS = re.compile(r"\*\*|__|`")


def with_tables_aligned(text: str) -> str:
    """Every table that does not stand in a block of code."""
    if "|" not in text or "-" not in text:
        return text
    blocks = [(start, end) for start, end in code_spans(text) if "\n" in text[start:end]]
    shown: list[str] = []
    table: list[str] = []
    at = 0
    for line in text.splitlines(keepends=True):
        within = any(start <= at < end for start, end in blocks)
        at += len(line)
        if "|" in line and not within:
            table.append(line)
            continue
        shown += [*_tabled(table), line]
        table = []
    return "".join([*shown, *_tabled(table)])


def _tabled(lines: list[str]) -> list[str]:
    """Lines with bars in them; they are a table if the second one rules off the first."""
    if len(lines) < 2 or not _RULED.fullmatch(lines[1].strip()):  # noqa: PLR2004 - a head and its rule
        return lines
    end = "\n" if lines[-1].endswith("\n") else ""
    return [aligned("".join(lines)) + end]


def aligned(table: str) -> str:
    """A block of code with columns padded by what each sign takes on the screen, or a list where that is too wide."""
    head, _, *rows = [_row(line) for line in table.strip("\n").split("\n")]
    columns = max(len(row) for row in (head, *rows))
    rows = [row + [""] * (columns - len(row)) for row in rows]
    head += [""] * (columns - len(head))
    plain = [[_plain(cell) for cell in row] for row in (head, *rows)]
    widths = [max(width(row[at]) for row in plain) for at in range(columns)]
    if sum(widths) + 2 * (columns - 1) > WIDEST:
        return _listed(head, rows)
    lines = [_padded(row, widths) for row in plain]
    lines.insert(1, "  ".join("─" * wide for wide in widths))
    return "\n".join(["```", *lines, "```"])


def _row(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELLS.split(line.strip().removeprefix("|").removesuffix("|"))]


def _plain(cell: str) -> str:
    """Within a block of code marks and links would be seen as they are typed."""
    return _MARKS.sub("", _LINK.sub(r"\1", cell))


def _padded(row: list[str], widths: list[int]) -> str:
    return "  ".join(cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)).rstrip()


def _listed(head: list[str], rows: list[list[str]]) -> str:
    """A row an entry: its first cell, then each other one under its column's name."""
    entries = []
    for row in rows:
        entries.append(f"- **{row[0]}**" if row[0] else "-")
        entries += [f"  - {name}: {cell}" if name else f"  - {cell}" for name, cell in zip(head[1:], row[1:], strict=True) if cell]
    return "\n".join(entries)
