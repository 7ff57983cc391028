from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag.text import estimated_tokens, for_model, well_formed, width


def test_tokens_are_estimated_by_script() -> None:
    assert estimated_tokens("") == 0
    assert estimated_tokens("word " * 100) == 150
    assert estimated_tokens("部署回滚") == 4
    assert estimated_tokens("развёртывание") > estimated_tokens("deployment...")


@given(st.text(), st.text())
def test_more_text_never_has_fewer_tokens(one: str, other: str) -> None:
    assert estimated_tokens(one + other) >= estimated_tokens(one)


def test_text_for_a_model_has_no_nul_and_no_lone_surrogate_and_is_bounded() -> None:
    assert well_formed("a\0b\ud800c") == "ab\ufffdc"
    assert for_model("\ufdfa" * 100, 10) == for_model("\ufdfa", 10)[:10]
    assert len(for_model("\ufdfa" * 100, 10)) == 10


def test_a_chinese_character_takes_two_columns() -> None:
    assert width("ab 部署") == 7
    assert width("") == 0
