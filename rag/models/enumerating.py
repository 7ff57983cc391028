"""Steps and rows belong together: a procedure without its third step, or two rows of three, look complete and are wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag.models.extracting import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag.models.extracting import Sentence

_MOST = 12  # steps, or rows


def completed(chosen: Sequence[Sentence], read: Mapping[int, Sequence[Sentence]], characters: int) -> list[Sentence]:
    """With all steps of a numbered list of which the best or several were chosen, and all rows of a table of which several were,
    or which stands right below a sentence, where these fit.

    `read` holds the sentences of each excerpt in order.
    """
    found = list(chosen)
    for sentence in chosen:
        whole = _whole(sentence, read[sentence.n], chosen)
        added = [one for one in whole if one not in found]
        if added and len(whole) <= _MOST and sum(len(one.text) for one in (*found, *added)) <= characters:
            found += added
    return found


def _whole(sentence: Sentence, read: Sequence[Sentence], chosen: Sequence[Sentence]) -> list[Sentence]:
    if sentence.kind == "item":
        steps = next((steps for steps in _numbered(read) if sentence in steps), [])
        return steps if sentence is chosen[0] or sum(one in chosen for one in steps) > 1 else []
    following = next((one for one in read if one.index > sentence.index), None)
    below = following is not None and following.kind == "row" and sentence.kind == "prose"
    head = following if below else sentence
    if head is None or head.kind != "row":
        return []
    rows = [one for one in read if one.kind == "row" and one.table == head.table and one.header == head.header]
    return rows if below or sum(one in chosen for one in rows) > 1 else []


def _numbered(read: Sequence[Sentence]) -> list[list[Sentence]]:
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
