"""Cohere's chat (v2): streamed, the passages as documents, with the model's own citations.

The SDK never retries a stream, takes one that ends without its last event for whole, and knows no total time: all three are
done here or in `rag.models.remote`.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, Final

from rag import material
from rag.errors import ModelUnavailable
from rag.models.cohere.failures import FAULTS, ours
from rag.models.cohere.reading import Reading
from rag.models.remote import streamed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import cohere

    from rag.types import Piece, Prompt, Sampling

CONTEXT_TOKENS: Final = 128_000
SILENCE: Final = 30.0  # seconds without an event: the stream stalls
_LINGER: Final = 0.5  # seconds for the end of a stream after its last event
_HOTTEST: Final = 1.0
_MOST_K: Final = 500
_LEAST_P, _MOST_P = 0.01, 0.99


class CohereWriter:
    """`silence` bounds the time between two events; the whole call is bounded by the prompt's own seconds."""

    is_model = True

    def __init__(
        self, client: cohere.AsyncClientV2, model: str, *, context_tokens: int = CONTEXT_TOKENS, silence: float = SILENCE
    ) -> None:
        self.name = model
        self.context_tokens = context_tokens
        self._client = client
        self._silence = silence

    def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Consume under `contextlib.aclosing`. Raises ModelError."""
        return streamed(lambda: self._pieces(prompt), prompt.sampling.seconds, f"Cohere's {self.name}")

    async def _pieces(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        reading = Reading(self.name)
        try:
            async with aclosing(self._events(prompt)) as events:
                async for event in events:
                    if text := reading.take(event):
                        yield text
                    if reading.usage is not None:
                        await _read_out(events)
                        break
        except FAULTS as error:
            raise ours(error, self.name) from error
        if reading.usage is None:
            raise ModelUnavailable(f"Cohere's {self.name} broke off before its answer was complete. Try again.")
        for cited in reading.cited():
            yield cited
        yield reading.usage

    def _events(self, prompt: Prompt) -> AsyncGenerator[Any, None]:
        """Annotated as an iterator by the SDK, and really a generator: closing it closes the connection."""
        stream: Any = self._client.chat_stream(
            model=self.name,
            messages=_messages(prompt),
            request_options={"timeout": min(self._silence, prompt.sampling.seconds), "max_retries": 0},
            **_documents(prompt),
            **_sampling(prompt.sampling),
        )
        generator: AsyncGenerator[Any, None] = stream
        return generator


async def _read_out(events: AsyncGenerator[Any, None]) -> None:
    """What comes after the last event says nothing, but a connection that was read to its end is used again."""
    with suppress(TimeoutError, *FAULTS):
        async with asyncio.timeout(_LINGER):
            async for _ in events:
                pass


def _messages(prompt: Prompt) -> list[Any]:
    """With documents, what the template says of the passages is left out: the model gets them apart, and only once."""
    user = prompt.user
    if prompt.excerpts:
        parts = (material.conversation(prompt.history), material.question(prompt.question))
        user = "\n\n".join(part for part in parts if part)
    system = [{"role": "system", "content": prompt.system}] if prompt.system.strip() else []
    return [*system, {"role": "user", "content": user}]


def _documents(prompt: Prompt) -> dict[str, Any]:
    """Each under the number that it is cited by."""
    documents = [
        {
            "id": str(excerpt.n),
            "data": {
                "title": material.plain_title(excerpt.title),
                "snippet": material.defused(excerpt.text, material.PASSAGE_LIMIT),
            },
        }
        for excerpt in prompt.excerpts
    ]
    return {"documents": documents} if documents else {}


def _sampling(sampling: Sampling) -> dict[str, Any]:
    """What is set, within Cohere's bounds (R25)."""
    wanted = {
        "temperature": None if sampling.temperature is None else min(sampling.temperature, _HOTTEST),
        "p": None if sampling.top_p is None else min(max(sampling.top_p, _LEAST_P), _MOST_P),
        "k": None if sampling.top_k is None else min(sampling.top_k, _MOST_K),
        "max_tokens": sampling.max_tokens,
    }
    return {name: value for name, value in wanted.items() if value is not None}
