from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.own_sources import NAMES, without_own_sources

TITLES = ["Employee Handbook", "Leave, and more", "休假制度"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("A [1].\n\nSOURCES: Employee Handbook, x.md", "A [1]."),
        (
            "A [1].\n\n## Sources\n\n- [1] Foo\n- Bar baz\n\nMore prose follows here, as it should be kept.",
            "A [1].\n\nMore prose follows here, as it should be kept.",
        ),
        (
            "A.\n\n**Sources:**\n1. Employee Handbook\n2. Other things\n\nThis prose goes on after it.",
            "A.\n\nThis prose goes on after it.",
        ),
        ("A.\n\n**References**\n\n[1] One\n\n[2] Two\n\nThis prose goes on after it.", "A.\n\nThis prose goes on after it."),
        ("A。\n\n来源：休假制度", "A。"),
        ("A。\n\n**参考资料**：\n[1] 休假制度\n[2] 手册", "A。"),
        ("A。\n\n出典: [1][2]", "A。"),
        ("A.\n\nFuentes: Employee Handbook (p. 3); otro documento", "A."),
        ("A.\n\nQuellen:\n- Handbuch, Kapitel 3\n- Urlaub\n", "A."),
        ("A.\n\nИсточники:\n1. Руководство\n", "A."),
        ("A.\n\n📚 **Fontes**\n• [Foo](https://a.example)\n", "A."),
        ("A.\n\n---\n*Sources: [1], [2]*", "A."),
        ("A.\n\nReferences\n[1]: https://a.example\n", "A."),
        ("A [^1].\n[^1]: Handbook p. 1\nMore text stands here.", "A [^1].\n\nMore text stands here."),
        ("[1] Employee Handbook — Leave (https://a.example)\n[2] https://b.example\nText", "Text"),
        ("A is b. SOURCES: a.md, b.md", "A is b."),
        ("A is b [1]. Sources: [1], [2]", "A is b [1]."),
        ("A (Source: Employee Handbook). B", "A. B"),
        ("A（来源：休假制度）。B", "A。B"),
        ("A (Sources: [1], [2]) b", "A [1][2] b"),
        ("A.\n\n## Sources\nWe use three data sources: A and B [1].", "A.\n\nWe use three data sources: A and B [1]."),
        ("Source: Employee Handbook\n\nThe answer comes after it.", "The answer comes after it."),
    ],
)
def test_a_list_of_sources_goes_and_what_follows_it_stays(text: str, left: str) -> None:
    assert without_own_sources(text, TITLES).text == left


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ("(source 1) Employee Handbook", ""),
        ("- [Source 2] Employee Handbook", ""),
        ("  > 【1】 Employee Handbook", ""),
        ("12. List of Sources" + 90 * "_", ""),
        ("Employee Handbook is one of the sources", "\n\nEmployee Handbook is one of the sources"),
    ],
)
def test_a_list_without_a_colon_goes_from_below_a_long_line(entry: str, left: str) -> None:
    line = f"Whoever reads this line, which is a long one, finds no colon {10 * 'anywhere '}in it [1]."
    assert without_own_sources(f"{line}\n\n{entry}", TITLES).text == line + left


@pytest.mark.parametrize(
    "text",
    [
        "Sources: we use three data sources for X, all of them public.",
        "The sources of the river are in the Alps.\nSources of error are many.",
        "Source: the quarterly report was used for it.",
        "Source code: see the repo",
        "Reference manual: see the shelf.",
        "References are important.",
        "参考：这是一个说明，我们使用三种数据来源。",
        "Sources: the code lives in src/main.py and is compiled by make.",
        "```\nSources:\n- a.md\n```\ntext",
        "1. Open the settings [1]\n2. Press save [2]",
        "[1] says that the office is open on Mondays and Tuesdays.",
        "The data sources: A and B [1].",
    ],
)
def test_prose_that_merely_has_the_word_stays(text: str) -> None:
    assert without_own_sources(text, TITLES).text == text


def test_the_numbers_in_a_list_that_went_are_remembered() -> None:
    assert without_own_sources("A.\n\nSources:\n[2] Handbook\n[1, 3] Others").numbers == (2, 1, 3)


@pytest.mark.parametrize("name", NAMES)
def test_the_heading_is_known_in_every_language(name: str) -> None:
    assert without_own_sources(f"Text.\n\n{name.upper()}:\n- handbook.md\n").text == "Text."
    assert without_own_sources(f"Text.\n\n## {name}\n1. handbook.md\n").text == "Text."


@given(st.lists(st.sampled_from([*"aB [1]:\n-#*.：`|(", "Sources", "来源", "https://a.b"]), max_size=40).map("".join))
@settings(max_examples=200, deadline=None)
def test_nothing_is_ever_added_and_the_order_stays(text: str) -> None:
    left = iter(text)
    assert all(character in left for character in "".join(without_own_sources(text, TITLES).text.split()))


@pytest.mark.parametrize(
    "piece", ["Sources:\n", "Sources: ", "(source: ", "[1]\n", "- a\n", "Sources\n\n", "# ", "```\n", "`a`\n", "Sources:\n\n\n"]
)
def test_a_hostile_text_is_read_in_linear_time(piece: str) -> None:
    """Quadratic work on 100,000 characters would run into the limit of the suite."""
    assert without_own_sources(piece * (100_000 // len(piece)), TITLES) is not None
