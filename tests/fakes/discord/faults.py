"""What goes wrong in Discord on purpose."""

from __future__ import annotations

from dataclasses import dataclass

from tests.fakes import faults


@dataclass
class Fault(faults.Fault):
    """Of requests whose route has this kind, one of `routes.KINDS`; with an error code, too."""

    code: int = 0


@dataclass
class Faults(faults.Faults[Fault]):
    """`replayed` events before the resumed one are sent again with a resume."""

    replayed: int = 0
