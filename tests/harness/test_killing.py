"""Few questions and few kills of the same kind; `python -m tests.harness.killing` is the long run (P3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.harness import killing
from tests.harness.killing import Plan

if TYPE_CHECKING:
    from pathlib import Path

PLATFORMS = ("slack", "discord")
FEW: dict[str, Any] = {
    "questions": 18,
    "threads": 6,
    "kills": 4,
    "longest": 1.0,
    "pause": 1.5,
    "minute": 2.0,
    "patience": 60.0,
    "still": 3.0,
}


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_each_question_ends_once_and_in_order_though_processes_are_killed(tmp_path: Path, platform: str) -> None:
    outcome = await killing.killing(Plan(f"sqlite:///{tmp_path}/footnote.db", platform, **FEW), tmp_path)

    assert outcome.is_good, f"{outcome}\n{(tmp_path / 'log').read_text()[-4000:]}"
    assert outcome.counts["kills"] == FEW["kills"]
    assert (outcome.verdict.answers, outcome.verdict.apologies) == (17, 1)


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_two_processes_on_one_postgresql_are_as_good_as_one(tmp_path: Path, postgres_with_tables: str, platform: str) -> None:
    outcome = await killing.killing(Plan(postgres_with_tables, platform, processes=2, **FEW), tmp_path)

    assert outcome.is_good, f"{outcome}\n{(tmp_path / 'log').read_text()[-4000:]}"
