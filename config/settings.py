"""Every setting, read from the environment and footnote.toml: the only reader of both."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from config.platforms import Desk, Discord, Limits, Slack
from config.tables import Answering, BaseTable, Indexing, Logging, Models, Retrieval, RouteTable, Weaviate
from rag.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Settings(BaseSettings):
    """Everything that can be set: by environment variables, then footnote.toml, then these defaults."""

    model_config = SettingsConfigDict(
        env_prefix="FOOTNOTE_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        env_ignore_empty=True,
        nested_model_default_partial_update=True,
    )

    config: Path | None = Field(None, description="Path of footnote.toml; default: the one in the current folder.")
    home: Path = Field(Path(".footnote"), description="Where the embedded default keeps its files.")
    database_url: SecretStr | None = Field(
        None, validation_alias="DATABASE_URL", description="A PostgreSQL or SQLite address; unset: a SQLite file in the home."
    )
    cohere_api_key: SecretStr | None = Field(None, validation_alias="COHERE_API_KEY", description="The key for Cohere's models.")
    cohere_api_url: str = Field(
        "https://api.cohere.com",
        validation_alias="COHERE_API_URL",
        description="Where Cohere's models are; another one is a proxy.",
    )
    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="The key for OpenAI, or for the server that `OPENAI_BASE_URL` names."
    )
    openai_base_url: str = Field(
        "",
        validation_alias="OPENAI_BASE_URL",
        description="An OpenAI-compatible server (Ollama, vLLM, llama.cpp), as in `http://localhost:11434/v1`; empty: OpenAI.",
    )
    weaviate_url: str = Field(
        "", validation_alias="WEAVIATE_URL", description="A Weaviate server, as in `http://localhost:8080`; empty: none is used."
    )
    weaviate_grpc_url: str = Field(
        "",
        validation_alias="WEAVIATE_GRPC_URL",
        description="Its gRPC address, as in `localhost:50051`; empty: port 50051 there, or where a managed cluster has it.",
    )
    weaviate_api_key: SecretStr | None = Field(None, validation_alias="WEAVIATE_API_KEY", description="The key for Weaviate.")
    slack_bot_token: SecretStr | None = Field(
        None, validation_alias="SLACK_BOT_TOKEN", description="The token of Slack's bot user, `xoxb-…`."
    )
    slack_app_token: SecretStr | None = Field(
        None, validation_alias="SLACK_APP_TOKEN", description="The token of Slack's app for Socket Mode, `xapp-…`."
    )
    slack_signing_secret: SecretStr | None = Field(
        None, validation_alias="SLACK_SIGNING_SECRET", description="What Slack signs its requests over HTTP with."
    )
    slack_client_id: str = Field(
        "", validation_alias="SLACK_CLIENT_ID", description="The id of Slack's app, for installing it in many workspaces."
    )
    slack_client_secret: SecretStr | None = Field(
        None, validation_alias="SLACK_CLIENT_SECRET", description="The secret that belongs to that id."
    )
    slack_encryption_key: SecretStr | None = Field(
        None, validation_alias="SLACK_ENCRYPTION_KEY", description="What the tokens of many workspaces are encrypted with."
    )
    slack_api_url: str = Field(
        "https://slack.com/api/", validation_alias="SLACK_API_URL", description="Where Slack's API is; another one is a proxy."
    )
    discord_token: SecretStr | None = Field(None, validation_alias="DISCORD_TOKEN", description="The token of Discord's bot.")
    discord_api_url: str = Field(
        "", validation_alias="DISCORD_API_URL", description="Where Discord's API is; empty: Discord; another one is a proxy."
    )
    bases: dict[str, BaseTable] = Field({}, description="Knowledge bases by name.")
    routes: tuple[RouteTable, ...] = Field((), description="Which bases are asked where.")
    answering: Answering = Answering()
    retrieval: Retrieval = Retrieval()
    indexing: Indexing = Indexing()
    models: Models = Models()
    weaviate: Weaviate = Weaviate()
    slack: Slack = Slack()
    discord: Discord = Discord()
    desk: Desk = Desk()
    limits: Limits = Limits()
    logging: Logging = Logging()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return env_settings, TomlFile(settings_cls), init_settings

    @property
    def root(self) -> Path:
        """The folder that sources are relative to: that of footnote.toml, else the one that holds the home."""
        return (self.config or self.home).resolve().parent

    @property
    def database(self) -> str:
        """The database's address, password included."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{(self.home / 'footnote.db').resolve()}"


