"""Model text cannot create links (X1): what is not cited nor allow-listed stays readable and cannot be clicked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from rag.code_spans import pieces, with_fences_closed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

# No class here reaches over the bracket that ends it, so that each is read once, however the text is made.
_LABEL = r"(?:[^\[\]]|\[[^\[\]]{0,300}\]){0,1000}"
_DESTINATION = r"(?:[^()]|\([^()]{0,500}\)){0,2000}"
_IMAGE = re.compile(rf"[ \t]?!\[{_LABEL}\](?:\({_DESTINATION}\)|\[[^\[\]]{{0,300}}\])")
_LINK = re.compile(rf"\[(?P<label>{_LABEL})\]\((?P<to>{_DESTINATION})\)")
_REFERENCE = re.compile(r"\[(?P<label>[^\[\]\n]{1,300})\][ ]?\[(?P<name>[^\[\]\n]{0,300})\]")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]\n]{1,300})\]:[ \t]*\n?[ \t]*(\S{1,2000})[^\n]*(?:\n|$)", re.MULTILINE)
_AUTOLINK = re.compile(r"<((?:[a-z][a-z0-9+.-]{1,30}:|www\.)[^\s<>|]{1,2000})(?:\|([^<>\n]{0,500}))?>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|img|picture|source|iframe|script|style|video|audio|svg|object|embed|form|link|meta|base)\b[^<>]{0,2000}>",
    re.IGNORECASE,
)
_OPEN_TAG = re.compile(
    r"<(?=/?(?:a|img|picture|source|iframe|script|style|video|audio|svg|object|embed|form|link|meta|base)\b)", re.IGNORECASE
)
_BARE = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}://|\b(?:javascript|vbscript|mailto):(?=\S)|\bdata:(?=[a-z]{1,20}/)|(?<![a-z0-9])(?=www\.))"
    r"[^\s<>\[\]`\"\ue000\ue001，。；！？、（）【】「」《》]{1,2000}",
    re.IGNORECASE,
)
_ADDRESS_LIKE = re.compile(r":\S")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}://|^[a-z][a-z0-9+.-]{0,30}:", re.IGNORECASE)
_SCHEME_INSIDE = re.compile(r"[a-z][a-z0-9+.-]{0,30}://|\bwww\.", re.IGNORECASE)
_TRAILING = ".,;:!?)'*_~|}"
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\@<>\"`^{}|]")


class Links(NamedTuple):
    """What may be clicked: these very addresses (a fragment aside), and any page of these hosts and those under them."""

    addresses: Collection[str] = ()
    hosts: Sequence[str] = ()

    def allow(self, address: str) -> bool:
        if _UNSAFE.search(address) or not address.isascii():
            return address in self.addresses and not _UNSAFE.search(address) and _is_web(address)
        if not _is_web(address):
            return False
        page = address.partition("#")[0]
        if any(page == known.partition("#")[0] for known in self.addresses):
            return True
        host = _host(address)
        return bool(host) and any(
            host == allowed or host.endswith(f".{allowed}") for allowed in map(_bare_host, self.hosts) if allowed
        )


def _is_web(address: str) -> bool:
    return address.lower().startswith(("http://", "https://"))


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").rstrip(".").lower()
    except ValueError:  # not an address at all
        return ""


def _bare_host(allowed: str) -> str:
    return allowed.strip().lower().lstrip("*").strip(".")


_SIGNS = "`~[]<:"  # most text has none of what code and links are made with


def sanitized(text: str, links: Links) -> str:
    """The text with every link that is not allowed made plain, without images and without HTML that loads or links.

    Code stays as it is; an unfinished block of code is ended.
    """
    if not any(map(text.__contains__, _SIGNS)) and "www." not in text.lower():
        return text
    if "`" in text or "~~~" in text:
        text = _with_plain_code(with_fences_closed(text))
    text = _outside_code(text, _without_images)
    defined = {name.casefold(): address for name, address in _DEFINITION.findall(text)} if "]:" in text else {}
    text = _outside_code(text, lambda part: _without_links(part, links, defined))
    return _outside_code(text, lambda part: _without_addresses(part, links))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts: list[str] = []
    for start, end, is_code in pieces(text):
        part = text[start:end] if is_code else change(text[start:end])
        if parts and parts[-1].endswith("`") and part.startswith("`"):
            parts.append(" ")  # two stretches of code that touch would be one
        if part:
            parts.append(part)
    return "".join(parts)


# Without its pair it begins no code in Markdown, yet it does on chat platforms; tildes do once a bracket before them is gone.
_STRAY_FENCE = re.compile(r"`{2,}|~{3,}")
_LIKE_A_FENCE = "\N{MODIFIER LETTER GRAVE ACCENT}" * 3
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")


def _with_plain_code(text: str) -> str:
    """Code that every chat platform takes for code: they know no tildes, and end a block at the first three backticks."""
    return "".join(
        _plain_code(text[start:end]) if is_code else _STRAY_FENCE.sub("", text[start:end]) for start, end, is_code in pieces(text)
    )


def _plain_code(code: str) -> str:
    first, _, body = code.partition("\n")
    fence = _FENCE.fullmatch(first) if body else None
    if fence is None:
        return _SCHEME_INSIDE.sub("", code) if "`" in code[1:-1] else code  # read otherwise by some platform
    lines, _, last = body.rpartition("\n")
    if _FENCE.fullmatch(last.rstrip()) is None:
        return _SCHEME_INSIDE.sub("", code)
    return f"```{fence[2]}\n{lines.replace('```', _LIKE_A_FENCE)}\n```"


# One character that each link has tells in a fraction of the time that the patterns take whether text holds any.


def _without_images(text: str) -> str:
    if "![" in text:
        text = _IMAGE.sub("", text)
    return _TAG.sub("", text) if "<" in text else text


def _without_links(text: str, links: Links, defined: dict[str, str]) -> str:
    if "[" not in text and "<" not in text:
        return text

    def link(match: re.Match[str]) -> str:
        return _link(match["label"], _address(match["to"]), links)

    def reference(match: re.Match[str]) -> str:
        label, name = match["label"], match["name"]
        address = defined.get((name or label).casefold())
        return match[0] if address is None else _link(label, _address(address), links)

    def autolink(match: re.Match[str]) -> str:
        address, label = match[1], match[2]
        if not links.allow(address):
            return label or _defused(address)
        return f"[{_clean_label(label)}]({address})" if label else f"<{address}>"

    return _REFERENCE.sub(reference, _LINK.sub(link, _AUTOLINK.sub(autolink, _DEFINITION.sub("", text))))


def _address(destination: str) -> str:
    """The address of a link's destination, without the title that may follow it."""
    return destination.strip().partition(" ")[0].partition("\n")[0].strip("<>")


