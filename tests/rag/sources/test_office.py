import pytest

from rag.errors import Unreadable
from rag.sources import docx, pptx, xlsx
from rag.sources.reading import ReadLimits
from tests.rag.sources.making import LIMITS, paragraph, raw, zipped
from tests.rag.sources.making import docx as make_docx
from tests.rag.sources.making import pptx as make_pptx
from tests.rag.sources.making import xlsx as make_xlsx

STYLES = (
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style><w:style w:styleId="V1"><w:name w:val="toc 1"/></w:style>'
    '<w:style w:styleId="Own"><w:name w:val="Kapitel"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
)
ITEM = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'


def test_word_headings_become_sections() -> None:
    body = paragraph("Leave", "H1") + paragraph("Ask.") + paragraph("Sick", "H2") + paragraph("Stay.") + paragraph("Lohn", "Own")

    reading = docx.read(raw(make_docx(body, title="The Guide", language="de-DE", styles=STYLES)), LIMITS)

    assert reading.text == "# Leave\n\nAsk.\n\n## Sick\n\nStay.\n\n# Lohn"
    assert [section.headings for section in reading.sections] == [("Leave",), ("Leave", "Sick"), ("Lohn",)]
    assert (reading.title, reading.language, reading.format) == ("The Guide", "de", "markdown")


def test_without_a_title_of_its_own_a_word_file_has_that_of_its_first_heading() -> None:
    assert docx.read(raw(make_docx(paragraph("Rules", "T") + paragraph("Be kind."), styles=STYLES)), LIMITS).title == "Rules"


def test_word_lists_and_tables_are_kept() -> None:
    row = "<w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>"
    table = f"<w:tbl>{row.format(paragraph('Day'), paragraph('Pay'))}{row.format(paragraph('Mon'), paragraph('12'))}</w:tbl>"
    body = paragraph("Bring:") + paragraph("a pen", "", ITEM.format(0)) + paragraph("blue", "", ITEM.format(1)) + table

    assert (
        docx.read(raw(make_docx(body)), LIMITS).text == "Bring:\n\n- a pen\n  - blue\n\n| Day | Pay |\n| --- | --- |\n| Mon | 12 |"
    )


def test_word_leaves_out_deleted_and_hidden_text_and_the_table_of_contents_and_keeps_notes() -> None:
    body = (
        paragraph("Contents … 3", "V1") + "<w:p><w:r><w:t>Kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t> added</w:t></w:r></w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>"
    )
    notes = (
        f'<w:footnote w:type="separator">{paragraph("rule")}</w:footnote><w:footnote w:id="2">{paragraph("A note.")}</w:footnote>'
    )

    assert docx.read(raw(make_docx(body, styles=STYLES, footnotes=notes)), LIMITS).text == "Kept added\n\nA note."


def test_slides_are_pages_with_their_notes_and_without_their_furniture() -> None:
    reading = pptx.read(
        raw(make_pptx([("Welcome", ["Be kind."]), ("Pay", ["On time.", "In euros."])], {1: "Say it twice."})), LIMITS
    )

    assert reading.text == "# Welcome\n\nBe kind.\n\n# Pay\n\nOn time.\n\nIn euros.\n\nSay it twice."
    assert [reading.text[start:].split("\n")[0] for start in reading.pages] == ["# Welcome", "# Pay"]
    assert reading.title == "Welcome"


def test_each_row_of_a_sheet_names_its_columns() -> None:
    rows = (
        '<row><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="D1" t="inlineStr"><is><t>When</t></is></c></row>'
        '<row><c r="A2" t="s"><v>2</v></c><c r="B2"><v>12.5</v></c><c r="C2" s="3"><v>0.25</v></c>'
        '<c r="D2" s="1"><v>45292</v></c></row>'
        '<row><c r="A3" t="str"><v>Bo</v></c><c r="B3"><v>3</v></c><c r="C3" t="b"><v>1</v></c>'
        '<c r="D3" s="2"><v>45292.75</v></c></row>'
    )
    styles = (
        '<numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd hh:mm"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="9"/></cellXfs>'
    )
    book = make_xlsx({"Pay": rows, "Secret": rows}, strings=["Name", "Rate", "Ada"], styles=styles, states={"Secret": "hidden"})

    reading = xlsx.read(raw(book), LIMITS)

    assert (
        reading.text
        == "# Pay\n\nName: Ada; Rate: 12.5; 25%; When: 2024-01-01\n\nName: Bo; Rate: 3; TRUE; When: 2024-01-01 18:00:00"
    )
    assert [section.headings for section in reading.sections] == [("Pay",)]


@pytest.mark.parametrize("read", [docx.read, pptx.read, xlsx.read])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\x03\x04 torn", "damaged"),
        (zipped({"other.txt": "x"}), "main part is missing"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"), "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old Office format"),
        (b"not an archive at all", "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(read: object, content: bytes, reason: str) -> None:
    assert callable(read)
    with pytest.raises(Unreadable, match=reason):
        read(raw(content), LIMITS)


def test_a_truncated_file_is_damaged() -> None:
    whole = make_docx(paragraph("Text. " * 500))

    with pytest.raises(Unreadable, match="damaged"):
        docx.read(raw(whole[: len(whole) // 2]), LIMITS)


def test_an_archive_that_unpacks_to_too_much_is_refused() -> None:
    bomb = make_docx(paragraph("0" * 30_000_000))

    assert len(bomb) < 100_000
    with pytest.raises(Unreadable, match="unpacks to more than 1 MB"):
        docx.read(raw(bomb), ReadLimits(archive_bytes=1_000_000))


def test_xml_with_entities_is_refused() -> None:
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'

    with pytest.raises(Unreadable, match="entities"):
        docx.read(raw(zipped({"_rels/.rels": laughs})), LIMITS)


def test_ill_formed_xml_is_damaged() -> None:
    with pytest.raises(Unreadable, match="not well formed"):
        docx.read(raw(make_docx("<w:p>")), LIMITS)
