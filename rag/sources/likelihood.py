"""How likely bytes are text in an encoding: each character costs what it is rare (the natural logarithm of its share), and those
that hardly ever stand beside each other cost more. The costs of one text compare across encodings, however short it is.
"""

from __future__ import annotations

import codecs
import math
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from rag.sources.frequent import JAPANESE, KOREAN, SIMPLIFIED, TRADITIONAL
from rag.text import REPLACEMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

_RANDOM = 4.85  # what a byte beyond ASCII costs that could as well be any other
_ASCII = 3.0
_SIGN = 10.0
_OTHER = 12.0
_RAREST = 17.0
_MIXED = 2.5  # letters beside characters of East Asia
_WORSE_MIXED = 7.0  # letters of two alphabets in one word
_LANGUAGES = {
    "gb18030": ("zh",),
    "big5hkscs": ("zh",),
    "cp932": ("ja",),
    "euc_jp": ("ja",),
    "cp949": ("ko",),
    "cp1251": ("ru", "uk", "be", "bg", "mk", "sr"),
    "koi8_r": ("ru",),
    "cp1253": ("el",),
    "cp1256": ("ar", "fa", "ur"),
    "cp1252": ("de", "fr", "es", "pt", "it", "nl", "sv", "da", "no", "nb", "nn", "is", "fi", "ca"),
    "cp1250": ("pl", "cs", "sk", "hu", "ro", "sl", "hr"),
}
_USUAL = {
    "cp1252": -2.0,
    "cp1250": 1.5,
    "cp1253": 3.0,
    "cp1256": 3.0,
    "koi8_r": 1.0,
    "euc_jp": 0.5,
    "big5hkscs": 0.5,
}  # what most files are in, and what few are
_WIDE = frozenset(("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"))
_HINTED = 8.0


class Guess(NamedTuple):
    """`cost` of the whole text, `text` as it reads: lower is likelier."""

    cost: float
    encoding: str
    text: str

    @property
    def is_wide(self) -> bool:
        return self.encoding in _WIDE


def guesses(sample: bytes, *, whole: bool, language: str = "") -> list[Guess]:
    """The encodings in which the bytes are text at all, the likeliest first; `language` is what the page says of itself."""
    return sorted(_guesses(sample, whole, language))


def _guesses(sample: bytes, whole: bool, language: str) -> Iterator[Guess]:  # noqa: FBT001 - inner
    bound = _bound(sample)
    for encoding, languages in _LANGUAGES.items():
        text = codecs.getincrementaldecoder(encoding)("replace").decode(sample, whole)
        cost = _cost(text, encoding) + _USUAL.get(encoding, 0.0)
        if cost < bound:
            yield Guess(cost - (_HINTED if language in languages else 0.0), encoding, text)


def _bound(sample: bytes) -> float:
    """What the bytes cost that are nobody's text; among many plain letters a few rare ones are no chance."""
    ascii_bytes = sum(count for byte, count in Counter(sample).items() if byte < 128)  # noqa: PLR2004 - ASCII
    return (_ASCII + 0.3) * ascii_bytes + _RANDOM * (len(sample) - ascii_bytes) + 4.0


def _cost(text: str, encoding: str) -> float:
    price = _east_asian if encoding in _WIDE else _alphabetic
    characters = sum(count * price(character, encoding) for character, count in Counter(text).items())
    return characters + (_neighbours_wide(text) if encoding in _WIDE else _neighbours(text, encoding))


# --- East Asian encodings -------------------------------------------------------------------------------------------

_LISTS = {"gb18030": SIMPLIFIED, "big5hkscs": TRADITIONAL, "cp932": JAPANESE, "euc_jp": JAPANESE, "cp949": KOREAN}
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fc]")
_BESIDE_LETTERS = re.compile("[a-z](?=[\u3041-\ud7a3\U00020000-\U0003ffff])|(?<=[\u3041-\ud7a3\U00020000-\U0003ffff])[a-z]")
_FEW_HALF_WIDTH = re.compile("(?<![\uff66-\uff9f])[\uff66-\uff9f]{1,2}(?![\uff66-\uff9f])")  # words have more


@cache
def _ranks(encoding: str) -> dict[str, int]:
    return {character: rank for rank, character in enumerate(dict.fromkeys(_LISTS[encoding]))}


@cache
def _east_asian(character: str, encoding: str) -> float:
    if character.isascii():
        return _ASCII
    rank = _ranks(encoding).get(character)
    if rank is not None:
        return _ranked(rank, encoding)
    if character.isalpha() and "\u2e80" < character < "\uff00":
        is_kana = _KANA.match(character) and "ja" in _LANGUAGES[encoding]
        return (5.0 if character < "\u30a0" else 5.5) if is_kana else _unlisted(character, encoding)
    if character in "、。，・ー「」『』（）：；？！％…《》“”【】\u3000〜～":
        return _SIGN if character in "、。" and encoding == "cp949" else 6.0  # which write as in the West
    if "\uff66" <= character <= "\uff9f" and encoding == "cp932":
        return 4.7  # kana of half the width, a byte each
    is_full_width = "\uff01" <= character <= "\uff5e"
    return 7.0 if is_full_width else _SIGN if character.isprintable() and character != REPLACEMENT else _RAREST


