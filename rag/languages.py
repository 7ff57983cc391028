"""Which script and which language a text is in, told by its letters and its most frequent words. No model, no data files."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from rag.stopwords import STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Enough of a text to tell its language by.
_ENOUGH = 800
_BEGINNING = 240
_MOST_KNOWN = 50_000  # words of a family
_REMEMBERED = 256  # texts: within one turn the same ones are asked about again and again
_LATIN_WITHIN = 0.25
_KANA_SHARE = 0.08
_FOREIGN = 2.0
_GUESSED = 0.5  # less than any small word says
_AS_LIKELY = 0.95  # of the likeliest
_TOLD = 1.2  # more than the letters of one word say
_TELLING = 0.3  # a word speaks for the languages it is typical of, not for all that it occurs in

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
_NOT_LATIN: Final = re.compile("[" + "".join(letters for name, letters in _SCRIPTS if name != "latin") + "]")
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
    "hangul": "ko",
    "armenian": "hy",
    "georgian": "ka",
}

# Letters and endings that few languages have, with what one occurrence is worth.
_SIGNS: Final = {
    language: tuple((re.compile(pattern), worth) for pattern, worth in signs)
    for language, signs in {
        "en": ((r"(?:th|wh)[aeiou]|[a-z]ing\b|ow|ea", 0.08),),
        "de": (("ß", 1.5), ("[äöü]", 0.3), (r"sch|ung(?:en)?\b|lich|keit\b|cht|ei[nt]", 0.15)),
        "fr": (("œ|[êèùîï]|ç", 0.4), (r"\b[ldnsjmtc]'|\bqu'", 0.5), (r"eaux?\b|tion\b|ez\b|ment\b|oi", 0.1)),
        "es": (("ñ", 1.5), (r"ción(?:es)?\b|idad\b|ll|ue", 0.15), (r"[áíóú]", 0.1)),
        "pt": (("ã|õ", 1.2), (r"ção\b|ções\b|lh|nh", 0.5), (r"[çâêô]", 0.3), (r"\bcusta[mr]?\b", 1.0)),
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

_LETTER: Final = re.compile("[a-z]")
_ALL_SIGNS: Final = tuple((language, sign.findall, worth) for language, signs in _SIGNS.items() for sign, worth in signs)
# Those that a word of plain letters can hold: half of them, and nearly all words are such words.
_PLAIN_SIGNS: Final = tuple(
    (language, sign.findall, worth)
    for language, signs in _SIGNS.items()
    for sign, worth in signs
    if _LETTER.search(sign.pattern.replace(r"\b", ""))
)

# How many languages share a frequent word says how little it tells.
_SHARED: Final = Counter(word for words in STOPWORDS.values() for word in words)
_SPEAKS: Final = {
    word: {language: 1.0 / shared**0.7 for language, words in STOPWORDS.items() if word in words}
    for word, shared in _SHARED.items()
}
_WORD: Final = re.compile(r"[^\W\d_]+'?")
_PLAIN_WORD: Final = re.compile(r"[a-z]++'?")  # the same where all is ASCII and small, in a third of the time
_ELIDED: Final = frozenset("cdjlmnst")
_FAMILIES: Final = {
    "latin": frozenset(
        {"en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "no", "fi", "pl", "cs", "hu", "ro", "tr", "id", "ca", "vi"}
    ),
    "cyrillic": frozenset({"ru", "uk"}),
    "arabic": frozenset({"ar", "fa"}),
}


def script(text: str) -> str:
    """The name of the script that most of a text's letters are in, "" where it has no letters that are known."""
    counts = _script_counts(text[:_ENOUGH])
    return max(counts, key=counts.__getitem__) if counts else ""


def detect(text: str, among: Sequence[str] = ()) -> str:
    """The language of a text (ISO 639-1), one of `among` where given; "" where nothing tells it."""
    scores = _scores(text[:_ENOUGH])
    if among:
        scores = {language: score for language, score in scores.items() if language in among}
    return max(scores, key=scores.__getitem__) if scores else ""


def likely(text: str) -> tuple[str, ...]:
    """The languages that a few words may well be in, the likeliest first; () where their letters say nearly nothing."""
    scores = _scores(text[:_ENOUGH])
    top = max(scores.values(), default=0.0)
    if top < _GUESSED:
        return ()
    return tuple(sorted((each for each in scores if scores[each] * _FOREIGN >= top), key=scores.__getitem__, reverse=True))


def likeliest(text: str) -> tuple[str, ...]:
    """The languages that a few words are as likely in as in any."""
    scores = _scores(text[:_ENOUGH])
    top = max(scores.values(), default=0.0)
    return tuple([language for language, score in scores.items() if top and score >= _AS_LIKELY * top])


