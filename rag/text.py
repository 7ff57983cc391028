"""Text that can be handed to any model, parser or store: no NUL, no lone surrogates, bounded."""

from __future__ import annotations

import math
import re
import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# Thai, Lao, Burmese, Khmer; kana and Han; Hangul; full-width forms; the supplementary Han planes
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_ASCII = re.compile("[\0-\x7f]+")
_WIDE = re.compile("[\u2e80-\ud7a3\uf900-\uffef\U00020000-\U0003ffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")


# what a terminal obeys as a whole: CSI; OSC up to its end; two characters
ESCAPES = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]"
_ESCAPES = re.compile(ESCAPES)


def without_escapes(text: str) -> str:
    """Colours and the like, which programs write into what they print; what they stand around stays."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def well_formed(text: str) -> str:
    """The text with NUL taken out and each lone surrogate replaced: it can be encoded and stored."""
    text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode()  # many times as fast as looking for surrogates, and hardly any text holds one
    except UnicodeEncodeError:
        return _SURROGATES.sub(REPLACEMENT, text)
    return text


def for_model(text: str, limit: int) -> str:
    """NFKC, well-formed and at most `limit` characters long.

    Cut before and after: some characters grow under NFKC (U+FDFA becomes 18), and native tokenizers overflow on them.
    """
    return unicodedata.normalize("NFKC", well_formed(text[:limit]))[:limit]


def estimated_tokens(text: str) -> int:
    """About how many tokens a model makes of the text, rather too many than too few: no tokenizer is at hand.

    A token is about 3.3 ASCII characters, one character of a script without spaces, 1.7 characters of anything else.
    """
    if text.isascii():
        return math.ceil(len(text) * 0.3)
    others = _ASCII.sub("", text)  # few in most texts
    plain, unspaced = len(text) - len(others), len(_UNSPACED.findall(others))
    return math.ceil(plain * 0.3 + unspaced + (len(others) - unspaced) * 0.6)


def width(text: str) -> int:
    """In columns: a character of Chinese, Japanese or Korean takes two."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))
