"""Who may do what: one decision for messages, commands, buttons and suggestions alike (X2, X4); and how much (X3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from bots.wording import words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from rag.ports import Limit
    from rag.types import Place, Question, Tally

Kind: TypeAlias = Literal["question", "command", "button", "suggestion"]
Refusal: TypeAlias = Literal["bot", "outsider", "guest", "shared", "channel", "not an admin"]
# The bases that may be asked for by name in a place, by a person with these roles.
Choosable: TypeAlias = "Callable[[Place, Collection[str]], Sequence[str]]"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a platform's settings allow. `channels` empty: everywhere."""

    admins: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    outsiders: bool = False
    guests: bool = False
    direct: bool = True  # whether direct messages are answered


@dataclass(frozen=True, slots=True)
class Asker:
    """Who does something, and where; as far as the platform itself says, never as a message does."""

    person: str
    place: Place
    admin: bool = False
    bot: bool = False
    outsider: bool = False
    guest: bool = False
    shared: bool = False  # others than the workspace's own people read along
    parent: str = ""  # the channel that a thread stands in, where that has an id of its own


def authorize(rules: Rules, asker: Asker, kind: Kind) -> Refusal | None:
    """Why not; None where it may be done. An asker of whom nothing is known is nobody, and is refused."""
    if asker.bot or not asker.person:
        return "bot"
    strangers: tuple[tuple[bool, Refusal], ...] = (
        (asker.outsider and not rules.outsiders, "outsider"),
        (asker.guest and not rules.guests, "guest"),
        (asker.shared and not rules.outsiders, "shared"),
    )
    if found := next((why for holds, why in strangers if holds), None):
        return found
    if kind == "command":
        return None if asker.admin or asker.person in rules.admins else "not an admin"
    if asker.place.direct:
        return None if rules.direct else "channel"
    named = not rules.channels or {asker.place.channel, asker.parent} & rules.channels
    return None if named else "channel"


def refused(why: Refusal, said: str, language: str = "") -> str:
    """What is told to who is refused, in the language of what they said; "" for bots, to which nothing is ever said (X4)."""
    told = words(said, language)
    return {
        "bot": "",
        "outsider": told.outsider,
        "guest": told.guest,
        "shared": told.shared,
        "channel": told.not_here,
        "not an admin": told.not_admin,
    }[why]


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """0 lets any number pass."""

    question_characters: int = 4000
    person_per_minute: int = 10
    place_per_minute: int = 60
    thread_answers: int = 100
    answers_per_day: int = 0


class AskingLimits:
    """How much may be asked, counted in the database as a question is taken in: over all processes, and over restarts."""

    def __init__(self, settings: LimitSettings) -> None:
        self._settings = settings

    def of(self, question: Question) -> Limit:
        """What is said instead of an answer, by what was asked before; "" where no limit is reached."""
        most, told = self._settings, words(question.text, question.language)

        def notice(asked: Tally) -> str:
            if len(question.text) > most.question_characters:
                return told.too_long.format(most=most.question_characters)
            reached = (
                (asked.person, most.person_per_minute, told.person_limit),
                (asked.place, most.place_per_minute, told.place_limit),
                (asked.thread, most.thread_answers, told.thread_limit),
                (asked.today, most.answers_per_day, told.budget),
            )
            return next((notice for count, limit, notice in reached if limit and count >= limit), "")

        return notice
