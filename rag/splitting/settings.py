"""How long passages are, and what that is counted in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from semantic_text_splitter import TextSplitter

from rag.errors import BadSetting
from rag.sources.version import READING_VERSION

# One token: four characters of a word, one character of a script without spaces, or one sign.
_TOKEN = re.compile(r"[A-Za-z0-9À-ɏ]{1,4}|[^\W\u2e80-\u9fff\uac00-\ud7a3]{1,3}|[^\s]")


def count_tokens(text: str) -> int:
    """About as many as the tokenizers of multilingual models make; no model is needed to tell."""
    return sum(1 for _ in _TOKEN.finditer(text))


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """Passages are `size_min` to `size_max` long where the text allows it, and never longer.

    A document of up to `whole` × `size_max` that is no more than one section stays in one piece.
    """

    size_min: int = 400
    size_max: int = 800
    unit: Literal["characters", "tokens"] = "characters"
    overlap: int = 0
    whole: float = 1.5

    def __post_init__(self) -> None:
        if not 0 < self.size_min <= self.size_max:
            raise BadSetting(f"indexing.size_min is {self.size_min}: it must be above 0 and at most size_max, {self.size_max}.")
        if not 0 <= self.overlap <= self.size_max // 2:
            raise BadSetting(f"indexing.overlap is {self.overlap}: it must be at most half of size_max, {self.size_max // 2}.")

    @property
    def signature(self) -> str:
        """What `Signature.splitting` holds: it changes whenever the passages of an unchanged document may."""
        return f"{READING_VERSION}:{self.size_min}-{self.size_max} {self.unit}+{self.overlap}x{self.whole:g}"

    def size(self, text: str) -> int:
        return len(text) if self.unit == "characters" else count_tokens(text)


@lru_cache(maxsize=16)
def text_splitter(unit: str, capacity: int) -> TextSplitter:
    """Cuts running text at the ends of lines and sentences, else of words, else anywhere."""
    return TextSplitter(capacity) if unit == "characters" else TextSplitter.from_callback(count_tokens, capacity)
