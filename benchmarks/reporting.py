"""What every benchmark prints: the kind of machine, and each ratio with its bar."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure, and what it must not pass; without a bound it is only shown."""

    name: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def holds(self) -> bool:
        return (self.at_most is None or self.value <= self.at_most) and (self.at_least is None or self.value >= self.at_least)

    def __str__(self) -> str:
        bounds = [
            f"{word} {bound:g}" for word, bound in (("at most", self.at_most), ("at least", self.at_least)) if bound is not None
        ]
        mark = ("  holds" if self.holds else "  MISSED") if bounds else ""
        return f"{self.name}: {self.value:.3g}{f' ({bounds[0]})' if bounds else ''}{mark}"


class Burnt:
    """Seconds of processor time since it was made, of this process and of those that it started and that still run."""

    def __init__(self) -> None:
        self._others = _children()
        self._own = time.process_time()

    def seconds(self) -> float:
        own = time.process_time() - self._own
        return own + _children() - self._others


def _children() -> float:
    """Linux tells; elsewhere only this process counts."""
    pids = {pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}
    return sum(_seconds(path) for pid in pids for path in Path("/proc", pid, "task").glob("*/schedstat"))


def _seconds(schedule: Path) -> float:
    try:
        return int(schedule.read_text().split()[0]) / 1e9
    except (OSError, IndexError):  # it has ended
        return 0.0


def machine() -> str:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}{load}"


def folder_of(cache: str | None) -> Path:
    folder = Path(cache) if cache else Path(tempfile.gettempdir()) / "footnote-benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def verdict(bars: list[Bar]) -> None:
    """Print them, and end with status 1 when one is missed."""
    print()
    for bar in bars:
        print(bar)
    sys.exit(not all(bar.holds for bar in bars))
