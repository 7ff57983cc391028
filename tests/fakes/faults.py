"""What goes wrong on purpose."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Generic, TypeVar


@dataclass
class Fault:
    """The next `times` calls of this name fail, "*" for all: with a status, or no answer at all.

    `performed` says that the call does its work first: only its answer is lost.
    """

    name: str
    times: int = 1
    status: int = 0
    retry_after: float = 0.0
    hang_up: bool = False
    performed: bool = False
    chance: float = 1.0


F = TypeVar("F", bound=Fault)


@dataclass
class Faults(Generic[F]):
    chances: random.Random = field(default_factory=lambda: random.Random(1))
    planned: list[F] = field(default_factory=list)
    duplicates: float = 0.0  # the share of events that are delivered twice

    def take(self, name: str) -> F | None:
        for fault in self.planned:
            if fault.name in ("*", name) and fault.times > 0 and self.chances.random() < fault.chance:
                fault.times -= 1
                return fault
        return None

    def twice(self) -> bool:
        return self.duplicates > 0 and self.chances.random() < self.duplicates
