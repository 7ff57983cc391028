"""The words by which a model says that the passages do not hold the answer, in whatever decoration it writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag.marks import marks
from rag.prompting import NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Cited

_NOISE: Final = re.compile(r"[\W_]+")
_BARE: Final = _NOISE.sub("", NO_ANSWER).casefold()
_SENTINEL: Final = re.compile(r"[*_`\"'\[(<]*\bNO(?:\\?_|[ -])ANSWER\b[*_`\"'\])>]*")
_LONGEST: Final = 40  # characters of a decorated NO_ANSWER


def answer_of(text: str, cited: Sequence[Cited] = ()) -> str:
    """The answer, "" where it is none: NO_ANSWER alone or explained. A partial answer that ends in it loses it."""
    if _bare(text) == _BARE:
        return ""
    found = _SENTINEL.search(text) if "ANSWER" in text else None
    if found is None:
        return text
    before = text[: found.start()].rstrip()
    rests_on_passages = bool(marks(before)) or any(c.end <= len(before) for c in cited)
    return before if rests_on_passages else ""


def draft_of(text: str) -> str:
    """What may be shown of an answer that is still being written: nothing while it may become NO_ANSWER."""
    if _BARE.startswith(_bare(text)):
        return ""
    found = _SENTINEL.search(text)
    return text[: found.start()].rstrip() if found else text


def _bare(text: str) -> str:
    """The letters alone, of a text that is short enough to be a decorated NO_ANSWER."""
    return _NOISE.sub("", text).casefold() if len(text) <= _LONGEST else text
