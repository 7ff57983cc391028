"""Passages, vectors and questions to measure with: real documentation where it is installed, else made up; kept in a cache."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from rag.errors import Unreadable
from rag.intake import ready
from rag.lexical import SIGNATURE, content_words
from rag.models.local.embedder import LocalEmbedder
from rag.sources import html
from rag.sources.reading import Raw, ReadLimits, checked, digest_of
from rag.splitting import SplitSettings, split
from rag.types import Document, Indexed, Passage, Signature
from storage.local_index import LocalIndex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

BASE = "default"
PACKAGES = ("postgresql-doc-15", "python3.11", "debian-handbook", "git-doc", "debian-policy", "openjdk-17-doc")
DOCUMENTATION = Path("/usr/share/doc")
DIMENSION = 512
_PART = 2_000  # vectors made before they are kept, so that making them can be interrupted


@dataclass(frozen=True, slots=True)
class Corpus:
    """Passages with their vectors, one row each, and where they are from in words."""

    passages: list[Passage]
    vectors: NDArray[np.float32]
    origin: str


def corpus(size: int, cache: Path, *, real_vectors: bool = True) -> Corpus:
    """The first `size` passages; a smaller corpus is the beginning of a larger one."""
    cache.mkdir(parents=True, exist_ok=True)
    passages, origin = _kept_passages(size, cache)
    if real_vectors:
        return Corpus(passages, _kept_vectors(passages, cache / "vectors.f32"), f"{origin}, vectors of the embedder")
    return Corpus(passages, random_vectors(len(passages)), f"{origin}, random vectors")


def random_vectors(count: int) -> NDArray[np.float32]:
    found = np.random.default_rng(7).standard_normal((count, DIMENSION), dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def html_files() -> list[Path]:
    """Those of the documentation packages that are installed, in a stable order."""
    found: list[Path] = []
    for package in PACKAGES:
        below = os.walk(DOCUMENTATION / package, followlinks=True)
        found += sorted(Path(folder, name) for folder, _, names in below for name in names if name.endswith(".html"))
    return [path for path in found if path.is_file()]


def documents() -> Iterator[Document]:
    limits = ReadLimits()
    for path in html_files():
        name, content = str(path.relative_to(DOCUMENTATION)), path.read_bytes()
        try:
            reading = checked(name, html.read(Raw(name, content), limits), limits)
        except Unreadable:
            continue
        yield Document(
            name,
            reading.title or path.name,
            reading.text,
            digest_of(content),
            path.as_uri(),
            reading.format,
            reading.sections,
            language=reading.language,
        )


def made_up_text(number: int, paragraphs: int = 4) -> str:
    """Markdown with words of Zipf's distribution, the same for the same number."""
    chance = random.Random(number)
    sentences = (" ".join(_word(chance) for _ in range(chance.randint(8, 18))).capitalize() + "." for _ in range(5 * paragraphs))
    body = "\n\n".join(" ".join(next(sentences) for _ in range(5)) for _ in range(paragraphs))
    return f"# About {_word(chance)} {number}\n\n{body}\n"


def _word(chance: random.Random) -> str:
    rank = int(chance.paretovariate(0.9))
    syllables = ("ka", "lo", "mi", "ter", "sun", "ver", "pra", "den", "gol", "fi", "ras", "ton", "bel", "cu", "nim", "osh")
    letters = []
    while rank or not letters:
        letters.append(syllables[rank % 16])
        rank //= 16
    return "".join(letters[:6])


def _made_up_documents() -> Iterator[Document]:
    number = 0
    while True:
        text = made_up_text(number)
        yield Document(
            f"made-up/{number}.md", f"Page {number}", text, str(number), f"file:///{number}.md", "markdown", language="en"
        )
        number += 1


def _passages(size: int) -> tuple[list[Passage], str]:
    found: list[Passage] = []
    real = bool(html_files())
    for document in documents() if real else _made_up_documents():
        found += (ready(passage) for passage in split(document, BASE, SplitSettings()))
        if len(found) >= size:
            break
    return found[:size], f"documentation in {DOCUMENTATION}" if real else "made-up text"


