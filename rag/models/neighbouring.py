"""What a sentence has to do with those around it."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from rag.lexical import is_stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.models.extracting import Sentence

_POINTS_BACK = re.compile(
    r"(?:(?:(?:all|both|each|either|neither|none|one|some) of (?:them|these|those)|(?:with |in )?both|"
    r"he|she|it|they|his|her|its|their|this|these|that|those|such|however|therefore|thus|but|so|also|instead|otherwise|then|"
    r"él|ella|ellos|ellas|esto|este|esta|estos|estas|eso|ese|esa|sin embargo|además|por eso|pero|así|también|"
    r"ele|ela|eles|elas|isto|isso|este|esta|estes|esse|essa|porém|além disso|por isso|mas|assim|também|"
    r"er|sie|es|dies|diese|dieser|dieses|jedoch|außerdem|daher|deshalb|aber|dann|"
    r"il|elle|ils|elles|cela|ce|cette|ces|cependant|toutefois|mais|donc|ainsi|"
    r"он|она|оно|они|это|этот|эта|эти|однако|поэтому|но|также)\b|"
    r"他|她|它|这|該|该|其|此|但|因此|所以|然而|不过|また|しかし|これ|それ|その|この|そのため|그|이것|하지만)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(\d{1,3})[.)]\s")
_NEAR = 0.8


def continuation(sentence: Sentence, found: Sequence[Sentence]) -> list[Sentence]:
    """What a sentence leads in to: the code, the list or the table below it, the rest of its paragraph.

    `found` holds the sentences of its excerpt.
    """
    following = [one for one in found if one.index > sentence.index]
    if not following or following[0].before is not sentence:
        return []
    first = following[0]
    if first.kind in ("prose", "code") or first.block == sentence.block:
        return [first] if sentence.is_open or first.kind == "code" else []
    return list(takewhile(lambda one: one.kind == first.kind and one.before is sentence, following))


def number_of(item: Sentence) -> int | None:
    """That an item of a numbered list begins with."""
    found = _NUMBER.match(item.text)
    return int(found[1]) if found else None


def needs_the_one_before(sentence: Sentence) -> bool:
    return sentence.kind in ("item", "code", "row") or _POINTS_BACK.match(sentence.text) is not None


def dangles(sentence: Sentence) -> bool:
    """Whether it points back to another paragraph or a table. Below a heading it means what that says."""
    behind = sentence.index > 0 and sentence.before is None and not sentence.is_first
    return sentence.kind == "prose" and behind and needs_the_one_before(sentence)


def shares_a_word(sentence: Sentence, other: Sentence) -> bool:
    """One that says something."""
    return any(not is_stop(term, sentence.language) for term in sentence.terms & other.terms)


def is_near_copy(sentence: Sentence, other: Sentence) -> bool:
    smaller = min(len(sentence.terms), len(other.terms)) or 1
    larger = max(len(sentence.terms), len(other.terms)) or 1
    shared = len(sentence.terms & other.terms)
    return shared / larger >= _NEAR or (shared == smaller and smaller > 3)  # noqa: PLR2004 - a few common words are no copy
