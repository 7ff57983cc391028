"""Which script and which language a text is in, told by its letters and its most frequent words. No model, no data files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rag.stopwords import STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

# Enough of a text to tell its language by.
_ENOUGH = 1200
_SHORT = 20

_SCRIPTS: Final = (
    ("latin", "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ"),
    ("han", "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"),
    ("kana", "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d"),
    ("hangul", "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"),
    ("cyrillic", "\u0400-\u052f"),
    ("greek", "\u0370-\u03ff\u1f00-\u1fff"),
    ("arabic", "\u0620-\u064a\u066e-\u06d3\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc"),
    ("hebrew", "\u05d0-\u05ea"),
    ("devanagari", "\u0900-\u0963\u0966-\u097f"),
    ("bengali", "\u0980-\u09ff"),
    ("tamil", "\u0b80-\u0bff"),
    ("telugu", "\u0c00-\u0c7f"),
    ("thai", "\u0e01-\u0e4e"),
    ("lao", "\u0e81-\u0edf"),
    ("myanmar", "\u1000-\u109f"),
    ("khmer", "\u1780-\u17d3"),
    ("armenian", "\u0531-\u0587"),
    ("georgian", "\u10a0-\u10ff"),
)
_RUNS: Final = tuple((name, re.compile(f"[{letters}]")) for name, letters in _SCRIPTS)

# A Han character or a syllable says as much as several letters.
_WEIGHTS: Final = {"han": 2.5, "kana": 2.0, "hangul": 2.0}

_OF_SCRIPT: Final = {
    "greek": "el",
    "hebrew": "he",
    "devanagari": "hi",
    "bengali": "bn",
    "tamil": "ta",
    "telugu": "te",
    "thai": "th",
    "lao": "lo",
    "myanmar": "my",
    "khmer": "km",
    "armenian": "hy",
    "georgian": "ka",
    "hangul": "ko",
}
_LATIN: Final = ("en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "no", "fi", "pl", "cs", "hu", "ro", "tr", "id", "ca", "vi")
_CYRILLIC: Final = ("ru", "uk")
_ARABIC: Final = ("ar", "fa")

# Letters and endings that few languages have, with what one occurrence is worth.
_SIGNS: Final = {
    language: tuple((re.compile(pattern), worth) for pattern, worth in signs)
    for language, signs in {
        "en": ((r"(?:th|wh)[aeiou]|[a-z]ing\b|ow|ea", 0.08),),
        "de": (("ß", 1.5), ("[äöü]", 0.3), (r"sch|ung(?:en)?\b|lich|keit\b|cht|ei[nt]", 0.15)),
        "fr": (("œ|[êèùîï]|ç", 0.4), (r"\b[ldnsjmtc]'|\bqu'", 0.5), (r"eaux?\b|tion\b|ez\b|ment\b|oi", 0.1)),
        "es": (("ñ|¿|¡", 1.5), (r"ción(?:es)?\b|idad\b|ll|ue", 0.15), (r"[áíóú]", 0.1)),
        "pt": (("ã|õ", 1.2), (r"ção\b|ções\b|lh|nh", 0.5), (r"[çâêô]", 0.3)),
        "it": (
            (r"zion[ei]\b|gli|cch|zz", 0.4),
            ("[òìù]", 0.3),
            (r"\b(?:dell?|nell?|all?|un|l|quest|c)'", 0.5),
            (r"[aeio]\b", 0.02),
        ),
        "nl": ((r"ij|oe|aa|ee[nlr]|uu|oo|sch", 0.2), (r"heid\b|lijk", 0.3)),
        "sv": (("å", 0.6), ("[äö]", 0.3), (r"ck|tion(?:en)?\b|ning(?:en)?\b|arna\b", 0.15)),
        "da": (("æ|ø", 0.7), ("å", 0.4), (r"hed(?:en|er)?\b|ede\b|kk|tion(?:en|er)?\b|af\b", 0.12)),
        "no": (("ø", 0.6), ("æ", 0.4), ("å", 0.5), (r"sjon(?:en|er)?\b|het(?:en|er)?\b|ene\b|kj|øy|ei\b", 0.3)),
        "fi": ((r"ää|yy|öö|uu|ii|aa", 0.3), (r"ssa\b|ssä\b|sta\b|stä\b|lla\b|llä\b|nen\b|ksi\b", 0.4), ("[äö]", 0.2)),
        "pl": (("[łąęśźż]", 1.0), (r"cz|rz|sz|ów\b|nie", 0.15)),
        "cs": (("ř|ě|ů", 1.5), ("[čšžý]", 0.5)),
        "hu": (("ő|ű", 1.5), (r"gy|sz|ö|é", 0.15)),
        "ro": (("ț|ș|ţ|ş|ă", 1.0), (r"ul(?:ui)?\b|ilor\b|[îâ]", 0.2)),
        "tr": (("ğ|ı", 1.5), ("ş", 0.6), (r"lar\b|ler\b|[iı]n[iı]\b|yor|[öü]", 0.2)),
        "id": ((r"\b(?:me[nm]|ber|pe[nm]|di)[a-z]{3,}|nya\b|kan\b|ng", 0.12),),
        "ca": (("l·l", 1.5), (r"ció\b|ny|[àèòï]", 0.4)),
        "vi": (("[đơư\u1ea0-\u1ef9]", 1.0),),
        "ru": (("[ыэъё]", 0.5), (r"ого\b|ени[ея]\b|ить\b", 0.3)),
        "uk": (("[іїєґ]", 0.8), (r"ння\b|ити\b", 0.3)),
        "ar": ((r"\bال|ة\b|ى\b", 0.3),),
        "fa": (("[پچژگکی]", 0.5), (r"\bمی|های\b", 0.4)),
    }.items()
}

# How many languages share a frequent word says how little it tells.
_SHARED: Final = {word: sum(word in words for words in STOPWORDS.values()) for words in STOPWORDS.values() for word in words}
_TOLD_BY: Final = {language: {word: 1.0 / _SHARED[word] ** 0.7 for word in words} for language, words in STOPWORDS.items()}
_WORD: Final = re.compile(r"[^\W\d_]+")


def script(text: str) -> str:
    """The name of the script that most of a text's letters are in, "" where it has no letters that are known."""
    counts = _script_counts(text[:_ENOUGH])
    return max(counts, key=counts.__getitem__) if counts else ""


