"""Where an answer goes in Slack: what a question's `reply_to` holds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.types import Question

NAME = "slack"


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """The thread, the message that is answered, and who asked. `private`: only who asked sees the answer, by `response_url`.

    `team` is that of who asked: it may be another one than the channel's.
    """

    thread: str = ""
    message: str = ""
    user: str = ""
    team: str = ""
    response_url: str = ""
    private: bool = False

    @classmethod
    def of(cls, question: Question) -> ReplyTo:
        return cls(**json.loads(question.reply_to))

    def __str__(self) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if value})

    @property
    def begins(self) -> bool:
        """Whether the thread begins with the question."""
        return self.private or self.thread == self.message
