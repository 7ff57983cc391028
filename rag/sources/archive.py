"""Zip archives that hold documents (EPUB, Office), unpacked within bounds."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from rag.errors import Unreadable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from rag.sources.reading import Raw, ReadLimits

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MEMBERS = 50_000
_DAMAGED = "it is damaged: its archive cannot be unpacked"


class Archive:
    """What all members together unpack to is bounded, whatever the archive says of their sizes."""

    def __init__(self, raw: Raw, limits: ReadLimits) -> None:
        self._name = raw.name
        self._left = self._bound = limits.archive_bytes
        if raw.content.startswith(_OLE):
            locked = "EncryptedPackage".encode("utf-16-le") in raw.content
            raise Unreadable(
                raw.name, "it is protected by a password" if locked else "it is in an old Office format: save it in the new one"
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(raw.content))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise Unreadable(raw.name, _DAMAGED) from error
        if len(self._zip.filelist) > _MEMBERS:
            raise Unreadable(raw.name, f"its archive has more than {_MEMBERS:,} members")
        self._members = {info.filename: info for info in self._zip.filelist}

    def names(self) -> list[str]:
        return list(self._members)

    def member(self, name: str) -> bytes | None:
        """A member's content; None where there is none."""
        info = self._members.get(name) or self._members.get(unquote(name))
        if info is None:
            return None
        if info.flag_bits & 1:
            raise Unreadable(self._name, "it is protected by a password")
        try:
            with self._zip.open(info) as file:
                content = file.read(self._left + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise Unreadable(self._name, _DAMAGED) from error
        self._left -= len(content)
        if self._left < 0:
            raise Unreadable(self._name, f"it unpacks to more than {self._bound / 1e6:,.6g} MB: divide it, or raise the limit")
        return content

    def xml(self, member: str) -> Element | None:
        content = self.member(member)
        return None if content is None else self.parsed(content)

    def parsed(self, content: bytes) -> Element:
        # entities are how a small file becomes a huge one, or reads others; no such format needs them
        if b"<!ENTITY" in content or "<!ENTITY".encode("utf-16-le") in content:
            raise Unreadable(self._name, "its XML defines entities, which is not safe to read")
        try:
            return ET.fromstring(content)  # noqa: S314 - without entities, in a process of its own
        except (ET.ParseError, LookupError, ValueError) as error:
            raise Unreadable(self._name, "it is damaged: its XML is not well formed") from error

    def relations(self, member: str) -> dict[str, str]:
        """What the ids in an Office member refer to, as names of members."""
        folder, file = posixpath.split(member)
        root = self.xml(f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels")
        related = root if root is not None else ()
        return {
            element.get("Id", ""): posixpath.normpath(posixpath.join("/", folder, element.get("Target", ""))).lstrip("/")
            for element in related
            if element.get("TargetMode") != "External"
        }


def local(element: Element) -> str:
    """An element's name without its namespace; Office has two sets of those."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """An attribute by its name, in whatever namespace."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def child(element: Element | None, *path: str) -> Element | None:
    for name in path:
        element = next((below for below in element if local(below) == name), None) if element is not None else None
    return element
