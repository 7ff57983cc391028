"""The events of one streamed answer, read with suspicion: the SDK checks none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rag.errors import ModelRefused, ModelTimeout, ModelUnavailable
from rag.models.remote import said
from rag.types import Cited, Usage

if TYPE_CHECKING:
    from rag.errors import ModelError

_FINISHED: Final = {"COMPLETE": "complete", "STOP_SEQUENCE": "complete", "MAX_TOKENS": "max_tokens"}


class Reading:
    """`usage` is there once the last event was read."""

    def __init__(self, model: str) -> None:
        self.usage: Usage | None = None
        self._model = model
        self._text = ""
        self._starts: dict[int, int] = {}  # where in the text each block of content begins
        self._citations: list[Any] = []

    def take(self, event: object) -> str:
        """The text that an event adds. Raises ModelError for one that tells of a failure or tells nothing."""
        kind = getattr(event, "type", None)
        if kind in {"content-start", "content-delta"}:
            return self._content(event, begins=kind == "content-start")
        if kind == "citation-start":
            self._citations.append(_at(event, "delta", "message", "citations"))
        elif kind == "message-end":
            self._end(_at(event, "delta"))
        return ""

    def cited(self) -> list[Cited]:
        """The citations whose words really stand in the text. Offsets that are wrong are looked for once more, nearby."""
        found = [cited for one in self._citations if (cited := self._cited(one)) is not None]
        if self.usage is not None and (lost := len(self._citations) - len(found)):
            self.usage = Usage(
                self.usage.model,
                self.usage.tokens_in,
                self.usage.tokens_out,
                self.usage.finish,
                f"{lost} of {len(self._citations)} native citations fit no stretch of the answer, and were left out",
            )
        return found

    def _content(self, event: object, *, begins: bool) -> str:
        content = _at(event, "delta", "message", "content")
        text, thinking = getattr(content, "text", None), getattr(content, "thinking", None)
        if not begins and not isinstance(text, str) and not isinstance(thinking, str):
            raise ModelUnavailable(f"Cohere's {self._model} sent a piece of its answer that cannot be read. Try again.")
        if not isinstance(text, str):  # what the model thinks is no part of the answer
            return ""
        self._starts.setdefault(int(getattr(event, "index", 0) or 0), len(self._text))
        self._text += text
        return text

    def _end(self, delta: object) -> None:
        finish = str(getattr(delta, "finish_reason", None) or "")
        if finish not in _FINISHED:
            raise self._stopped(finish, getattr(delta, "error", None))
        tokens = _at(delta, "usage", "tokens") or _at(delta, "usage", "billed_units")
        tokens_in, tokens_out = (int(getattr(tokens, name, 0) or 0) for name in ("input_tokens", "output_tokens"))
        self.usage = Usage(self._model, tokens_in, tokens_out, _FINISHED[finish])

    def _stopped(self, finish: str, error: object) -> ModelError:
        name = f"Cohere's {self._model}"
        if finish == "TIMEOUT":
            return ModelTimeout(f"{name} ran out of its own time before its answer was complete.")
        if finish.startswith("ERROR"):
            return ModelUnavailable(f"{name} broke off with an error before its answer was complete{said(error)}. Try again.")
        return ModelRefused(f"{name} stopped before its answer was complete ({finish or 'no reason given'}){said(error)}.")

    def _cited(self, one: Any) -> Cited | None:
        text, kind = getattr(one, "text", None), getattr(one, "type", None) or "TEXT_CONTENT"
        numbers = _numbers(getattr(one, "sources", None))
        if not text or not numbers or kind != "TEXT_CONTENT":
            return None
        block = int(getattr(one, "content_index", 0) or 0)
        start = self._starts.get(block, min(self._starts.values(), default=0)) + int(getattr(one, "start", 0) or 0)
        if self._text[start : start + len(text)] != text:
            start = self._nearest(text, start)
        return Cited(start, start + len(text), numbers) if start >= 0 else None

    def _nearest(self, text: str, start: int) -> int:
        """Where the text stands nearest to there; -1 where it does not."""
        before, after = self._text.rfind(text, 0, max(start, 0) + len(text)), self._text.find(text, max(start, 0))
        places = [place for place in (before, after) if place >= 0]
        return min(places, key=lambda place: abs(place - start), default=-1)


def _numbers(sources: Any) -> tuple[int, ...]:
    ids = [str(getattr(source, "id", "")) for source in sources or ()]
    return tuple(dict.fromkeys(int(one) for one in ids if one.isascii() and one.isdigit()))


def _at(value: object, *path: str) -> Any:
    """What stands there, None where there is nothing: any part may be missing."""
    for name in path:
        value = getattr(value, name, None)
    return value
