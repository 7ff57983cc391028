import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path


def test_workers_end_with_their_parent_even_in_the_midst_of_work(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import asyncio
        from rag.sources.reading import ReadLimits
        from rag.sources.readers import Readers

        async def main():
            async with Readers(1, others={".hang": "tests.rag.sources.hostile:hang"}) as readers:
                task = asyncio.create_task(readers.read_bytes("a", b"x", ReadLimits(), extension=".hang"))
                while not readers.pids:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.5)
                print(*readers.pids, flush=True)
                await task

        asyncio.run(main())
    """)
    path = tmp_path / "parent.py"
    path.write_text(script)
    root = str(Path(__file__).parents[3])
    parent = subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, env={"PYTHONPATH": root}, text=True)  # noqa: S603 - ours
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()

    assert ended(worker)


def ended(pid: int) -> bool:
    for _ in range(200):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False
