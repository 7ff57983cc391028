"""In which order tests run in several processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pytest

from tests.databases import ROOT
from tests.ordering import SECONDS, in_good_order

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Named:
    nodeid: str


LONG = sorted(SECONDS, key=lambda module: -SECONDS[module])[:3]


def items(*modules: str, each: int = 4) -> list[pytest.Item]:
    return cast("list[pytest.Item]", [Named(f"{module}::test_{number}") for module in modules for number in range(each)])


def modules(of: Sequence[pytest.Item]) -> list[str]:
    return list(dict.fromkeys(item.nodeid.partition("::")[0] for item in of))


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 7])
def test_every_test_runs_once_and_those_of_a_module_in_their_order(processes: int) -> None:
    given = items("tests/a.py", *LONG, "tests/b.py", "tests/c.py", each=5)

    ordered = in_good_order(given, processes)

    assert sorted(item.nodeid for item in ordered) == sorted(item.nodeid for item in given)
    for module in LONG:
        assert [item for item in ordered if item.nodeid.startswith(module)] == [
            item for item in given if item.nodeid.startswith(module)
        ]


def test_each_process_begins_with_long_ones_of_about_the_same_time() -> None:
    short = [f"tests/{letter}.py" for letter in "abcdefgh"]

    ordered = in_good_order(items(*short, *LONG), 2)
    shares = [modules(ordered[: len(ordered) // 2]), modules(ordered[len(ordered) // 2 :])]

    begun = [[module for module in share if module in LONG] for share in shares]
    assert sorted(map(len, begun)) == [1, 2]
    assert [share[: len(long)] for share, long in zip(shares, begun, strict=True)] == begun


def test_the_modules_that_are_called_long_are_there() -> None:
    assert [module for module in SECONDS if not (ROOT / module).exists()] == []
