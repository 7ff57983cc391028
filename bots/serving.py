"""One desk for all platforms that are served, until the process is asked to end; then in good order (O6)."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from bots.desk import Desk
    from bots.surfaces import Surface

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Platform(Protocol):
    """A platform that is connected to. Questions come in only while it listens."""

    name: str

    @property
    def surface(self) -> Surface[Any]: ...

    def listening(self, desk: Desk) -> AbstractAsyncContextManager[None]: ...


async def serve(
    platforms: Sequence[Platform],
    desk: Callable[[Mapping[str, Surface[Any]]], Desk],
    *,
    ready: Callable[[], None] | None = None,
) -> None:
    """First nothing new is taken in any more, then what is in flight is finished or handed back, then connections close.

    Asked to end while a platform cannot be reached yet, it does not wait until it can.
    """
    ended, ready_to_end, me = asyncio.Event(), asyncio.Event(), asyncio.current_task()

    def end() -> None:
        if not (ended.is_set() or ready_to_end.is_set()) and me is not None:
            me.cancel()
        ended.set()

    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, end)
    try:
        async with desk({platform.name: platform.surface for platform in platforms}) as open_desk, AsyncExitStack() as stack:
            try:
                for platform in platforms:
                    await stack.enter_async_context(platform.listening(open_desk))
            except asyncio.CancelledError:
                if me is None or not ended.is_set():
                    raise
                me.uncancel()
                return
            ready_to_end.set()
            if ready is not None:
                ready()
            await ended.wait()
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
