"""Text that can be handed to any model, parser or store: no NUL, no lone surrogates, bounded."""

from __future__ import annotations

import re
import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_SURROGATES = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """The text with NUL taken out and each lone surrogate replaced: it can be encoded and stored."""
    return _SURROGATES.sub(REPLACEMENT, text.replace("\0", ""))


def for_model(text: str, limit: int) -> str:
    """NFKC, well-formed and at most `limit` characters long.

    Cut before and after: some characters grow under NFKC (U+FDFA becomes 18), and native tokenizers overflow on them.
    """
    return unicodedata.normalize("NFKC", well_formed(text[:limit]))[:limit]
