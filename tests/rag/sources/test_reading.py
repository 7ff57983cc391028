import pytest

from rag.sources.reading import language_code, language_that_fits, one_line


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("en", "Leave is asked for two weeks ahead.", "en"),
        ("en", "员工每年有二十天带薪假期。", ""),
        ("pt", "Отпуск просят за две недели.", ""),
        ("zh", "员工 uses systemctl restart nginx to restart", "zh"),
        ("zh", "Not translated yet, all of it is in English.", ""),
        ("fa", "", "fa"),
        ("", "Leave.", ""),
    ],
)
def test_a_declared_language_counts_unless_the_script_is_another(declared: str, text: str, expected: str) -> None:
    assert language_that_fits(declared, text) == expected


@pytest.mark.parametrize(
    ("declared", "code"), [("de-AT", "de"), ("zh_CN.UTF-8", "zh"), ("PT", "pt"), ("english", ""), ("", ""), (None, "")]
)
def test_languages_are_named_by_their_code(declared: str | None, code: str) -> None:
    assert language_code(declared) == code


def test_titles_are_one_line_of_bounded_length() -> None:
    assert one_line("  A \n title\t\ud800 ") == "A title \ufffd"
    assert len(one_line("x" * 10_000)) == 300
