"""What every reader of a format works with: bytes and limits in, a `Reading` out. Raises `Unreadable` with one sentence."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from rag.errors import Unreadable
from rag.sources.version import READING_VERSION
from rag.text import REPLACEMENT, well_formed

if TYPE_CHECKING:
    from rag.types import Section

_CID = re.compile(r"\(cid:\d+\)")
_PRIVATE = re.compile("[\ue000-\uf8ff]+")  # what fonts use for glyphs that stand for no character
_LETTERS, _LATIN = re.compile(r"[^\W\d_]+"), re.compile("[A-Za-zÀ-ɏ]+")
_TELLING = 1_000  # characters
_GARBLED_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What reading one document may cost. `archive_bytes` bounds what an archive (EPUB, DOCX …) unpacks to."""

    file_bytes: int = 100_000_000
    archive_bytes: int = 400_000_000
    pages: int = 5_000
    characters: int = 20_000_000
    seconds: float = 60.0
    memory_bytes: int = 4_000_000_000


@dataclass(frozen=True, slots=True)
class Raw:
    """The bytes of one document, the name that problems are reported under, and the charset if somebody declared it."""

    name: str
    content: bytes
    charset: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as its reader sees it. `lines` says that the text still has the file's lines; an empty title, none found."""

    text: str
    title: str = ""
    format: Literal["markdown", "text"] = "text"
    sections: tuple[Section, ...] = ()
    pages: tuple[int, ...] = ()
    language: str = ""
    lines: bool = False
    digest: str = ""


def digest_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16, person=f"reading {READING_VERSION}".encode()).hexdigest()


def checked(name: str, reading: Reading, limits: ReadLimits) -> Reading:
    """Refuse what cannot be indexed with sense: no text, garbage, too much (I2)."""
    text = reading.text
    if len(text) > limits.characters:
        raise Unreadable(name, f"it holds more than {limits.characters:,} characters of text: divide it, or raise the limit")
    if not text.strip():
        scanned = "its pages hold no text, only images: it is probably a scan, run it through OCR first"
        raise Unreadable(name, scanned if reading.pages else "it holds no text")
    if _garbled(text):
        raise Unreadable(name, "most of its text cannot be turned into characters: export it again with its fonts embedded")
    return replace(reading, language=language_that_fits(reading.language, text))


_OTHER_SCRIPTS = frozenset("am ar be bg bn el fa gu he hi hy ja ka kn ko ml mk mr ne pa ru sr ta te th uk ur yi zh".split())  # noqa: SIM905 - reads well


def language_that_fits(declared: str, text: str) -> str:
    """The declared language, unless the script of the text says that it is another: translations often keep `lang="en"`."""
    letters = sum(map(len, _LETTERS.findall(text, 0, _TELLING)))
    latin = sum(map(len, _LATIN.findall(text, 0, _TELLING))) / letters if letters else 0.5
    fits = latin < 0.95 if declared in _OTHER_SCRIPTS else latin > 0.5  # noqa: PLR2004 - code and names are Latin everywhere
    return declared if fits or not letters else ""


def _garbled(text: str) -> bool:
    lost = text.count(REPLACEMENT) + sum(len(found) for found in _PRIVATE.findall(text))
    if "(cid:" in text:
        lost += sum(len(found) for found in _CID.findall(text))
    return lost > _GARBLED_SHARE * sum(not character.isspace() for character in text) if lost else False


def too_many_pages(name: str, pages: int, limits: ReadLimits) -> Unreadable:
    return Unreadable(name, f"it has {pages:,} pages, more than {limits.pages:,}: divide it, or raise the limit")


def language_code(declared: str | None) -> str:
    """`de-AT` and `de_AT.UTF-8` are `de`; what is no language code is nothing."""
    code = re.split(r"[-_.]", (declared or "").strip().lower(), maxsplit=1)[0]
    return code if re.fullmatch(r"[a-z]{2,3}", code) else ""


def one_line(text: str, limit: int = 300) -> str:
    """A title or heading: on one line, of bounded length."""
    return " ".join(well_formed(text[: 4 * limit]).split())[:limit].strip()
