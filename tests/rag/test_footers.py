from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.footers import entry, one_line, render
from rag.labels import place_of, plain_title
from rag.types import Answer, Passage, Source, SourcePlace


def source(n: int, title: str, *places: tuple[str, str]) -> Source:
    return Source(n, "base", title.casefold(), title, tuple(SourcePlace(label, link) for label, link in places))


ANSWER = Answer(
    "You get 25 days [1][2].",
    (
        source(1, "Handbook", ("Leave › Annual", "https://a.example/h#annual"), ("Leave › Sick", "https://a.example/h#sick")),
        source(2, "Travel", ("", "https://a.example/t")),
    ),
)


def test_the_footer_follows_a_blank_line_with_one_entry_a_document() -> None:
    assert render(ANSWER) == (
        "You get 25 days [1][2].\n\nSOURCES:\n"
        "[1] Handbook — Leave › Annual (https://a.example/h#annual); Leave › Sick (https://a.example/h#sick)\n"
        "[2] Travel (https://a.example/t)"
    )


def test_the_footer_without_links_names_the_places() -> None:
    assert render(ANSWER, links=False).endswith("[1] Handbook — Leave › Annual; Leave › Sick\n[2] Travel")


def test_one_line_names_each_title_once() -> None:
    assert one_line(ANSWER) == "SOURCES: Handbook, Travel"


def test_an_answer_that_abstains_has_no_footer() -> None:
    answer = Answer("The documents don't say.", (source(1, "Handbook"),), abstained=True)

    assert render(answer) == answer.text
    assert one_line(answer) == ""


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("a [b] `c` <d> | e", "a (b) 'c' ‹d› ¦ e"),
        ("one\ntwo\r\n\tthree", "one two three"),
        ("evil\u202etxt.exe\x00\u200b", "eviltxt.exe"),
        ("@everyone and @here", "@\u200beveryone and @\u200bhere"),
        ("x" * 200, "x" * 119 + "…"),
        ("员工手册", "员工手册"),
        ("Pier \x1b[31mred\x1b[0m [1] (https://evil.example/)", "Pier red (1) (evil.example/)"),
        ("hthttp://tps://evil.example or WWW.evil.example", "evil.example or evil.example"),
        ("mailto:a@evil.example, javascript:alert(1)", "a@evil.example, alert(1)"),
        ("Re: Data: 12:30, www, C://", "Re: Data: 12:30, www, "[:-1]),
    ],
)
def test_nothing_in_a_title_is_read_as_anything_but_text(title: str, shown: str) -> None:
    assert plain_title(title) == shown


def test_a_comma_in_a_title_does_not_break_the_one_line_form() -> None:
    assert one_line(Answer("A [1].", (source(1, "Leave, and more"),))) == "SOURCES: Leave; and more"


def test_a_link_cannot_end_its_brackets_early() -> None:
    assert entry(source(1, "T", ("", "https://a.example/x (y)\n[2]"))) == "[1] T (https://a.example/x%20%28y%29%0A%5B2%5D)"


@given(st.text(max_size=60), st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=200, deadline=None)
def test_whatever_a_title_holds_the_footer_keeps_its_lines(title: str, label: str, link: str) -> None:
    answer = Answer("Text [1].", (source(1, title, (label, link)), source(2, "Other")))

    lines = render(answer).splitlines()
    assert lines[:3] == ["Text [1].", "", "SOURCES:"]
    assert len(lines) == 5
    assert lines[3].startswith("[1] ")
    assert len(one_line(answer).splitlines()) == 1
    assert one_line(answer).split(", ")[-1].endswith("Other")
    assert one_line(answer).count(",") <= 1


@pytest.mark.parametrize(
    ("more", "label"),
    [
        ({"headings": ("Guide", "Leave", "Annual")}, "Leave › Annual"),
        ({"headings": ("Handbook", "Leave"), "page": 12}, "Leave, p. 12"),
        ({"page": 12}, "p. 12"),
        ({}, ""),
    ],
)
def test_a_place_is_named_by_its_last_headings_and_its_page(more: dict[str, object], label: str) -> None:
    passage = Passage("1", "base", "h.md", 0, "Text", title="Handbook", link="https://a.example", **more)  # type: ignore[arg-type]  # any field

    assert place_of(passage) == SourcePlace(label, "https://a.example")
