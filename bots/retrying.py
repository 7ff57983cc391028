"""When what could not be shown is tried again, and when it is given up.

Only deliveries that failed count, not how often a question was taken up: that a process was killed says nothing of the answer.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rag.errors import PostLater, StoreError

if TYPE_CHECKING:
    from rag.types import Question

SOON, LATEST = 3.0, 30.0  # seconds until the next try, twice as many each time up to the most
DELIVERIES = 10  # that failed: then it is given up, but
OUTAGE = 3_600.0  # seconds that a platform that takes no message, or a database that is away, is waited for


def pause(question: Question, error: Exception) -> float:
    """Seconds, after one more failure; as many as the platform asks for, where it asks for more."""
    asked = min(error.seconds, OUTAGE) if isinstance(error, PostLater) else 0.0
    return float(max(min(SOON * 2**question.deliveries, LATEST), asked))


def is_hopeless(question: Question, error: Exception) -> bool:
    if question.deliveries + 1 < DELIVERIES:
        return False
    if not isinstance(error, PostLater | StoreError) or question.taken_at is None:
        return True
    return (datetime.now(UTC) - question.taken_at).total_seconds() > OUTAGE
