"""Bytes to text, in whatever common encoding they are."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from rag.errors import Unreadable
from rag.sources.frequent import JAPANESE, SIMPLIFIED, TRADITIONAL
from rag.sources.likelihood import guesses
from rag.text import REPLACEMENT, well_formed, without_escapes

if TYPE_CHECKING:
    from collections.abc import Callable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark starts with that one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 200_000
_EXPECTED = 0.6  # of the characters
_APART = 2.0  # how much likelier one reading must be where another alphabet would do as well
_MUCH_MORE = 4
_SHORT = 24  # bytes
_UNTOLD = "it is too short to tell which encoding it is in: save it as UTF-8"
_FEW_CONTROLS = 1
_FEW_NULS = 0.001
_BINARY_STARTS = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\x7fELF",
    b"\x1f\x8b",
    b"\xd0\xcf\x11\xe0",
    b"SQLite format 3",
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")

_HANZI = frozenset(SIMPLIFIED + TRADITIONAL + JAPANESE)


def decode(raw_name: str, content: bytes, declared: str = "", language: str = "") -> str:
    """The text, without byte order mark, with `\\n` line ends; `language` is what the document says of itself. Raises Unreadable
    for what is no text at all, and for what could be this text as well as that one.
    """
    text = _decoded(raw_name, content, declared, language)
    return well_formed(without_escapes(text.removeprefix("\ufeff"))).replace("\r\n", "\n").replace("\r", "\n")


def _decoded(name: str, content: bytes, declared: str, language: str) -> str:
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            return content[len(bom) :].decode(encoding, "replace")
    if not content:
        raise Unreadable(name, "it is empty")
    if content.startswith(_BINARY_STARTS):
        raise Unreadable(name, "it is a binary file, not text")
    return (
        _strictly(content, ("utf-8",))
        or _nearly_utf8(content)
        or _strictly(content, _known(declared))
        or _guessed(name, content, language or _language_of(name))
    )


def _nearly_utf8(content: bytes) -> str:
    """UTF-8 with a few torn characters, as where a file was cut off: its whole ones are too many to be chance."""
    text = content.decode("utf-8", "replace")
    lost = text.count(REPLACEMENT)
    kept = text.replace(REPLACEMENT, "")
    foreign = len(kept.encode()) - len(kept) if kept else 0  # a character of three bytes is worth two of two
    return text if foreign > _MUCH_MORE * lost and not _binary(text[:_SAMPLE], "utf-8") else ""


def _known(declared: str) -> tuple[str, ...]:
    # browsers read these two as their supersets, and so do the files that declare them
    supersets = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
    try:
        name = codecs.lookup(declared.strip()).name if declared.strip() else ""
    except (LookupError, ValueError):
        return ()
    return (supersets.get(name, name),) if name else ()


def _strictly(content: bytes, encodings: tuple[str, ...]) -> str:
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except (UnicodeError, LookupError):
            continue
        if isinstance(text, str) and not _binary(text[:_SAMPLE], encoding):
            return text
    return ""


def _binary(sample: str, encoding: str) -> bool:
    """Bytes that are UTF-8 throughout are hardly ever anything else, whatever a program left among them."""
    allowed = 0.1 if encoding == "utf-8" else 0.002
    return len(_CONTROLS.findall(sample)) > max(_FEW_CONTROLS, allowed * len(sample))


def _guessed(name: str, content: bytes, language: str) -> str:
    sample = content[:_SAMPLE]
    encoding = _wide(sample, _is_plain) if 0 in sample else ""
    if sample.count(0) <= max(_FEW_CONTROLS, _FEW_NULS * len(sample)):
        whole = len(sample) == len(content)
        encoding = encoding or _likeliest(name, sample.replace(b"\0", b""), language, whole=whole) or _wide(sample, _is_east_asian)
    if not encoding:
        raise Unreadable(name, "it is a binary file, not text")
    return content.decode(encoding, "replace")


def _likeliest(name: str, sample: bytes, language: str, *, whole: bool) -> str:
    found = [guess for guess in guesses(sample, whole=whole, language=language) if not _binary(guess.text, guess.encoding)]
    if not found and len(sample) <= _SHORT and not _CONTROLS.search(sample.decode("latin-1")):
        raise Unreadable(name, _UNTOLD)
    if not found:
        return ""
    best = found[0]
    rivals = [guess for guess in found[1:] if guess.text != best.text and (guess.is_wide or best.is_wide)]
    if rivals and rivals[0].cost - best.cost < _APART:
        raise Unreadable(name, _UNTOLD)
    return best.encoding


def _language_of(name: str) -> str:
    """Of a file whose name is written in letters that only one language has."""
    return "ja" if re.search("[\u3041-\u30fa]", name) else "ko" if re.search("[\uac00-\ud7a3]", name) else ""


def _wide(sample: bytes, is_expected: Callable[[str], bool]) -> str:
    """UTF-16 or UTF-32 without a mark: read that way, most characters are what one would expect."""
    for encoding, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        text = sample[: len(sample) // width * width].decode(encoding, "replace")
        worded = text.isascii() or any(blank in text for blank in " \n\u3000。")
        if text and worded and sum(map(is_expected, text)) > _EXPECTED * len(text):
            return encoding
    return ""


def _is_plain(character: str) -> bool:
    if character.isascii():
        return character.isprintable() or character in "\t\r\n"
    return "\u00a0" <= character <= "\u052f" or _is_east_asian(character)


def _is_east_asian(character: str) -> bool:
    return character in _HANZI or "\u3000" <= character <= "\u30ff" or "\uff01" <= character <= "\uff5e"
