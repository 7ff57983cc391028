from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.code_spans import code_spans, pieces, with_fences_closed
from rag.marks import marks, with_native_marks
from rag.types import Cited


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a [1].", [(1,)]),
        ("a [1, 2]", [(1, 2)]),
        ("a [1][2]", [(1,), (2,)]),
        ("a [1-3]", [(1, 2, 3)]),
        ("a [1–3, 5]", [(1, 2, 3, 5)]),
        ("a [1 and 2]", [(1, 2)]),
        ("a【1】", [(1,)]),
        ("a［１，２］", [(1, 2)]),
        ("a [[1]](https://evil.example)", [(1,)]),
        ("a [1](https://evil.example)", [(1,)]),
        ("a [^1]", [(1,)]),
        (r"a \[1\]", [(1,)]),
        ("a [Source 3]", [(3,)]),
        ("a (source 1)", [(1,)]),
        ("甲（来源：2）", [(2,)]),
        ("a【2†L1-L4】", [(2,)]),
        ("a【4:0†source】", [(0,)]),
        ("a<sup>2</sup>", [(2,)]),
        ("a [٣]", [(3,)]),
        ("a [99999999999999999999]", [(0,)]),
        ("a [1-999999]", [(1, 999999)]),
        ("a [3-1]", [(3, 1)]),
        ("(1) [a1] [x] [] (2024) {1}", []),
    ],
)
def test_marks_are_read_in_every_form_that_models_write(text: str, numbers: list[tuple[int, ...]]) -> None:
    assert [mark.numbers for mark in marks(text)] == numbers


@pytest.mark.parametrize("code", ["`arr[1]`", "``arr[1] ` ``", "```\narr[1]\n```", "~~~py\narr[1]\n~~~", "```\narr[1]"])
def test_what_looks_like_a_mark_in_code_is_code(code: str) -> None:
    assert marks(code) == []


def test_a_backtick_without_its_pair_begins_no_code() -> None:
    assert [mark.numbers for mark in marks("a ` b [1]\nc ` d")] == [(1,)]


def test_an_unfinished_block_of_code_is_ended() -> None:
    assert with_fences_closed("a\n```py\nb") == "a\n```py\nb\n```"
    assert with_fences_closed("a\n```py\nb\n```") == "a\n```py\nb\n```"


@pytest.mark.parametrize(
    ("text", "cited", "expected"),
    [
        ("The sky is blue. It rains.", [Cited(0, 15, (1,)), Cited(17, 25, (2, 3))], "The sky is blue [1]. It rains [2][3]."),
        ("The sky is blue.", [Cited(0, 16, (1,))], "The sky is blue [1]."),
        ("Bob met Ann.", [Cited(0, 3, (1,)), Cited(8, 11, (1,))], "Bob met Ann [1]."),
        ("Bob met Ann.", [Cited(0, 3, (1,)), Cited(8, 11, (2,))], "Bob [1] met Ann [2]."),
        ("天是蓝的。", [Cited(0, 4, (1,))], "天是蓝的[1]。"),
        ("Run `a b` now", [Cited(5, 7, (1,))], "Run `a b` [1] now"),
        ("```\nab cd\n```\nEnd", [Cited(5, 7, (1,))], "```\nab cd\n```\n[1]\nEnd"),
        ("See [the page](https://a.example) now", [Cited(5, 8, (1,))], "See [the page](https://a.example) [1] now"),
        ("Short", [Cited(2, 99, (1,)), Cited(3, 2, (1,)), Cited(-1, 2, (1,))], "Short"),
    ],
)
def test_a_citation_that_the_model_gives_beside_its_text_becomes_a_mark(text: str, cited: list[Cited], expected: str) -> None:
    assert with_native_marks(text, cited) == expected


@given(st.text(alphabet=st.sampled_from("a1[]`\n ~【】(),-"), max_size=150))
@settings(max_examples=200, deadline=None)
def test_marks_and_code_never_overlap_and_keep_their_order(text: str) -> None:
    assert "".join(text[start:end] for start, end, _ in pieces(text)) == text
    code = {at for start, end in code_spans(text) for at in range(start, end)}
    found = marks(text)
    assert all(first.end <= second.start for first, second in itertools.pairwise(found))
    assert not any(at in code for mark in found for at in range(mark.start, mark.end))


@given(
    st.text(alphabet=st.sampled_from("ab [1]`\n."), max_size=60),
    st.lists(st.tuples(st.integers(-2, 70), st.integers(-2, 70)), max_size=5),
)
@settings(max_examples=200, deadline=None)
def test_native_marks_add_to_the_text_and_take_nothing_from_it(text: str, spans: list[tuple[int, int]]) -> None:
    marked = with_native_marks(text, [Cited(start, end, (7,)) for start, end in spans])

    assert "".join(marked.replace("[7]", "").split()) == "".join(text.split())


@pytest.mark.parametrize("piece", ["[1", "[", "[[1]](", "[1,", "1", "[1](", "`", "` ", "``` \n", "(source ", "【1†", "[1 "])
def test_a_hostile_text_is_read_in_linear_time(piece: str) -> None:
    """Quadratic work on 100,000 characters would run into the limit of the suite."""
    assert marks(piece * (100_000 // len(piece))) is not None
