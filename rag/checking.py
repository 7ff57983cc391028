"""Checks before the start (O2): each says in one line what it found, or what is wrong and how to mend it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.errors import FootnoteError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

PATIENCE = 20.0  # seconds for one check


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that may be wrong.

    `run` returns what it found in a few words, "" where that says nothing to anybody; it raises FootnoteError with one clear
    sentence: what is wrong, how to mend it. `needs` names checks that must have passed for this one to make sense:
    else it is left out.
    """

    name: str
    run: Callable[[], Awaitable[str]]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: `text` is what is fine, or what is wrong and how to mend it."""

    name: str
    text: str
    is_problem: bool = False


async def findings(checks: Sequence[Check]) -> AsyncIterator[Finding]:
    """One after the other, in the order given."""
    failed: set[str] = set()
    for check in checks:
        if failed.intersection(check.needs):
            failed.add(check.name)
            continue
        found = await examined(check)
        if found.is_problem:
            failed.add(check.name)
        yield found


async def examined(check: Check) -> Finding:
    try:
        async with asyncio.timeout(PATIENCE):
            return Finding(check.name, await check.run())
    except TimeoutError:
        return Finding(
            check.name, f"There was no answer within {PATIENCE:.0f} s. See whether the network is there.", is_problem=True
        )
    except FootnoteError as error:
        return Finding(check.name, " ".join(str(error).split()), is_problem=True)
