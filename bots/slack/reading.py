"""What a message of Slack says, wherever in it that stands: its text, blocks, attachments, tables and text files (S4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

import aiohttp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bots.slack.web import Workspace

Json: TypeAlias = dict[str, Any]  # Slack's own form

LARGEST_FILE = 100_000  # bytes that are read of an attached text
MOST_FILES = 3
_TEXTS = frozenset({"text", "markdown", "csv", "tsv", "json", "yaml", "xml", "html", "log", "diff", "python", "shell", "sql"})
_INLINE = frozenset({"rich_text_section", "rich_text_preformatted", "rich_text_quote"})
_DOWNLOAD_SECONDS = 5


def said(message: Json) -> str:
    """All but its files, in Slack's own mark-up. Blocks say what the text says, unless there is no text."""
    text = str(message.get("text") or "").strip()
    parts = [text or "\n".join(_blocks(message.get("blocks")))]
    for attachment in message.get("attachments") or []:
        if not (attachment.get("is_msg_unfurl") and not attachment.get("is_share")) and not attachment.get("from_url"):
            parts += _attachment(attachment)
    return "\n".join(dict.fromkeys(part for part in parts if part))


def _attachment(attachment: Json) -> Iterator[str]:
    """An alert's title, text and fields; a forwarded message; a pasted table."""
    author = attachment.get("author_name")
    if attachment.get("is_share") and author:
        yield f"(forwarded from {author}:)"
    found = [str(attachment.get(name) or "") for name in ("pretext", "title", "text")]
    found += [f"{field.get('title', '')}: {field.get('value', '')}" for field in attachment.get("fields") or []]
    found += _blocks(attachment.get("blocks"))
    if not any(found):
        for each in attachment.get("message_blocks") or []:
            found += _blocks((each.get("message") or {}).get("blocks"))
    yield from [part for part in found if part] or [str(attachment.get("fallback") or "")]
    for file in attachment.get("files") or []:
        yield f"(file: {file.get('name', '')})"


def _blocks(blocks: Any) -> list[str]:
    return [text for block in blocks or [] if (text := _block(block).strip())]


def _block(block: Any) -> str:
    if not isinstance(block, dict) or block.get("type") in {"actions", "context_actions"}:
        return ""
    match block.get("type"):
        case "table":
            found = "\n".join(" | ".join(_block(cell) for cell in row) for row in block.get("rows", []))
        case "user":
            found = f"<@{block.get('user_id')}>"
        case "link":
            found = f"<{block.get('url')}|{block.get('text') or block.get('url')}>"
        case "rich_text_list":
            found = "\n".join(f"- {_block(element)}" for element in block.get("elements", []))
        case kind:
            text = block.get("text")
            parts = [text if isinstance(text, str) else _block(text)]
            parts += [_block(part) for part in (*block.get("fields", []), *block.get("elements", []))]
            found = ("" if kind in _INLINE else "\n").join(part for part in parts if part)
    return found


async def files(message: Json, workspace: Workspace) -> str:
    """The texts that are attached, and what was not read, so that nobody believes it was."""
    parts = []
    for number, file in enumerate(message.get("files") or []):
        content = await _content(file, workspace) if number < MOST_FILES else None
        name = file.get("name") or file.get("title") or "file"
        parts.append(f"(attached file {name}, not read)" if content is None else f"(attached file {name}:)\n{content}")
    return "\n".join(parts)


async def _content(file: Json, workspace: Workspace) -> str | None:
    address = str(file.get("url_private_download") or file.get("url_private") or "")
    is_text = str(file.get("mimetype", "")).startswith("text/") or file.get("filetype") in _TEXTS
    if not is_text or not _slacks(address, workspace):
        return None
    session = workspace.client.session
    headers = {"Authorization": f"Bearer {workspace.client.token}"}
    timeout = aiohttp.ClientTimeout(total=_DOWNLOAD_SECONDS)
    if session is None:
        return None
    try:
        async with session.get(address, headers=headers, timeout=timeout, allow_redirects=False) as answer:
            if answer.status != 200 or "html" in answer.content_type:  # noqa: PLR2004 - HTTP's; without the scope it is a log-in page
                return None
            content = await answer.content.read(LARGEST_FILE)
    except (aiohttp.ClientError, TimeoutError, OSError):
        return None
    return content.decode("utf-8", "replace")


def _slacks(address: str, workspace: Workspace) -> bool:
    """Our token goes to Slack alone."""
    found, own = urlsplit(address), urlsplit(workspace.client.base_url)
    host = found.hostname or ""
    return (found.scheme, found.netloc) == (own.scheme, own.netloc) or (
        found.scheme == "https" and (host == "slack.com" or host.endswith(".slack.com"))
    )
