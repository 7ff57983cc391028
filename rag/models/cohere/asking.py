"""Whether Cohere takes a key and knows a model, without paying for a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rag.errors import ModelRefused
from rag.models.cohere.failures import FAULTS, ours

if TYPE_CHECKING:
    from cohere.core.request_options import RequestOptions

    from rag.models.cohere.client import Client

_OPTIONS: Final[RequestOptions] = {"timeout": 10.0, "max_retries": 1}


async def check_key(client: Client) -> None:
    """By a list of one model: the call that is made for it the SDK gave up. Raises ModelError."""
    try:
        await client.models.list(page_size=1, request_options=_OPTIONS)
    except FAULTS as error:
        raise ours(error, "models") from error


async def check_model(client: Client, model: str, kind: str) -> None:
    """`kind` is chat, embed or rerank. Raises ModelError."""
    try:
        found = await client.models.get(model, request_options=_OPTIONS)
    except FAULTS as error:
        raise ours(error, model) from error
    if found.endpoints and kind not in found.endpoints:
        raise ModelRefused(
            f"Cohere's {model} is no model for {kind}, but for {', '.join(map(str, found.endpoints))}. Name another one."
        )
    if found.is_deprecated:
        raise ModelRefused(f"Cohere's {model} is deprecated. Name a newer one under [models].")
