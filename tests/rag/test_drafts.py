from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.drafts import DraftCleaner, paced
from rag.types import Match, Passage


def match(n: int, document: str) -> Match:
    return Match(Passage(str(n), "base", document, n, "Text.", title=document), 1.0)


CLEANER = DraftCleaner([match(1, "leave.md"), match(2, "leave.md"), match(3, "travel.md")], ["ok.example"])


@pytest.mark.parametrize(
    ("draft", "shown"),
    [
        ("You get 25 days [", "You get 25 days"),
        ("You get 25 days [1", "You get 25 days"),
        ("You get 25 days [1, ", "You get 25 days"),
        ("You get 25 days [3].", "You get 25 days [1]."),
        ("First [3], then [1, 2].", "First [1], then [2]."),
        ("You get 25 days [9].", "You get 25 days."),
        ("You get 25 days【1", "You get 25 days"),
        ("You get 25 days (sou", "You get 25 days"),
        ("You get 25 days (source 1)", "You get 25 days [1]"),
        ("See [the page", "See"),
        ("See [the page]", "See"),
        ("See [the page](https://ev", "See"),
        ("See [the page](https://evil.example) now", "See the page now"),
        ("See ![x](https://evil.example/p.png", "See"),
        ("See ![x](https://evil.example/p.png) now", "See now"),
        ("See https://evil.exam", "See"),
        ("See https://evil.example now", "See `evil.example` now"),
        ("See https://ok.example/a now", "See https://ok.example/a now"),
        ("See <https://evil.example|he", "See"),
        ("Text.\n\nSour", "Text."),
        ("Text.\n\n**Sources:**\n- lea", "Text."),
        ("Text.\n\n## ", "Text."),
        ("Text.\n\nSources:\n- leave.md\n\nAnd more text here", "Text.\n\nAnd more text here"),
        ("Text. SOURCES: lea", "Text."),
        ("文本。\n\n来", "文本。"),
        ("文本。来源：", "文本。"),
        ("- One.\n- Two.\n- Three.", "- One.\n- Two.\n- Three"),
        ("Text.\n[1] lea", "Text."),
        ("Use `arr[1", "Use `arr"),
        ("Use:\n\n```\narr[1", "Use:\n\n```\narr[1\n```"),
        ("Use:\n\n```\narr[1]\n``", "Use:\n\n```\narr[1]\n```"),
    ],
)
def test_a_draft_shows_nothing_that_the_answer_would_take_back(draft: str, shown: str) -> None:
    assert CLEANER.clean(draft) == shown


ANSWER = (
    "You **get** 25 days [3], see ![x](https://evil.example/x) and [this](https://evil.example/q) [1, 2]. More [9]"
    " is in (source 1) here. https://evil.example/z is one. SOURCES: leave.md, travel.md\n\n"
    "Still more [2].\n\n## Sources\n- [1] leave.md\n- travel.md\n\n"
    "```\na[1]\n```\nDone."
)


def test_no_half_of_anything_is_shown_while_an_answer_grows() -> None:
    for end in range(len(ANSWER) + 1):
        shown = CLEANER.clean(ANSWER[:end])
        prose = re.sub(r"(?s)```.*?```", " ", shown)
        assert not re.search(r"://|!\[|\]\(|leave\.md|sources", prose, re.IGNORECASE), shown
        assert re.findall(r"\[[^\]]*\]?", prose) == re.findall(r"\[[12]\]", prose), shown


def test_a_draft_only_grows_by_whole_words() -> None:
    shown = [CLEANER.clean(ANSWER[:end]).replace("\n```", "") for end in range(len(ANSWER) + 1)]

    assert all(later.startswith(earlier.rstrip("`*. ")) for earlier, later in pairwise(shown))


@given(
    st.lists(
        st.sampled_from(
            ["[1]", "[", "]", "(", "![", "https://evil.example", " ", "\n", "`", "```\n", "Sources:", "word", "<", "【3】", "."]
        ),
        max_size=12,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_draft_can_be_shown(pieces: list[str]) -> None:
    shown = CLEANER.clean("".join(pieces))

    prose = re.sub(r"(?s)```.*?```|(`+)[^`\n]+?\1(?!`)", " ", shown)
    assert "://" not in prose
    assert {int(n) for n in re.findall(r"\[(\d+)\]", prose)} <= {1, 2}


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, ["Y", "YO", "YOU"]), (1000.0, ["Y"])])
def test_a_draft_that_comes_too_soon_is_not_even_cleaned(seconds: float, expected: list[str]) -> None:
    cleaned: list[str] = []
    shown: list[str] = []

    def clean(draft: str) -> str:
        cleaned.append(draft)
        return draft.upper()

    put = paced(shown.append, clean, seconds)
    for draft in ("y", "yo", "you"):
        put(draft)

    assert shown == expected
    assert len(cleaned) == len(shown)
