"""How a request to read goes to a worker process, and the reading comes back: JSON, since a parser's process is not trusted."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache

from rag.sources.reading import Reading, ReadLimits
from rag.types import Section


@dataclass(frozen=True, slots=True)
class Request:
    """Read the file at `path`, which must lie below one of `roots`; or, without a path, `content` itself."""

    reader: str
    name: str
    limits: ReadLimits
    path: str = ""
    roots: tuple[str, ...] = ()
    charset: str = ""
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no reading."""

    reason: str


def pack_request(request: Request) -> bytes:
    head = {
        "reader": request.reader,
        "name": request.name,
        "limits": _fields(request.limits),
        "path": request.path,
        "roots": request.roots,
        "charset": request.charset,
    }
    return json.dumps(head).encode() + b"\n" + request.content


@lru_cache(maxsize=8)
def _fields(limits: ReadLimits) -> dict[str, float]:
    return asdict(limits)


def unpack_request(packed: bytes) -> Request:
    head, _, content = packed.partition(b"\n")
    fields = json.loads(head)
    limits, roots = ReadLimits(**fields.pop("limits")), tuple(fields.pop("roots"))
    return Request(**fields, limits=limits, roots=roots, content=content)


def pack_answer(answer: Reading | Refusal) -> bytes:
    if isinstance(answer, Refusal):
        return json.dumps({"reason": answer.reason}).encode()
    fields = {name: getattr(answer, name) for name in Reading.__slots__}
    fields["sections"] = [(section.start, section.headings, section.anchor) for section in answer.sections]
    return json.dumps(fields, ensure_ascii=False).encode()


def unpack_answer(packed: bytes) -> Reading | Refusal:
    fields = json.loads(packed)
    if "reason" in fields:
        return Refusal(fields["reason"])
    fields["sections"] = tuple(Section(start, tuple(headings), anchor) for start, headings, anchor in fields["sections"])
    fields["pages"] = tuple(fields["pages"])
    return Reading(**fields)
