"""Whether a passage supports a claim: by the words they share, or by what they mean (R29).

The floors were chosen on labelled questions in four languages. By words, 100 % of the sentences that hold the answer and 97 %
of paraphrases (question and answer) pass beside their passage, under 0.5 % beside a random one; by meaning, across languages,
97 to 99 % pass beside theirs and under 1 % beside a random one.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from operator import mul
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rag.content import between_blanks, says_words
from rag.lexical import content_words, detect, distinct_terms, script, terms
from rag.sentences import FULL_STOPS, sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rag.ports import Embedder
    from rag.types import Passage, Vector

_NUMBER = re.compile(r"\d\d*(?:[.,:’'\u00a0\u202f ]\d+)*")
_GOES_ON = re.compile(r"\d[.,:’'\u00a0\u202f ]?\Z")  # what stands before a number that is a part of another
_GROUPING = re.compile(r"(?<=\d)[.,’'\u00a0\u202f ](?=\d{3}(?!\d))")
_LIST_MARKER = re.compile(r"^\s{0,12}(?:[-*+•]\s{1,4}|\d{1,3}[.)]\s|#{1,6}\s){1,2}")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
_SCALED = re.compile(
    r"\d\s?[万亿萬億兆千百만억]|1[0-2]月|\d\s?(?:million|billion|thousand|millon|mil\b|milh|Mio|Mrd|тыс|млн|млрд)", re.IGNORECASE
)
_TELLING = 30  # characters that tell a language
_LONGEST_CLAIM = 2_000
_QUOTED = 30  # characters: as many in a row do not stand in a passage by chance
_JOINS = re.compile(r"[\w.,:'’\-]")  # what may belong to the word or number that it stands before
_JOINED = re.compile(r"\w|[.,:'’\-]\w")
_MOST_SENTENCES = 60  # of one passage are compared by meaning


class Similarity(Protocol):
    async def __call__(self, claims: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        """One row a claim, one cosine a passage."""
        ...


class Claim(NamedTuple):
    """A stretch of an answer, and the passage that is said to support it."""

    text: str
    passage: Passage


claimed = partial(tuple.__new__, Claim)  # in half of the time of calling it


class Verdict(NamedTuple):
    """`lexical` is the share of the claim's content that stands in the passage, numbers and names counting double.

    `cosine` is None where nobody asked. `missing` is a number of the claim that the passage lacks.
    """

    lexical: float
    cosine: float | None = None
    missing: str = ""
    supported: bool = False

    @property
    def reason(self) -> str:
        """Why it is not supported; "" where it is."""
        if self.supported:
            return ""
        return f"the passage lacks the number {self.missing}" if self.missing else "the passage does not support the sentence"


@dataclass(frozen=True, slots=True)
class Support:
    """Floors above which a passage supports a claim; the `clear` ones are for claims that the model did not mark itself.

    Within one language words tell more than meaning; `across` languages there is nothing but meaning. Cosines belong to the
    embedder behind `similarity`: these are right for the bundled one.
    """

    similarity: Similarity | None = None
    lexical: float = 0.4
    cosine: float = 0.6
    cosine_across: float = 0.38
    clear_lexical: float = 0.7
    clear_cosine: float = 0.7
    clear_cosine_across: float = 0.55

    async def judge(self, claims: Sequence[Claim], *, clearly: bool = False) -> list[Verdict]:
        """One verdict a claim, in order. Meaning is looked at only where the words do not suffice."""
        floor = self.clear_lexical if clearly else self.lexical
        named = {claim.passage.id: claim.passage for claim in claims}
        passages = {name: Known(passage) for name, passage in named.items()}
        said = [(claim.text.rstrip(FULL_STOPS), claim.passage.id) for claim in claims]  # a sentence says the same without its stop
        judged = {each: _by_words(each[0], passages[each[1]], floor) for each in set(said)}
        verdicts = [judged[each] for each in said]
        doubtful = [index for index, verdict in enumerate(verdicts) if not verdict.supported and _may_mean(claims[index], verdict)]
        if self.similarity is None or not doubtful:
            return verdicts
        cosines = await self._cosines([claims[index] for index in doubtful])
        for index, cosine in zip(doubtful, cosines, strict=True):
            across = _is_foreign(claims[index].text, passages[claims[index].passage.id])
            supported = cosine >= self._cosine_floor(across=across, clearly=clearly)
            verdicts[index] = verdicts[index]._replace(cosine=round(cosine, 3), supported=supported)
        return verdicts

    def _cosine_floor(self, *, across: bool, clearly: bool) -> float:
        if across:
            return self.clear_cosine_across if clearly else self.cosine_across
        return self.clear_cosine if clearly else self.cosine

    async def _cosines(self, claims: Sequence[Claim]) -> list[float]:
        assert self.similarity is not None  # noqa: S101 - asked by `judge` alone
        texts = list(dict.fromkeys(claim.text[:_LONGEST_CLAIM] for claim in claims))
        passages = list(dict.fromkeys(claim.passage.text for claim in claims))
        rows = await self.similarity(texts, passages)
        row, column = {text: n for n, text in enumerate(texts)}, {text: n for n, text in enumerate(passages)}
        return [rows[row[claim.text[:_LONGEST_CLAIM]]][column[claim.passage.text]] for claim in claims]


# --- by words -------------------------------------------------------------------------------------------------------


class Known:
    """What a passage says, as words, stems and numbers; its title and headings are part of it. Worked out when asked for:
    of a sentence that stands in the passage, neither the stems nor the language matter. An indexed passage has its terms.
    """

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        self._words = f" {passage.terms} " if passage.terms else ""  # each between blanks

    def says(self, claim: str) -> bool:
        """Whether these words stand in it one after the other: then there is nothing to weigh."""
        text = self._passage.text
        at = text.find(claim) if len(claim) >= _QUOTED else -1
        if at < 0:
            return False
        before, after = text[at - 1 : at], text[at + len(claim) : at + len(claim) + 2]
        return not (_JOINS.search(before) or _JOINED.match(after))

    @cached_property
    def language(self) -> str:
        return self._passage.language or detect(self._passage.text)

    @cached_property
    def script(self) -> str:
        return script(self._passage.text)

    @property
    def words(self) -> str:
        """Each between blanks: what stands there is found in a fraction of the time that a set takes."""
        self._words = self._words or f" {' '.join(distinct_terms(self._text))} "
        return self._words

    def has_stem_of(self, word: str) -> bool:
        """In the passage's language."""
        return any(f" {term} " in self._stems for term in terms(word, self.language))

    @cached_property
    def _stems(self) -> str:
        return self.words if self._passage.terms else f" {' '.join(distinct_terms(self._text, self.language))} "

    def writes(self, number: str) -> bool:
        """Whether a number stands there as it is written: by itself, not within a longer one."""
        text = self._text
        at = text.find(number)
        while at >= 0:
            if not _GOES_ON.search(text[max(0, at - 2) : at]) and (found := _NUMBER.match(text, at)) and found[0] == number:
                return True
            at = text.find(number, at + 1)
        return False

    @cached_property
    def _text(self) -> str:
        return self._passage.embedded

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(_in_one_spelling(set(_NUMBER.findall(self._text))))


