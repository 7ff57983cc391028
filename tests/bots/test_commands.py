"""What is said about an index and a run, in one sentence each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bots.commands import ago, counted, lasting, progressing, summary
from rag.types import Problem, Progress

PROBLEM = Problem("a.pdf", "it is encrypted")


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (Progress("default"), "default: looking for documents"),
        (Progress("default", found=1000, done=400, passages=2100, seconds=0.5), "default: 400 of 1,000 documents, 2,100 passages"),
        (
            Progress("default", found=1000, done=400, passages=2100, seconds=60, problems=(PROBLEM,)),
            "default: 400 of 1,000 documents, 2,100 passages, 1 could not be read, about 1 min 30 s left",
        ),
        (
            Progress("default", found=1000, done=900, unchanged=800, passages=1, seconds=60),
            "default: 900 of 1,000 documents, 1 passage, about 1 min 00 s left",
        ),
        (
            Progress("default", found=1000, done=800, unchanged=800, passages=9, seconds=60),
            "default: 800 of 1,000 documents, 9 passages",
        ),
        (Progress("default", found=1, done=1, passages=9, seconds=60), "default: 1 of 1 document, 9 passages"),
    ],
)
def test_a_run_under_way_in_one_line(progress: Progress, said: str) -> None:
    assert progressing(progress) == said


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (
            Progress("default", done=7, unchanged=7, passages=39, seconds=0.12),
            "default: nothing changed; 7 documents, 39 passages; 0 embedded in 0.1 s.",
        ),
        (
            Progress("api", done=1, added=1, changed=2, removed=3, passages=1, embedded=1, seconds=2, problems=(PROBLEM,)),
            "api: 1 added, 2 changed, 3 removed, 1 could not be read; 1 document, 1 passage; 1 embedded in 2.0 s.",
        ),
    ],
)
def test_a_run_that_is_over_in_one_sentence(progress: Progress, said: str) -> None:
    assert summary(progress) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(5, "just now"), (60, "1 minute ago"), (3 * 3600, "3 hours ago"), (400 * 86400, "400 days ago")],
)
def test_how_long_ago(seconds: int, said: str) -> None:
    assert ago(datetime.now(UTC) - timedelta(seconds=seconds)) == said


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min 01 s"), (7265, "2 h 01 min")])
def test_how_long_yet(seconds: float, said: str) -> None:
    assert lasting(seconds) == said


def test_counts_have_their_plural() -> None:
    assert (counted(1, "passage"), counted(1234, "passage")) == ("1 passage", "1,234 passages")
