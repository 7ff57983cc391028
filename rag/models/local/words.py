"""The bundled encoder's own tokenizer, made to cut each word only once: an eighth of the time of embedding goes to it.

No piece of its vocabulary reaches over a blank, so that a text's tokens are those of its words, one after the other. (Their
scores are added without rounding: not even which of two equally good ways is taken depends on the words before.)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

_BETWEEN = re.compile(
    "[^\t\n\f\r ]+"
)  # exactly what the tokenizer takes for a blank; others become part of a word, and are cut there
_BLANK = "\u2581"  # how it writes one: in a text, it cannot be told from one
_LEAD = "a"
_LONGEST = 48  # characters of a word that is worth keeping: without spaces, a "word" is a whole sentence
_KEPT = 50_000


class Tokenizer(Protocol):
    def encode(self, texts: str, out_type: type = int, *, add_bos: bool = True, add_eos: bool = True) -> list[int]: ...


class WordTokenizer:
    """The same tokens as those of `whole`, sooner."""

    def __init__(self, whole: Tokenizer) -> None:
        self._whole = whole
        self._bos, *self._lead, self._eos = whole.encode(_LEAD)
        self._known: dict[str, Sequence[int]] = {}

    def encode(self, texts: str, out_type: type = int, *, add_bos: bool = True, add_eos: bool = True) -> list[int]:
        """As the encoder calls it: one text, with both marks."""
        if _BLANK in texts:
            return self._whole.encode(texts, out_type, add_bos=add_bos, add_eos=add_eos)
        tokens = [self._bos]
        known = self._known
        for word in _BETWEEN.findall(texts):
            found = known.get(word)
            tokens += self._cut(word) if found is None else found
        if len(tokens) == 1:
            return self._whole.encode(texts, out_type, add_bos=add_bos, add_eos=add_eos)
        tokens.append(self._eos)
        return tokens

    def _cut(self, word: str) -> Sequence[int]:
        """After another word, since a text of nothing has a token of its own and a word of nothing has none."""
        tokens = self._whole.encode(f"{_LEAD} {word}", add_bos=False, add_eos=False)[len(self._lead) :]
        if len(word) <= _LONGEST:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[word] = tuple(tokens)
        return tokens
