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
        return time.process_time() - self._own + self.others()

    def others(self) -> float:
        """Without this process's own."""
        return _children() - self._others


def _children() -> float:
    """Linux tells; elsewhere only this process counts. Read in few steps, since what is measured comes right after."""
    pids = {pid for task in _listed("/proc/self/task") for pid in _read(f"/proc/self/task/{task}/children").split()}
    tasks = (f"/proc/{pid}/task/{task}/schedstat" for pid in pids for task in _listed(f"/proc/{pid}/task"))
    return sum(int((_read(each).split() or ["0"])[0]) for each in tasks) / 1e9


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - in a tenth of the time
    except OSError:  # it has ended, or this is not Linux
        return []


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123 - in a tenth of the time
            return file.read()
    except OSError:
        return ""


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
