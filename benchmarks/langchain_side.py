"""LangChain's ConversationalRetrievalChain over Chroma, asked by turn.py through a pipe. Runs in a venv of its own.

Reads one JSON object a line, answers each with one. Knows nothing of Footnote: passages, vectors and answers come as files.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from langchain_chroma import Chroma
from langchain_classic.chains import ConversationalRetrievalChain
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListChatModel

_BATCH = 2_000


class Precomputed(Embeddings):
    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vectors[text]


def main(folder: Path, texts: Path, vectors: Path, size: int) -> None:
    client = chromadb.PersistentClient(str(folder), chromadb.Settings(anonymized_telemetry=False))
    collection = client.get_or_create_collection("passages", configuration={"hnsw": {"space": "cosine"}})
    if collection.count() < size:
        fill(collection, texts, vectors, size)
    reply({"passages": collection.count(), "version": chromadb.__version__})
    dialogs: list[list[dict[str, str]]] = []
    chains: list[ConversationalRetrievalChain] = []
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "take":
            dialogs = asked["dialogs"]
            known = dict(zip(asked["questions"], asked["vectors"], strict=True))
            store = Chroma("passages", Precomputed(known), client=client)
            chains = [chain_of(store, dialog, asked["k"]) for dialog in dialogs]
            reply({})
        elif asked["do"] == "serial":
            reply(serial(chains, dialogs, asked["first"], asked["count"]))
        elif asked["do"] == "together":
            reply(together(chains, dialogs, asked["first"], asked["count"], threads=asked["threads"]))


def chain_of(store: Chroma, dialog: list[dict[str, str]], k: int) -> ConversationalRetrievalChain:
    """The model rewrites the follow-ups to themselves, and gives the answers that Footnote's gave."""
    return ConversationalRetrievalChain.from_llm(
        FakeListChatModel(responses=[turn["answer"] for turn in dialog]),
        retriever=store.as_retriever(search_kwargs={"k": k}),
        condense_question_llm=FakeListChatModel(responses=[turn["question"] for turn in dialog[1:]]),
        return_source_documents=True,
    )


def serial(chains: list[Any], dialogs: list[list[dict[str, str]]], first: int, count: int) -> dict[str, object]:
    seconds, cpu = [], []
    for at in range(first, first + count):
        history: list[tuple[str, str]] = []
        for turn in dialogs[at]:
            started, burnt = time.perf_counter(), time.process_time()
            answer = chains[at].invoke({"question": turn["question"], "chat_history": history})
            seconds.append(time.perf_counter() - started)
            cpu.append(time.process_time() - burnt)
            history.append((turn["question"], answer["answer"]))
    gc.collect()
    return {"seconds": seconds, "cpu": cpu}


def together(chains: list[Any], dialogs: list[list[dict[str, str]]], first: int, count: int, *, threads: bool) -> dict[str, object]:
    """All dialogs at once, each with its turns in order."""
    started, burnt = time.perf_counter(), time.process_time()
    if threads:
        with ThreadPoolExecutor(count) as pool:
            answered = sum(pool.map(lambda at: talk(chains[at], dialogs[at]), range(first, first + count)))
    else:
        answered = asyncio.run(talks(chains, dialogs, first, count))
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - burnt, "answered": answered}


def talk(chain: Any, dialog: list[dict[str, str]]) -> int:
    history: list[tuple[str, str]] = []
    for turn in dialog:
        answer = chain.invoke({"question": turn["question"], "chat_history": history})
        history.append((turn["question"], answer["answer"]))
    return len(dialog)


async def talks(chains: list[Any], dialogs: list[list[dict[str, str]]], first: int, count: int) -> int:
    return sum(await asyncio.gather(*(atalk(chains[at], dialogs[at]) for at in range(first, first + count))))


async def atalk(chain: Any, dialog: list[dict[str, str]]) -> int:
    history: list[tuple[str, str]] = []
    for turn in dialog:
        answer = await chain.ainvoke({"question": turn["question"], "chat_history": history})
        history.append((turn["question"], answer["answer"]))
    return len(dialog)


def fill(collection: Any, texts: Path, vectors: Path, size: int) -> None:
    matrix = np.fromfile(vectors, "<f4").reshape(size, -1)
    passages = json.loads(texts.read_text("utf-8"))
    for start in range(0, size, _BATCH):
        part = passages[start : start + _BATCH]
        collection.upsert(
            ids=[str(start + place) for place in range(len(part))],
            embeddings=matrix[start : start + _BATCH],
            documents=[text for text, _, _ in part],
            metadatas=[{"source": source, "title": title} for _, source, title in part],
        )


def reply(answer: dict[str, object]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
