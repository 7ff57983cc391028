import pytest

from rag.errors import Unreadable
from rag.sources import pdf
from rag.sources.pdf_layout import flowing, mended, without_running_lines
from rag.sources.reading import ReadLimits
from rag.splitting import SplitSettings, split
from rag.types import Document
from tests.rag.sources.making import LIMITS, raw
from tests.rag.sources.making import pdf as make_pdf

WORDS = "Leave is asked for two weeks ahead and in writing by everybody"


def test_pages_keep_their_offsets() -> None:
    reading = pdf.read(raw(make_pdf([["First page."], [], ["Third page."]], title="A Guide")), LIMITS)

    assert reading.title == "A Guide"
    assert len(reading.pages) == 3
    assert reading.text[reading.pages[0] :].startswith("First page.")
    assert reading.text[reading.pages[2] :] == "Third page."


def test_passages_know_their_page() -> None:
    pages = [
        [f"Page {number} says {word} and more of it." for _ in range(12)] for number, word in enumerate(["one", "two", "three"], 1)
    ]
    reading = pdf.read(raw(make_pdf(pages)), LIMITS)
    document = Document("a.pdf", "A", reading.text, "", "https://x.y/a.pdf", pages=reading.pages)

    found = split(document, "base", SplitSettings(100, 400))

    assert {passage.page for passage in found} == {1, 2, 3}
    assert all(passage.text.startswith(f"Page {passage.page} ") for passage in found)
    assert all(passage.link == f"https://x.y/a.pdf#page={passage.page}" for passage in found)


def test_bookmarks_become_sections_where_their_titles_stand() -> None:
    content = make_pdf(
        [["Preface text."], ["Some words.", "2 Sick leave", "Stay home."]], bookmarks=[("Preface", 1), ("Sick leave", 2)]
    )

    reading = pdf.read(raw(content), LIMITS)

    assert [(section.headings, reading.text[section.start :][:8]) for section in reading.sections] == [
        (("Preface",), "Preface "),
        (("Sick leave",), "2 Sick l"),
    ]


def test_without_a_title_of_its_own_a_pdf_has_that_of_its_first_line() -> None:
    for title in ("", "Microsoft Word - draft.docx", "untitled"):
        assert pdf.read(raw(make_pdf([["Rules of the house", "Be kind."]], title=title)), LIMITS).title == "Rules of the house"


def test_numbered_titles_above_their_texts_become_sections_and_the_first_is_not_that_of_all() -> None:
    said = [WORDS, "and so it is done in all of our houses and by all of those who work there."]
    reading = pdf.read(raw(make_pdf([["1. Leave", *said], ["2. Sick leave", *said]])), LIMITS)

    assert [(section.headings, reading.text[section.start :][:7]) for section in reading.sections] == [
        (("1. Leave",), "1. Leav"),
        (("2. Sick leave",), "2. Sick"),
    ]
    assert reading.title == ""


@pytest.mark.parametrize(
    "lines",
    [
        ["1. Open the door of the van", f"which is {WORDS.lower()}", "2. Close the door of the van", f"which is {WORDS.lower()}"],
        ["1. Leave", WORDS, "3. Pay", WORDS],
        ["1. Leave", "Short.", "2. Pay", "Short."],
        ["1. Leave", WORDS],
    ],
)
def test_lists_are_no_titles(lines: list[str]) -> None:
    assert pdf.read(raw(make_pdf([lines])), LIMITS).sections == ()


def test_running_headers_and_page_numbers_are_left_out() -> None:
    said = [f"{word} is said here." for word in ("Leave", "Pay", "Travel", "Rest", "Home", "Sick", "Rules", "Tools", "More")]
    pages = [[f"CHAPTER {number // 3}. {said[number].upper()}", said[number], f"{number + 4}"] for number in range(9)]

    assert without_running_lines(pages) == [[line] for line in said]


def test_numbered_headings_at_the_top_of_pages_stay() -> None:
    pages = [
        [f"Exercise {number}: {word}", f"About {word}."]
        for number, word in enumerate(["sums", "words", "maps", "songs", "games"], 3)
    ]

    assert without_running_lines(pages) == pages


def test_page_numbers_beside_changing_titles_are_left_out() -> None:
    titles = ["Leave", "Pay and more", "Travel", "Rules", "Sick", "Home"]
    pages = [
        [f"Text {title}.", f"{number + 17} {title}" if number % 2 else f"{title} {number + 17}"]
        for number, title in enumerate(titles)
    ]

    assert without_running_lines(pages) == [[f"Text {title}."] for title in titles]


def test_lines_that_only_look_alike_on_two_pages_stay() -> None:
    pages = [["Note", "one"], ["Note", "two"], ["Other", "three"], ["More", "four"]]

    assert without_running_lines(pages) == pages


def test_a_printed_table_of_contents_is_left_out() -> None:
    assert without_running_lines([["Contents", "1 Leave . . . . . . . . 3", "2 Pay ........... 12", "Wait..."]]) == [
        ["Contents", "Wait..."]
    ]


def test_divided_words_are_put_together_and_hyphens_of_their_own_kept() -> None:
    pages = [["an effec\ufffetive and well-known rule", "for self-", "service and deploy-", "ment of a self-service deployment"]]

    assert list(mended(pages)) == [
        ["an effective and well-known rule", "for self-service and deployment of a self-service deployment"]
    ]


def test_full_lines_join_to_paragraphs() -> None:
    lines = [WORDS, WORDS, "and that is all.", WORDS, "• one", "• two"]

    assert list(flowing([lines])) == [f"{WORDS} {WORDS} and that is all.\n\n{WORDS}\n• one\n• two"]


def test_full_lines_of_chinese_join_without_a_blank() -> None:
    line = "员工每年有二十天带薪假期申请请提前两周提交"

    assert list(flowing([[line, line]])) == [line * 2]


def test_code_keeps_its_lines() -> None:
    lines = [WORDS, "x = compute(1, 2, 3); y = compute(4, 5, 6); z = (x, y)", "return z"]

    assert next(flowing([lines])).endswith("\nreturn z")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (make_pdf([["Secret."]], locked=True), "password"),
        (b"%PDF-1.7\nnothing of the kind", "damaged"),
        (make_pdf([["Text."]])[:200], "damaged"),
        (b"plain text", "damaged"),
    ],
)
def test_what_cannot_be_read_says_why(content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        pdf.read(raw(content), LIMITS)


def test_pages_are_bounded() -> None:
    with pytest.raises(Unreadable, match="3 pages, more than 2"):
        pdf.read(raw(make_pdf([["a"], ["b"], ["c"]])), ReadLimits(pages=2))
