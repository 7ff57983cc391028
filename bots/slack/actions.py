"""The buttons below an answer. A button carries the question's id, no more: what it may do is looked up when it is clicked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from bots.slack.limits import BUTTON, VALUE

Block: TypeAlias = dict[str, Any]  # Slack's own form

FEEDBACK = "footnote_feedback"
ASK_PERSON = "footnote_ask_person"
SHARE = "footnote_share"

_GOOD, _BAD = "good", "bad"


@dataclass(frozen=True, slots=True)
class Buttons:
    """What stands below an answer to `question` (its id)."""

    question: str = ""
    feedback: bool = True
    person: bool = False
    share: bool = False

    @property
    def blocks(self) -> list[Block]:
        if not self.question:
            return []
        blocks: list[Block] = []
        if self.feedback:
            blocks.append({"type": "context_actions", "elements": [feedback(self.question)]})
        row = [
            button(action, text, self.question)
            for wanted, action, text in ((self.share, SHARE, "Share with everyone"), (self.person, ASK_PERSON, "Ask a person"))
            if wanted
        ]
        return [*blocks, *([{"type": "actions", "elements": row}] if row else [])]


def feedback(question: str) -> Block:
    def one(text: str, opinion: str, label: str) -> Block:
        return {
            "text": {"type": "plain_text", "text": text, "emoji": True},
            "value": f"{opinion} {question}"[:VALUE],
            "accessibility_label": label,
        }

    return {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": one("👍", _GOOD, "This answer helped"),
        "negative_button": one("👎", _BAD, "This answer did not help"),
    }


def button(action: str, text: str, value: str) -> Block:
    return {
        "type": "button",
        "action_id": action,
        "text": {"type": "plain_text", "text": text[:BUTTON], "emoji": True},
        "value": value[:VALUE],
    }


def opinion_of(value: str) -> tuple[str, bool] | None:
    """The question's id, and whether its answer helped; None for a value that is not ours."""
    opinion, _, question = value.partition(" ")
    return (question, opinion == _GOOD) if opinion in (_GOOD, _BAD) and question else None
