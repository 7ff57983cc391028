"""A strict OpenAI-compatible server, as OpenAI, Ollama, vLLM or llama.cpp: what each lacks, and how each says no."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from aiohttp import web

from tests.fakes.model_server import KEY, Fault, ModelServer, Wrong, as_json, likeness, stream_of, vector_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CHAT, EMBED = "/v1/chat/completions", "/v1/embeddings"
CHAT_MODELS = ("gpt-4.1-mini", "llama3.1")
EMBED_MODELS = ("text-embedding-3-small", "nomic-embed-text")
DIMENSIONS = {"text-embedding-3-small": 1536, "nomic-embed-text": 768}
MOST_INPUTS = 2048
LIKE = 0.1  # from which on a description fits a question

Maker: TypeAlias = Literal["openai", "ollama", "vllm", "llama.cpp"]
Lack: TypeAlias = Literal["usage", "system", "stream_options", "temperature", "max_tokens", "roles", "finish"]

_FIELDS = {
    "model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "stream", "stream_options", "top_k",
}  # fmt: skip


_BASE = re.compile(r'<base name="([^"]*)">([^<]*)</base>')


@dataclass(frozen=True, slots=True)
class Says:
    """One streamed answer. `fault` comes once `after` pieces were sent; an `error` is told within the stream."""

    text: str
    finish: str = "stop"
    fault: Fault = ""
    after: int = 2
    error: str = ""


class FakeOpenAI(ModelServer[Says]):
    """Without a script, a question is answered with the first sentence of the passage most like it, marked."""

    def __init__(self, maker: Maker = "openai", lacks: tuple[Lack, ...] = (), longest: int = 100_000) -> None:
        super().__init__()
        self.maker = maker
        self.lacks = lacks
        self.longest = longest

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    async def answer(self, request: web.Request, path: str, body: Mapping[str, Any], reply: Says | None) -> web.StreamResponse:
        if self.maker == "openai" and request.headers.get("Authorization") != f"Bearer {KEY}":
            raise Wrong(401, f"Incorrect API key provided: {request.headers.get('Authorization', '')[7:]}.")
        if path == CHAT:
            self._check_chat(body)
            return await self._chat(request, body, reply or Says(_by_rule(body)))
        if path == EMBED:
            self._check_embed(body)
            return web.json_response(_embedded(body))
        if path.startswith("/v1/models/"):
            return self._model(path.removeprefix("/v1/models/"))
        raise Wrong(404, "Not Found")

    def failure(self, status: int, message: str, headers: Mapping[str, str]) -> web.Response:
        bodies: Mapping[Maker, dict[str, Any]] = {
            "openai": {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}},
            "ollama": {"error": message},
            "vllm": {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": status},
            "llama.cpp": {"error": {"code": status, "message": message, "type": "invalid_request_error"}},
        }
        return web.json_response(bodies[self.maker], status=status, headers=headers)

    def _check_chat(self, body: Mapping[str, Any]) -> None:
        for name in body:
            if name not in _FIELDS or (self.maker == "openai" and name == "top_k"):
                raise Wrong(400, f"Unrecognized request argument supplied: {name}")
            if name in self.lacks:
                instead = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                raise Wrong(400, f"Unsupported parameter: '{name}' is not supported with this model.{instead}")
        self._check_model(body, CHAT_MODELS)
        roles = [message["role"] for message in body["messages"]]
        if "system" in self.lacks and "system" in roles:
            raise Wrong(400, "Jinja Exception: System role not supported")
        if roles[-1] != "user" or not set(roles) <= {"system", "user", "assistant"}:
            raise Wrong(400, "messages must end with the user's")
        if not 0 <= body.get("temperature", 1) <= 2 or not 0 < body.get("top_p", 1) <= 1:
            raise Wrong(400, "Invalid value for 'temperature' or 'top_p'")

    def _check_embed(self, body: Mapping[str, Any]) -> None:
        self._check_model(body, EMBED_MODELS)
        if not 0 < len(body["input"]) <= MOST_INPUTS or not all(isinstance(text, str) and text for text in body["input"]):
            raise Wrong(400, "'$.input' is invalid.")
        if any(len(text) > self.longest for text in body["input"]):
            raise Wrong(500 if self.maker == "llama.cpp" else 400, "input is too large to process: longer than the context length")
        if "dimensions" in body and not body["model"].startswith("text-embedding-3"):
            raise Wrong(400, "This model does not support specifying dimensions.")
        if body.get("encoding_format", "float") != "float":
            raise Wrong(400, "encoding_format is not supported")

    def _check_model(self, body: Mapping[str, Any], models: tuple[str, ...]) -> None:
        if body["model"] not in models:
            raise Wrong(404, f"model '{body['model']}' not found, try pulling it first")

    def _model(self, name: str) -> web.Response:
        if name not in CHAT_MODELS + EMBED_MODELS:
            raise Wrong(404, f"The model '{name}' does not exist")
        return web.json_response({"id": name, "object": "model", "created": 0, "owned_by": "us"})

    async def _chat(self, request: web.Request, body: Mapping[str, Any], says: Says) -> web.StreamResponse:
        response = await stream_of(request)
        wants_usage = body.get("stream_options", {}).get("include_usage") and "usage" not in self.lacks
        for number, event in enumerate(self._events(says, wants_usage=bool(wants_usage))):
            if says.fault and says.fault != "no end" and number == says.after + 1:
                if says.fault == "cut":
                    self.cut(request)
                    return response
                if says.fault == "stall":
                    await self.stall()
                    return response
                await response.write(b'data: {"choices":[{"ind\n\n')
            await response.write(f"data: {event}\n\n".encode())
        await response.write_eof()
        return response

    def _events(self, says: Says, *, wants_usage: bool) -> Iterator[str]:
        role = {} if "roles" in self.lacks else {"role": "assistant"}
        yield _chunk([{"index": 0, "delta": {**role, "content": ""}, "finish_reason": None}])
        words = says.text.split(" ")
        for word in [f"{word} " for word in words[:-1]] + words[-1:]:
            yield _chunk([{"index": 0, "delta": {"content": word}, "finish_reason": None}])
        if says.error:
            yield as_json({"error": {"message": says.error, "type": "server_error", "code": 503}})
            return
        if says.fault == "no end":
            return
        if "finish" not in self.lacks:
            yield _chunk([{"index": 0, "delta": {}, "finish_reason": says.finish}])
        if wants_usage:
            yield _chunk([], usage={"prompt_tokens": 70, "completion_tokens": 12, "total_tokens": 82})
        else:
            yield _chunk([])  # some send one with nothing in it
        yield "[DONE]"


def _chunk(choices: list[dict[str, Any]], **more: Any) -> str:
    return as_json(
        {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices, "usage": None, **more}
    )


def _by_rule(body: Mapping[str, Any]) -> str:
    """What a model would do with the built-in prompts: pick the base whose description is most like the question, cite the
    passage that is, or repeat the question.
    """
    user = body["messages"][-1]["content"]
    asked = user.rpartition("<question>\n")[2].partition("\n</question>")[0]
    if bases := dict(_BASE.findall(user)):
        name = max(bases, key=lambda base: likeness(asked, bases[base]))
        return name if likeness(asked, bases[name]) > LIKE else "none"
    passages = [block.partition("\n</passage>")[0] for block in user.split('<passage n="')[1:]]
    if not passages:
        return asked or "ready"
    best = max(passages, key=lambda passage: likeness(asked, passage))
    lines = [line for line in best.partition(">\n")[2].splitlines() if line.strip() and not line.startswith("#")]
    return f"{lines[0].partition('. ')[0].rstrip('.')} [{best.partition(chr(34))[0]}]."


def _embedded(body: Mapping[str, Any]) -> dict[str, Any]:
    """In any order: only the index tells which is which."""
    dimension = body.get("dimensions", DIMENSIONS[body["model"]])
    data = [{"object": "embedding", "index": at, "embedding": vector_of(text, dimension)} for at, text in enumerate(body["input"])]
    random.Random(7).shuffle(data)
    return {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": 8, "total_tokens": 8}}