def _kept_passages(size: int, cache: Path) -> tuple[list[Passage], str]:
    """As many as there are, when there are fewer."""
    kept = cache / "passages.jsonl"
    if kept.exists():
        with kept.open(encoding="utf-8") as lines:
            head = json.loads(next(lines))
            if head["size"] >= size or head["all"]:
                return [_passage(line) for line, _ in zip(lines, range(size), strict=False)], head["origin"]
    say(f"reading and splitting documents until there are {size} passages (once)")
    passages, origin = _passages(size)
    draft = kept.with_suffix(".tmp")
    with draft.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"size": len(passages), "all": len(passages) < size, "origin": origin}) + "\n")
        file.writelines(json.dumps(passage._asdict()) + "\n" for passage in passages)
    draft.replace(kept)
    return passages, origin


def _passage(line: str) -> Passage:
    fields = json.loads(line)
    return Passage(**{**fields, "headings": tuple(fields["headings"])})


def _kept_vectors(passages: Sequence[Passage], kept: Path) -> NDArray[np.float32]:
    have = kept.stat().st_size // (4 * DIMENSION) if kept.exists() else 0
    if have < len(passages):
        say(f"embedding {len(passages) - have} passages (once)")
        with kept.open("ab") as file:
            asyncio.run(_embed([passage.embedded for passage in passages[have:]], file))
    return np.fromfile(kept, "<f4", count=len(passages) * DIMENSION).reshape(-1, DIMENSION)


async def _embed(texts: Sequence[str], file: IO[bytes]) -> None:
    async with LocalEmbedder() as embedder:
        for start in range(0, len(texts), _PART):
            file.write(b"".join(await embedder.embed_passages(texts[start : start + _PART])))
            file.flush()


# --- an index of them -----------------------------------------------------------------------------------------------


def signature(embedder: str) -> Signature:
    return Signature(embedder, DIMENSION, SplitSettings().signature, SIGNATURE)


async def index_folder(of: Corpus, cache: Path, embedder: str) -> Path:
    """The embedded index of a corpus, made once for each name of an embedder: an index of another's is searched by words alone."""
    folder = cache / f"index-{len(of.passages)}{'' if 'embedder' in of.origin else '-random'}"
    complete = folder.with_suffix(".complete")
    if not complete.exists() or complete.read_text("utf-8") != embedder:
        say(f"building the embedded index of {len(of.passages)} passages (once)")
        shutil.rmtree(folder, ignore_errors=True)
        await fill(folder, of, embedder)
        complete.write_text(embedder, "utf-8")
    return folder


async def fill(folder: Path, of: Corpus, embedder: str) -> None:
    documents: dict[str, list[Indexed]] = {}
    for passage, vector in zip(of.passages, of.vectors, strict=True):
        documents.setdefault(passage.document, []).append(Indexed(passage, vector.tobytes()))
    async with LocalIndex(folder) as index, index.write(BASE, signature(embedder)) as writer:
        for document, passages in documents.items():
            await writer.put(document, passages)
        await writer.publish(switch=True)


# --- what is asked --------------------------------------------------------------------------------------------------


def dialogs(passages: Sequence[Passage], count: int) -> list[tuple[str, str, str]]:
    """Three questions each: one of words of some passage, a follow-up that points back, and one on another passage."""
    chance = random.Random(11)
    found = []
    while len(found) < count:
        first, second = chance.sample(range(len(passages)), 2)
        words, others = _telling(passages[first], chance), _telling(passages[second], chance)
        if len(words) >= 8 and len(others) >= 6:
            found.append(
                (
                    f"How does {words[0]} {words[1]} work with {words[2]} {words[3]} and {words[4]}?",
                    f"And what about its {words[5]} {words[6]} when it is {words[7]}?",
                    f"What is said on {others[0]} {others[1]} {others[2]} for {others[3]} or {others[4]} {others[5]}?",
                )
            )
    return found


def _telling(passage: Passage, chance: random.Random) -> list[str]:
    words = [word for word in content_words(passage.text, passage.language or "en") if word.isalpha() and len(word) > 3]
    start = chance.randrange(max(1, len(words) - 8))
    return words[start : start + 8]


def say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)
