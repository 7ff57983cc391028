"""Chat completions, streamed. Servers differ in what they know: what one refuses is left out from then on (R25)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import openai

from rag.errors import ModelRefused, ModelUnavailable
from rag.models.openai_compatible.client import limits
from rag.models.openai_compatible.failures import FAULTS, message_of, ours
from rag.models.openai_compatible.thoughts import Thoughts
from rag.models.remote import streamed
from rag.text import estimated_tokens, well_formed
from rag.types import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rag.types import Piece, Prompt

CONTEXT_TOKENS: Final = 128_000
OWN_CONTEXT_TOKENS: Final = 16_000  # of a server of one's own, which may have less than its model could
_FINISHED: Final = {"stop": "complete", "eos": "complete", "length": "max_tokens"}
_ADAPTATIONS: Final = 5  # of one request
_NO_SYSTEM: Final = re.compile(r"\bsystem\b.{0,40}\brole\b|\broles?\b.{0,40}(?:\bsystem\b|alternat)", re.IGNORECASE)


class OpenAIWriter:
    """`is_openai` False for a server of one's own: it knows `top_k`, and the older name of `max_tokens`."""

    is_model = True

    def __init__(self, client: openai.AsyncOpenAI, model: str, *, is_openai: bool, context_tokens: int | None = None) -> None:
        self.name = model
        self.context_tokens = context_tokens or (CONTEXT_TOKENS if is_openai else OWN_CONTEXT_TOKENS)
        self._client = client
        self._is_openai = is_openai
        self._unknown: set[str] = set()  # parameters that the server refused
        self._takes_system = True
        self._limit = "max_completion_tokens" if is_openai else "max_tokens"

    def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Consume under `contextlib.aclosing`. Raises ModelError."""
        return streamed(lambda: self._pieces(prompt), prompt.sampling.seconds, self.name)

    async def _pieces(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        thoughts, finish, usage = Thoughts(), "", None
        text = ""
        try:
            stream = await self._open(prompt)
            async with stream:
                async for chunk in stream:
                    usage = getattr(chunk, "usage", None) or usage
                    for choice in (chunk.choices or ())[:1]:
                        finish = choice.finish_reason or finish
                        piece = thoughts.without(getattr(choice.delta, "content", None) or "")
                        if piece:
                            text += piece
                            yield piece
        except FAULTS as error:
            raise ours(error, self.name, begun=bool(text)) from error
        if rest := thoughts.rest():
            text += rest
            yield rest
        yield self._usage(prompt, text, finish, usage)

    async def _open(self, prompt: Prompt) -> openai.AsyncStream[Any]:
        for _ in range(_ADAPTATIONS):
            request = self._request(prompt)
            try:
                return await self._create(request, prompt)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._adapted(request, error):
                    raise
        return await self._create(self._request(prompt), prompt)

    async def _create(self, request: dict[str, Any], prompt: Prompt) -> openai.AsyncStream[Any]:
        client = self._client.with_options(max_retries=0, timeout=limits(prompt.sampling.seconds))
        stream: openai.AsyncStream[Any] = await client.chat.completions.create(model=self.name, stream=True, **request)
        return stream

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        sampling = prompt.sampling
        wanted: dict[str, Any] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self._limit: sampling.max_tokens,
            "stream_options": {"include_usage": True},
        }
        request = {name: value for name, value in wanted.items() if value is not None and name not in self._unknown}
        if sampling.top_k is not None and not self._is_openai and "top_k" not in self._unknown:
            request["extra_body"] = {"top_k": sampling.top_k}
        return {"messages": self._messages(prompt), **request}

    def _messages(self, prompt: Prompt) -> list[dict[str, str]]:
        system, user = well_formed(prompt.system).strip(), well_formed(prompt.user)
        if not system:
            return [{"role": "user", "content": user}]
        if not self._takes_system:
            return [{"role": "user", "content": f"{system}\n\n{user}"}]
        return [{"role": "system", "content": system}, {"role": "user", "content": user}]

    def _adapted(self, request: dict[str, Any], error: openai.APIStatusError) -> bool:
        """Whether the next request leaves out what this server refused in the last one."""
        message = f"{message_of(error)} {error.param or ''} {error.body if isinstance(error.body, dict) else ''}"
        if self._takes_system and len(request["messages"]) > 1 and _NO_SYSTEM.search(message):
            self._takes_system = False
            return True
        if self._limit in request and self._limit == "max_tokens" and "max_completion_tokens" in message:
            self._limit = "max_completion_tokens"
            return True
        sent = [*request.keys() - {"messages", "extra_body"}, *request.get("extra_body", {})]
        refused = [name for name in sent if re.search(rf"\b{name}\b", message)]
        self._unknown.update(refused)
        return bool(refused)

    def _usage(self, prompt: Prompt, text: str, finish: str, usage: Any) -> Usage:
        if not finish:
            raise ModelUnavailable(f"{self.name} broke off before its answer was complete. Try again.")
        if finish not in _FINISHED:
            raise ModelRefused(f"{self.name} stopped before its answer was complete ({finish}).")
        if usage is None:
            guessed = estimated_tokens(prompt.system) + estimated_tokens(prompt.user), estimated_tokens(text)
            return Usage(self.name, *guessed, _FINISHED[finish], "the server does not tell tokens: they are estimated")
        return Usage(self.name, usage.prompt_tokens or 0, usage.completion_tokens or 0, _FINISHED[finish])
