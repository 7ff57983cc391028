"""Steps and rows belong together: a procedure without its third step, or two rows of three, look complete and are wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.models.neighbouring import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag.models.extracting import Sentence

_MOST = 12  # steps, or rows
_ROWS = 0.4  # of a table in an answer: with fewer it is a list of things that have nothing to do with each other
_STEPPED = 2  # times as much room have steps for who asks how


def completed(chosen: Sequence[Sentence], read: Mapping[int, Sequence[Sentence]], characters: int, *, how: bool) -> list[Sentence]:
    """With all steps of a numbered list of which several were chosen, or the best to who asks `how`, and all rows of a table of
    which several were, or which stands right below the best sentence's paragraph or one that leads to it, where these fit.

    `read` holds the sentences of each excerpt in order; steps have more room where they were asked for.
    """
    found = list(chosen)
    for sentence in chosen:
        whole = _whole(sentence, read[sentence.n], chosen, how=how)
        added = [one for one in whole if one not in found]
        room = _STEPPED * characters if how and sentence.kind == "item" else characters
        if added and how_many(whole) <= _MOST and sum(len(one.text) for one in (*found, *added) if one.kind != "code") <= room:
            found += added
    return found


def how_many(whole: Sequence[Sentence]) -> int:
    """Steps, or rows."""
    return sum(one.kind == "row" or number_of(one) is not None for one in whole)


def _whole(sentence: Sentence, read: Sequence[Sentence], chosen: Sequence[Sentence], *, how: bool) -> list[Sentence]:
    if sentence.kind == "item":
        steps = next((steps for steps in numbered(read) if sentence in steps), [])
        return steps if (how and sentence is chosen[0]) or len({one.block for one in steps if one in chosen}) > 1 else []
    following = next((one for one in read if one.index > sentence.index), None)
    best = chosen[1] if len(chosen) > 1 and chosen[1].kind == "row" and chosen[1].before is chosen[0] else chosen[0]
    leads = (sentence.n, sentence.block) == (best.n, best.block) or (
        sentence.is_open and not any(one.before is sentence for one in chosen)
    )
    below = (
        following is not None
        and following.kind == "row"
        and sentence.kind == "prose"
        and leads
        and following.heading == sentence.heading
    )
    head = following if below else sentence
    if head is None or head.kind != "row":
        return []
    rows = [one for one in read if one.kind == "row" and one.table == head.table and one.header == head.header]
    told = sum(one in chosen for one in rows)
    return rows if below or told > max(1, _ROWS * len(rows)) else []


def numbered(read: Sequence[Sentence]) -> list[list[Sentence]]:
    """The numbered lists of an excerpt, with all that stands within their items."""
    lists: list[list[Sentence]] = []
    steps: list[Sentence] = []
    last = 0
    for sentence in read:
        number = number_of(sentence) if sentence.kind == "item" else None
        if steps and number == last + 1:
            steps.append(sentence)
        elif number is not None:
            lists.append(steps := [sentence])
        elif steps and (sentence.kind == "item" or sentence.before in steps):
            steps.append(sentence)
        else:
            steps = []
        last = last if number is None else number
    return lists
