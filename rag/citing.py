"""Footnotes that are right (R27-R32): what a model wrote becomes an answer whose every mark was verified."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rag.claims import Group, groups, sentences_of, without_marks
from rag.marks import with_native_marks
from rag.own_sources import without_own_sources
from rag.renumbering import Numbering, finished, rewritten, without_reserved
from rag.sanitizing import Links, sanitized
from rag.support import Claim, SentenceSimilarity, Similarity, Support, Verdict, claimed
from rag.text import well_formed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.types import Cited, Match, Source

__all__ = ["Citations", "Judged", "SentenceSimilarity", "Similarity", "Support", "cite"]

_BEFORE_STOP = re.compile(r"[ \t][ \t]{0,7}(?=[.,;:!?])")  # where a mark stood
_STOP_BEHIND_BLANK = re.compile(r"[.,;:!?](?<=[ \t].)")  # of stops there are few, and blanks stand everywhere
_SHOWN = 200  # characters of a sentence that the trace keeps


class Judged(NamedTuple):
    """One mark, for the trace: the passage it named (0: none that was given), the sentence, how well it is supported."""

    n: int
    document: str
    sentence: str
    lexical: float = 0.0
    cosine: float | None = None
    reason: str = ""


class Citations(NamedTuple):
    """An answer's text, whose mark `[n]` means `sources[n - 1]`. `abstained`: no citation could be verified (R33)."""

    text: str
    sources: tuple[Source, ...] = ()
    kept: tuple[Judged, ...] = ()
    dropped: tuple[Judged, ...] = ()
    abstained: bool = False
    attached: bool = False

    def notes(self) -> dict[str, object]:
        """For the trace, as JSON values."""
        return {
            "kept": [_note(judged) for judged in self.kept],
            "dropped": [_note(judged) for judged in self.dropped],
            "attached": self.attached,
        }


def _note(judged: Judged) -> dict[str, object]:
    return {name: value for name, value in zip(judged._fields, judged, strict=True) if value not in ("", None)}


async def cite(  # noqa: PLR0913 - what was written, from what, and how strictly it is read, by name
    text: str,
    given: Sequence[Match],
    cited: Sequence[Cited] = (),
    *,
    support: Support,
    hosts: Sequence[str] = (),
    language: str = "",  # noqa: ARG001 - claims are read in their own language, which a model may choose otherwise
) -> Citations:
    """Mark `[n]` in `text`, and number n in `cited`, name the passage `given[n - 1]`.

    A text without any mark gets those that the passages clearly support. Without one that is verified: abstained.
    """
    titles = (name for match in given for name in (match.passage.title, match.passage.document))
    own = without_own_sources(with_native_marks(text, cited), titles)
    plain, found = without_marks(without_reserved(well_formed(own.text)))
    kept, dropped = await _verified(plain, groups(plain, found), given, support)
    attached = not found
    if attached:
        kept = await _attached(plain, given, own.numbers, support)
    numbering = Numbering(given)
    written = rewritten(plain, [(group, [judged.n for judged in of]) for group, of in kept], numbering)
    sources = numbering.sources()
    allowed = Links([place.link for source in sources for place in source.places], hosts)
    shown, sources = finished(sanitized(written, allowed), sources)
    flat = tuple(judged for _, of in kept for judged in of)
    return Citations(shown, sources, flat, tuple(dropped), not sources, attached and bool(sources))


_Kept = list[tuple[Group, list[Judged]]]


async def _verified(plain: str, found: Sequence[Group], given: Sequence[Match], support: Support) -> tuple[_Kept, list[Judged]]:
    """What each group of marks keeps, empty ones included: their places need tidying too."""
    asked = [(at, n) for at, group in enumerate(found) for n in group.numbers if 1 <= n <= len(given)]
    claims = [claimed((text, given[n - 1].passage)) for at, n in asked for text in found[at].claims]
    verdicts = iter(await support.judge(claims))
    kept: _Kept = [(group, []) for group in found]
    dropped = [
        Judged(0, "", _shown(plain, g), reason=f"[{n}] was not given") for g in found for n in g.numbers if not 1 <= n <= len(given)
    ]
    for at, n in asked:
        verdict = _strongest([next(verdicts) for _ in found[at].claims])
        judged = _judged(n, given, _shown(plain, found[at]), verdict)
        (kept[at][1] if verdict.supported else dropped).append(judged)
    return kept, dropped


def _strongest(verdicts: Sequence[Verdict]) -> Verdict:
    first, *others = verdicts
    return first if others.count(first) == len(others) else max(verdicts, key=_strength)  # as of a sentence and its clause


def _strength(verdict: Verdict) -> tuple[bool, float]:
    return verdict.supported, verdict.lexical


def _judged(n: int, given: Sequence[Match], sentence: str, verdict: Verdict) -> Judged:
    return Judged(n, given[n - 1].passage.document, sentence, verdict.lexical, verdict.cosine, verdict.reason)


def _shown(plain: str, group: Group) -> str:
    shown = plain[group.start : min(group.end, group.start + _SHOWN)]
    return _BEFORE_STOP.sub("", shown) if _STOP_BEHIND_BLANK.search(shown) else shown


async def _attached(plain: str, given: Sequence[Match], hinted: Sequence[int], support: Support) -> _Kept:
    """Marks for a text that has none: for each sentence the passage that clearly supports it best.

    A passage that the model named in its own list of sources need only support as much as a marked one.
    """
    sentences = sentences_of(plain)
    named = [n for n in hinted if 1 <= n <= len(given)]
    chosen = await _best(sentences, named, given, support, clearly=False) if named else {}
    rest = [n for n in range(1, len(given) + 1) if n not in named]
    left = [group for group in sentences if group not in chosen]
    chosen |= await _best(left, rest, given, support, clearly=True)
    kept: _Kept = []
    for index, group in enumerate(sentences):
        following = sentences[index + 1] if index + 1 < len(sentences) else None
        if group not in chosen:
            continue
        same = (
            following in chosen and chosen[following].n == chosen[group].n and following.block == group.block
            if following
            else False
        )
        if not same:  # of several sentences on one passage the last one is marked
            kept.append((group, [chosen[group]]))
    return kept


async def _best(
    sentences: Sequence[Group], numbers: Sequence[int], given: Sequence[Match], support: Support, *, clearly: bool
) -> dict[Group, Judged]:
    claims = [Claim(group.claims[0], given[n - 1].passage) for group in sentences for n in numbers]
    verdicts = iter(await support.judge(claims, clearly=clearly))
    chosen: dict[Group, Judged] = {}
    for group in sentences:
        ranked = [(next(verdicts), n) for n in numbers]
        supported = [(verdict, n) for verdict, n in ranked if verdict.supported]
        if supported:
            verdict, n = max(supported, key=lambda one: (one[0].lexical, one[0].cosine or 0.0, -one[1]))
            chosen[group] = _judged(n, given, group.claims[0][:_SHOWN], verdict)
    return chosen
