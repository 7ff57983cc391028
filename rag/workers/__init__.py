"""Work that is heavy or may crash, in spawned processes: bytes in, bytes out. A process that dies takes nothing with it."""

from rag.workers.pool import Workers
from rag.workers.process import WorkerDied, WorkFailed

__all__ = ["WorkFailed", "WorkerDied", "Workers"]
