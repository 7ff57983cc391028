"""Files, folders and globs as a source of documents."""
# ruff: noqa: PTH100, PTH112, PTH116, PTH118, PTH119, PTH122 - os.path leaves links as they are, and is fast on many files

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from rag.sources.formats import is_known
from rag.sources.patterns import Failed, Found, Pattern, glob_regex, is_within, parse, walk
from rag.sources.reading import ReadLimits
from rag.sources.version import READING_VERSION
from rag.types import Document, Listing, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag.sources.readers import Readers
    from rag.sources.reading import Reading

_Listed: TypeAlias = tuple[list[Listing], list[Problem]]


class FileSource:
    """`patterns` are files, folders (every known format below them) and globs, relative to `root` or absolute.

    Ids are paths relative to `root`, absolute ones elsewhere. `link` is a template with `{path}` and perhaps `{line}`;
    without one, links are file addresses. Nothing outside of `root` is read, but what an absolute pattern names (X5).
    """

    def __init__(  # noqa: PLR0913 - most by name only
        self,
        root: Path,
        patterns: Sequence[str],
        *,
        link: str = "",
        limits: ReadLimits = ReadLimits(),  # noqa: B008 - frozen
        readers: Readers,
        expandable: bool = True,
    ) -> None:
        self._root = Path(os.path.abspath(root))
        self._patterns = patterns
        self._link = link
        self._limits = limits
        self._readers = readers
        self._expandable = expandable
        self._paths: dict[str, str] = {}  # of ids that do not spell their path: names that are no UTF-8

    async def read(self, listing: Listing) -> Document:
        path = self._paths.get(listing.id) or os.path.join(self._root, listing.id)
        reading = await self._readers.read_file(listing.id, path, self._roots(), self._limits)
        link = self._link_to(listing.id, path, reading)
        return Document(
            id=listing.id,
            title=reading.title or os.path.basename(listing.id),
            text=reading.text,
            digest=_mixed(reading.digest, link, str(self._expandable)),
            link=link,
            format=reading.format,
            sections=reading.sections,
            pages=reading.pages,
            language=reading.language,
            lines=reading.lines,
            expandable=self._expandable,
        )

    async def list(self) -> tuple[list[Listing], list[Problem]]:
        return await asyncio.to_thread(self._listed)

    # --- listing ---

    @cached_property
    def _parsed(self) -> Sequence[tuple[str, Pattern | str]]:
        return [(text, parse(text, self._root)) for text in self._patterns]

    def _roots(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pattern.root for _, pattern in self._parsed if isinstance(pattern, Pattern)))

    def _listed(self) -> _Listed:
        listings: dict[str, Listing] = {}
        problems: dict[str, Problem] = {}
        linked: list[Found] = []
        for text, pattern in self._parsed:
            matched = False
            for found in self._matches(text, pattern):
                matched = True
                if isinstance(found, Failed):
                    problems.setdefault(found.path, Problem(self._id(found.path), found.reason))
                elif found.path == found.real:
                    listings.setdefault(found.real, self._listing(found))
                else:
                    linked.append(found)
            if not matched and isinstance(pattern, Pattern):
                problems.setdefault(text, Problem(text, _nothing_at(pattern)))
        for found in linked:  # the real file goes before the links to it
            listings.setdefault(found.real, self._listing(found))
        return list(listings.values()), list(problems.values())

    def _matches(self, text: str, pattern: Pattern | str) -> Iterator[Found | Failed]:
        if isinstance(pattern, str):
            yield Failed(text, pattern)
        elif os.path.isdir(pattern.base):
            yield from self._below(pattern)
        elif not pattern.rest and os.path.lexists(pattern.base):
            yield _one_file(pattern)

    def _below(self, pattern: Pattern) -> Iterator[Found | Failed]:
        regex = glob_regex(pattern.rest) if pattern.rest else None
        prefix = len(pattern.base.rstrip(os.sep)) + 1
        for found in walk(pattern.base, pattern.root):
            fits = regex is None or regex.fullmatch(found.path, prefix)
            if fits and (pattern.names_extension or is_known(found.path) or _may_be_folder(found)):
                yield found

    def _listing(self, found: Found) -> Listing:
        status = found.status
        state = f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}-{READING_VERSION}"
        return Listing(self._id(found.path), f"{state}-{_mixed(self._link, str(self._expandable))[:8]}")

    def _id(self, path: str) -> str:
        below = is_within(path, str(self._root)) and path != str(self._root)
        spelled = os.path.relpath(path, self._root) if below else path
        try:
            spelled.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(spelled).decode("utf-8", "backslashreplace")
            self._paths[shown] = path
            return shown
        return spelled.replace(os.sep, "/")

    # --- links ---

    def _link_to(self, document: str, path: str, reading: Reading) -> str:
        if not self._link:
            return Path(path).as_uri()
        link = self._link.replace("{path}", quote(document.lstrip("/")))
        return link if reading.lines else link.replace("{line}", "1")


def _nothing_at(pattern: Pattern) -> str:
    if pattern.rest:
        return "no file matches it"
    return "there is no file of a known format in it" if os.path.isdir(pattern.base) else "there is no such file or folder"


def _one_file(pattern: Pattern) -> Found | Failed:
    real = os.path.realpath(pattern.base)
    try:
        status = os.stat(real)
    except OSError as error:
        return Failed(pattern.base, f"it cannot be reached ({error.strerror})")
    return Found(pattern.base, real, status) if stat.S_ISREG(status.st_mode) else Failed(pattern.base, "it is not a file")


def _may_be_folder(found: Found | Failed) -> bool:
    return isinstance(found, Failed) and not os.path.splitext(found.path)[1]


def _mixed(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
