"""Long Markdown in the messages that a platform takes."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bots.pieces import pieces

LINES = st.sampled_from(
    [
        "```python",
        "```",
        "~~~",
        "````",
        "a line of prose. And more of it!",
        "",
        "    indented",
        "| a | b |",
        "中文没有空格" * 9,
        "x" * 90,
        "`code` in a line",
    ]
)


def is_open(text: str) -> bool:
    opened = ""
    for line in text.split("\n"):
        match = re.fullmatch(r"[ \t]{0,12}(`{3,}|~{3,})([^`]*)", line)
        if match and not opened:
            opened = match[1]
        elif match and match[1].startswith(opened) and not match[2].strip():
            opened = ""
    return bool(opened)


def test_a_short_text_is_one_piece_as_it_is() -> None:
    assert pieces("Hello.\n\n- a\n- b", 2000) == ["Hello.\n\n- a\n- b"]
    assert pieces("", 2000) == [""]


def test_a_long_text_is_cut_behind_a_paragraph() -> None:
    paragraph = "Some words that make a sentence. " * 20
    cut = pieces(f"{paragraph}\n\n{paragraph}\n\n{paragraph}", 1000)

    assert [piece.strip() for piece in cut] == [paragraph.strip()] * 3


def test_a_block_of_code_is_closed_and_opened_again_with_its_language() -> None:
    code = "\n".join(f"print({number})" for number in range(400))
    cut = pieces(f"Run this:\n\n```python\n{code}\n```\nDone.", 2000)

    assert all(len(piece) <= 2000 and not is_open(piece) for piece in cut)
    assert all(piece.startswith("```python\n") for piece in cut[1:])
    assert "\n".join(line for piece in cut for line in piece.split("\n") if line.startswith("print(")) == code
    assert cut[-1].endswith("```\nDone.")


def test_a_block_that_fits_into_the_next_message_is_kept_whole() -> None:
    cut = pieces("words " * 120 + "\n\n```\n" + "code\n" * 60 + "```", 1000)

    assert len(cut) == 2
    assert cut[1].startswith("```\ncode")


def test_a_very_long_language_is_not_repeated() -> None:
    cut = pieces("```" + "z" * 1200 + "\n" + "code line\n" * 300 + "```", 2000)

    assert max(map(len, cut)) <= 2000
    assert cut[1].startswith("```\ncode")


def test_neither_link_nor_code_is_cut_at_a_blank() -> None:
    link = "[the very long title of a page](<https://docs.example.com/a/b/c>)"
    cut = pieces(" ".join([link] * 40), 500)

    assert "".join(cut).count(link) == 40


def test_a_word_without_end_is_cut_where_no_sign_falls_apart() -> None:
    cut = pieces("e\N{COMBINING ACUTE ACCENT}" * 600, 101)

    assert all(piece[0] == "e" for piece in cut)
    assert "".join(cut) == "e\N{COMBINING ACUTE ACCENT}" * 600


@settings(max_examples=150)
@given(st.lists(LINES, max_size=60), st.sampled_from([120, 300, 2000]))
def test_no_piece_is_too_long_or_leaves_code_open_and_nothing_is_lost(lines: list[str], limit: int) -> None:
    text = "\n".join(lines)
    cut = pieces(text, limit)

    assert all(len(piece) <= limit for piece in cut)
    assert not any(is_open(piece) for piece in cut)
    kept = re.sub(r"[`~\s]|python", "", "".join(cut))
    assert kept == re.sub(r"[`~\s]|python", "", text)


@pytest.mark.parametrize("text", ["```\n", "```", "\n\n\n", "~~~a\n~~~", " " * 5000, "\n" * 5000])
def test_odd_texts_end(text: str) -> None:
    assert all(len(piece) <= 100 for piece in pieces(text, 100))
