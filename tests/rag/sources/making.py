"""Small files of every format, made here."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from rag.sources.reading import Raw, ReadLimits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIMITS = ReadLimits()
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_X = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def raw(text: str | bytes, name: str = "a file", charset: str = "") -> Raw:
    return Raw(name, text.encode() if isinstance(text, str) else text, charset)


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def office(main: str, members: Mapping[str, str], title: str = "", language: str = "") -> bytes:
    relations = f'<Relationships><Relationship Id="r1" Type="x/officeDocument" Target="{main}"/></Relationships>'
    core = f"<cp:core xmlns:cp='c' xmlns:dc='d'><dc:title>{title}</dc:title><dc:language>{language}</dc:language></cp:core>"
    return zipped({"_rels/.rels": relations, "docProps/core.xml": core, **members})


def docx(body: str, *, title: str = "", language: str = "", styles: str = "", **others: str) -> bytes:
    members = {
        "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_W}>{styles}</w:styles>",
        **{f"word/{name}.xml": f"<w:{name} {_W}>{content}</w:{name}>" for name, content in others.items()},
    }
    return office("word/document.xml", members, title, language)


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def pptx(slides: Sequence[tuple[str, Sequence[str]]], notes: Mapping[int, str] | None = None) -> bytes:
    """Slides as title and texts; listed in the reverse order of their names, as real files may be."""
    numbers = range(len(slides), 0, -1)
    relations = "".join(f'<Relationship Id="s{number}" Target="slides/slide{number}.xml"/>' for number in numbers)
    listed = "".join(f'<p:sldId id="{256 + number}" r:id="s{number}"/>' for number in numbers)
    members = {
        "ppt/presentation.xml": f"<p:presentation {_P} {_R}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": f"<Relationships>{relations}</Relationships>",
    }
    for number, (title, texts) in zip(numbers, slides, strict=True):
        shapes = _shape(title, "title") + "".join(_shape(text, "body") for text in texts) + _shape("99", "sldNum")
        members[f"ppt/slides/slide{number}.xml"] = f"<p:sld {_P} {_A}>{shapes}</p:sld>"
    for index, text in (notes or {}).items():
        number = numbers[index]
        rels = f'<Relationships><Relationship Id="n" Target="../notesSlides/notes{number}.xml"/></Relationships>'
        members[f"ppt/slides/_rels/slide{number}.xml.rels"] = rels
        members[f"ppt/notesSlides/notes{number}.xml"] = (
            f"<p:notes {_P} {_A}>{_shape(text, 'body')}{_shape('7', 'sldNum')}</p:notes>"
        )
    return office("ppt/presentation.xml", members)


def _shape(text: str, kind: str) -> str:
    place = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
    return f"<p:sp>{place}<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"


def xlsx(
    sheets: Mapping[str, str], *, strings: Sequence[str] = (), styles: str = "", states: Mapping[str, str] | None = None
) -> bytes:
    """Sheets as the XML of their rows."""
    names = list(sheets)
    relations = "".join(f'<Relationship Id="r{n}" Target="worksheets/sheet{n}.xml"/>' for n in range(len(names)))
    listed = "".join(
        f'<sheet name="{name}" state="{(states or {}).get(name, "visible")}" r:id="r{n}"/>' for n, name in enumerate(names)
    )
    shared = "".join(f"<si><t>{string}</t></si>" for string in strings)
    members = {
        "xl/workbook.xml": f"<workbook {_X} {_R}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships>{relations}</Relationships>",
        "xl/sharedStrings.xml": f"<sst {_X}>{shared}</sst>",
        "xl/styles.xml": f"<styleSheet {_X}>{styles}</styleSheet>",
        **{
            f"xl/worksheets/sheet{n}.xml": f"<worksheet {_X}><sheetData>{rows}</sheetData></worksheet>"
            for n, rows in enumerate(sheets.values())
        },
    }
    return office("xl/workbook.xml", members)


def epub(chapters: Mapping[str, str], *, title: str = "A Book", language: str = "en") -> bytes:
    manifest = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    metadata = f"<dc:title xmlns:dc='d'>{title}</dc:title><dc:language xmlns:dc='d'>{language}</dc:language>"
    package = f"<package><metadata>{metadata}</metadata><manifest>{manifest}</manifest><spine>{spine}</spine></package>"
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    files = {f"OEBPS/{name}": f"<html><body>{body}</body></html>" for name, body in chapters.items()}
    return zipped({"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": package, **files})


def pdf(
    pages: Sequence[Sequence[str]], *, title: str = "", bookmarks: Sequence[tuple[str, int]] = (), locked: bool = False
) -> bytes:
    """Pages as lines of plain text."""
    objects: list[bytes] = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        drawn = "".join(f"({_escaped(line)}) Tj T* " for line in lines)
        stream = f"BT /F1 10 Tf 12 TL 50 800 Td {drawn}ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        page = f"/Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects)} 0 R"
        objects.append(f"<< /Type /Page {page} >>".encode())
        kids.append(len(objects))
    outlines = _outlines(objects, kids, bookmarks) if bookmarks else ""
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {outlines}>>".encode()
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] /Count {len(kids)} >>".encode()
    objects.append(f"<< /Title ({_escaped(title)}) >>".encode())
    trailer = f"/Root 1 0 R /Info {len(objects)} 0 R"
    if locked:
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >>".encode())
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<41> <41>]"
    return _pdf_file(objects, trailer)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _outlines(objects: list[bytes], kids: list[int], bookmarks: Sequence[tuple[str, int]]) -> str:
    root = len(objects) + 1
    first, last = root + 1, root + len(bookmarks)
    objects.append(f"<< /First {first} 0 R /Last {last} 0 R /Count {len(bookmarks)} >>".encode())
    for number, (title, page) in enumerate(bookmarks, first):
        following = f"/Next {number + 1} 0 R" if number < last else ""
        entry = f"<< /Title ({_escaped(title)}) /Parent {root} 0 R {following} /Dest [{kids[page - 1]} 0 R /Fit] >>"
        objects.append(entry.encode())
    return f"/Outlines {root} 0 R "


def _pdf_file(objects: Sequence[bytes], trailer: str) -> bytes:
    parts = [b"%PDF-1.4\n"]
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(sum(map(len, parts)))
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    start = sum(map(len, parts))
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} {trailer} >>\n"
    return b"".join(parts) + f"{end}startxref\n{start}\n%%EOF\n".encode()
