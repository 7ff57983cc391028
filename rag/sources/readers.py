"""Reads documents in worker processes: a parser that hangs or dies costs one document, not the run (I1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rag.errors import Unreadable
from rag.sources.formats import reader_of
from rag.sources.wire import Refusal, Request, pack_request, unpack_answer
from rag.workers import WorkerDied, Workers, WorkFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag.sources.reading import Reading, ReadLimits


class Readers:
    """A pool of processes that read. `others` names the readers of further extensions, `{".ext": "module:function"}`."""

    def __init__(self, processes: int = 1, *, others: Mapping[str, str] | None = None) -> None:
        self._workers = Workers("rag.sources.worker:load", processes=processes, retries=0, bare=True)
        self._others = others or {}

    async def __aenter__(self) -> Self:
        await self._workers.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._workers.__aexit__(*exception)

    @property
    def pids(self) -> tuple[int, ...]:
        return self._workers.pids

    async def read_file(self, name: str, path: str, roots: Sequence[str], limits: ReadLimits) -> Reading:
        """The file at `path`, refused unless it really lies below one of `roots`. Raises Unreadable, under `name`."""
        return await self._read(Request(self._reader(path), name, limits, path=path, roots=tuple(roots)))

    async def read_bytes(self, name: str, content: bytes, limits: ReadLimits, *, extension: str, charset: str = "") -> Reading:
        """Bytes from elsewhere; `extension`, such as ".html", says what they are. Raises Unreadable, under `name`."""
        return await self._read(Request(self._reader(f"x{extension}"), name, limits, charset=charset, content=content))

    def _reader(self, path: str) -> str:
        other = (reader for extension, reader in self._others.items() if path.lower().endswith(extension))
        return next(other, None) or reader_of(path)

    async def _read(self, request: Request) -> Reading:
        try:
            answer = unpack_answer(await self._workers.call(pack_request(request), seconds=request.limits.seconds))
        except WorkerDied as error:
            raise Unreadable(request.name, f"its reader {error}") from error
        except WorkFailed as error:
            raise Unreadable(request.name, f"its reader failed ({error})") from error
        if isinstance(answer, Refusal):
            raise Unreadable(request.name, answer.reason)
        return answer
