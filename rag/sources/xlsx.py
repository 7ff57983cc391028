"""Excel: each sheet is a section, each row a paragraph that names its columns; values as they are stored, dates as dates."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag.sources.archive import attribute, child, local
from rag.sources.building import TextBuilder
from rag.sources.office import Package
from rag.sources.reading import Reading
from rag.sources.tables import add_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from rag.sources.reading import Raw, ReadLimits

Kind: TypeAlias = Literal["date", "percentage"]
_BUILT_IN: Mapping[str, Kind] = {
    **{str(number): "date" for number in (*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59))},
    "9": "percentage",
    "10": "percentage",
}
_DATE_CODES = re.compile(r"[ymdhs]", re.IGNORECASE)
_NOT_CODES = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - Excel's days have no zone
_LAST_DAY = 2_958_465
_WIDEST = 16_384  # columns


def read(raw: Raw, limits: ReadLimits) -> Reading:
    package = Package(raw, limits, "workbook")
    strings = _shared_strings(package)
    shown_as = _shown_as(package)
    builder = TextBuilder()
    for name, member in _sheets(package):
        root = package.archive.xml(member)
        rows = [row for row in _rows(root, strings, shown_as) if any(row)] if root is not None else []
        if rows:
            builder.heading(1, name)
            add_rows(builder, rows)
    return Reading(builder.text, package.title, "markdown", tuple(builder.sections), language=package.language)


def _sheets(package: Package) -> Iterator[tuple[str, str]]:
    relations = package.archive.relations(package.main)
    listed = child(package.archive.xml(package.main), "sheets")
    for sheet in listed if listed is not None else ():
        member = next((relations[value] for key, value in sheet.attrib.items() if key.endswith("}id") and value in relations), "")
        if member and attribute(sheet, "state") not in {"hidden", "veryHidden"}:
            yield attribute(sheet, "name"), member


def _shared_strings(package: Package) -> list[str]:
    root = package.archive.xml(package.main.replace("workbook.xml", "sharedStrings.xml"))
    return [_text(item) for item in root] if root is not None else []


def _text(item: Element) -> str:
    """Its runs; not the readings of Japanese words, which stand beside them."""
    parts = []
    for below in item:
        if local(below) == "t":
            parts.append(below.text or "")
        elif local(below) == "r":
            parts.append(_text(below))
    return "".join(parts)


def _shown_as(package: Package) -> Mapping[int, Kind]:
    """Which cell styles show a number as a date or as a percentage."""
    root = package.archive.xml(package.main.replace("workbook.xml", "styles.xml"))
    formats, cells = child(root, "numFmts"), child(root, "cellXfs")
    own = {attribute(form, "numFmtId"): _kind(attribute(form, "formatCode")) for form in (formats if formats is not None else ())}
    numbers = [attribute(cell, "numFmtId") for cell in (cells if cells is not None else ())]
    return {style: kind for style, number in enumerate(numbers) if (kind := own.get(number) or _BUILT_IN.get(number))}


def _kind(code: str) -> Kind | None:
    plain = _NOT_CODES.sub("", code)
    if "%" in plain:
        return "percentage"
    return "date" if _DATE_CODES.search(plain) and "General" not in plain else None


def _rows(root: Element, strings: list[str], shown_as: Mapping[int, Kind]) -> Iterator[list[str]]:
    data = child(root, "sheetData")
    for row in data if data is not None else ():
        cells: list[str] = []
        for cell in row:
            column = _column(attribute(cell, "r"), len(cells))
            cells.extend([""] * (min(column, _WIDEST) - len(cells)))
            cells.append(_value(cell, strings, shown_as))
        yield cells


def _column(reference: str, following: int) -> int:
    """`C7` is column 2."""
    number = 0
    for letter in re.match(r"[A-Z]{0,3}", reference)[0]:  # type: ignore[index]  # it also matches nothing
        number = number * 26 + ord(letter) - 64
    return number - 1 if number else following


def _value(cell: Element, strings: list[str], shown_as: Mapping[int, Kind]) -> str:
    kind = attribute(cell, "t")
    inline, value = child(cell, "is"), child(cell, "v")
    if inline is not None:
        return _text(inline).strip()
    stored = (value.text or "") if value is not None else ""
    if kind == "s":
        return strings[int(stored)].strip() if stored.isdigit() and int(stored) < len(strings) else ""
    if kind == "b":
        return "TRUE" if stored == "1" else "FALSE"
    if kind not in {"", "n"}:
        return stored.strip()
    style = attribute(cell, "s")
    shown = shown_as.get(int(style)) if style.isdigit() else None
    return _date(stored) if shown == "date" else _number(stored, percentage=shown == "percentage")


def _number(stored: str, *, percentage: bool) -> str:
    try:
        if percentage:
            return f"{100 * float(stored):.6g}%"
        return f"{float(stored):.15g}" if "." in stored or "E" in stored.upper() else stored
    except ValueError:
        return stored


def _date(stored: str) -> str:
    try:
        days = float(stored)
    except ValueError:
        return stored
    if not 0 <= days <= _LAST_DAY:
        return stored
    moment = _EPOCH + timedelta(seconds=round(days * 86_400))
    if days < 1:
        return moment.strftime("%H:%M:%S")
    return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M:%S")
