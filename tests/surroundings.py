"""What the tests were started with: read once, before each test is given an empty environment."""

import os
from types import MappingProxyType

GIVEN = MappingProxyType(dict(os.environ))  # noqa: TID251 - the tests' one look at it


def required(part: str) -> bool:
    """Whether a missing part fails the tests (FOOTNOTE_REQUIRE=postgres,weaviate) where they would be skipped."""
    return part in GIVEN.get("FOOTNOTE_REQUIRE", "")
