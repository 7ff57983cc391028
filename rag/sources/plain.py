"""Plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.sources.encodings import decode
from rag.sources.reading import Reading

if TYPE_CHECKING:
    from rag.sources.reading import Raw, ReadLimits


def read(raw: Raw, limits: ReadLimits) -> Reading:  # noqa: ARG001 - every reader has this form
    return Reading(text=decode(raw.name, raw.content, raw.charset), lines=True)