class TomlFile(PydanticBaseSettingsSource):
    """footnote.toml, if there is one."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 - pydantic's signature
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        path = config_path()
        return {} if path is None else {**read_toml(path), "config": path}


def config_path() -> Path | None:
    """Where footnote.toml is: named by FOOTNOTE_CONFIG, or in the current folder."""
    named = os.environ.get("FOOTNOTE_CONFIG")  # noqa: TID251 - this is the one reader
    if named:
        return Path(named)
    path = Path("footnote.toml")
    return path.resolve() if path.exists() else None


def read_toml(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadSetting(f"FOOTNOTE_CONFIG names {path}, and there is no such file.") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(f"{path} cannot be read: {error}.") from error
    if "home" in values:
        values["home"] = path.parent / values["home"]
    return {"home": path.parent / ".footnote", **values}


def load(**given: Any) -> Settings:
    """Read the settings. Raises BadSetting with one line for each thing that is wrong, naming it."""
    refuse_unknown_variables(os.environ)  # noqa: TID251 - this is the one reader
    try:
        return Settings(**given)
    except ValidationError as error:
        raise BadSetting("\n".join(explain(problem) for problem in telling(error.errors()))) from error
    except SettingsError as error:
        raise BadSetting(unreadable(str(error))) from error
    except ValueError as error:
        raise BadSetting(f"A setting cannot be read: {error}.") from error


def refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {f"FOOTNOTE_{name.upper()}" for name, field in Settings.model_fields.items() if field.validation_alias is None}
    for variable in environment:
        if variable.startswith("FOOTNOTE_") and variable.split("__")[0].upper() not in known | {"FOOTNOTE_REQUIRE"}:
            raise BadSetting(f"{variable} is not a setting.{nearest(variable, sorted(known))}")


def unreadable(message: str) -> str:
    """A whole table in one variable is JSON; the library names the field and says no more."""
    named = re.search(r'field "(\w+)"', message)
    if named is None:
        return f"A setting cannot be read: {message}."
    name = f"FOOTNOTE_{named[1].upper()}"
    return f"{name} is not valid JSON. Write {named[1]} into footnote.toml, or a single key as {name}__KEY."


def telling(problems: Sequence[Any]) -> list[Any]:
    """Without those of the other forms that a value may have, where it has the form in which something more is wrong."""
    places = [place_of(problem) for problem in problems]
    return [
        problem
        for problem, place in zip(problems, places, strict=True)
        if not any(len(other) > len(place) and other[: len(place)] == place for other in places)
    ]


def place_of(problem: Any) -> list[str]:
    return [str(part) for part in problem["loc"] if str(part) not in {"SourceTable", "str"}]


def explain(problem: Any) -> str:
    path = place_of(problem)
    is_variable = bool(path) and path[0] in aliases()
    name = path[0] if is_variable else f"{'.'.join(path)} (FOOTNOTE_{'__'.join(path).upper()})"
    if problem["type"] == "extra_forbidden":
        return f"{name} is not a setting.{nearest(path[-1], known_keys(path[:-1]))}"
    if problem["type"] == "missing":
        return f"{name} is missing."
    if problem["type"] == "tuple_type" and isinstance(problem["input"], dict):
        return f"{name} is a list: write it as JSON in that one variable, or into footnote.toml."
    shown = "" if is_variable else f" is {problem['input']!r}"
    told = problem["msg"].removeprefix("Value error, ")
    return f"{name}{shown}: {told[0].lower()}{told[1:]}."


def aliases() -> set[str]:
    """The variables with names of their own: most hold a secret, and none is ever shown."""
    return {field.validation_alias for field in Settings.model_fields.values() if isinstance(field.validation_alias, str)}


def known_keys(path: Sequence[str]) -> list[str]:
    """The keys that a table of this path may have."""
    if not path:
        return list(Settings.model_fields)
    tables: dict[str, type[BaseModel]] = {"bases": BaseTable, "routes": RouteTable}
    field = Settings.model_fields.get(path[0])
    table = tables.get(path[0]) or (field.annotation if field else None)
    return list(table.model_fields) if isinstance(table, type) and issubclass(table, BaseModel) else []


def nearest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]}?" if close else f" Known are: {', '.join(known)}." if known else ""
