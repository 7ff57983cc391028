"""Text that can be handed to any model, parser or store: no NUL, no lone surrogates, bounded."""

from __future__ import annotations

import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def well_formed(text: str) -> str:
    """The text with NUL taken out and lone surrogates replaced: it can be encoded and stored."""
    return text.replace("\0", "").encode("utf-8", "replace" if text.isascii() else "surrogatepass").decode("utf-8", "replace")


def for_model(text: str, limit: int) -> str:
    """NFKC, well-formed and at most `limit` characters long.

    Cut before and after: some characters grow under NFKC (U+FDFA becomes 18), and native tokenizers overflow on them.
    """
    return unicodedata.normalize("NFKC", well_formed(text[:limit]))[:limit]
