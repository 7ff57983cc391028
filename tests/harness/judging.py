"""What people saw and what it cost, and whether that is as it must be (P3, P4). Knows no platform.

Each question ends in exactly one whole answer or one apology, in its own thread and in the order of asking; nothing is left
half-written; and a model is paid for a question once, and once more for each time that its process was killed, or lost its lease,
before the answer was stored.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from bots.wording import words
from rag.errors import ModelTimeout

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

APOLOGIES = frozenset({words("").failed, words("").too_old, ModelTimeout.user_message})


@dataclass(frozen=True, slots=True)
class Seen:
    """A message of ours: the question that it says it answers ("" where it says none), and its text without buttons and footer."""

    name: str
    text: str
    open: bool = False  # still being written into


@dataclass(slots=True)
class Call:
    """One time that a model was paid, by which worker; `stored`: though an answer was there. `end` "": it never came to one."""

    name: str
    worker: int
    began: float
    stored: bool
    end: str = ""  # answered, failed, stopped
    ended: float = 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """`asked` and `seen` are by thread, in order. `answers` tells what each question's answer must be; "" where the model fails."""

    asked: Sequence[Sequence[str]]
    seen: Sequence[Sequence[Seen]]
    answers: Mapping[str, str]
    calls: Sequence[Call] = ()
    killed: Collection[int] = ()


@dataclass(slots=True)
class Verdict:
    questions: int = 0
    answers: int = 0
    apologies: int = 0
    missing: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)  # what is neither an answer nor an apology, or more than one
    strays: list[str] = field(default_factory=list)  # messages of ours that belong to no question of their thread
    disordered: list[str] = field(default_factory=list)  # by thread
    still_open: int = 0
    paid: int = 0
    paid_after_kills: int = 0
    paid_after_lost_leases: int = 0
    paid_though_stored: list[str] = field(default_factory=list)
    paid_for_nothing: list[str] = field(default_factory=list)

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self.answers + self.apologies == self.questions and not (self.still_open or self.unfinished)

    @property
    def is_good(self) -> bool:
        wrong = (self.missing, self.doubled, self.strays, self.disordered, self.paid_though_stored, self.paid_for_nothing)
        return self.is_settled and not any(wrong)

    def __str__(self) -> str:
        return "\n".join(f"{name.replace('_', ' '):24} {value}" for name, value in asdict(self).items())


def judge(evidence: Evidence) -> Verdict:
    verdict = Verdict()
    for asked, seen in zip(evidence.asked, evidence.seen, strict=True):
        _judge_thread(asked, seen, evidence.answers, verdict)
    _judge_payments(evidence, verdict)
    return verdict


def _judge_thread(asked: Sequence[str], seen: Sequence[Seen], answers: Mapping[str, str], verdict: Verdict) -> None:
    verdict.questions += len(asked)
    verdict.still_open += sum(each.open for each in seen)
    verdict.strays += [f"{each.name or 'nobody'}: {each.text[:80]!r}" for each in seen if each.name not in asked and not each.open]
    for name in asked:
        _judge_question(name, [each.text for each in seen if each.name == name and not each.open], answers[name], verdict)
    order = [name for name, _ in groupby(each.name for each in seen if each.name in asked)]
    if order != [name for name in asked if name in order]:
        verdict.disordered.append(" ".join(order))


def _judge_question(name: str, texts: Sequence[str], answer: str, verdict: Verdict) -> None:
    """All its messages together must say the answer, or an apology, and nothing else."""
    said, whole = _squeezed(texts), _squeezed([answer])
    apologies = sum(text.strip() in APOLOGIES for text in texts)
    if not texts:
        verdict.missing.append(name)
    elif answer and said == whole:
        verdict.answers += 1
    elif apologies == len(texts) == 1:
        verdict.apologies += 1
    elif apologies + (said.count(whole) if answer else 0) > 1:
        verdict.doubled.append(name)
    else:
        verdict.unfinished.append(f"{name}: {said[:80]!r} in {len(texts)}")


def _squeezed(texts: Iterable[str]) -> str:
    """Without any space: platforms trim the ends of messages."""
    return "".join("".join(texts).split())


def _judge_payments(evidence: Evidence, verdict: Verdict) -> None:
    verdict.paid = len(evidence.calls)
    verdict.paid_though_stored = sorted(call.name for call in evidence.calls if call.stored)
    by_name: dict[str, list[Call]] = defaultdict(list)
    for call in evidence.calls:
        by_name[call.name].append(call)
    for name, calls in by_name.items():
        for before, after in pairwise(sorted(calls, key=lambda call: call.began)):
            if not before.end and before.worker in evidence.killed:
                verdict.paid_after_kills += 1
            elif before.end == "stopped" or after.began < before.ended:
                verdict.paid_after_lost_leases += 1
            else:
                verdict.paid_for_nothing.append(name)


def calls_in(path: Path) -> list[Call]:
    """What the workers wrote down: a line when a model is asked, and one when it has answered or was stopped."""
    calls: dict[str, Call] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        told = json.loads(line)
        if "end" in told:
            calls[told["call"]].end, calls[told["call"]].ended = told["end"], told["at"]
        else:
            calls[told["call"]] = Call(told["name"], told["worker"], told["at"], told["stored"])
    return list(calls.values())