def tells(text: str) -> bool:
    """Whether a text says clearly enough which language it is in: a name, or a word that many languages have, does not."""
    scores = _scores(text[:_ENOUGH])
    return max(scores.values(), default=0.0) >= _TOLD or (bool(scores) and script(text) != "latin")


def detect_after(text: str, before: str) -> str:
    """The language of a text that stands behind one in `before`: its beginning is enough where that speaks for the same."""
    return before if before and detect(text[:_BEGINNING]) == before else detect(text)


def spoken_and_shared(text: str, among: Sequence[str]) -> tuple[str, str]:
    """The language of a short text, and which of `among` it is in: "" where it clearly is in none of them.

    Short texts are told wrongly in one case of four among all languages: those of `among` are believed first.
    """
    scores = _scores(text[:_ENOUGH])
    if not scores:
        return "", ""
    spoken = max(scores, key=scores.__getitem__)
    if spoken in among:
        return spoken, spoken
    shared = max((language for language in scores if language in among), key=scores.__getitem__, default="")
    if not shared or scores[spoken] > _FOREIGN * scores[shared]:
        return spoken, ""
    return shared, shared


@lru_cache(maxsize=_REMEMBERED)
def _scores(text: str) -> Mapping[str, float]:
    if text.isascii():  # as most are
        return _family_scores(text, _leanings_in("latin"))
    counts = _script_counts(text)
    if not counts:
        return {}
    if "latin" in counts:  # names and code stand in latin letters within a text in any other script
        counts["latin"] *= _LATIN_WITHIN
    name = max(counts, key=counts.__getitem__)
    if name in _FAMILIES:
        return _family_scores(text, _leanings_in(name))
    if name in {"han", "kana"}:
        return _east_asian_scores(counts)
    return {_OF_SCRIPT[name]: 1.0}


def _script_counts(text: str) -> dict[str, float]:
    if text.isascii() or not _NOT_LATIN.search(text):
        return {"latin": 1.0} if any(map(str.isalpha, text)) else {}
    counts = {name: len(letters.findall(text)) * _WEIGHTS.get(name, 1.0) for name, letters in _RUNS}
    return {name: count for name, count in counts.items() if count}


def _east_asian_scores(counts: dict[str, float]) -> dict[str, float]:
    """Japanese is seldom without kana, Chinese always is; a title in Han characters alone may be either."""
    if counts.get("kana", 0) > _KANA_SHARE * counts.get("han", 0):
        return {"ja": 1.0}
    return {"zh": 1.0, "ja": 0.5}


def _family_scores(text: str, leanings: _Leanings) -> dict[str, float]:
    scores: dict[str, float] = {}
    lowered = text.lower()
    found = _PLAIN_WORD.findall(lowered) if lowered.isascii() else _WORD.findall(lowered.replace("\u2019", "'"))
    for language, worth in chain.from_iterable(map(leanings.__getitem__, found)):
        scores[language] = scores.get(language, 0.0) + worth
    if "¿" in lowered or "¡" in lowered:  # part of no word
        scores["es"] = scores.get("es", 0.0) + _TOLD
    return scores


class _Leanings(dict[str, tuple[tuple[str, float], ...]]):
    """Those of the words met so far, so that Python is not called for each."""

    def __init__(self, family: frozenset[str]) -> None:
        super().__init__()
        self._family = family

    def __missing__(self, word: str) -> tuple[tuple[str, float], ...]:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[word] = found = _leanings(word, self._family)
        return found


@lru_cache(maxsize=len(_FAMILIES))
def _leanings_in(name: str) -> _Leanings:
    return _Leanings(_FAMILIES[name])


def _leanings(word: str, family: frozenset[str]) -> tuple[tuple[str, float], ...]:
    """Which languages of a family a word speaks for, and how strongly."""
    plain = word.rstrip("'")
    told = dict(_SPEAKS.get(plain, ()))
    if word in _ELIDED:  # with no apostrophe: somebody's initial
        told = {language: worth for language, worth in told.items() if language == "en"}
    shown: dict[str, float] = {}
    for language, find, worth in _PLAIN_SIGNS if word.isascii() else _ALL_SIGNS:
        if found := find(word):
            shown[language] = shown.get(language, 0.0) + worth * len(found)
    for language, worth in shown.items():
        told[language] = told.get(language, 0.0) + worth
    least = _TELLING * max(told.values(), default=0.0)
    return tuple((language, worth) for language, worth in told.items() if worth >= least and language in family)
