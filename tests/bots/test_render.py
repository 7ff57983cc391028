"""How an answer looks."""

from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from bots.terminal.render import as_json, as_text, growing, show
from bots.terminal.wording import visible
from rag.types import Answer, Source, SourcePlace

LINK = "file:///srv/handbook/" + "a-long-folder/" * 12 + "leave.md#annual-leave"
SOURCES = (Source(1, "handbook", "leave.md", "Leave", (SourcePlace("Annual leave", LINK),)),)
ANSWER = Answer("Employees get **25 days** [1].\n\n- one\n- two", SOURCES, language="en")


def printed(answer: Answer, width: int = 60) -> str:
    out = StringIO()
    show(answer, Console(file=out, width=width, force_terminal=True, no_color=True))
    return re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())


def test_in_a_pipe_an_answer_is_its_text_and_the_footer() -> None:
    assert as_text(ANSWER) == f"{ANSWER.text}\n\nSOURCES:\n[1] Leave — Annual leave ({LINK})"


def test_in_a_window_markdown_is_rendered_and_a_link_stays_whole() -> None:
    shown = printed(ANSWER)

    assert "Employees get 25 days [1]." in shown
    assert f"({LINK})" in shown


@pytest.mark.parametrize(
    ("language", "words"), [("en", "You may look at:"), ("pt", "Você pode consultar:"), ("xx", "You may look at:")]
)
def test_an_abstention_offers_the_nearest_documents_and_has_no_footer(language: str, words: str) -> None:
    nearest = (
        Source(1, "handbook", "leave.md", "Leave", (SourcePlace("", "https://x.org/leave"),)),
        Source(2, "handbook", "b.md", ""),
    )
    answer = Answer("Nothing.", abstained=True, suggestions=nearest, language=language)

    assert as_text(answer) == f"Nothing.\n\n{words}\n- Leave (https://x.org/leave)\n- b.md"
    assert "SOURCES" not in printed(answer)


def test_an_abstention_without_anything_near_is_its_text() -> None:
    assert as_text(Answer("Nothing.", abstained=True)) == "Nothing."


def test_a_remark_stands_between_the_answer_and_what_follows_it() -> None:
    remark = "Written without a model."

    assert as_text(replace(ANSWER, remark=remark)) == as_text(ANSWER).replace("\n\nSOURCES:", f"\n\n{remark}\n\nSOURCES:")
    assert as_text(Answer("Nothing.", abstained=True, remark=remark)) == f"Nothing.\n\n{remark}"
    assert as_text(Answer("Nothing.", abstained=True, remark=remark, suggestions=SOURCES)).startswith(
        f"Nothing.\n\n{remark}\n\nYou"
    )


def test_a_growing_draft_shows_its_newest_lines() -> None:
    shown = growing("\n".join(map(str, range(100))), 24)

    assert str(shown).splitlines() == [str(number) for number in range(80, 100)]


def test_an_answer_as_an_object_has_the_keys_that_programs_rely_on() -> None:
    assert as_json(ANSWER) == {
        "answer": ANSWER.text,
        "abstained": False,
        "remark": "",
        "sources": [
            {"n": 1, "title": "Leave", "link": LINK, "place": "Annual leave", "places": [{"place": "Annual leave", "link": LINK}]}
        ],
        "standalone_question": "",
        "passages": [],
        "run": "",
    }


def test_an_object_has_every_place_with_its_own_link_also_one_without_a_name() -> None:
    places = (SourcePlace("", LINK), SourcePlace("p. 4", f"{LINK}#page=4"))
    answer = Answer("Days: 25 [1].", (Source(1, "base", "leave.pdf", "Leave", places),))

    assert as_json(answer)["sources"] == [
        {
            "n": 1,
            "title": "Leave",
            "link": LINK,
            "place": "",
            "places": [{"place": "", "link": LINK}, {"place": "p. 4", "link": f"{LINK}#page=4"}],
        }
    ]


def test_nothing_that_a_terminal_obeys_comes_out_of_a_document() -> None:
    answer = Answer("\x1b]0;pwned\x07Days: 25 \x1b[2J\x9b31m", SOURCES)

    assert not re.search(r"[\x07\x1b\x9b]", as_text(answer) + printed(answer) + str(growing(answer.text, 24)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a \x1b[31mred\x1b[0m word", "a red word"),
        ("\x1b]8;;https://evil.example\x07here\x1b]8;;\x07", "here"),
        ("\x1b]0;a title without an end\nnext line", "0;a title without an end\nnext line"),
        ("C1 \x9b2J too", "C1  too"),
        ("pay \u202e001\u202c now \u2066x\u2069", "pay 001 now x"),
        ("\u200fשלום\u200f", "\u200fשלום\u200f"),
        ("tab\tand\nline", "tab\tand\nline"),
    ],
)
def test_what_a_terminal_would_obey_is_not_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
