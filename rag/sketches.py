"""A sketch of the terms of a passage: tells at a glance that two have little in common, which is nearly always so.

A number of 4 bytes says how many distinct terms there are, and in 256 bits each term sets one. Two sketches differ in no more
bits than there are terms that stand in only one of the two passages, so that none that are alike are ever taken for unlike.
"""

from __future__ import annotations

from typing import Final

COUNT_BYTES: Final = 4
BITS: Final = 256

_COUNT: Final = (1 << 8 * COUNT_BYTES) - 1


def read(sketch: bytes) -> int:
    """As `unlike` takes it; 0 where there is none."""
    return int.from_bytes(sketch, "little")


def unlike(one: int, other: int, share: float) -> bool:
    """Whether the two certainly have less than this share of all their terms in common; nothing is known without a sketch."""
    if not (one and other):
        return False
    terms = (one & _COUNT) + (other & _COUNT)
    apart = ((one ^ other) >> 8 * COUNT_BYTES).bit_count()  # of `terms` in all, so many at least stand in one alone
    return apart * (1 + share) > terms * (1 - share)
