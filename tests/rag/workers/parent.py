"""A program of its own, that is killed while its workers work: prints their process ids first."""

from __future__ import annotations

import asyncio
import sys

from rag.workers import Workers

SECONDS = 60


async def main() -> None:
    async with Workers("tests.rag.workers.targets:obedient", processes=2) as workers:
        await asyncio.gather(workers.call(b"sleep .2"), workers.call(b"sleep .2"))
        calls = asyncio.gather(*(workers.call(f"sleep {SECONDS}".encode()) for _ in range(2)))
        sys.stdout.write(" ".join(map(str, workers.pids)) + "\n")
        sys.stdout.flush()
        await calls


if __name__ == "__main__":
    asyncio.run(main())
