import pytest

from rag.sources.tables import read_csv
from tests.rag.sources.making import LIMITS, raw


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_each_row_names_its_columns(separator: str) -> None:
    text = separator.join(["Name", "Town"]) + "\n" + separator.join(["Ada", "London"]) + "\n" + separator.join(["Bo", ""]) + "\n"

    assert read_csv(raw(text), LIMITS).text == "Name: Ada; Town: London\n\nName: Bo"


def test_a_long_row_has_each_field_on_a_line() -> None:
    answer = "Ask your lead, two weeks ahead. " * 10

    assert read_csv(raw(f'Question,Answer\nHow?,"{answer}"\n'), LIMITS).text == f"Question: How?\nAnswer: {answer.strip()}"


def test_quoted_fields_may_hold_anything() -> None:
    assert read_csv(raw('a,b\n"x, ""y""\nz",2\n'), LIMITS).text == 'a: x, "y"\nz\nb: 2'


def test_a_first_row_with_numbers_names_nothing() -> None:
    assert read_csv(raw("1,2\n3,4\n"), LIMITS).text == "1; 2\n\n3; 4"


def test_chinese_tables_are_read_in_their_encoding() -> None:
    assert read_csv(raw("姓名,城市\n李明,北京市\n".encode("gb18030")), LIMITS).text == "姓名: 李明; 城市: 北京市"
