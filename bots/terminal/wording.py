"""The notes of a run's steps, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rag.text import ESCAPES

if TYPE_CHECKING:
    from bots.terminal.fates import Notes
    from rag.types import Step

TURN = 160  # characters of a turn of the history


# escape sequences, other control characters, and what turns the direction of all that follows (the marks U+200E and U+200F
# stay: honest right-to-left text needs them)
_OBEYED = re.compile(ESCAPES + r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Without what a terminal obeys instead of showing it: documents, names and models may hold anything."""
    return _OBEYED.sub("", text)


def how_made(condense: Notes) -> str:
    """How the standalone question came to be, in words."""
    by = f"by {condense['model']}" if condense.get("model") else ""
    refused = ""
    if condense.get("rejected"):
        refused = f"{condense.get('model')}'s rewrite was rejected: {condense['rejected']}; "
    elif condense.get("failed"):
        refused = f"{condense.get('model')} failed: {condense['failed']}; "
    if condense.get("how") == "rewritten":
        return f"rewritten {by}".strip()
    if condense.get("how") == "expanded":
        return f"{refused}words were added from what was said before"
    return f"{refused}as it was asked"


def rounded(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def reranked(rerank: Notes) -> str:
    if rerank.get("skipped"):
        return f"reranking skipped: {rerank['skipped']}"
    left = rerank.get("left_over")
    late = f", {left} of them without a score, since time was up" if left else ""
    return f"{rerank.get('passages')} reranked by {rerank.get('model')}{late}"


def thresholds(select: Notes) -> str:
    limits = select.get("thresholds")
    if not isinstance(limits, Mapping) or not limits:
        return "none"
    return ", ".join(f"{rounded(value)} ({base})" for base, value in limits.items())


def weighed(words: object) -> str:
    """Each word that was searched for: its forms, and how much it weighs where that is more than others do."""
    shown = []
    for word in words if isinstance(words, list) else []:
        forms = [part for part in word if isinstance(part, str)] if isinstance(word, list) else [str(word)]
        weight = next((part for part in word if isinstance(part, int)), 1) if isinstance(word, list) else 1
        shown.append("/".join(forms) + (f" ×{weight}" if weight > 1 else ""))
    return ", ".join(shown) or "none"


def calls(compose: Notes) -> str:
    number = compose.get("calls")
    return "1 call" if number == 1 else f"{number} calls"


def sentence(judged: Notes) -> str:
    return short(judged.get("sentence", ""), TURN)


def support(judged: Notes) -> str:
    cosine = judged.get("cosine")
    by_meaning = f", by meaning {cosine:.2f}" if isinstance(cosine, float) else ""
    words = judged.get("lexical", 0.0)
    return f"supported by words {words:.2f}{by_meaning}" if isinstance(words, float) else "support unknown"


def timed(step: Step) -> str:
    return f"{step.name} {duration(step.seconds)}{f' (failed: {step.error})' if step.error else ''}"


def duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def short(value: object, limit: int) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"
