"""An answer as Discord shows it: its Markdown, no pings, no previews, tables as aligned text, the sources below (D4, D6)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bots.pieces import pieces
from bots.tables import with_tables_aligned
from rag.abstaining import wording
from rag.code_spans import pieces as stretches
from rag.footers import safe_link, title_of
from rag.labels import plain_title

if TYPE_CHECKING:
    from rag.types import Answer, Source

LIMIT = 2000  # code points of a message
QUOTED = 300  # characters of a question that is repeated
MESSAGES = 3  # more than these become a file

_DEEP_HEADING = re.compile(r"^#{4,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_INVITE = r"discord(?:\.gg|\.new|\.gift|(?:app)?\.com/invite)"
# a link with a label; one in `<>` already; one as it is typed; what leads into Discord or a program without being a link
_LINKED = re.compile(
    r"!?\[([^\]\n]*)\]\(<?(https?://[^)\s>]+)>?(?:[ \t]+\"[^\"\n]*\")?\)"
    r"|(?<!\\)<https?://[^\s<>]+>"
    r"|(?<![^\W_])(https?://[^\s<>|]+)"
    rf"|(?<![\w/.-])((?:www\.)?{_INVITE}(?=/\w)|(?:steam|discord):(?=//))",
    re.IGNORECASE,
)
_LEADING = re.compile(rf":(?=//)|www(?=\.)|{_INVITE}(?=/)|<(?=\S)", re.IGNORECASE)
_ADDRESS = re.compile(r"\w+://|www\.", re.IGNORECASE)
# mentions of persons, roles, channels, commands and emoji; times; everyone and here
_CALLS = re.compile(r"<(?=[@#/:]|a:|t:|id:)|@(?=everyone|here)", re.IGNORECASE)
_TRAILING = ".,;:!?。，；：！？'\"*_~\\"
_MARKED = re.compile(r"([_~])")
_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)


def messages(answer: Answer, heading: str = "") -> list[str]:
    """The whole answer with its footer, as the messages that show it."""
    return pieces(heading + whole(answer), LIMIT)


def whole(answer: Answer) -> str:
    return "\n\n".join(part for part in (shown(answer.text), below(answer)) if part)


def growing(draft: str, heading: str = "") -> list[str]:
    """An answer on its way: every message stands by itself, code closed."""
    return pieces(heading + shown(draft), LIMIT)


def quoted(question: str) -> str:
    """A question above its answer, on one line: who reads along in a channel does not see what a command was given.

    No address in it is one that can be clicked, whatever stands around it: the message is ours, what it says is anybody's (X1).
    """
    line = " ".join(question.split())
    line = line if len(line) <= QUOTED else f"{line[: QUOTED - 1].rstrip()}…"
    return f"> {_LEADING.sub(_broken, _CALLS.sub(_broken, line))}\n"


def shown(text: str) -> str:
    """Markdown of an answer as Discord reads it."""
    text = with_tables_aligned(text)
    return "".join(text[start:end] if code else _prose(text[start:end]) for start, end, code in stretches(text))


def _prose(text: str) -> str:
    text = _CALLS.sub(_broken, text)
    text = _RULE.sub("", _DEEP_HEADING.sub(r"**\1**", text))
    return _LINKED.sub(_unseen, text)


def _broken(match: re.Match[str]) -> str:
    return f"{match[0]}\N{ZERO WIDTH SPACE}"


def _unseen(match: re.Match[str]) -> str:
    """A link in `<>` has no preview. A label that is an address itself is shown by Discord as it is typed: leave it out."""
    if match[3]:
        link = match[3].rstrip(_TRAILING)
        link = link[:-1] if link.endswith(")") and link.count("(") < link.count(")") else link
        return f"<{link}>{match[3][len(link) :]}"
    if match[4]:
        return _broken(match)
    if match[1] is None:
        return match[0]
    label, link = match[1].strip(), safe_link(match[2])
    return f"<{link}>" if not label or _ADDRESS.search(label) else f"[{label}](<{link}>)"


def below(answer: Answer) -> str:
    """In small letters: a remark, and the footer, or the nearest documents where the answer abstains (R27, R32, R33)."""
    return "\n\n".join(_small(lines) for lines in ([answer.remark] if answer.remark else [], _footer(answer)) if lines)


def _footer(answer: Answer) -> list[str]:
    if not answer.abstained:
        return ["SOURCES:", *map(entry, answer.sources)] if answer.sources else []
    if not answer.suggestions:
        return []
    return [wording(answer.language).suggestions, *(f"- {_places(source)}" for source in answer.suggestions)]


def _small(lines: list[str]) -> str:
    return "\n".join(f"-# {line}" for line in lines)


def entry(source: Source) -> str:
    """`[n] title — place`, each place with its own link."""
    return f"[{source.n}] {_places(source)}"


def _places(source: Source) -> str:
    title = title_of(source)
    if not source.places:
        return _escaped(title)
    first, *others = source.places
    shown = [_linked(f"{title} — {label}" if (label := plain_title(first.label)) else title, first.link)]
    shown += [_linked(plain_title(place.label) or str(number), place.link) for number, place in enumerate(others, 2)]
    return "; ".join(shown)


def _linked(label: str, link: str) -> str:
    """Only addresses of the web are clickable; a label with an address in it would be shown as it is typed."""
    if not link.startswith(("https://", "http://")):
        return _escaped(label)
    if _ADDRESS.search(label):
        return f"{_escaped(label)} <{safe_link(link)}>"
    return f"[{_escaped(label)}](<{safe_link(link)}>)"


def _escaped(label: str) -> str:
    """A title is neither marked up nor, where it looks like an address, clickable: only what is cited is (X1)."""
    return f"`{label}`" if _ADDRESS.search(label) else _MARKED.sub(r"\\\1", label)


def with_more_in_file(answer: Answer, heading: str = "") -> str:
    """The beginning of an answer that is too long for messages, and its sources; the whole stands in the file beside it."""
    footer = below(answer)
    more = "\n\n…\n*The whole answer is in the file.*"
    room = LIMIT - len(heading) - len(more) - len(footer) - 2
    if room < LIMIT // 4:
        footer, room = "", LIMIT - len(heading) - len(more)  # it is in the file
    return "\n\n".join(part for part in (heading + pieces(shown(answer.text), room)[0] + more, footer) if part)


def cut(text: str) -> str:
    """One message of what is not an answer; what does not fit is left out, and said to be."""
    first, *others = pieces(shown(text), LIMIT - 2)
    return f"{first}\n…" if others else first
