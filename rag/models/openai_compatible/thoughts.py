"""What a reasoning model thinks before it answers, which some servers leave in its text."""

from __future__ import annotations

from typing import Final

_BEGIN: Final = "<think>"
_END: Final = "</think>"


class Thoughts:
    """Takes pieces of a text; gives what of it is the answer."""

    def __init__(self) -> None:
        self._held = ""
        self._thinks = False
        self._is_over = False

    def without(self, piece: str) -> str:
        if self._is_over:
            return piece
        self._held += piece
        if not self._thinks:
            begun = self._held.lstrip()
            if _BEGIN.startswith(begun[: len(_BEGIN)]) and len(begun) < len(_BEGIN):
                return ""
            self._thinks = begun.startswith(_BEGIN)
            if not self._thinks:
                return self._released(self._held)
        _, end, rest = self._held.partition(_END)
        return self._released(rest.lstrip()) if end and rest.strip() else ""

    def rest(self) -> str:
        """What was held back to the end, and is no thought after all."""
        return "" if self._is_over or self._thinks else self._held

    def _released(self, text: str) -> str:
        self._is_over = True
        return text