def detect(text: str, among: Sequence[str] = ()) -> str:
    """The language of a text (ISO 639-1), one of `among` where given; "" where nothing tells it.

    Of a language outside `among` nothing is said: "" unless some of its words or letters are at home in `among` as well.
    """
    sample = text[:_ENOUGH]
    counts = _script_counts(sample)
    if not counts:
        return ""
    possible = _of_script(max(counts, key=counts.__getitem__), counts, sample)
    if among:
        possible = tuple(language for language in possible if language in among)
    if len(possible) <= 1 and not (possible and possible[0] in _LATIN):
        return possible[0] if possible else ""
    return _most_likely(sample, possible)


def _script_counts(text: str) -> dict[str, float]:
    if text.isascii():
        return {"latin": 1.0} if any(map(str.isalpha, text)) else {}
    counts = {name: len(letters.findall(text)) * _WEIGHTS.get(name, 1.0) for name, letters in _RUNS}
    return {name: count for name, count in counts.items() if count}


def _of_script(name: str, counts: dict[str, float], text: str) -> tuple[str, ...]:
    if name in {"han", "kana"} or (name == "hangul" and counts.get("kana", 0) > counts["hangul"]):
        # Japanese is seldom without kana for long, Chinese always is.
        return ("ja",) if counts.get("kana", 0) > 0.08 * counts.get("han", 0) else ("zh", "ja")[: 2 if len(text) < _SHORT else 1]
    if name == "latin":
        return _LATIN
    if name == "cyrillic":
        return _CYRILLIC
    return _ARABIC if name == "arabic" else (_OF_SCRIPT[name],)


def _most_likely(text: str, possible: Sequence[str]) -> str:
    lowered = text.lower().replace("\u2019", "'")
    words = _WORD.findall(lowered)
    best, highest = "", 0.0
    for language in possible:
        told_by = _TOLD_BY.get(language, {})
        score = sum(map(told_by.get, words, (0.0,) * len(words)))
        for pattern, worth in _SIGNS.get(language, ()):
            score += worth * len(pattern.findall(lowered))
        if score > highest:
            best, highest = language, score
    return best or ("zh" if "zh" in possible else "")
