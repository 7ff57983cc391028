"""The worker's side: reads one document after another, under limits that the system enforces."""

from __future__ import annotations

import os
import resource
import signal
import stat
import sys
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from rag.errors import Unreadable
from rag.sources.reading import Raw, Reading, ReadLimits, checked, digest_of, one_line
from rag.sources.wire import Refusal, Request, pack_answer, unpack_request
from rag.text import REPLACEMENT, well_formed

if TYPE_CHECKING:
    from collections.abc import Callable

_GRACE = 5.0  # seconds: the parent ends a reader that is too slow; without a parent the system does


def load() -> Callable[[bytes], bytes]:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return _work


def _work(packed: bytes) -> bytes:
    request = unpack_request(packed)
    _bound(request.limits)
    try:
        return pack_answer(_read(request))
    except Unreadable as error:
        return pack_answer(Refusal(error.reason))
    except MemoryError:
        megabytes = request.limits.memory_bytes // 1_000_000
        return pack_answer(Refusal(f"it needs more than {megabytes:,} MB of memory to be read"))
    except BaseException as error:  # noqa: BLE001 - outermost boundary; native parsers raise BaseException when they panic
        detail = one_line(f"{type(error).__name__}: {error}", 200)
        return pack_answer(Refusal(f"it is damaged, or not what its name says ({detail})"))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _bound(limits: ReadLimits) -> None:
    """Even a parser that hangs and never gives the interpreter back ends, whether or not the parent still lives."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds + _GRACE)
    if sys.platform == "linux":  # elsewhere the system does not keep to it, or counts what is only reserved
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = limits.memory_bytes if hard == resource.RLIM_INFINITY else min(limits.memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _read(request: Request) -> Reading:
    content = _file(request) if request.path else request.content
    if len(content) > request.limits.file_bytes:
        raise _too_large(request)
    if not content.strip():
        raise Unreadable(request.name, "it is empty")
    module, _, function = request.reader.partition(":")
    reader: Callable[[Raw, ReadLimits], Reading] = getattr(import_module(module), function)
    reading = reader(Raw(request.name, content, request.charset), request.limits)
    text = well_formed(reading.text.replace("\0", REPLACEMENT))  # as long as before: sections and pages are offsets
    whole = replace(reading, text=text, title=one_line(reading.title), digest=digest_of(content))
    return checked(request.name, whole, request.limits)


def _file(request: Request) -> bytes:
    """The bytes of a file that lies, once every link is followed, below one of the roots (X5)."""
    real = os.path.realpath(request.path)
    if not any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in request.roots):
        raise Unreadable(request.name, "it is a link that leads out of its source's folder: name the real place as a source")
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # a pipe would block
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable(request.name, "it is not a file")
            if status.st_size > request.limits.file_bytes:
                raise _too_large(request)
            return file.read(request.limits.file_bytes + 1)
    except IsADirectoryError as error:
        raise Unreadable(request.name, "it is not a file") from error
    except FileNotFoundError as error:
        raise Unreadable(request.name, "it is not there any more") from error
    except PermissionError as error:
        raise Unreadable(request.name, "its permissions do not let it be read") from error
    except OSError as error:
        raise Unreadable(request.name, f"the system cannot read it ({error.strerror})") from error


def _too_large(request: Request) -> Unreadable:
    bound = request.limits.file_bytes
    shown = f"{bound / 1e6:,.6g} MB" if bound >= 100_000 else f"{bound:,} bytes"  # noqa: PLR2004 - what reads well
    return Unreadable(request.name, f"it is larger than {shown}: divide it, or raise the limit")
