"""One connection to OpenAI, or to a server that speaks as it does: Ollama, vLLM, llama.cpp."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

import openai

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Client: TypeAlias = openai.AsyncOpenAI

CONNECT_SECONDS: Final = 5.0
_NO_KEY: Final = "none"  # the SDK wants one, and servers of one's own mostly do not


@asynccontextmanager
async def open_client(key: str, url: str) -> AsyncIterator[Client]:
    """Without `url`: OpenAI itself."""
    async with openai.AsyncOpenAI(
        api_key=key or _NO_KEY, base_url=url or "https://api.openai.com/v1", timeout=limits(60.0)
    ) as client:
        yield client


def limits(seconds: float) -> openai.Timeout:
    """A server that is not there is found out sooner than a slow one."""
    return openai.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
