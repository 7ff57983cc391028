"""What goes wrong on purpose."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Fault:
    """The next `times` calls of a method fail: with an error code, a status, or with no answer at all.

    `performed` says that the call does its work first: only its answer is lost.
    """

    method: str  # "*" for all
    times: int = 1
    error: str = ""
    status: int = 200
    retry_after: int = 0
    hang_up: bool = False
    performed: bool = False
    seconds: float = 0.0
    chance: float = 1.0


@dataclass
class Faults:
    chances: random.Random = field(default_factory=lambda: random.Random(1))
    planned: list[Fault] = field(default_factory=list)
    duplicates: float = 0.0  # the share of events that are delivered twice

    def take(self, method: str) -> Fault | None:
        for fault in self.planned:
            if fault.method in ("*", method) and fault.times > 0 and self.chances.random() < fault.chance:
                fault.times -= 1
                return fault
        return None

    def twice(self) -> bool:
        return self.chances.random() < self.duplicates
