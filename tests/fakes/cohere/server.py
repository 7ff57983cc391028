"""A strict Cohere: v2 chat (streamed, with documents and native citations), embed, rerank, and the faults of real life."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from aiohttp import web

from tests.fakes.cohere.requests import (
    CHAT_MODELS,
    EMBED_MODELS,
    RERANK_MODELS,
    check_chat,
    check_embed,
    check_rerank,
)
from tests.fakes.model_server import KEY, Fault, ModelServer, Wrong, as_json, likeness, stream_of, vector_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CHAT, EMBED, RERANK = "/v2/chat", "/v2/embed", "/v2/rerank"
OWN_DIMENSION = 1024

Event: TypeAlias = "tuple[str, dict[str, Any]]"


@dataclass(frozen=True, slots=True)
class Span:
    """A native citation as the server gives it, right or wrong."""

    start: int
    end: int
    text: str
    documents: tuple[str, ...]
    content_index: int = 0
    type: Literal["TEXT_CONTENT", "PLAN", "THINKING_CONTENT"] = "TEXT_CONTENT"


@dataclass(frozen=True, slots=True)
class Says:
    """One streamed answer. `fault` comes once `after` pieces of the text were sent; `fast` sends citations between them."""

    text: str
    citations: tuple[Span, ...] = ()
    finish: str = "COMPLETE"
    error: str = ""
    thinking: str = ""
    fault: Fault = ""
    after: int = 2
    fast: bool = False


class FakeCohere(ModelServer[Says]):
    """Without a script, a question is answered with the first sentence of the document most like it, cited."""

    async def answer(self, request: web.Request, path: str, body: Mapping[str, Any], reply: Says | None) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            raise Wrong(401, "invalid api token")
        if path == CHAT:
            check_chat(body)
            return await self._chat(request, reply or self.by_rule(body))
        if path == EMBED:
            check_embed(body)
            return web.json_response(_embedded(body))
        if path == RERANK:
            check_rerank(body)
            return web.json_response(_reranked(body))
        if path == "/v1/models":
            return web.json_response({"models": [{"name": CHAT_MODELS[0], "endpoints": ["chat"]}], "next_page_token": ""})
        if path.startswith("/v1/models/"):
            return _model(path.removeprefix("/v1/models/"))
        raise Wrong(404, "page not found")

    def failure(self, status: int, message: str, headers: Mapping[str, str]) -> web.Response:
        return web.json_response({"id": "5f1c", "message": message}, status=status, headers=headers)

    def by_rule(self, body: Mapping[str, Any]) -> Says:
        documents = body.get("documents")
        asked = body["messages"][-1]["content"]
        if not documents:
            return Says(asked.rpartition("<question>\n")[2].partition("\n")[0])
        best = max(documents, key=lambda document: likeness(asked, document["data"]["snippet"]))
        lines = [line for line in best["data"]["snippet"].splitlines() if line.strip() and not line.startswith("#")]
        said = f"{lines[0].partition('. ')[0].rstrip('.')}."
        return Says(said, (Span(0, len(said), said, (best["id"],)),))

    async def _chat(self, request: web.Request, says: Says) -> web.StreamResponse:
        response = await stream_of(request)
        pieces = 0
        for name, data in _events(says):
            if name == "content-delta" and "text" in data["delta"]["message"]["content"]:
                pieces += 1
                if says.fault not in {"", "no end", "left open"} and pieces > says.after:
                    if says.fault == "cut":
                        self.cut(request)
                        return response
                    if says.fault == "stall":
                        await self.stall()
                        return response
                    broken = '{"type":"content-delta","index":0,"del' if says.fault == "malformed" else '{"index":0}'
                    await response.write(f"event: {name}\ndata: {broken}\n\n".encode())
                    pieces -= 1_000_000
                    continue
            await response.write(f"event: {name}\ndata: {as_json({'type': name, **data})}\n\n".encode())
        if says.fault == "left open":
            await self.stall()
        await response.write_eof()
        return response


def _events(says: Says) -> Iterator[Event]:
    yield "message-start", {"id": "m1", "delta": {"message": {"role": "assistant"}}}
    index = 0
    if says.thinking:
        yield from _block(0, "thinking", says.thinking, ())
        index = 1
    yield from _block(index, "text", says.text, says.citations if says.fast else ())
    if not says.fast:
        yield from (event for at, span in enumerate(says.citations) for event in _citation(at, span))
    if says.fault == "no end":
        return
    delta: dict[str, Any] = {"finish_reason": says.finish, "usage": {"tokens": {"input_tokens": 70, "output_tokens": 12}}}
    if says.error:
        delta["error"] = says.error
    yield "message-end", {"id": "m1", "delta": delta}


def _block(index: int, kind: str, text: str, citations: tuple[Span, ...]) -> Iterator[Event]:
    yield "content-start", {"index": index, "delta": {"message": {"content": {"type": kind, kind: ""}}}}
    waiting, said = list(enumerate(citations)), 0
    for piece in _pieces(text):
        yield "content-delta", {"index": index, "delta": {"message": {"content": {kind: piece}}}}
        said += len(piece)
        while waiting and waiting[0][1].end <= said:
            yield from _citation(*waiting.pop(0))
    yield "content-end", {"index": index}


def _citation(index: int, span: Span) -> Iterator[Event]:
    cited = {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "type": span.type,
        "content_index": span.content_index,
        "sources": [{"type": "document", "id": one, "document": {"id": one}} for one in span.documents],
    }
    yield "citation-start", {"index": index, "delta": {"message": {"citations": cited}}}
    yield "citation-end", {"index": index}


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [f"{word} " for word in words[:-1]] + words[-1:]


def _embedded(body: Mapping[str, Any]) -> dict[str, Any]:
    dimension = body.get("output_dimension", OWN_DIMENSION)
    return {
        "id": "e1",
        "embeddings": {"float": [vector_of(text, dimension) for text in body["texts"]]},
        "texts": body["texts"],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 8}},
        "response_type": "embeddings_by_type",
    }


def _reranked(body: Mapping[str, Any]) -> dict[str, Any]:
    """The best first, with numbers that never reach 1."""
    scored = [
        {"index": at, "relevance_score": 0.02 + 0.9 * likeness(body["query"], text)} for at, text in enumerate(body["documents"])
    ]
    scored.sort(key=lambda one: -one["relevance_score"])
    return {"id": "r1", "results": scored[: body.get("top_n", len(scored))], "meta": {"api_version": {"version": "2"}}}


def _model(name: str) -> web.Response:
    kinds = {"chat": CHAT_MODELS, "embed": EMBED_MODELS, "rerank": RERANK_MODELS}
    endpoints = [kind for kind, models in kinds.items() if name in models]
    if not endpoints:
        raise Wrong(404, f"model '{name}' not found, make sure the correct model ID was used")
    return web.json_response({"name": name, "endpoints": endpoints, "context_length": 128000})
