"""Checks before the start (O2)."""

import asyncio
from functools import partial

import pytest

from rag import checking
from rag.checking import Check, Finding, findings
from rag.errors import BadSetting


async def fine(text: str = "") -> str:
    return text


async def wrong() -> str:
    raise BadSetting("The key is refused.\nSet another one.")


async def endless() -> str:
    await asyncio.sleep(3600)
    return ""


async def found(*checks: Check) -> list[Finding]:
    return [finding async for finding in findings(checks)]


async def test_what_is_wrong_is_told_in_one_line() -> None:
    assert await found(Check("a", partial(fine, "two models")), Check("b", wrong)) == [
        Finding("a", "two models"),
        Finding("b", "The key is refused. Set another one.", is_problem=True),
    ]


async def test_what_needs_something_that_is_wrong_is_left_out_and_so_is_what_needs_that() -> None:
    told = await found(Check("key", wrong), Check("model", fine, ("key",)), Check("index", fine, ("model",)), Check("home", fine))

    assert [finding.name for finding in told] == ["key", "home"]


async def test_a_check_that_hangs_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "PATIENCE", 0.01)

    assert [(one.name, one.is_problem) for one in await found(Check("slow", endless), Check("next", fine))] == [
        ("slow", True),
        ("next", False),
    ]
