"""Letters: which of them make words, and which are the same but for an accent."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Words that are written in one piece or with a hyphen: whoever asks for the one finds the other.
_TWO_WAYS: Final = """
wi-fi e-mail e-mails e-book e-books e-commerce set-up log-in log-on log-out sign-in sign-up sign-on back-up back-ups roll-back
check-in check-out follow-up follow-ups drop-down opt-in opt-out plug-in plug-ins add-on add-ons co-worker co-workers on-call
on-site off-site on-line off-line on-boarding off-boarding time-out time-outs work-around start-up start-ups shut-down fail-over
hand-over take-over lay-off pay-slip pay-roll part-time full-time pre-pay post-pay sub-domain multi-tenant real-time run-time
data-base web-site home-page user-name pass-code hot-fix hot-fixes read-only non-profit tele-work vice-president
"""
HYPHENATED: Final = {word.replace("-", ""): word for word in _TWO_WAYS.split()}

# Character ranges, to stand within the brackets of a regular expression.
HAN_KANA: Final = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
HANGUL: Final = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
SPACELESS: Final = "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
DENSE: Final = HAN_KANA + HANGUL + SPACELESS
VOWELS: Final = frozenset("aeiouy")  # by themselves small words of several languages, which a few words do not tell
# Vowel signs and points, which are no word characters to `re`, yet part of the word in Indic scripts, Arabic and Hebrew.
MARKS: Final = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7"
    "\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a75\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0b01-\u0b03\u0b3c\u0b3e-\u0b57"
    "\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c56\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6"
    "\u0d00-\u0d03\u0d3b\u0d3c\u0d3e-\u0d4d\u0d57\u0dca-\u0ddf"
)

_ALIKE: Final = {
    "ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th", "ħ": "h", "ŧ": "t",
    "ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ی": "ي", "ک": "ك", "ـ": "",
}  # fmt: skip
_POINTS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
_DENSE: Final = re.compile(f"[{DENSE}]")
_ACCENTED: Final = ("LATIN", "GREEK")


class _Folding(dict[int, str]):
    """How each character is folded, found when it is first met: an accent falls where it does not make another letter."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = _ALIKE.get(character)
        if folded is None:
            folded = character
            if unicodedata.name(character, "").startswith(_ACCENTED):
                folded = unicodedata.normalize("NFD", character)[0]
            elif _POINTS.match(character):
                folded = ""
        self[code] = folded
        return folded


_FOLDING: Final = _Folding()


def fold(word: str) -> str:
    """Case and accents folded: `Café` is `cafe`, `Straße` is `strasse`; й and the vowel signs of Indic scripts stay."""
    folded = word.casefold()
    return folded if folded.isascii() else folded.translate(_FOLDING)


class _Dense(dict[str, bool]):
    """Whether a character is of a script without spaces, found when it is first met: there are 171,288 of them."""

    def __missing__(self, character: str) -> bool:
        dense = self[character] = _DENSE.match(character) is not None
        return dense


IS_DENSE: Final = _Dense()


def is_spelled(word: str, text: str) -> bool:
    """Whether it is an abbreviation, as IT and OR are within a text that is not all in capitals: no small word."""
    return len(word) > 1 and word.isupper() and not text.isupper()
