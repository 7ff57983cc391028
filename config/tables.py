"""The tables of settings: every key, its default and one line on it."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from config.ids import place_id

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0)]
_UNITS = {"m": 60.0, "h": 3_600.0, "d": 86_400.0}


def _seconds(value: object) -> object:
    """ "30m", "6h" and "1d" in seconds; a number is given on as it is."""
    if not isinstance(value, str) or not (found := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([mhd])\s*", value)):
        if isinstance(value, str):
            raise ValueError('a time is written as "30m", "6h" or "1d"')
        return value
    return float(found[1]) * _UNITS[found[2]]


Period = Annotated[float, BeforeValidator(_seconds), Field(ge=60)]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceTable(Table):
    """Where documents of a base come from, with the link that leads to each."""

    path: str = Field(description="A file, a folder or a glob, relative to footnote.toml.")
    link: str = Field("", description="Link to a document: {path} is its path relative to footnote.toml, {line} a line in it.")
    expandable: bool = Field(default=True, description="False: neighbouring passages are never added to a hit.")

    @field_validator("link")
    @classmethod
    def leads_somewhere(cls, link: str) -> str:
        if unknown := sorted(set(re.findall(r"{[^{}]*}", link)) - {"{path}", "{line}"}):
            raise ValueError(f"{unknown[0]} is not known in a link; {{path}} and {{line}} are")
        if link and not link.startswith(("https://", "http://")):
            raise ValueError("a link starts with https:// or http://")
        return link


class BaseTable(Table):
    """One knowledge base: what it holds, and who may ask it."""

    description: str = Field("", description="What the base is about: routing by subject and the help text read it.")
    sources: tuple[SourceTable | str, ...] = Field((), description="Files, folders, globs, or tables with path and link.")
    default: bool = Field(default=False, description="True: questions from places without a route go here.")
    restricted: bool = Field(default=False, description="True: searched only where a route names it.")
    reindex_every: Period | None = Field(
        None, description='How often a running bot brings the base up to date: "30m", "6h", "1d"; unset: never by itself.'
    )


class RouteTable(Table):
    """A place, and the bases that are asked there."""

    platform: Literal["terminal", "slack", "discord"] = Field(description="Where the place is.")
    workspace: str = Field("", description="A Slack workspace's id.")
    guild: str = Field("", description="A Discord guild's id: the same thing as a workspace.")
    channel: str = Field("", description="A channel's id.")
    role: str = Field("", description="A role's id: only who has it is routed so.")
    dm: bool = Field(default=False, description="True: direct messages only.")
    bases: tuple[str, ...] = Field(description="The bases that are asked, by name.")

    @field_validator("workspace", "guild", "channel", "role")
    @classmethod
    def is_an_id(cls, value: str, told: ValidationInfo) -> str:
        kind = "workspace" if told.field_name == "guild" else str(told.field_name)
        return place_id(told.data.get("platform", ""), kind, value)


class Answering(Table):
    """How questions are understood and answers are written."""

    history_turns: Count = Field(12, description="How many of the newest turns of a thread are used; 0: no history at all.")
    history_tokens: Positive = Field(2000, description="The most tokens of history that are used; the oldest turns go first.")
    condense: Literal["auto", "never"] = Field("auto", description="Whether follow-ups are made into standalone questions.")
    answer_question: Literal["original", "standalone"] = Field("original", description="Which form the writer sees.")
    strategy: Literal["auto", "stuff", "map_reduce", "refine"] = Field("auto", description="How passages are handed to the writer.")
    token_max: Positive = Field(6000, description="The most tokens of passages in one call of the writer.")
    keep_intermediate: bool = Field(default=False, description="Keep the partial answers of map_reduce and refine.")
    temperature: float | None = Field(None, ge=0, le=2, description="Sent to the language model where it is set.")
    top_p: float | None = Field(None, gt=0, le=1, description="Sent to the language model where it is set.")
    top_k: int | None = Field(None, gt=0, description="Sent to the language model where it is set.")
    max_tokens: Positive | None = Field(None, description="The longest answer, in tokens.")
    condense_seconds: Seconds = Field(8, description="How long making a standalone question may take.")
    call_seconds: Seconds = Field(60, description="How long one call of the writer may take.")
    deadline_seconds: Seconds = Field(120, description="How long a question may take altogether.")
    degraded: Literal["answer", "apologise"] = Field(
        "answer", description="What happens while the language model fails: an answer from the documents without it, or an apology."
    )
    prompts: str = Field("", description="A folder with prompt templates that replace the built-in ones.")
    allowed_hosts: tuple[str, ...] = Field((), description="Hosts whose links stay clickable in an answer.")
    route_by_subject: bool = Field(default=False, description="Let the language model pick the base by what a question is about.")
    silent_errors: bool = Field(default=False, description="Take the default base when the model picks one that does not exist.")


class Retrieval(Table):
    """How passages are found."""

    alpha: Share = Field(0.6, description="Weight of the lexical list against the dense one, where the question's words are found.")
    coverage: Share = Field(0.4, description="Share of a question's words found at which the lexical list has its full weight.")
    candidates: Positive = Field(40, description="How long each of the two ranked lists is.")
    k: Positive = Field(8, description="How many passages are handed to the writer.")
    reranker: Literal["auto", "none", "local", "cohere"] = Field(
        "auto", description="What puts the first passages in order once more; auto: Cohere with its key, else local."
    )
    rerank_k: Positive = Field(20, description="How many passages are reranked.")
    rerank_seconds: Seconds = Field(1.5, description="How long reranking may take; passages it leaves over keep their place.")
    threshold: Share | None = Field(None, description="Relevance below which nothing is answered; unset: as calibrated.")
    expansion: Literal["both", "forward", "backward", "none"] = Field("both", description="Which neighbours are added to a hit.")
    context_size: Count = Field(1600, description="Up to how many characters a passage grows by its neighbours.")
    token_budget: Positive = Field(6000, description="The most tokens of passages for one answer.")


class Indexing(Table):
    """How documents are read, split and indexed."""

    size_min: Positive = Field(400, description="The size a passage should reach.")
    size_max: Positive = Field(800, description="The size a passage may not exceed.")
    unit: Literal["characters", "tokens"] = Field("characters", description="What sizes are counted in.")
    overlap: Count = Field(0, description="How much of a passage is repeated at the start of the next one.")
    max_removed: Share = Field(0.2, description="The share of documents that a run may remove without --allow-removals.")
    publish_seconds: Seconds = Field(60, description="How often a long run makes what it has written searchable.")
    readers: Count = Field(0, description="How many processes read documents; 0: one less than there are cores, at least one.")
    embedders: Count = Field(0, description="How many processes embed passages; 0: one for each core.")
    read_seconds: Seconds = Field(60, description="How long reading one document may take.")
    max_file_mb: Positive = Field(200, description="The largest file that is read, in megabytes.")
    max_pages: Positive = Field(5000, description="The most pages of one document.")
    max_text_mb: Positive = Field(20, description="The longest text of one document, in millions of characters.")


class Models(Table):
    """Which models are used."""

    writer: Literal["auto", "extractive", "cohere", "openai"] = Field(
        "auto", description="What writes answers; auto: Cohere with its key, an OpenAI-compatible server with its, else extractive."
    )
    condenser: Literal["auto", "none", "cohere", "openai"] = Field(
        "auto", description="What makes follow-ups into standalone questions; auto: where the writer is; none: by rule."
    )
    embedder: Literal["auto", "local", "cohere", "openai", "none"] = Field(
        "auto", description="What turns text into vectors; auto: as for the writer, else local; none: words alone."
    )
    dimension: Positive | None = Field(
        None,
        description="How many numbers a vector has, where the embedder can choose; unset: 1024 with Cohere, else the model's own.",
    )
    context_tokens: Positive | None = Field(
        None,
        description="How much the writer can read and write in one call; unset: 128000, or 16000 where `OPENAI_BASE_URL` is set.",
    )
    failures: Count = Field(
        3, description="After how many failures in a row a model on another machine is left alone for a while; 0: never."
    )
    rest_seconds: Seconds = Field(30, description="How long it is left alone, before one question tries it again.")
    cohere_writer: str = Field("command-a-03-2025", description="Cohere's model for answers.")
    cohere_condenser: str = Field("command-r7b-12-2024", description="Cohere's model for standalone questions.")
    cohere_embedder: str = Field("embed-v4.0", description="Cohere's model for vectors.")
    cohere_reranker: str = Field("rerank-v4.0-fast", description="Cohere's model for reranking.")
    openai_writer: str = Field("gpt-4.1-mini", description="The OpenAI-compatible server's model for answers.")
    openai_condenser: str = Field("", description="Its model for standalone questions; empty: the one for answers.")
    openai_embedder: str = Field("text-embedding-3-small", description="Its model for vectors.")


class Weaviate(Table):
    """How Weaviate is used."""

    name: str = Field("Footnote", description="What the names of collections begin with: one for each Footnote on a cluster.")
    tenant: str = Field("", description="Keep everything in this tenant of multi-tenant collections; empty: no tenants.")
    replicas: Positive = Field(1, description="On how many nodes each passage is kept; holds for what is indexed anew.")
    shards: Count = Field(0, description="Into how many parts a collection is divided; 0: one for each node.")
    quantization: Literal["none", "rq", "bq", "sq", "pq"] = Field("none", description="How vectors are compressed in memory.")
    search_seconds: Seconds = Field(5, description="How long one call of a search may take.")
    search_patience: Seconds = Field(20, description="How long a question waits for a server that is away.")
    write_seconds: Seconds = Field(60, description="How long one call of an indexing run may take.")
    write_patience: Seconds = Field(300, description="How long an indexing run waits for a server that is away.")


class Logging(Table):
    """What is logged."""

    level: Literal["debug", "info", "warning", "error"] = Field("warning", description="The least serious entry that is logged.")
    format: Literal["text", "json"] = Field("text", description="How an entry is written to standard error.")
