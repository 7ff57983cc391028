"""What was said before: read from what a caller hands in, bounded, and only as far as it may be seen here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rag import abstaining
from rag.errors import BadHistory
from rag.languages import detect, likely, tells
from rag.text import estimated_tokens, well_formed
from rag.types import Turn

if TYPE_CHECKING:
    from collections.abc import Collection

    from rag.types import Role

ACCEPTED: Final = (
    "Accepted are: nothing (None, an empty list, an empty text); (question, answer) pairs of texts; "
    '{"role": "user" or "assistant", "content": text} messages; Turns. One form only, oldest first.'
)
_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
}
_PAIR: Final = 2
_CUT: Final = " …"
_FEW: Final = 6  # words
_HAN: Final = ("zh", "ja")  # what a title in Han characters may be


def as_turns(history: object) -> list[Turn]:
    """The history a caller hands in, as turns; blank parts are left out. Raises BadHistory (R3)."""
    if history is None or (isinstance(history, str) and not history.strip()):
        return []
    if isinstance(history, str | bytes | Mapping) or not isinstance(history, Sequence):
        raise BadHistory(f"The history is {_kind(history)}. {ACCEPTED}")
    forms: set[str] = set()
    turns: list[Turn] = []
    for position, item in enumerate(history, start=1):
        form, read = _read(item, position)
        forms.add(form)
        if len(forms) > 1:
            raise BadHistory(f"Item {position} of the history is {_kind(item)}, unlike the items before it. {ACCEPTED}")
        turns += read
    return [_known_to_abstain(turn) for turn in turns if turn.text.strip()]


def bounded(turns: Sequence[Turn], history_turns: int, token_budget: int | None = None) -> list[Turn]:
    """The newest turns that are allowed in number and in tokens, oldest first; blank ones do not count (R2).

    The newest turn is never dropped for the budget: it is cut to it.
    """
    said = [turn for turn in turns if turn.text.strip()]
    newest = said[-history_turns:] if history_turns > 0 else []
    if token_budget is None or not newest:
        return newest
    kept = [_cut(newest[-1], token_budget)]
    left = token_budget - estimated_tokens(kept[0].text)
    for turn in reversed(newest[:-1]):
        left -= estimated_tokens(turn.text)
        if left < 0:
            break
        kept.append(turn)
    return kept[::-1]


def allowed(turns: Sequence[Turn], bases: Collection[str]) -> list[Turn]:
    """The turns that may be seen where only these bases may be searched: no answer made from another one (R37)."""
    return [turn for turn in turns if turn.role == "user" or set(turn.bases) <= set(bases)]


def language_of(text: str, history: Sequence[Turn], known: Sequence[str] = ()) -> str:
    """Few words seldom tell a language: then it is that of the talk so far, where they may be in it, else one of those `known`,
    which the documents are in, the most frequent first; "" where nothing tells.
    """
    if len(text.split()) > _FEW:
        return detect(text)
    may_be = likely(text)
    if len(may_be) == 1:
        return may_be[0]
    before = next(iter(likely(" ".join(turn.text for turn in history if turn.role == "user"))), "") if history else ""
    if before and (not may_be or before in may_be):
        return before
    if not may_be or (tells(text) and may_be != _HAN):
        return next(iter(may_be or known), "")
    return next((language for language in known if language in may_be), may_be[0])


def _read(item: object, position: int) -> tuple[str, list[Turn]]:
    if isinstance(item, Turn):
        return "turns", [item]
    if isinstance(item, Mapping):
        return "messages", [_message(item, position)]
    if isinstance(item, tuple | list) and len(item) == _PAIR and all(isinstance(part, str) for part in item):
        return "pairs", [Turn("user", well_formed(item[0])), Turn("assistant", well_formed(item[1]))]
    raise BadHistory(f"Item {position} of the history is {_kind(item)}. {ACCEPTED}")


def _message(item: Mapping[object, object], position: int) -> Turn:
    role, content, name = item.get("role"), item.get("content"), item.get("name", "")
    known = _ROLES.get(role.casefold()) if isinstance(role, str) else None
    if known is None:
        raise BadHistory(f"Item {position} of the history has the role {role!r}. {ACCEPTED}")
    if not isinstance(content, str):
        raise BadHistory(f"Item {position} of the history has {_kind(content)} as its content. {ACCEPTED}")
    return Turn(known, well_formed(content), speaker=well_formed(name) if isinstance(name, str) else "")


def _known_to_abstain(turn: Turn) -> Turn:
    """A platform hands in our answers as it shows them: of those that abstained it keeps the words alone."""
    says_nothing = turn.role == "assistant" and not turn.abstained and abstaining.says_nothing(turn.text)
    return replace(turn, abstained=True) if says_nothing else turn


def _cut(turn: Turn, budget: int) -> Turn:
    """The beginning of the turn, within the budget."""
    text = turn.text
    while (size := estimated_tokens(text)) > budget and len(text) > 1:
        text = text[: max(1, len(text) * max(budget, 1) // size - 1)]
    return turn if text == turn.text else replace(turn, text=text + _CUT)


def _kind(item: object) -> str:
    if isinstance(item, tuple | list):
        return f"a {type(item).__name__} of {len(item)}: {', '.join(type(part).__name__ for part in item[:3])}".rstrip(": ")
    return f"of the type {type(item).__name__}"
