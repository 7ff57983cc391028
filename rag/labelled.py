"""Labelled documents and questions, as they stand in `corpus.jsonl` and `queries.jsonl`: one JSON object a line (O5)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from rag.errors import Unreadable
from rag.types import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    id: str
    title: str
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """`relevant` names the documents that hold the answer, `answers` are texts one of which a right answer contains."""

    id: str
    text: str
    language: str = ""
    relevant: frozenset[str] = frozenset()
    answers: tuple[str, ...] = ()
    answerable: bool = True
    history: tuple[Turn, ...] = ()


class _Line:
    """One line of a file: its fields, each checked for its kind, and where it stands."""

    def __init__(self, name: str, number: int, text: str) -> None:
        self._name = name
        self._number = number
        try:
            fields = json.loads(text)
        except ValueError as error:
            self._refuse(f"is not JSON ({error})", error)
        if not isinstance(fields, dict):
            self._refuse("is not a JSON object")
        self._fields: dict[str, object] = fields

    def text(self, key: str, *, required: bool = True) -> str:
        value = self._fields.get(key)
        if value is None and not required:
            return ""
        if not isinstance(value, str) or (required and not value.strip()):
            self._refuse(f'has no "{key}", which must be text')
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._fields.get(key) or []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self._refuse(f'has a "{key}" that is not a list of texts')
        return tuple(value)

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._fields.get(key, default)
        if not isinstance(value, bool):
            self._refuse(f'has a "{key}" that is neither true nor false')
        return value

    def turns(self, key: str) -> tuple[Turn, ...]:
        value = self._fields.get(key) or []
        if not isinstance(value, list):
            self._refuse(f'has a "{key}" that is not a list')
        return tuple(self._turn(key, each) for each in value)

    def _turn(self, key: str, value: object) -> Turn:
        role, content = (value.get("role"), value.get("content")) if isinstance(value, dict) else (None, None)
        if role not in ("user", "assistant") or not isinstance(content, str):
            self._refuse(f'has a "{key}" with a turn that is not {{"role": "user" or "assistant", "content": text}}')
        return Turn("user" if role == "user" else "assistant", content)

    def _refuse(self, reason: str, error: Exception | None = None) -> NoReturn:
        raise Unreadable(self._name, f"line {self._number} {reason}") from error


def read_documents(lines: Iterable[str], name: str = "corpus.jsonl") -> list[LabelledDocument]:
    """Raises Unreadable, which names the line and what is missing."""
    read = (
        LabelledDocument(line.text("id"), line.text("title", required=False), line.text("text"), line.text("lang", required=False))
        for line in _lines(lines, name)
    )
    return _distinct(read, name)


def read_questions(lines: Iterable[str], name: str = "queries.jsonl") -> list[LabelledQuestion]:
    """Raises Unreadable, which names the line and what is missing."""
    return [
        LabelledQuestion(
            line.text("id"),
            line.text("text"),
            line.text("lang", required=False),
            frozenset(line.texts("relevant")),
            line.texts("answers"),
            line.flag("answerable", default=True),
            line.turns("history"),
        )
        for line in _lines(lines, name)
    ]


def read_examples(lines: Iterable[str], name: str) -> tuple[list[str], list[str]]:
    """Questions that can be answered, and questions that cannot, from lines of {"text", "answerable"}. Raises Unreadable."""
    rows = [(line.text("text"), line.flag("answerable", default=True)) for line in _lines(lines, name)]
    answerable, unanswerable = ([text for text, answered in rows if answered is wanted] for wanted in (True, False))
    if not unanswerable:
        raise Unreadable(name, 'no line says "answerable": false, and a threshold needs questions that cannot be answered')
    return answerable, unanswerable


def _lines(lines: Iterable[str], name: str) -> Iterator[_Line]:
    read = 0
    for number, text in enumerate(lines, 1):
        if text.strip():
            read += 1
            yield _Line(name, number, text)
    if not read:
        raise Unreadable(name, "there is not one line in it")


def _distinct(documents: Iterable[LabelledDocument], name: str) -> list[LabelledDocument]:
    known: dict[str, LabelledDocument] = {}
    for document in documents:
        if document.id in known:
            raise Unreadable(name, f'two documents have the id "{document.id}"')
        known[document.id] = document
    return list(known.values())
