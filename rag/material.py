"""What others wrote, laid into a prompt: delimited, capped, and unable to close its own block (X1)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from rag.text import well_formed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Excerpt, Turn

QUESTION_LIMIT: Final = 8000  # characters
TURN_LIMIT: Final = 4000
PASSAGE_LIMIT: Final = 100_000  # what fits is budgeted in tokens before; this only bounds the work
TITLE_LIMIT: Final = 200
NAME_LIMIT: Final = 60

_TAGS: Final = ("passages", "passage", "conversation", "turn", "question", "answers", "answer", "bases", "base")
# Anything that reads as one of our own tags, in any decoration, and the control tokens of chat models (<|im_end|>, [INST]).
_DELIMITER: Final = re.compile(
    r"[<＜﹤\[](?:(?<!\[)(?=[\s/\u200b-\u200f\u2060\ufeff]*(?:" + "|".join(_TAGS) + r")\b|\|)|(?<=\[)(?=/?\s*INST\s*\]))",
    re.IGNORECASE,
)
_DEFUSED: Final = {"<": "‹", "＜": "‹", "﹤": "‹", "[": "("}
_NAME_NOISE: Final = re.compile(r"[<>＜＞‹›\[\](){}\"`|:*\\]+")
_TITLE_NOISE: Final = re.compile(r"[<>＜＞\[\]\"]+")


def defused(text: str, limit: int) -> str:
    """The text, capped, without anything that a model could take for the end of its block."""
    text = well_formed(text)
    if len(text) > limit:
        text = text[:limit].rstrip() + " …"
    if any(character in text for character in _DEFUSED):
        text = _DELIMITER.sub(lambda found: _DEFUSED[found[0]], text)
    return text.strip()


def plain_name(name: str) -> str:
    """A speaker's name on one line, without brackets, quotes, colons or control characters."""
    return _line(name, _NAME_NOISE, NAME_LIMIT)


def plain_title(title: str) -> str:
    """A title on one line, without what could close an attribute or read as a mark."""
    return _line(title, _TITLE_NOISE, TITLE_LIMIT)


def passages(excerpts: Sequence[Excerpt]) -> str:
    blocks = [_passage(excerpt) for excerpt in excerpts]
    return "\n".join(("<passages>", *blocks, "</passages>"))


def conversation(turns: Sequence[Turn], limit: int = TURN_LIMIT) -> str:
    """The turns, oldest first, each with its speaker; "" where nothing was said."""
    blocks = [_turn(turn, limit) for turn in turns if turn.text.strip()]
    return "\n".join(("<conversation>", *blocks, "</conversation>")) if blocks else ""


def question(text: str) -> str:
    return f"<question>\n{defused(text, QUESTION_LIMIT)}\n</question>"


def answer(text: str, passages: Sequence[int] = ()) -> str:
    """An answer, with the numbers of the passages that it was made from."""
    made_from = f' passages="{" ".join(map(str, passages))}"' if passages else ""
    return f"<answer{made_from}>\n{defused(text, PASSAGE_LIMIT)}\n</answer>"


def answers(partial: Sequence[tuple[str, Sequence[int]]]) -> str:
    return "\n".join(("<answers>", *(answer(text, passages) for text, passages in partial), "</answers>"))


def bases(described: Sequence[tuple[str, str]]) -> str:
    """Knowledge bases to choose from: names and descriptions."""
    lines = [f'<base name="{plain_title(name)}">{" ".join(defused(text, TURN_LIMIT).split())}</base>' for name, text in described]
    return "\n".join(("<bases>", *lines, "</bases>"))


def _passage(excerpt: Excerpt) -> str:
    title = plain_title(excerpt.title)
    return f'<passage n="{excerpt.n}" title="{title}">\n{defused(excerpt.text, PASSAGE_LIMIT)}\n</passage>'


def _turn(turn: Turn, limit: int) -> str:
    name = plain_name(turn.speaker) if turn.role == "user" else ""
    named = f' name="{name}"' if name else ""
    return f'<turn by="{turn.role}"{named}>\n{defused(turn.text, limit)}\n</turn>'


def _line(text: str, noise: re.Pattern[str], limit: int) -> str:
    shown = well_formed(text[: 4 * limit])
    if not shown.isprintable():
        shown = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in shown)
    return " ".join(noise.sub(" ", shown).split())[:limit].strip()