def _link(label: str, address: str, links: Links) -> str:
    if not links.allow(address):
        return label
    return f"[{_clean_label(label)}]({address.replace('(', '%28').replace(')', '%29')})"


def _clean_label(label: str) -> str:
    """A label may not name another address than the one it leads to."""
    return _BARE.sub(lambda match: _defused(match[0]).strip("`"), label.replace("\n", " "))


_KEPT = re.compile(r"\]\((https?://[^()\s]{1,2000})\)|<(https?://[^\s<>]{1,2000})>")


def _without_addresses(text: str, links: Links) -> str:
    """Defuse what the patterns for whole links left: bare addresses, broken links, tags without an end."""
    if "<" not in text and "](" not in text:
        return _plain(text, links)
    parts: list[str] = []
    done = 0
    for match in _KEPT.finditer(text):
        if links.allow(match[1] or match[2]):
            parts.extend((_plain(text[done : match.start()], links), match[0]))
            done = match.end()
    return "".join((*parts, _plain(text[done:], links)))


def _plain(text: str, links: Links) -> str:
    may_hold_one = _ADDRESS_LIKE.search(text) is not None or "www." in text.lower()
    if may_hold_one and "`" in text and _BARE.search(text):
        text = text.replace("`", "")  # one that has no pair would take that of an address shown as code
    if "<" in text:
        text = _OPEN_TAG.sub("< ", text)
    text = text.replace("](", "] (")
    return _BARE.sub(lambda match: _bare(match[0], links), text) if may_hold_one else text


def _bare(found: str, links: Links) -> str:
    address = found.rstrip(_TRAILING)
    if found.endswith(")") and address.count("(") > address.count(")"):
        address = found[: len(address) + 1]
    rest = found[len(address) :]
    return found if not address or links.allow(address) else _defused(address) + rest


def _defused(address: str) -> str:
    """Readable, and no program makes a link of it: as code, without its scheme."""
    bare = _SCHEME.sub("", address.replace("`", ""))
    return f"`{bare}`" if bare else ""
