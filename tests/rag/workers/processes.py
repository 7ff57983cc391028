"""Whether processes live, and their end."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path


def kill(*pids: int) -> None:
    """End them at once; one may have ended by itself."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def gone(*pids: int) -> bool:
    """Whether all of these processes end within ten seconds; waits for it."""
    for _ in range(500):
        if not any(map(_lives, pids)):
            return True
        await asyncio.sleep(0.02)
    return False


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # empty for one that waits to be reaped
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
