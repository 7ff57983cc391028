"""What goes wrong on purpose."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Fault:
    """The next `times` requests whose route has this kind fail: with an error code, a status, or no answer at all.

    Kinds are those of `routes.KINDS`. `performed` says that the work is done first: only its answer is lost.
    """

    kind: str  # "*" for all
    times: int = 1
    code: int = 0
    status: int = 0
    retry_after: float = 0.0
    hang_up: bool = False
    performed: bool = False
    chance: float = 1.0


@dataclass
class Faults:
    """`replayed` events before the resumed one are sent again with a resume; `duplicates` is the share sent twice."""

    chances: random.Random = field(default_factory=lambda: random.Random(1))
    planned: list[Fault] = field(default_factory=list)
    duplicates: float = 0.0
    replayed: int = 0

    def take(self, kind: str) -> Fault | None:
        for fault in self.planned:
            if fault.kind in ("*", kind) and fault.times > 0 and self.chances.random() < fault.chance:
                fault.times -= 1
                return fault
        return None

    def twice(self) -> bool:
        return self.duplicates > 0 and self.chances.random() < self.duplicates