def _ranked(rank: int, encoding: str) -> float:
    """Of Japanese the order is that of school, which says little."""
    if encoding in {"cp932", "euc_jp"}:
        return 7.4 if rank < 440 else 8.2  # noqa: PLR2004 - the first three years
    if encoding == "cp949":
        return 4.9 + min(4.0, math.log(1 + rank / 40))
    return 5.9 + math.log(1 + rank / 120)


# the first bytes of the first level of each standard, which holds what is in use, and where its second level ends; what each costs
_LEVELS = {
    "gb18030": ("gb2312", 0xB0, 0xD7, 0xF7, 10.3, 12.5),
    "big5hkscs": ("big5", 0xA4, 0xC8, 0xF9, 10.8, 14.5),
    "cp932": ("euc_jp", 0xB0, 0xCF, 0xF4, 10.8, 14.0),
    "euc_jp": ("euc_jp", 0xB0, 0xCF, 0xF4, 10.8, 14.0),
    "cp949": ("euc_kr", 0xB0, 0xC8, 0xFD, 10.0, 13.0),  # syllables, then hanja
}


def _unlisted(character: str, encoding: str) -> float:
    standard, start, first_level, second_level, common, rare = _LEVELS[encoding]
    try:
        first, *others = character.encode(standard)
    except UnicodeEncodeError:
        return _RAREST
    if len(others) != 1 or first > second_level:
        return _RAREST
    return rare if first > first_level else common if first >= start else _OTHER


def _neighbours_wide(text: str) -> float:
    return _MIXED * len(_BESIDE_LETTERS.findall(text)) + _WORSE_MIXED * len(_FEW_HALF_WIDTH.findall(text))


# --- alphabets ------------------------------------------------------------------------------------------------------

# in the order of how often running text has them
_ALPHABETS = {
    "cp1251": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ",
    "koi8_r": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "cp1253": "αοιετσνηυρπκμλςίόγάέήδύωώθφχβξζψϊϋΐΰ",
    "cp1256": "اليمنوترةبعدسفهكقحجشصطخأذزضإغىءثئظؤآپچژگ",
    "cp1252": "éáóíäüöãçèàñøåæêúôßâõìîëùïûœòðþÿ",
    "cp1250": "éáíółąęěšžčřýöüäśżćńőůúďťňźçßăâîşţđ",
}
_MOST = {"cp1251": 2.2, "koi8_r": 2.2, "cp1253": 2.2, "cp1256": 2.1, "cp1252": 4.4, "cp1250": 4.6}
_CAPITAL = 1.8
_SIGNS = frozenset("«»„“”‚‘’…–—•°§©®€£¿¡ºª×·±²³½¼№،؛؟\u00a0")
_ALTERNATING = re.compile(r"(?:[a-zß-öø-ÿа-яёά-ώ][A-ZÀ-ÖØ-ÞА-ЯЁΆ-Ώ])")
_TWO_ALPHABETS = re.compile(r"[A-Za-z][Ͱ-\u06ff]|[Ͱ-\u06ff][A-Za-z]")
_TOGETHER = re.compile(r"[À-ſ](?=[À-ſ])")
_OFTEN_TOGETHER = re.compile(r"[öüä]ß|ç[ãõ]|éé|[ąęłśżćńźó]{2}|[říěšžčýáéíůúň]{2}|ää|öö", re.IGNORECASE)
_FINAL_WITHIN = re.compile(r"ς(?=[α-ώ])")
_ODD = re.compile(r"œ(?![uisd])|õ(?!e)|û(?![rtlmc])", re.IGNORECASE)
_UNACCENTED = re.compile(r"\b[α-κλ-ρςσ-ω]{4,}\b")  # where every word of more than one syllable has an accent
_CAPITALS = re.compile(r"(?<=[А-ЯЁΆ-Ώ])[А-ЯЁΆ-Ώ]")  # where one letter of a word is a capital, so is usually the next
_WORD = re.compile(r"[Ͱ-\u06ff]{3}")
_SIGN_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\w\s\x00-\x7f’‘·](?=[^\W\d_])")


@cache
def _alphabetic(character: str, encoding: str) -> float:
    if character.isascii():
        return _ASCII
    alphabet, lower = _ALPHABETS[encoding], character.lower()
    place = alphabet.find(lower)
    if place >= 0:
        steep = {"cp1252": 16, "cp1250": 16}.get(encoding, 7)
        return _MOST[encoding] + place / steep + (_CAPITAL if character != lower else 0.0)
    if character in _SIGNS:
        return 6.5
    return _SIGN if character.isprintable() and character != REPLACEMENT else _RAREST


def _neighbours(text: str, encoding: str) -> float:
    cost = 6.0 * len(_ALTERNATING.findall(text)) + 4.0 * len(_SIGN_IN_WORD.findall(text))
    if encoding in {"cp1252", "cp1250"}:
        cost += 4.0 * len(_ODD.findall(text))
        return cost + 4.5 * max(0, len(_TOGETHER.findall(text)) - len(_OFTEN_TOGETHER.findall(text)))
    cost += _WORSE_MIXED * len(_TWO_ALPHABETS.findall(text)) - 1.6 * len(_CAPITALS.findall(text))
    if encoding == "cp1253":
        cost += 7.0 * len(_FINAL_WITHIN.findall(text)) + 3.0 * len(_UNACCENTED.findall(text))
    return cost if _WORD.search(text) else cost + _WORSE_MIXED
