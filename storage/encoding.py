"""Answers, runs and progress as JSON values, and back: what was kept comes back equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag.types import Problem, Progress, Source, SourcePlace, Step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag.types import Run


def from_sources(sources: Iterable[Source]) -> list[dict[str, object]]:
    return [
        {
            "n": source.n,
            "base": source.base,
            "document": source.document,
            "title": source.title,
            "places": [{"label": place.label, "link": place.link} for place in source.places],
        }
        for source in sources
    ]


def to_sources(values: list[dict[str, Any]]) -> tuple[Source, ...]:
    return tuple(
        Source(
            value["n"],
            value["base"],
            value["document"],
            value["title"],
            tuple(SourcePlace(place["label"], place["link"]) for place in value["places"]),
        )
        for value in values
    )


def from_run(run: Run) -> dict[str, object]:
    """Notes and steps; the rest of a run has columns."""
    steps = [
        {"name": step.name, "started": step.started, "seconds": step.seconds, "notes": step.notes, "error": step.error}
        for step in run.steps
    ]
    return {"notes": run.notes, "steps": steps}


def to_steps(trace: dict[str, Any]) -> tuple[Step, ...]:
    return tuple(Step(step["name"], step["started"], step["seconds"], step["notes"], step["error"]) for step in trace["steps"])


_COUNTS = ("found", "done", "added", "changed", "unchanged", "removed", "passages", "embedded", "unread", "seconds")


def from_progress(progress: Progress) -> dict[str, object]:
    """Counts, problems and the remark; state and error have columns."""
    counts = {name: getattr(progress, name) for name in _COUNTS}
    problems = [{"document": problem.document, "reason": problem.reason} for problem in progress.problems]
    return counts | {"problems": problems, "remark": progress.remark}


def to_progress(base: str, run: str, state: Any, error: str, value: dict[str, Any]) -> Progress:
    problems = tuple(Problem(problem["document"], problem["reason"]) for problem in value["problems"])
    counts = {name: value.get(name, 0) for name in _COUNTS}
    return Progress(base=base, run=run, state=state, problems=problems, error=error, remark=value.get("remark", ""), **counts)
