"""A run as an operator reads it: everything that explains a bad answer is on the page, in words (R38)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from bots.terminal.trace import print_run
from rag.types import Run, Step

if TYPE_CHECKING:
    from collections.abc import Iterable


def candidate(name: str, score: float, lexical: int, dense: int) -> dict[str, object]:
    ranks = {"lexical_rank": lexical, "dense_rank": dense}
    return {"base": "handbook", "id": name, "score": score, "bm25": 3.21, "cosine": 0.44, "coverage": 0.5, **ranks}


def shown(name: str, score: float, *members: str, title: str = "Leave › Annual") -> dict[str, object]:
    scores = {"score": score, "relevance": 0.47, "bm25": 3.21, "cosine": 0.44, "coverage": 0.5, "rerank": 0.81}
    return {"id": name, "document": name.partition("#")[0], "title": title, "members": list(members or (name,)), **scores}


def by_column(rows: Iterable[dict[str, object]]) -> dict[str, object]:
    """As a run keeps many rows: scores as one text."""
    columns: dict[str, list[object]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return {name: _scores(column) if isinstance(column[0], float) else column for name, column in columns.items()}


def _scores(column: list[object]) -> str:
    return " ".join("-" if score is None else f"{score:.4f}" for score in column)


STEPS = (
    Step("recall", 0.0, 0.001, {"turns": 3}),
    Step(
        "route",
        0.001,
        0.001,
        {"bases": ["handbook"], "language": "en", "withheld": 1, "history": ["Ann: How much leave?", "assistant: 25 days [1]."]},
    ),
    Step(
        "condense",
        0.002,
        0.4,
        {
            "history_turns": 2,
            "how": "expanded",
            "standalone": "and in Lisbon? (leave)",
            "model": "small",
            "rejected": "it is an answer",
            "reply": "25 days.",
            "prompt": "Rewrite <question>and in Lisbon?</question>",
        },
    ),
    Step(
        "search",
        0.4,
        0.02,
        {
            "bases": ["handbook"],
            "dense": "and in Lisbon? leave",
            "trust": 0.75,
            "terms": {"handbook": [["lisbon", 3], ["leave", "leav", 1]]},
            "candidates": by_column(
                candidate(f"leave.md#{number}", 1 - number / 10, number + 1, 0 if number % 2 else number + 2)
                for number in range(30)
            ),
        },
    ),
    Step(
        "rerank",
        0.42,
        1.25,
        {
            "model": "nano",
            "passages": 6,
            "left_over": 2,
            "scores": by_column(shown(f"leave.md#{number}", 0.9) for number in range(6)),
        },
    ),
    Step(
        "select",
        1.7,
        0.01,
        {
            "relevance": 0.4712,
            "kept": by_column([shown("leave.md#0", 0.97, "leave.md#0", "leave.md#1")]),
            "copies": [{"id": "leave.md#3", "of": "leave.md#0"}],
            "not_among_the_first": ["leave.md#5"],
            "below_threshold": [shown("leave.md#2", 0.3)],
            "thresholds": {"handbook": 0.35},
            "over_budget": ["leave.md#4"],
            "cut": False,
        },
    ),
    Step(
        "compose",
        1.71,
        2.5,
        {
            "strategy": "stuff",
            "model": "big",
            "question": "and in Lisbon?",
            "calls": 1,
            "prompts": [{"system": "You answer.", "user": "<passages>\nall of them\n</passages>"}],
            "tokens_in": 812,
            "tokens_out": 40,
            "finish": ["complete"],
            "no_answer": False,
            "surprise": "noted by a later version",
        },
    ),
    Step(
        "cite",
        4.2,
        0.003,
        {
            "kept": [{"n": 1, "document": "leave.md", "sentence": "25 days a year.", "lexical": 1.0}],
            "dropped": [
                {
                    "n": 1,
                    "document": "leave.md",
                    "sentence": "And a car.",
                    "lexical": 0.1,
                    "cosine": 0.2,
                    "reason": "not supported",
                },
                {"sentence": "Or two.", "lexical": 0.0, "reason": "[9] was not given"},
            ],
            "attached": False,
        },
    ),
)
NOTES = {"question": "and in Lisbon?", "speaker": "Ann", "thread": "main", "answer": "25 days a year [1].", "abstained": False}
RUN = Run("0f77e735-5228-49c6-9c04-4c143f070825", "question", datetime(2026, 11, 30, 12, 0, tzinfo=UTC), 4.3, NOTES, STEPS)


def page(run: Run = RUN, *, width: int = 150, full: bool = False, terminal: bool = False) -> str:
    out = StringIO()
    print_run(run, Console(file=out, width=width, force_terminal=terminal, soft_wrap=not terminal, no_color=True), full=full)
    return re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())


@pytest.mark.parametrize(
    "line",
    [
        r"run 0f77e735-5228-49c6-9c04-4c143f070825 2026-11-30 12:00:00 UTC, 4\.3 s",
        r"outcome     answered",
        r"question    and in Lisbon\? \(by Ann, in thread main, language en\)",
        r"history     2 turns before it; 1 more come from a base that may not be searched here, and were left out",
        r"            - Ann: How much leave\?",
        r"standalone  and in Lisbon\? \(leave\) \(small's rewrite was rejected: it is an answer; words were added .*\)",
        r"            the model's rewrite was: 25 days\.",
        r"searched    base handbook; its words were trusted 0\.75, by how many of them were found",
        r"by words    lisbon ×3, leave/leav",
        r"by meaning  and in Lisbon\? leave",
        r"passages    30 found; 6 reranked by nano, 2 of them without a score, since time was up; 1 given to the writer; .*",
        r"passages    .*; relevance 0\.47, threshold 0\.35 \(handbook\)",
        r"written     by big, stuff, 1 call, 812 tokens in, 40 out, ended: complete",
        r"            prompt of condense: \d+ characters \(--full shows it\)",
        r"citations   1 kept, 2 dropped",
        r"kept        \[1\] leave\.md: “25 days a year\.” \(supported by words 1\.00\)",
        r"dropped     \[1\] leave\.md: “And a car\.” \(not supported; supported by words 0\.10, by meaning 0\.20\)",
        r"dropped     “Or two\.” \(\[9\] was not given; supported by words 0\.00\)",
        r"            \| 25 days a year \[1\]\.",
        r"noted       compose, surprise: noted by a later version",
        r"time        recall 1 ms · route 1 ms · condense 400 ms · search 20 ms · rerank 1\.2 s · select 10 ms · .*",
    ],
)
def test_the_page_tells(line: str) -> None:
    assert re.search(rf"(?m)^{line}\s*$", page())


@pytest.mark.parametrize(
    ("passage", "outcome"),
    [
        ("leave.md#0", "given: [1] with 1 more"),
        ("leave.md#1", "joined to [1]"),
        ("leave.md#2", "below 0.35"),
        ("leave.md#3", "a copy of leave.md#0"),
        ("leave.md#4", "over the budget"),
        ("leave.md#5", "not among the first"),
        ("leave.md#6", "not among the first"),
    ],
)
def test_what_became_of_each_passage_is_told_in_words_beside_its_scores(passage: str, outcome: str) -> None:
    (row,) = re.findall(rf"(?m)^{passage} .*$", page())

    assert outcome in row
    assert "0.44" in row


def test_a_row_holds_every_score_the_rank_in_each_list_and_the_title() -> None:
    assert re.search(r"(?m)^leave.md#0 .*  0\.970 +0\.47 +3\.2 \(1\) +0\.44 \(2\) +0\.50 +0\.81  Leave › Annual", page())


@pytest.mark.parametrize("width", [80, 139, 140, 150, 220])
def test_a_long_title_takes_no_room_from_scores_and_outcomes(width: int) -> None:
    long = shown("leave.md#0", 0.97, "leave.md#0", "leave.md#1", title="Leave › " + "and all that there is to say of it " * 9)
    select = STEPS[5]._replace(notes={**STEPS[5].notes, "kept": [long]})

    row = next(
        line for line in page(replace(RUN, steps=(*STEPS[:5], select)), width=width).splitlines() if line.startswith("leave.md#0 ")
    )

    assert "given: [1] with 1 more" in row
    for score in ("0.970", "0.47", "3.2", "0.44", "0.50", "0.81"):
        assert score in row


def test_passages_beyond_the_first_are_counted_and_shown_when_asked_for() -> None:
    assert "leave.md#29" not in page()
    assert "and 10 more, none of them given to the writer (--full shows them)" in page()
    assert "leave.md#29" in page(full=True)


def test_prompts_are_shown_when_asked_for() -> None:
    assert "all of them" not in page()
    assert re.search(r"prompt of condense, user:\s+\| Rewrite <question>", page(full=True))
    assert re.search(r"prompt of compose, user:\s+\| <passages>\s+\| all of them", page(full=True))


@pytest.mark.parametrize("width", [70, 80, 100, 200])
def test_in_a_terminal_nothing_is_wider_than_the_window_and_every_outcome_is_whole(width: int) -> None:
    lines = page(width=width, terminal=True).splitlines()

    assert max(map(len, lines[1:])) <= width
    assert any("given: [1] with" in line for line in lines)


def test_a_run_that_failed_says_where_and_why() -> None:
    steps = (
        *STEPS[:6],
        Step("compose", 1.7, 2.0, {"strategy": "stuff", "model": "big"}, "ModelTimeout: big took longer than 2 seconds."),
    )
    failed = replace(RUN, steps=steps, error="ModelTimeout: big took longer than 2 seconds.", notes={"question": "Why?"})

    assert "outcome     failed at compose: ModelTimeout: big took longer than 2 seconds." in page(failed)
    assert "compose 2.0 s (failed: ModelTimeout: big took longer than 2 seconds.)" in page(failed)


def test_a_run_that_abstained_says_why() -> None:
    notes = {**NOTES, "abstained": True, "unanswered": "nothing relevant was found"}

    assert "outcome     no answer: nothing relevant was found" in page(replace(RUN, notes=notes))


@pytest.mark.parametrize("steps", [(), STEPS[:1], STEPS[:3], STEPS[3:4]])
def test_a_run_that_ended_early_can_be_read(steps: tuple[Step, ...]) -> None:
    assert page(replace(RUN, steps=steps, notes={})).startswith("run 0f77")


def test_what_a_model_or_a_document_says_is_shown_as_it_is() -> None:
    notes = {**NOTES, "answer": "[red]not red[/red] :smile: \ud83d \x1b]0;x\x07"}

    assert "[red]not red[/red] :smile:" in page(replace(RUN, notes=notes))
    assert "\x07" not in page(replace(RUN, notes=notes))
