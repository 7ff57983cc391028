from __future__ import annotations

import pytest

from rag.models.comparing import sides
from tests.rag.models.test_extractive import answer, excerpts


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("What is the difference between Vault Lite and Vault Pro?", {"lite"}, {"pro"}),
        ("difference between P1 and P2 response", {"p1"}, {"p2"}),
        ("¿Qué diferencia hay entre PostgreSQL y SQLite?", {"postgresql"}, {"sqlite"}),
        ("Qual é a diferença entre férias e licença?", {"ferias"}, {"licenca"}),
        ("Was ist der Unterschied zwischen Urlaub und Gleitzeit?", {"urlaub"}, {"gleitzeit"}),
        ("Quelle est la différence entre Nantes et Lyon ?", {"nantes"}, {"lyon"}),
        ("В чём разница между отпуском и отгулом?", {"отпуском"}, {"отгулом"}),
        ("PostgreSQL vs MySQL backups", {"postgresql"}, {"mysql"}),
        ("北京和上海办公室的办公时间有什么区别？", {"北京"}, {"上海"}),
        ("産休と育休の違いは何ですか", {"産休"}, {"育休"}),
    ],
)
def test_a_question_that_compares_has_two_sides(question: str, one: set[str], other: set[str]) -> None:
    first, second = sides(question)

    assert first.own >= one
    assert second.own >= other
    assert first.own.isdisjoint(second.own)


@pytest.mark.parametrize(
    "question",
    [
        "How do I reset the password?",
        "What lies between the hills?",
        "年假有几天？",
        "the difference between it and it",
        "",
        pytest.param("a" * 40_000, id="long"),
    ],
)
def test_any_other_question_has_none(question: str) -> None:
    assert sides(question) == ()


async def test_each_side_of_a_comparison_is_told_though_one_fits_better() -> None:
    lite = "Vault Lite is for one person. Vault Lite keeps a hundred items. Vault Lite works offline."
    pro = "Vault Pro is for teams. Vault Pro keeps a thousand items. Vault Pro tells the difference by colours."

    found = await answer("What is the difference between Vault Lite and Vault Pro?", excerpts(lite, pro))

    assert "Vault Lite" in found
    assert "Vault Pro" in found


async def test_both_are_told_where_one_sentence_names_both() -> None:
    text = "Marejada stores in Falcon and Kestrel.\n\n## Falcon\n\nFalcon suits teams.\n\n## Kestrel\n\nKestrel suits one person."

    found = await answer("What is the difference between Falcon and Kestrel?", excerpts(text))

    assert "Falcon suits teams" in found
    assert "Kestrel suits one person" in found


async def test_a_side_whose_name_stands_within_the_others_is_told_as_well() -> None:
    given = excerpts("## 产假\n\n产假为158天。\n\n## 陪产假\n\n陪产假为15天，须在三个月内使用。", language="zh")

    found = await answer("产假和陪产假有什么区别", given)

    assert "158" in found
    assert "15天" in found


async def test_a_side_that_only_leads_to_what_is_told_brings_it() -> None:
    text = "Socket Mode is the default.\n\n## HTTP\n\nFor HTTP requests, set this:\n\n```sh\nexport SECRET=it\n```"

    assert "export SECRET=it" in await answer("What is the difference between Socket Mode and HTTP?", excerpts(text))
