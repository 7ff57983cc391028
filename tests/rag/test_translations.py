from __future__ import annotations

import pytest

from rag.translations import at_home, in_their_language
from rag.types import Match, Passage


def matches(*documents: tuple[str, str], base: str = "docs") -> list[Match]:
    return [
        Match(Passage(f"{document}#{n}", base, document, n, "text", language=language), 1.0 - n / 100)
        for n, (document, language) in enumerate(documents)
    ]


def left(found: list[Match], language: str) -> list[str]:
    kept, left_out = in_their_language(found, language)
    assert {one for one, _ in left_out}.isdisjoint({match.passage.id for match in kept})
    assert len(kept) + len(left_out) == len(found)
    return [match.passage.document for match in kept]


@pytest.mark.parametrize(
    ("theirs", "other"),
    [
        ("html/es-ES/unix.html", "html/it-IT/unix.html"),
        ("docs/es/install.md", "docs/install.md"),
        ("install.es.md", "install.md"),
        ("install_es.md", "install_pt-BR.md"),
        ("es/guide/a.md", "en/guide/a.md"),
        ("https://example.org/es/a", "https://example.org/zh-hans/a"),
    ],
)
def test_of_a_document_and_its_translations_the_one_in_the_questions_language_is_taken(theirs: str, other: str) -> None:
    assert left(matches((other, "en"), (theirs, "es")), "es") == [theirs]
    assert in_their_language(matches((other, "en"), (theirs, "es")), "es")[1] == [(f"{other}#0", f"{theirs}#1")]


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        (("hr/leave.md", "en"), ("it/leave.md", "en"), "en"),  # departments
        (("hr/leave.md", "it"), ("it/leave.md", "it"), "it"),
        (("es/a.md", "es"), ("en/b.md", "en"), "es"),  # another document
        (("es/a.md", "es"), ("pt/a.md", "pt"), "fr"),  # nothing is in the question's language
        (("es/a.md", "es"), ("pt/a.md", "pt"), ""),
        (("es/a.md", "pt"), ("en/a.md", "en"), "pt"),  # not in the language that the address names
        (("a.md", "en"), ("b.md", "es"), "es"),
    ],
)
def test_what_is_no_translation_of_what_was_found_stays(one: tuple[str, str], other: tuple[str, str], language: str) -> None:
    assert left(matches(one, other), language) == [one[0], other[0]]


def test_a_document_of_another_base_is_no_translation() -> None:
    found = [*matches(("es/a.md", "es")), *matches(("en/a.md", "en"), base="others")]

    assert left(found, "es") == ["es/a.md", "en/a.md"]


def test_a_document_is_no_translation_of_itself() -> None:
    assert left(matches(("suppliers.xlsx", "en"), ("suppliers.xlsx", "pt")), "en") == ["suppliers.xlsx", "suppliers.xlsx"]


def test_nothing_is_left_of_nothing() -> None:
    assert in_their_language([], "es") == ([], [])


def test_of_copies_the_one_whose_address_is_in_its_language_is_shown() -> None:
    vietnamese, english, swedish = matches(("vi/a.md", "en"), ("en/a.md", "en"), ("sv/a.md", "en"))
    match = vietnamese._replace(copies=(swedish.passage, english.passage), members=("vi/a.md#0",))

    [found], folded = at_home([match], [("sv/a.md#2", "vi/a.md#0"), ("en/a.md#1", "vi/a.md#0")])

    assert found.passage == english.passage
    assert found.members == ("en/a.md#1",)
    assert found.copies == (vietnamese.passage, swedish.passage)
    assert folded == [("sv/a.md#2", "en/a.md#1"), ("vi/a.md#0", "en/a.md#1")]


@pytest.mark.parametrize("documents", [(("a.md", "en"), ("b.md", "en")), (("vi/a.md", "en"), ("sv/a.md", "en"))])
def test_a_copy_that_is_no_better_stays_one(documents: tuple[tuple[str, str], ...]) -> None:
    one, other = matches(*documents)
    match = one._replace(copies=(other.passage,))

    assert at_home([match], [(other.passage.id, one.passage.id)]) == ([match], [(other.passage.id, one.passage.id)])
