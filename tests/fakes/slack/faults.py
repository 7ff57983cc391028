"""What goes wrong in Slack on purpose."""

from __future__ import annotations

from dataclasses import dataclass

from tests.fakes import faults


@dataclass
class Fault(faults.Fault):
    """Of calls of this method; with an error code, too, or only late."""

    status: int = 200
    error: str = ""
    seconds: float = 0.0


Faults = faults.Faults[Fault]
