import pytest

from rag.errors import Unreadable
from rag.sources import epub
from tests.rag.sources.making import LIMITS, raw, zipped
from tests.rag.sources.making import epub as make_epub


def test_chapters_come_in_reading_order_with_their_anchors() -> None:
    book = make_epub(
        {"two.xhtml": '<h1 id="c1">One</h1><p>First.</p>', "one.xhtml": '<h1 id="c2">Two</h1><p>Second.</p>'}, language="pt-BR"
    )

    reading = epub.read(raw(book), LIMITS)

    assert reading.text == "# One\n\nFirst.\n\n# Two\n\nSecond."
    assert [(section.headings, section.anchor) for section in reading.sections] == [(("One",), "c1"), (("Two",), "c2")]
    assert (reading.title, reading.language) == ("A Book", "pt")


@pytest.mark.parametrize("content", [b"no archive", zipped({"a": "b"}), zipped({"META-INF/container.xml": "<container/>"})])
def test_what_is_no_book_is_damaged(content: bytes) -> None:
    with pytest.raises(Unreadable, match="damaged"):
        epub.read(raw(content), LIMITS)


def test_a_protected_book_is_refused() -> None:
    with pytest.raises(Unreadable, match="protected"):
        epub.read(raw(zipped({"META-INF/encryption.xml": "<a/>", "META-INF/rights.xml": "<a/>"})), LIMITS)
