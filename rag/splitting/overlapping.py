"""How a passage takes up the end of the one before it, in whole sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.splitting.blocks import Piece
    from rag.splitting.settings import SplitSettings

# Where a sentence starts: behind the end of one, with or without a blank, or at the beginning of a line.
_SENTENCE_START = re.compile(r"""(?<=[.!?…؟।])[")\]'”’»]*\s+(?=\S)|(?<=[。！？．])[」』）”’]*\s*(?=\S)|\n\s*(?=\S)""")


def overlapped(text: str, pieces: Sequence[Piece], first: int, room: int, settings: SplitSettings) -> int:
    """The offset from which the passage that begins with this piece repeats, at most `room` long; else its own start."""
    start, before = pieces[first].start, pieces[first - 1]
    if room <= 0 or before.head or before.tail or "```" in text[before.start : before.end]:
        return start
    earliest = max(before.start, start - 8 * room)
    ends = [found.end() for found in _SENTENCE_START.finditer(text, earliest, start)]
    candidates = [offset for offset in (before.start, *ends) if offset < start]
    fitting = [offset for offset in candidates if settings.size(text[offset:start]) <= room]
    return min(fitting, default=start)
