"""A document cut into passages: along its sections, then its blocks, then its sentences; each knows its place (I3, R31)."""

from rag.splitting.passages import split
from rag.splitting.settings import SplitSettings

__all__ = ["SplitSettings", "split"]
