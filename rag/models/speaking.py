"""Which sentences speak of what a question names. A writer by rule cannot tell the office in Munich from the one in Hamburg."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from rag.lexical import is_foreign, terms, words
from rag.naming import names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag.models.extracting import Sentence

Collected: TypeAlias = "set[str] | frozenset[str]"

_SHARED = 0.25  # of the question in a sentence: then both are in one language
_YEAR = re.compile(r"(?:19|20)\d\d")  # other numbers are amounts, and may be written in words
_UNITS = frozenset(("kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "Hz", "MHz", "GHz", "kWh", "CPU", "CPUs", "AM", "PM"))
_ALIKE = 4  # letters that a name begins with in several languages: Zurique, Zürich


class Spoken:
    """How many of the question's names are missing where a sentence stands: in its section, the headings above it, the title,
    or the address of the document, which `documents` tells by excerpt: what lies in `postgresql/` need not say PostgreSQL.

    Of a table each row stands for itself, once one of them holds a name.
    """

    def __init__(self, question: str, sentences: Sequence[Sentence], documents: Mapping[int, str]) -> None:
        named = [name for name in dict.fromkeys(names(question)) if name not in _UNITS]
        self._names = [name for name in named if not name.isdecimal() or _YEAR.fullmatch(name)]
        self._around: dict[int, frozenset[str]] = {}
        if self._names:
            self._around = {n: frozenset(words(document)) for n, document in documents.items()}
        self._sections: dict[tuple[int, str], set[str]] = {}
        self._missing: dict[tuple[int, str, str], int] = {}  # in each section, for sentences in one language
        self._rows: set[tuple[int, str, int]] = set()  # tables with a row that holds a name
        self._foreign: set[str] = set()
        if self._names:
            self._read(sentences)
            read = {(one.section, one.language) for one in sentences}
            holding = {language for section, language in read if self._lacking(language, self._sections[section]) < self.names}
            languages = {language for _, language in read} - holding
            self._foreign = {language for language in languages if is_foreign(question, [language])}

    def _read(self, sentences: Sequence[Sentence]) -> None:
        for sentence in sentences:
            key = sentence.section
            if key not in self._sections:
                self._sections[key] = set(self._outside(sentence))
            self._sections[key].update(sentence.heading_terms, sentence.terms)
            if sentence.kind == "row" and self._lacking(sentence.language, sentence.terms) < self.names:
                self._rows.add((*key, sentence.table))

    @property
    def names(self) -> int:
        return len(self._names)

    def missing(self, sentence: Sentence, own: float) -> int:
        """In another language names may be written in another way: there none is missing. What holds a good share of the
        question, `own`, is in its language, whatever it was taken for, and so is what holds a name.
        """
        if not self._names or (own < _SHARED and sentence.language in self._foreign):
            return 0
        key = sentence.section
        if sentence.kind == "row" and (*key, sentence.table) in self._rows:
            return self._lacking(sentence.language, sentence.terms | sentence.heading_terms | self._outside(sentence))
        told = (*key, sentence.language)
        if told not in self._missing:
            self._missing[told] = self._lacking(sentence.language, self._sections[key])
        return self._missing[told]

    def _outside(self, sentence: Sentence) -> frozenset[str]:
        return sentence.title_terms | self._around.get(sentence.n, frozenset())

    def _lacking(self, language: str, there: Collected) -> int:
        foreign = language in self._foreign
        return sum(not (_stands(name, language, there) or (foreign and _begins(name, there))) for name in self._names)


def _begins(name: str, there: Collected) -> bool:
    beginning = "".join(words(name)[:1])[:_ALIKE]
    return len(beginning) == _ALIKE and any(term.startswith(beginning) for term in there)


def _stands(name: str, language: str, there: Collected) -> bool:
    """The whole of it in any form, or its parts: FAL-105 may be written as FAL 105, French-speaking as French."""
    whole, *parts = words(name) or [name]
    if parts:
        numbered = any(part[0].isdigit() for part in parts)
        return whole in there or "".join(parts) in there or (there.issuperset(parts) if numbered else not there.isdisjoint(parts))
    return whole in there or not there.isdisjoint(terms(name, language))
