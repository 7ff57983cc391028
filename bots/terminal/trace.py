"""A run as an operator reads it: what was asked, found, dropped, written and cited, so that a bad answer explains itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from bots.terminal.fates import fates, rows, texts
from bots.terminal.passages import table_of
from bots.terminal.wording import (
    TURN,
    calls,
    duration,
    how_made,
    reranked,
    rounded,
    sentence,
    short,
    support,
    thresholds,
    timed,
    visible,
    weighed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from bots.terminal.fates import Notes
    from rag.types import Run

LABEL = 12  # characters of the left column
SHOWN = 20  # passages in the table, unless all are asked for
TOLD = {  # notes that have a place of their own on the page, by step
    "recall": {"turns"},
    "route": {"bases", "language", "history", "withheld"},
    "condense": {
        "history_turns",
        "how",
        "standalone",
        "lexical",
        "dense",
        "added",
        "model",
        "prompt",
        "rejected",
        "reply",
        "failed",
    }
    | {"tokens_in", "tokens_out"},
    "search": {"bases", "dense", "terms", "trust", "candidates", "without_embedder"},
    "rerank": {"model", "passages", "scores", "left_over", "skipped"},
    "select": {"relevance", "kept", "copies", "not_among_the_first", "below_threshold", "thresholds", "over_budget", "cut"},
    "compose": {"strategy", "model", "question", "calls", "prompts", "tokens_in", "tokens_out", "finish", "seconds", "no_answer"}
    | {"broke_off", "remarks", "cut_off"},
    "cite": {"kept", "dropped", "attached"},
}


def print_run(run: Run, console: Console, *, full: bool = False) -> None:
    """`full` shows every passage that was found, the whole history and the prompts."""
    Page(run, console, full=full).show()


class Page:
    def __init__(self, run: Run, console: Console, *, full: bool) -> None:
        self._run = run
        self._console = console
        self._full = full
        self._notes = {step.name: step.notes for step in run.steps}

    def show(self) -> None:
        self._head()
        self._asked()
        self._searched()
        self._passages()
        self._written()
        self._citations()
        self._answer()
        self._further()
        self._times()

    def _head(self) -> None:
        run = self._run
        self._console.print(
            Text(f"run {run.id}", style="bold"),
            Text(f"{run.started_at:%Y-%m-%d %H:%M:%S} UTC, {duration(run.seconds)}"),
            soft_wrap=True,
        )
        self._line("outcome", self._outcome(), style="bold red" if run.error else "bold")

    def _outcome(self) -> str:
        notes = self._run.notes
        if self._run.error:
            failed = next((f" at {step.name}" for step in self._run.steps if step.error), "")
            return f"failed{failed}: {self._run.error}"
        if notes.get("abstained"):
            return f"no answer: {notes.get('unanswered', 'the documents do not say')}"
        if notes.get("degraded"):
            return f"answered without the language model: {notes['degraded']}"
        return "answered" if "answer" in notes else "no answer was written"

    def _asked(self) -> None:
        notes, condense = self._run.notes, self._of("condense")
        who = ", ".join(
            f"{word} {value}"
            for word, value in (
                ("by", notes.get("speaker")),
                ("in thread", notes.get("thread")),
                ("language", self._of("route").get("language")),
            )
            if value
        )
        self._line("question", f"{notes.get('question', '')}  ({who})" if who else str(notes.get("question", "")))
        history, withheld = texts(self._of("route").get("history")), self._of("route").get("withheld")
        kept_back = f"; {withheld} more come from a base that may not be searched here, and were left out" if withheld else ""
        self._line("history", f"{f'{len(history)} turns before it' if history else 'none'}{kept_back}")
        for turn in history:
            self._line("", f"- {turn if self._full else short(turn, TURN)}", style="dim")
        if condense:
            self._line("standalone", f"{condense.get('standalone', '')}  ({how_made(condense)})")
            if condense.get("rejected") and condense.get("reply"):
                self._line("", f"the model's rewrite was: {condense['reply']}")

    def _searched(self) -> None:
        search = self._of("search")
        if not search:
            return
        trust = search.get("trust")
        found = f"; its words were trusted {trust:.2f}, by how many of them were found" if isinstance(trust, float) else ""
        self._line("searched", f"base {', '.join(texts(search.get('bases'))) or '(none)'}{found}")
        terms = search.get("terms")
        several = isinstance(terms, Mapping) and len(terms) > 1
        for base, words in terms.items() if isinstance(terms, Mapping) else ():
            self._line("by words", f"{weighed(words)}{f'  (base {base})' if several else ''}")
        without = search.get("without_embedder")
        self._line("by meaning", f"not at all: {without}" if without else str(search.get("dense", "")))

    def _passages(self) -> None:
        search, rerank, select = self._of("search"), self._of("rerank"), self._of("select")
        found = fates(search, rerank, select)
        if not found and not search:
            return
        given = sum(1 for fate in found if fate.n)
        said = [f"{len(found)} found", f"{given} given to the writer"]
        if rerank:
            said.insert(1, reranked(rerank))
        if "relevance" in select:
            said.append(f"relevance {rounded(select['relevance'])}, threshold {thresholds(select)}")
        self._line("passages", "; ".join(said))
        shown = found if self._full else found[: max(SHOWN, given)]
        if shown:
            self._console.print(table_of(shown, self._console.width))
        if len(shown) < len(found):
            self._line("", f"and {len(found) - len(shown)} more, none of them given to the writer (--full shows them)", style="dim")

    def _written(self) -> None:
        compose = self._of("compose")
        if not compose:
            return
        tokens = f"{compose.get('tokens_in', 0)} tokens in, {compose.get('tokens_out', 0)} out"
        ended = ", ".join(dict.fromkeys(texts(compose.get("finish")))) or "not ended"
        said = f"by {compose.get('model')}, {compose.get('strategy')}, {calls(compose)}, {tokens}, ended: {ended}"
        self._line("written", said)
        if compose.get("question") != self._run.notes.get("question"):
            self._line("", f"for the question: {compose.get('question')}")
        for broken in texts(compose.get("broke_off")):
            self._line("", f"asked once more, since it broke off: {broken}")
        for remark in texts(compose.get("remarks")):
            self._line("", remark)
        if compose.get("cut_off"):
            self._line("", "its answer was cut off (max_tokens); what was left of the last sentence is left out")
        if compose.get("no_answer"):
            self._line("", "the writer said that the passages do not hold the answer")
        self._prompts("condense", [{"user": self._of("condense").get("prompt", "")}] if self._of("condense").get("prompt") else [])
        self._prompts("compose", rows(compose.get("prompts")))

    def _prompts(self, step: str, prompts: Sequence[Notes]) -> None:
        if prompts and not self._full:
            size = sum(len(str(part)) for prompt in prompts for part in prompt.values())
            self._line("", f"prompt of {step}: {size:,} characters (--full shows it)", style="dim")
            return
        for number, prompt in enumerate(prompts, start=1):
            for part, text in prompt.items():
                if text:
                    self._line("", f"prompt of {step}, {part}{f', call {number}' if len(prompts) > 1 else ''}:")
                    self._block(str(text))

    def _citations(self) -> None:
        cite = self._of("cite")
        if not cite:
            return
        kept, dropped = rows(cite.get("kept")), rows(cite.get("dropped"))
        attached = "; the writer gave no marks, these were found for it" if cite.get("attached") else ""
        self._line("citations", f"{len(kept)} kept, {len(dropped)} dropped{attached}")
        for judged in kept:
            self._line("kept", f"[{judged.get('n')}] {judged.get('document')}: “{sentence(judged)}”  ({support(judged)})")
        for judged in dropped:
            named = f"[{judged['n']}] {judged.get('document')}: " if judged.get("n") else ""
            why = judged.get("reason") or "not supported"
            self._line("dropped", f"{named}“{sentence(judged)}”  ({why}; {support(judged)})", style="yellow")

    def _answer(self) -> None:
        if answer := self._run.notes.get("answer"):
            self._line("answer", "")
            self._block(str(answer))

    def _further(self) -> None:
        """Nothing that was noted is hidden."""
        told = {"question", "speaker", "thread", "answer", "abstained", "bases", "unanswered", "degraded"}
        for name, value in self._run.notes.items():
            if name not in told and value not in (None, "", [], {}, ()):
                self._line("noted", f"{name}: {short(value, TURN)}")
        for step in self._run.steps:
            for name, value in step.notes.items():
                if name not in TOLD.get(step.name, set()) and value not in (None, "", [], {}, ()):
                    self._line("noted", f"{step.name}, {name}: {short(value, TURN)}")

    def _times(self) -> None:
        self._line("time", " · ".join(timed(step) for step in self._run.steps) or "no step was begun")

    def _of(self, step: str) -> Notes:
        return self._notes.get(step, {})

    def _line(self, label: str, text: str, *, style: str = "") -> None:
        said = Text(visible(" ".join(text.split())), style=style)
        if self._console.is_terminal:
            self._console.print(in_columns(Text(label, style="cyan"), said))
        else:
            self._console.print(Text(f"{label:<{LABEL}}").append(said), soft_wrap=True)

    def _block(self, text: str) -> None:
        text = visible(text)
        if self._console.is_terminal:
            self._console.print(in_columns(Text(), Text("\n".join(f"| {line}" for line in text.splitlines()))))
        else:
            self._console.print(Text("\n".join(f"{'':<{LABEL}}| {line}".rstrip() for line in text.splitlines())), soft_wrap=True)


def in_columns(label: Text, said: Text) -> Table:
    """A long text goes on under its own beginning."""
    grid = Table.grid()
    grid.add_column(width=LABEL)
    grid.add_column(overflow="fold")
    grid.add_row(label, said)
    return grid
