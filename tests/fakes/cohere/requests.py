"""What Cohere refuses: unknown fields, sizes and values out of bounds, things that cannot go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fakes.model_server import Wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

CHAT_MODELS = ("command-a-03-2025", "command-r7b-12-2024", "command-a-plus-05-2026")
EMBED_MODELS = ("embed-v4.0", "embed-multilingual-v3.0")
RERANK_MODELS = ("rerank-v4.0-fast", "rerank-v4.0-pro", "rerank-v3.5")
MOST_TEXTS = 96
MOST_DOCUMENTS = 1000
DIMENSIONS = (256, 512, 1024, 1536)

_CHAT = {
    "model", "messages", "documents", "citation_options", "temperature", "max_tokens", "k", "p", "stream", "seed", "safety_mode",
    "stop_sequences", "response_format",
}  # fmt: skip
_EMBED = {"model", "input_type", "texts", "embedding_types", "output_dimension", "truncate", "max_tokens"}
_RERANK = {"model", "query", "documents", "top_n", "max_tokens_per_doc"}


def check_chat(body: Mapping[str, Any]) -> None:
    known(body, _CHAT, ("model", "messages", "stream"))
    model(body, CHAT_MODELS)
    if not body["messages"] or body["messages"][-1]["role"] != "user":
        raise Wrong(400, "invalid request: the last message must be by the user")
    for message in body["messages"]:
        if set(message) != {"role", "content"} or message["role"] not in {"system", "user", "assistant"} or not message["content"]:
            raise Wrong(400, "invalid request: a message needs a role and content")
    bounds(body, "temperature", 0, 1)
    bounds(body, "p", 0.01, 0.99)
    bounds(body, "k", 0, 500)
    bounds(body, "max_tokens", 1, 64_000)
    if body.get("documents") and (body.get("safety_mode") or body.get("response_format")):
        raise Wrong(400, "invalid request: safety_mode and response_format cannot be used with documents")
    check_documents(body.get("documents") or [])


def check_documents(documents: list[Any]) -> None:
    ids = [document.get("id") for document in documents]
    if len(set(ids)) != len(ids) or not all(isinstance(one, str) and one for one in ids):
        raise Wrong(400, "invalid request: documents need an id each, and each another")
    for document in documents:
        if set(document) != {"id", "data"} or not all(isinstance(value, str) for value in document["data"].values()):
            raise Wrong(400, "invalid request: the data of a document are strings")


def check_embed(body: Mapping[str, Any]) -> None:
    known(body, _EMBED, ("model", "input_type", "embedding_types", "texts"))
    model(body, EMBED_MODELS)
    if body["input_type"] not in {"search_document", "search_query", "classification", "clustering"}:
        raise Wrong(400, "invalid request: input_type is not known")
    if not 0 < len(body["texts"]) <= MOST_TEXTS:
        raise Wrong(400, f"invalid request: total number of texts must be at most {MOST_TEXTS} - received {len(body['texts'])}")
    if not all(isinstance(text, str) and text.strip() for text in body["texts"]):
        raise Wrong(400, "invalid request: a text is empty")
    if any(len(text) > 1_000_000 for text in body["texts"]):
        raise Wrong(413, "invalid request: a text is too large")
    if "output_dimension" in body and (body["model"] != "embed-v4.0" or body["output_dimension"] not in DIMENSIONS):
        raise Wrong(400, f"invalid request: output_dimension is not supported for {body['model']}")


def check_rerank(body: Mapping[str, Any]) -> None:
    known(body, _RERANK, ("model", "query", "documents"))
    model(body, RERANK_MODELS)
    if not body["query"].strip():
        raise Wrong(400, "invalid request: query must not be empty")
    if not 0 < len(body["documents"]) <= MOST_DOCUMENTS:
        raise Wrong(400, f"invalid request: at least one and at most {MOST_DOCUMENTS} documents")
    if not all(isinstance(text, str) and text.strip() for text in body["documents"]):
        raise Wrong(400, "invalid request: a document is empty")
    bounds(body, "top_n", 1, 1_000_000)


def known(body: Mapping[str, Any], fields: set[str], required: tuple[str, ...]) -> None:
    for name in body:
        if name not in fields:
            raise Wrong(422, f"invalid request: unknown field: parameter '{name}' is not a valid field")
    for name in required:
        if name not in body:
            raise Wrong(400, f"invalid request: {name} is required")


def model(body: Mapping[str, Any], models: tuple[str, ...]) -> None:
    if body["model"] not in models:
        raise Wrong(404, f"model '{body['model']}' not found, make sure the correct model ID was used")


def bounds(body: Mapping[str, Any], name: str, least: float, most: float) -> None:
    if name in body and not least <= body[name] <= most:
        raise Wrong(400, f"invalid request: {name} must be between {least} and {most}")
