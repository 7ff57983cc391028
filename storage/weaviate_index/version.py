"""Whether a server is a Weaviate, and one that is new enough."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import httpx
from weaviate.exceptions import UnexpectedStatusCodeError

from rag.errors import StoreError
from storage.weaviate_index.address import rest_host
from storage.weaviate_index.calls import Calls

if TYPE_CHECKING:
    import ssl

    from storage.weaviate_index.address import WeaviateSettings

OLDEST = (1, 33)  # aliases, and filters that say "not"


async def check_version(settings: WeaviateSettings) -> str:
    """The server's version. What is needed of it is in every one since 1.33: no module of the server is used.

    Asked without the client, which fails in many ways on whatever is no Weaviate, or an old one. Raises as `connected` does.
    """
    shown = rest_host(settings).shown
    found = await Calls(shown, settings.search_seconds, settings.search_patience)(lambda: _version(settings))
    if not release(found):
        raise StoreError(f"What answers at {shown} is not Weaviate. Check WEAVIATE_URL.")
    if release(found) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise StoreError(f"Weaviate at {shown} is version {found}, and Footnote needs {oldest} or newer. Install a newer one.")
    return found


def release(version: str) -> tuple[int, ...]:
    """Its first two numbers; () where it is none."""
    parts = version.split(".")[: len(OLDEST)]
    return tuple(map(int, parts)) if len(parts) == len(OLDEST) and all(part.isdigit() for part in parts) else ()


async def is_ready(settings: WeaviateSettings) -> bool:
    """Whether it has started altogether. The client's own question prints what goes wrong where answers are printed."""
    return (await _get(settings, ".well-known/ready")).status_code == httpx.codes.OK


async def _version(settings: WeaviateSettings) -> str:
    response = await _get(settings, "meta")
    if response.status_code == httpx.codes.NOT_FOUND:
        return ""
    if response.status_code != httpx.codes.OK:
        raise UnexpectedStatusCodeError("meta", response)
    try:
        return str(response.json()["version"])
    except (ValueError, KeyError, TypeError):
        return ""


async def _get(settings: WeaviateSettings, path: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    async with httpx.AsyncClient(headers=headers, timeout=settings.search_seconds, verify=_certificates()) as http:
        return await http.get(f"{rest_host(settings).shown}/v1/{path}")


@cache
def _certificates() -> ssl.SSLContext:
    """Loaded once: each client would do it by itself, for 20 ms, in the midst of a question while the server starts."""
    return httpx.create_ssl_context()
