"""A model that has just failed several times is left alone for a while, so that nobody waits for it in vain."""

from __future__ import annotations

import math
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from logging import getLogger
from typing import TYPE_CHECKING, Final

from rag.errors import ModelRefused, ModelTimeout, ModelUnavailable
from rag.models.remote import LONGEST_WAIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

log = getLogger(__name__)

_WITHIN: Final = 300.0  # seconds: failures that lie further back do not count
_AS_LONG: Final = 10.0  # seconds waited in vain count as much as one more failure
_LONGEST_REST: Final = 120.0  # seconds, whatever a server asks for


@dataclass(frozen=True, slots=True)
class BreakerSettings:
    """After `failures` in a row a model is left alone for `rest` seconds; 0 failures: never.

    One that was waited for in vain counts the more the longer that was, so that a model that hangs is soon known to. One is
    enough where the server itself asks to wait for longer than anybody would.
    """

    failures: int = 3
    rest: float = 30.0


class Breaker:
    """Of one model. While it is left alone a call fails at once; then one call tries, and lets the others in if it succeeds.

    A model that refuses a request has answered: that counts as a success.
    """

    def __init__(self, name: str, settings: BreakerSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._settings = settings
        self._clock = clock
        self._failed: deque[tuple[float, float]] = deque(maxlen=max(1, settings.failures))  # when, and how much each counts
        self._alone_until: float | None = None
        self._trying: Call | None = None
        self._reason = ""

    def check(self) -> None:
        """Raises ModelUnavailable while it is left alone, and until a call that tries it again has succeeded."""
        if self._alone_until is not None:
            raise ModelUnavailable(f"{self._name} is left alone, since it kept failing: {self._reason}")

    @contextmanager
    def call(self) -> Iterator[Call]:
        """Around one call. Raises ModelUnavailable instead where the model is left alone."""
        one = self._admitted()
        try:
            yield one
        except (ModelUnavailable, ModelTimeout) as error:
            self._end(one, error)
            raise
        except ModelRefused:
            self._end(one)
            raise
        except BaseException:  # whoever called went away: that tells nothing of the model, but for one who waited in vain
            self._end(one, one.failure, told=one.failure is not None)
            raise
        else:
            self._end(one, one.failure)

    def _admitted(self) -> Call:
        one = Call(self._clock())
        if self._alone_until is None:
            return one
        left = self._alone_until - one.begun
        if left <= 0 and self._trying is None:
            self._trying = one
            return one
        how_long = f"for {math.ceil(left)} s more" if left > 0 else "until another call has tried it"
        raise ModelUnavailable(f"{self._name} is left alone {how_long}, since it kept failing: {self._reason}")

    def _end(self, one: Call, failure: Exception | None = None, *, told: bool = True) -> None:
        """What a call that began before the model was left alone tells by failing is known already."""
        tried = one is self._trying
        if tried:
            self._trying = None
        if failure is None:
            if told:
                self._let_in()
        elif tried or self._alone_until is None:
            self._failed.append((self._clock(), self._weight(one, failure)))
            asked = getattr(failure, "retry_after", None) or 0.0
            if tried or self._is_enough(asked):
                self._leave_alone(failure, asked)

    def _is_enough(self, asked: float) -> bool:
        wanted, since = self._settings.failures, self._clock() - _WITHIN
        return wanted > 0 and (asked > LONGEST_WAIT or sum(weight for when, weight in self._failed if when >= since) >= wanted)

    def _weight(self, one: Call, failure: Exception) -> float:
        in_vain = isinstance(failure, ModelTimeout) and not one.heard
        return 1.0 + (self._clock() - one.begun) / _AS_LONG if in_vain else 1.0

    def _leave_alone(self, failure: Exception, asked: float) -> None:
        rest = max(self._settings.rest, min(asked, _LONGEST_REST))
        self._alone_until, self._reason = self._clock() + rest, str(failure)
        log.warning("%s is left alone for %.0f s: %s", self._name, rest, type(failure).__name__)

    def _let_in(self) -> None:
        if self._alone_until is not None:
            log.warning("%s answers again", self._name)
        self._failed.clear()
        self._alone_until, self._reason = None, ""


class Call:
    """`failure` is set where a call failed without raising, or was given up by who waited; `heard` once it said something."""

    def __init__(self, begun: float) -> None:
        self.begun = begun
        self.failure: Exception | None = None
        self.heard = False
