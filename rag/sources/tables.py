"""Rows of data as text: each row names its columns, so that it can be understood, and found, by itself."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from rag.errors import Unreadable
from rag.sources.building import TextBuilder
from rag.sources.encodings import decode
from rag.sources.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag.sources.reading import Raw, ReadLimits

_SHORT = 200  # characters: a longer row has each of its fields on a line
_SAMPLE = 20_000


def read_csv(raw: Raw, limits: ReadLimits) -> Reading:
    text = decode(raw.name, raw.content, raw.charset)
    csv.field_size_limit(min(limits.characters, 2**31 - 1))
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""), _dialect(text))]
    except csv.Error as error:
        raise Unreadable(raw.name, f"its rows cannot be told apart ({error})") from error
    builder = TextBuilder()
    add_rows(builder, [row for row in rows if any(row)])
    return Reading(builder.text, format="text")


def _dialect(text: str) -> type[csv.Dialect]:
    try:
        return csv.Sniffer().sniff(text[:_SAMPLE].rpartition("\n")[0] or text[:_SAMPLE], ",;\t|")
    except csv.Error:
        return csv.excel


def add_rows(builder: TextBuilder, rows: Sequence[Sequence[str]]) -> None:
    """The first row names the columns, where there is more than one and each of its cells holds something unlike a number."""
    if not rows:
        return
    named = len(rows) > 1 and _is_header(rows[0])
    names = rows[0] if named else ()
    for row in rows[1:] if named else rows:
        builder.block(_row_text(names, row))


def _is_header(row: Sequence[str]) -> bool:
    filled = [cell for cell in row if cell]
    return (
        bool(filled)
        and len(set(filled)) == len(filled)
        and not any(cell.replace(".", "").replace(",", "").isdigit() for cell in filled)
    )


def _row_text(names: Sequence[str], row: Iterable[str]) -> str:
    fields = []
    for column, cell in enumerate(row):
        name = names[column] if column < len(names) else ""
        if cell:
            fields.append(f"{name}: {cell}" if name else cell)
    joined = "; ".join(fields)
    return joined if len(joined) <= _SHORT and "\n" not in joined else "\n".join(fields)
