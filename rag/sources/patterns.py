"""What a source's patterns name: files, folders and globs, found without reading any (I1, X5)."""
# ruff: noqa: PTH117, PTH118 - os.path leaves links as they are, and is fast on many files

from __future__ import annotations

import fnmatch
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})  # and whatever is hidden, such as .git and .venv
_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Pattern:
    """`base` is the folder or file where looking starts, `rest` the glob below it, `root` what may not be left."""

    text: str
    base: str
    root: str
    rest: tuple[str, ...] = ()

    @property
    def names_extension(self) -> bool:
        """`*.log` asks for these files, whatever they are; `**/*` for all that can be read."""
        return bool(self.rest) and "." in self.rest[-1].lstrip("*") and not self.rest[-1].endswith("*")


def parse(text: str, root: Path) -> Pattern | str:
    """The pattern, or why it cannot be one. A relative one stays below `root`; none leaves what it names (X5)."""
    parts = Path(text).expanduser().parts
    fixed = next((index for index, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    if fixed < len(parts) and os.path.lexists(os.path.join(root, text)):
        fixed = len(parts)  # a file whose name looks like a glob
    named = os.path.normpath(os.path.join(root, *parts[:fixed]))
    real_root, real = os.path.realpath(root), os.path.realpath(named)
    if not is_within(real, real_root) and not os.path.isabs(os.path.join(*parts) if parts else ""):
        return f"it leads out of {root}: give its absolute path"
    return Pattern(text, named, real, parts[fixed:])


def is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def glob_regex(parts: tuple[str, ...]) -> re.Pattern[str]:
    """`**` stands for any number of folders, `*` and the rest stay within one name."""
    pieces = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            pieces.append(r".*" if last else r"(?:[^/]+/)*")
        else:
            inner = fnmatch.translate(part).removeprefix("(?s:").removesuffix(r")\Z").replace(".*", "[^/]*")
            pieces.append(inner + ("" if last else "/"))
    return re.compile("".join(pieces), re.DOTALL)


@dataclass(frozen=True, slots=True)
class Found:
    """A file: where it is listed, its real path where a link leads there, its state as the system tells it."""

    path: str
    real: str
    status: os.stat_result


@dataclass(frozen=True, slots=True)
class Failed:
    path: str
    reason: str


def walk(folder: str, root: str) -> Iterator[Found | Failed]:
    """Every file below a folder, hidden ones left out, in the order of their names; links are followed within the root."""
    seen: set[str] = set()
    waiting = [(folder, os.path.realpath(folder))]
    while waiting:
        at, real = waiting.pop()
        if real in seen:
            continue
        seen.add(real)
        folders = []
        for entry in _entries(at):
            if isinstance(entry, Failed):
                yield entry
                continue
            found = _look(entry, real, root)
            if isinstance(found, tuple):
                folders.append(found)
            elif found is not None:
                yield found
        waiting.extend(reversed(folders))


def _entries(folder: str) -> list[os.DirEntry[str]] | list[Failed]:
    try:
        with os.scandir(folder) as entries:
            kept = [entry for entry in entries if not entry.name.startswith(".") and entry.name not in _SKIPPED]
    except OSError as error:
        return [Failed(folder, f"the folder cannot be listed ({error.strerror})")]
    return sorted(kept, key=lambda entry: entry.name)


def _look(entry: os.DirEntry[str], real_folder: str, root: str) -> Found | Failed | tuple[str, str] | None:
    """A file, or a folder with its real path, or a link that leads out; None for what is neither."""
    try:
        real = f"{real_folder.rstrip(os.sep)}{os.sep}{entry.name}"
        if entry.is_symlink():
            real = os.path.realpath(entry.path)
            if not is_within(real, root):
                return Failed(entry.path, f"it is a link that leads out of {root}")
        if entry.is_dir():
            return (entry.path, real)
        return Found(entry.path, real, entry.stat()) if entry.is_file() else None
    except OSError as error:
        return Failed(entry.path, f"it cannot be reached ({error.strerror})")
