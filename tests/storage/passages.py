"""Passages and vectors to try an index with, and what a search of them must find, worked out the slow way."""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rag.types import Indexed, Passage, Signature, Vector

DIMENSION = 64
SIGNATURE = Signature("embedder", DIMENSION, "splitting", "lexical")


def direction(seed: object) -> Vector:
    """A vector of unit length that belongs to this seed."""
    digest = hashlib.sha256(repr(seed).encode()).digest()
    values = np.random.default_rng(int.from_bytes(digest[:8], "little")).standard_normal(DIMENSION)
    return (values / np.linalg.norm(values)).astype("<f4").tobytes()


def passage(document: str, ordinal: int, terms: str, *, language: str = "en") -> Passage:
    return Passage(
        id=f"{document}#{ordinal}",
        base="handbook",
        document=document,
        ordinal=ordinal,
        text=f"The text of {terms}",
        title=f"Title of {document}",
        link=f"https://example.com/{document}",
        headings=("One", "Two"),
        language=language,
        terms=terms,
        digest=hashlib.sha256(terms.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def indexed(document: str, *texts: str, language: str = "en") -> list[Indexed]:
    """Passages with these terms, each with the vector that belongs to them."""
    held = [passage(document, ordinal, terms, language=language) for ordinal, terms in enumerate(texts)]
    return [Indexed(each, direction(each.terms)) for each in held]


def without_vectors(passages: Sequence[Indexed]) -> list[Indexed]:
    return [replace(each, vector=None) for each in passages]


def bm25(passages: Sequence[Indexed], terms: Sequence[str], k1: float = 0.9, b: float = 0.4) -> dict[str, float]:
    """Lucene's formula without its constant factor, by passage id."""
    held = {each.passage.id: Counter(each.passage.terms.split()) for each in passages}
    average = sum(counts.total() for counts in held.values()) / len(held)
    scores = dict.fromkeys(held, 0.0)
    for term in terms:
        frequency = sum(term in counts for counts in held.values())
        idf = math.log(1 + (len(held) - frequency + 0.5) / (frequency + 0.5))
        for name, counts in held.items():
            scores[name] += idf * counts[term] / (counts[term] + k1 * (1 - b + b * counts.total() / average))
    return scores


def cosines(passages: Sequence[Indexed], vector: Vector) -> dict[str, float]:
    wanted = np.frombuffer(vector, "<f4").astype(float)
    return {each.passage.id: float(np.frombuffer(each.vector, "<f4").astype(float) @ wanted) for each in passages if each.vector}


def ranked(scores: Mapping[str, float], limit: int) -> list[str]:
    return sorted((name for name, score in scores.items() if score > 0), key=lambda name: -scores[name])[:limit]