def lexical_share(claim: str, known: Known) -> float:
    """0 for a claim without content. Where each of its words stands there, the language that it is in does not matter."""
    said = known.words
    every = between_blanks(claim)
    if every and all(map(said.__contains__, every)) and says_words(claim, 1):
        return 1.0
    total = found = 0
    for word in content_words(claim):
        weight = 2 if not word.isalpha() and _is_exact(word) else 1
        total += weight
        if f" {word} " in said or known.has_stem_of(word):
            found += weight
    return found / total if total else 0.0


def numbers(text: str) -> list[str]:
    """The numbers of a text in one spelling: 10.000, 10,000 and 10 000 are 10000, 3,5 is 3.5, and ３ is 3."""
    return list(dict.fromkeys(_in_one_spelling(_NUMBER.findall(text))))


def _in_one_spelling(found: Iterable[str]) -> Iterable[str]:
    return chain.from_iterable((_spelled(number), *_spelled_parts(number)) for number in found)


def _spelled(number: str) -> str:
    if number.isascii() and number.isdigit():
        return number
    return "".join(str(int(c)) if c.isdecimal() else "." for c in _GROUPING.sub("", number))


def _spelled_parts(number: str) -> list[str]:
    return [] if number.isdecimal() or _spelled(number).isdecimal() else [_spelled(part) for part in re.split(r"\D", number)]


def _by_words(claim: str, known: Known, floor: float) -> Verdict:
    claim = claim[:_LONGEST_CLAIM]
    if "://" in claim:
        claim = _ADDRESS.sub(" ", claim)
    if marker := _LIST_MARKER.match(claim):
        claim = claim[marker.end() :]
    if known.says(claim):
        return Verdict(1.0, supported=True)
    share = lexical_share(claim, known)
    missing = max((_spelled(number) for number in _NUMBER.findall(claim) if not _has(known, number)), key=len, default="")
    return Verdict(round(share, 3), missing=missing, supported=share >= floor and not missing)


def _has(known: Known, number: str) -> bool:
    """The number as it stands, or each of its parts: "3.11, 3.12" and "10:30" are several."""
    if known.writes(number) or _spelled(number) in known.numbers:
        return True
    return bool(parts := _spelled_parts(number)) and known.numbers.issuperset(parts)


def _is_exact(word: str) -> bool:
    """Numbers, versions, `names_like_this`: what a claim stands or falls with."""
    return "_" in word or "." in word or any(map(str.isdigit, word))


def _may_mean(claim: Claim, verdict: Verdict) -> bool:
    """Whether meaning may decide: not against a number, unless it may be spelled otherwise: 3 as "three", 1.2亿 as 120 million."""
    if len(verdict.missing) < 2:  # noqa: PLR2004 - "3" and "three"
        return True
    return script(claim.text) != script(claim.passage.text) and any(map(_SCALED.search, (claim.text, claim.passage.text)))


def _is_foreign(claim: str, known: Known) -> bool:
    """Whether a claim is in another language than the passage; of a short one in the same script that is not known."""
    if script(claim) != known.script:
        return True
    return bool(known.language) and len(claim) >= _TELLING and detect(claim) not in ("", known.language)


# --- by meaning -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SentenceSimilarity:
    """The cosine of a claim and the passage's sentence nearest to it: a whole passage's vector says too little."""

    embedder: Embedder

    async def __call__(self, claims: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        sentences = [_sentences(passage) for passage in passages]
        texts = list(dict.fromkeys((*claims, *chain.from_iterable(sentences))))
        vectors = dict(zip(texts, _floats(await self.embedder.embed_passages(texts)), strict=True))
        return [[max((_dot(vectors[claim], vectors[text]) for text in of), default=0.0) for of in sentences] for claim in claims]


def _sentences(passage: str) -> list[str]:
    return [passage[start:end] for start, end in sentence_spans(passage)[:_MOST_SENTENCES]]


def _floats(vectors: Iterable[Vector]) -> list[list[float]]:
    return [array("f", vector).tolist() for vector in vectors]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(map(mul, left, right), 0.0)
