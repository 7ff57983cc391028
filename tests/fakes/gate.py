"""A gate in front of a server: while it is shut, nobody can reach what is behind it; while it holds, nobody is answered."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.databases import free_port


class Gate:
    """Passes on what it is sent, both ways, through TLS where `tls` is given. Shutting it cuts every connection."""

    def __init__(self, target: int, tls: ssl.SSLContext | None = None) -> None:
        self.port = free_port()
        self._target = target
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()
        self._free = asyncio.Event()
        self._free.set()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", self.port, ssl=self._tls)

    async def shut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in list(self._passing):
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    def hold(self) -> None:
        """Connections are taken and kept, and nothing comes through."""
        self._free.clear()

    def release(self) -> None:
        self._free.set()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        behind: asyncio.StreamWriter | None = None
        try:
            back, behind = await asyncio.open_connection("127.0.0.1", self._target)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, behind))
                both.create_task(self._pass(back, writer))
        except (OSError, ExceptionGroup, asyncio.CancelledError):
            pass  # whoever asked sees that the connection is gone
        finally:
            self._passing.discard(task)
            for each in (writer, behind):
                if each is not None:
                    each.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            await self._free.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError


@asynccontextmanager
async def gates(*targets: int, tls: ssl.SSLContext | None = None) -> AsyncIterator[list[Gate]]:
    opened = [Gate(target, tls) for target in targets]
    for gate in opened:
        await gate.open()
    try:
        yield opened
    finally:
        for gate in opened:
            gate.release()
            await gate.shut()
