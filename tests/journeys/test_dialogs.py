"""Whole dialogs, as a stranger has them who pipes questions in or types them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

if TYPE_CHECKING:
    from tests.journeys.terminal import Said, Terminal

DIALOG = """\
How large a share of the documents may a run remove?
and what if the folder is not mounted?
¿Cómo se usa PostgreSQL?
Como posso usar o PostgreSQL?
如何使用 PostgreSQL 数据库？
Who won the football world cup in 1998?
/sources
/trace
/unknown
/help
"""


@pytest.fixture(scope="module")
def dialog(docs: Terminal) -> Said:
    return docs.run("chat", "--thread", "dialog", said=DIALOG)


def links(text: str) -> list[str]:
    return re.findall(r"\((file://[^)]+)\)", text)


def anchors(markdown: str) -> set[str]:
    """As hosts of Markdown make them of headings."""
    headings = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```", "", markdown))
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_a_dialog_ends_well(dialog: Said) -> None:
    assert (dialog.status, dialog.err) == (0, "")
    assert "\x1b" not in dialog.out


def test_a_follow_up_is_understood_from_what_was_said_before(dialog: Said) -> None:
    first, second = dialog.out.split("SOURCES:")[:2]

    assert "max_removed" in first
    assert "not mounted" in second


def answers(dialog: str) -> list[tuple[str, str]]:
    """Texts and footers, where there are footers."""
    found = re.findall(r"(?s)(.*?)\n\nSOURCES:\n((?:\[\d+\][^\n]*\n?)+)", dialog.split("\ndefault:", maxsplit=1)[0])
    return [(text, footer) for text, footer in found]


def test_marks_and_footer_agree(dialog: Said) -> None:
    assert len(answers(dialog.out)) >= 5
    for text, footer in answers(dialog.out):
        entries = [int(n) for n in re.findall(r"(?m)^\[(\d+)\]", footer)]
        assert entries == list(range(1, len(entries) + 1))
        assert {int(n) for n in re.findall(r"\[(\d+)\]", text)} == set(entries)


def test_every_link_leads_to_a_heading_that_is_there(dialog: Said) -> None:
    found = links(dialog.out)

    assert len(found) >= 4
    for link in found:
        parts = urlsplit(link)
        page = Path(unquote(parts.path))
        assert page.is_file()
        assert unquote(parts.fragment) in {*anchors(page.read_text(encoding="utf-8")), ""}


def test_questions_in_other_languages_find_the_english_page(dialog: Said) -> None:
    for _, footer in answers(dialog.out)[2:5]:
        assert re.search(r"(?:operations|production)\.md", footer)


def test_commands_answer_in_the_dialog(dialog: Said) -> None:
    assert re.search(r"default: \d+ documents, \d+ passages, the newest indexed", dialog.out)
    assert "There is no /unknown. /help lists what there is." in dialog.out
    assert "/reindex" in dialog.out.split("There is no /unknown")[1]


def test_the_trace_explains_the_last_answer(dialog: Said) -> None:
    trace = dialog.out[dialog.out.index("\nrun ") :]

    assert re.search(r"question\s+Who won the football world cup in 1998\?", trace)
    for label in ("outcome", "history", "standalone", "searched", "by words", "by meaning", "passages", "time"):
        assert re.search(rf"(?m)^{label}\s+\S", trace), label


def test_a_thread_goes_on_in_another_process_until_it_is_forgotten(docs: Terminal) -> None:
    docs.run("chat", "--thread", "kept", said="Which share of the documents may a run remove?")

    later = docs.run("chat", "--thread", "kept", said="/trace\nand how is that allowed?\n/trace\n/forget\n/forget\n/trace\n")

    assert later.out.count("Which share of the documents may a run remove?") >= 2
    assert re.search(r"history\s+2 turns before it", later.out)
    assert "Forgot 4 turns." in later.out
    assert "There was nothing to forget." in later.out
    assert (later.status, later.err) == (0, "")


def test_a_changed_document_is_answered_from_after_a_reindex_in_the_talk(docs: Terminal) -> None:
    page = docs.folder / "docs" / "canteen.md"
    page.write_text(
        "# Canteen\n\n## Opening hours\n\nThe canteen opens at half past eleven, except on Fridays.\n", encoding="utf-8"
    )
    try:
        said = docs.run("chat", "--thread", "canteen", said="/reindex\nWhen does the canteen open?\n")
    finally:
        page.unlink()

    assert "default: 1 added" in said.out
    assert "half past eleven, except on Fridays [1]." in said.out
    assert "canteen.md#opening-hours" in said.out
