"""Documents that are translations of each other, as their addresses tell: `docs/es/install.md` is `docs/install.md` in Spanish."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Match, Passage

_LANGUAGES: Final = (
    "ar|bg|bn|ca|cs|da|de|el|en|es|et|eu|fa|fi|fr|gl|he|hi|hr|hu|hy|id|it|ja|ka|kk|ko|lt|lv|mk|ms|nb|nl|no|pl|pt|ro|ru|sk|sl|sq|sr|sv|"
    "ta|te|th|tr|uk|uz|vi|zh"
)


def in_their_language(matches: Sequence[Match], language: str) -> tuple[list[Match], list[tuple[str, str]]]:
    """Without what is a translation, in another language, of what was found in the question's; the ids of those left out, each
    with that of the other.

    An address in which a language is named counts only for what is in that language: `it/leave.md` may be of a department. A
    document is no translation of itself, whatever languages its passages are taken for.
    """
    if not language or len({match.passage.language for match in matches}) == 1:
        return list(matches), []
    theirs: dict[tuple[str, str], Passage] = {}
    for passage in (match.passage for match in matches if match.passage.language == language):
        original = _without(language, passage.document)
        theirs.setdefault((passage.base, original), passage)
    kept, left_out = [], []
    for match in matches:
        passage = match.passage
        own = theirs.get((passage.base, _without(_LANGUAGES, passage.document))) if passage.language != language else None
        if own is None or own.document == passage.document:
            kept.append(match)
        else:
            left_out.append((passage.id, own.id))
    return kept, left_out


def at_home(matches: Sequence[Match], folded: Sequence[tuple[str, str]]) -> tuple[list[Match], list[tuple[str, str]]]:
    """Of copies, the one in a language that its address names, or in none: `vi/install.md` may be English still. With the ids of
    copies, each with that of what it is a copy of.
    """
    found, instead = [], {}
    for match in matches:
        best = match
        if match.copies and not _is_at_home(match.passage):
            better = next((copy for copy in match.copies if _is_at_home(copy)), None)
            if better is not None:
                others = tuple([copy for copy in match.copies if copy is not better])
                best = match._replace(passage=better, members=(better.id,), copies=(match.passage, *others))
                instead[match.passage.id] = better.id
        found.append(best)
    if not instead:
        return found, list(folded)
    back = {better: original for original, better in instead.items()}
    return found, [(back.get(copy, copy), instead.get(original, original)) for copy, original in folded]


def _is_at_home(passage: Passage) -> bool:
    named = _named(_LANGUAGES).search(passage.document)
    return named is None or _named(passage.language or "-").search(passage.document) is not None


def _without(languages: str, address: str) -> str:
    return _named(languages).sub("", address, count=1)


@lru_cache(maxsize=64)
def _named(languages: str) -> re.Pattern[str]:
    """`es/`, `es-ES/`, and before the ending `.es` and `_es`."""
    code = rf"(?:{languages})(?:[-_][A-Za-z]{{2,4}})?"
    return re.compile(rf"(?:(?<=/)|^){code}/|[._-]{code}(?=\.\w+$)", re.IGNORECASE)
