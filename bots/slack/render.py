"""An answer as Slack shows it: its Markdown, the sources below in small letters, the buttons (S6, S7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bots.pieces import pieces
from bots.slack.actions import Block, Buttons
from bots.slack.limits import BLOCKS, CONTEXT, MARKDOWN, SUM, SUMMARY, TEXT
from bots.slack.markdown import settled, shown
from bots.slack.mrkdwn import escaped, link, mrkdwn
from rag.abstaining import wording
from rag.footers import one_line, safe_link, title_of
from rag.labels import plain_title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rag.types import Answer, Source

NO_BUTTONS = Buttons()


class Shown(NamedTuple):
    """One message: its text, which is for notifications where there are blocks, and its blocks."""

    text: str
    blocks: tuple[Block, ...] = ()


def forms(answer: Answer, buttons: Buttons = NO_BUTTONS) -> Iterator[list[Shown]]:
    """The messages that show an answer, from the best form down to plain text (S5)."""
    yield messages(answer, buttons)
    yield plain_messages(answer)


def messages(answer: Answer, buttons: Buttons = NO_BUTTONS) -> list[Shown]:
    """Blocks of Markdown, as many messages as it takes; the sources and the buttons end the last one."""
    blocks: list[Block] = [{"type": "markdown", "text": part} for part in pieces(shown(answer.text), MARKDOWN) if part.strip()]
    packed = _packed([*blocks, *_footer(answer, buttons)])
    summaries = pieces(summary(answer), SUMMARY)
    return [Shown(text, tuple(part)) for text, part in zip(_texts(summaries, len(packed)), packed, strict=True)]


def _texts(found: list[str], count: int) -> list[str]:
    """A text each message. It may say less than the blocks do."""
    return [*found[:count], *["…"] * (count - len(found))]


def plain_messages(answer: Answer) -> list[Shown]:
    """In Slack's own mark-up, without blocks: what is taken whenever anything is."""
    return [Shown(part) for part in pieces(summary(answer), TEXT)]


def notice(text: str) -> Shown:
    """What is said in place of an answer. Markdown as well."""
    body = pieces(shown(text), MARKDOWN)[0]
    return Shown(pieces(mrkdwn(text), SUMMARY)[0] or "…", ({"type": "markdown", "text": body},) if body.strip() else ())


def remarked(message: Shown, remark: str) -> Shown:
    """The same, with a remark above it."""
    blocks = (_context(escaped(remark)), *message.blocks) if message.blocks else ()
    return Shown(pieces(f"{escaped(remark)}\n{message.text}", TEXT)[0], blocks)


def growing(draft: str) -> str:
    """As much of a draft as will stay as it is: later ones begin with it, and so does the answer where nothing is dropped."""
    return shown(settled(draft))


def ending(answer: Answer, buttons: Buttons = NO_BUTTONS) -> tuple[Block, ...]:
    """What stands below the text: for the end of a stream."""
    return tuple(_footer(answer, buttons))


def summary(answer: Answer) -> str:
    parts = [mrkdwn(answer.text), escaped(answer.remark), *_sources(answer)]
    return "\n\n".join(part for part in parts if part) or "…"


def short(answer: Answer) -> str:
    """The text beside the blocks of a message that a stream became."""
    return pieces("\n\n".join(part for part in (mrkdwn(answer.text), escaped(one_line(answer))) if part) or "…", SUMMARY)[0]


def _footer(answer: Answer, buttons: Buttons) -> list[Block]:
    remark = [_context(escaped(answer.remark))] if answer.remark else []
    return [*remark, *map(_context, _sources(answer)), *buttons.blocks]


def _context(text: str) -> Block:
    # `verbatim`: what looks like an address in a title is not made into a link
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": text, "verbatim": True}]}


def _sources(answer: Answer) -> list[str]:
    """`SOURCES:` and an entry a line, or the nearest documents where the answer abstains (R27, R32, R33): a text a block."""
    if answer.abstained:
        head, entries = wording(answer.language).suggestions, [f"• {_places(source)}" for source in answer.suggestions]
    else:
        head, entries = "SOURCES:", [f"[{source.n}] {_places(source)}" for source in answer.sources]
    if not entries:
        return []
    texts = [escaped(head)]
    for entry in entries:
        if len(texts[-1]) + 1 + len(entry) <= CONTEXT:
            texts[-1] += f"\n{entry}"
        else:
            texts.append(entry)
    return texts


def _places(source: Source) -> str:
    """`title — place`, each place with its own link, as many of them as a block takes."""
    title = title_of(source)
    if not source.places:
        return escaped(title)
    first, *others = source.places
    found = [_linked(f"{title} — {label}" if (label := plain_title(first.label)) else title, first.link)]
    for number, place in enumerate(others, 2):
        found.append(_linked(plain_title(place.label) or str(number), place.link))
        if len("; ".join(found)) > CONTEXT // 2:
            found[-1] = "…"
            break
    whole = "; ".join(found)
    return whole if len(whole) <= CONTEXT else escaped(title)


def _linked(label: str, address: str) -> str:
    return link(safe_link(address), label)


def _packed(blocks: list[Block]) -> list[list[Block]]:
    """Into messages, in order, none over Slack's limits."""
    found: list[list[Block]] = [[]]
    room = SUM
    for block in blocks:
        size = _size(block)
        if found[-1] and (size > room or len(found[-1]) >= BLOCKS):
            found.append([])
            room = SUM
        found[-1].append(block)
        room -= size
    return found if found[0] else []


def _size(part: object) -> int:
    if isinstance(part, dict):
        return sum(len(value) if key == "text" and isinstance(value, str) else _size(value) for key, value in part.items())
    return sum(map(_size, part)) if isinstance(part, list) else 0
