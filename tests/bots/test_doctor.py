"""`footnote doctor`: for each thing that is set up wrongly one line, which says what is wrong and what to do (O2)."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from bots.cli.doctor import everything, tell_settings
from config.assembly import assemble
from config.settings import load
from rag.errors import BadSetting
from rag.models.local.reranker import LocalReranker
from tests.fakes.cohere.server import FakeCohere
from tests.fakes.model_server import KEY, Refusal
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.pauses import no_pauses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

HANDBOOK = "# Leave\n\nEmployees get 25 days of annual leave a year.\n"
SETTINGS = '[bases.handbook]\nsources = ["handbook/"]\n'


class Clinic:
    """A folder with settings and documents, and what the doctor says of it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        (folder / "handbook").mkdir()
        (folder / "handbook" / "leave.md").write_text(HANDBOOK, encoding="utf-8")
        self.settings(SETTINGS)

    def settings(self, text: str) -> None:
        (self.folder / "footnote.toml").write_text(text, encoding="utf-8")

    def variables(self, **values: str) -> None:
        for name, value in values.items():
            self._monkeypatch.setenv(name, value)

    async def index(self) -> None:
        async with assemble(load()) as footnote:
            await footnote.indexer("handbook").run()

    async def says(self) -> tuple[bool, list[str]]:
        """Whether all is well, and the lines about what is not."""
        try:
            fine = await everything(load())
        except BadSetting as error:
            fine = tell_settings(error)
        lines = self._capsys.readouterr().out.splitlines()
        assert all(line.startswith(("ok ", "wrong ", "- ")) for line in lines)
        return fine, [line.removeprefix("wrong").strip() for line in lines if line.startswith("wrong")]

    async def wrong(self) -> str:
        fine, lines = await self.says()
        assert not fine
        assert len(lines) == 1, lines
        return lines[0]


@pytest.fixture
def clinic(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Clinic]:
    with no_pauses(monkeypatch):
        monkeypatch.setenv("FOOTNOTE_RETRIEVAL__RERANKER", "none")
        yield Clinic(home, monkeypatch, capsys)


@pytest.fixture
async def cohere(clinic: Clinic) -> AsyncIterator[FakeCohere]:
    async with FakeCohere() as server:
        clinic.variables(COHERE_API_KEY=KEY, COHERE_API_URL=server.url, FOOTNOTE_RETRIEVAL__RERANKER="auto")
        yield server


@pytest.fixture
async def ollama(clinic: Clinic) -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI("ollama") as server:
        clinic.variables(
            OPENAI_BASE_URL=server.base_url,
            FOOTNOTE_MODELS__OPENAI_WRITER="llama3.1",
            FOOTNOTE_MODELS__OPENAI_EMBEDDER="nomic-embed-text",
        )
        yield server


# --- all is well ----------------------------------------------------------------------------------------------------


async def test_nothing_is_wrong(clinic: Clinic) -> None:
    await clinic.index()

    assert await clinic.says() == (True, [])


async def test_nothing_is_wrong_with_cohere(clinic: Clinic, cohere: FakeCohere) -> None:
    await clinic.index()
    before = len([one for one in cohere.asked if one.path.startswith("/v2")])

    assert await clinic.says() == (True, [])
    assert len([one for one in cohere.asked if one.path.startswith("/v2")]) == before  # it costs nothing


async def test_nothing_is_wrong_with_a_server_of_ones_own(clinic: Clinic, ollama: FakeOpenAI) -> None:
    await clinic.index()

    assert ollama.asked
    assert await clinic.says() == (True, [])


# --- settings and places --------------------------------------------------------------------------------------------


async def test_settings_that_are_wrong(clinic: Clinic) -> None:
    clinic.settings(SETTINGS + '[retrieval]\nk = "many"\n[model]\nwriter = "x"\n')

    fine, lines = await clinic.says()

    assert not fine
    assert sorted(line.partition(" is")[0] for line in lines) == [
        "settings: model (FOOTNOTE_MODEL)",
        "settings: retrieval.k (FOOTNOTE_RETRIEVAL__K)",
    ]


async def test_a_model_without_its_key(clinic: Clinic) -> None:
    clinic.settings(SETTINGS + '[models]\nwriter = "cohere"\n')

    assert await clinic.wrong() == (
        "settings: models.writer is 'cohere', and COHERE_API_KEY is not set. Set it, or choose another one."
    )


async def test_a_server_without_its_address(clinic: Clinic) -> None:
    clinic.settings(SETTINGS + '[models]\nembedder = "openai"\n')

    assert "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set" in await clinic.wrong()


async def test_a_reranker_that_is_not_installed(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalReranker, "available", lambda: False)
    clinic.variables(FOOTNOTE_RETRIEVAL__RERANKER="local")

    assert "the local reranker is not installed" in await clinic.wrong()


async def test_a_route_to_a_base_that_there_is_not(clinic: Clinic) -> None:
    clinic.settings(SETTINGS + '[[routes]]\nplatform = "slack"\nbases = ["handbuch"]\n')

    assert "handbuch" in await clinic.wrong()


async def test_a_restricted_base_that_no_route_names(clinic: Clinic) -> None:
    clinic.settings(SETTINGS + '[bases.pay]\nsources = ["handbook/"]\nrestricted = true\n')

    assert (await clinic.wrong()).startswith("settings: The base pay is restricted and no route names it")


async def test_prompts_that_are_not_there(clinic: Clinic) -> None:
    clinic.variables(FOOTNOTE_ANSWERING__PROMPTS="prompts")

    assert (await clinic.wrong()).startswith("prompts: The folder of prompts ")


async def test_a_home_that_cannot_be_written(clinic: Clinic) -> None:
    (clinic.folder / "file").write_text("", encoding="utf-8")
    clinic.variables(FOOTNOTE_HOME=str(clinic.folder / "file"))

    said = await clinic.wrong()

    assert said.startswith("home: ")
    assert said.endswith("name another folder in FOOTNOTE_HOME.")


# --- the database ---------------------------------------------------------------------------------------------------


async def test_a_database_that_is_not_there(clinic: Clinic) -> None:
    clinic.variables(DATABASE_URL="postgresql://footnote:secret@127.0.0.1:9/footnote")

    said = await clinic.wrong()

    assert (
        said
        == "database: The database postgresql://footnote@127.0.0.1:9/footnote cannot be reached: start it, or correct DATABASE_URL."
    )


async def test_a_password_that_is_wrong(clinic: Clinic, postgres_server: str) -> None:
    user, _, rest = postgres_server.partition("://")[2].partition(":")
    clinic.variables(DATABASE_URL=f"postgresql://{user}:not-it@{rest.partition('@')[2]}")

    said = await clinic.wrong()

    assert "refused the user name or the password: correct DATABASE_URL" in said
    assert "not-it" not in said


async def test_a_database_without_tables(clinic: Clinic) -> None:
    sqlite3.connect(clinic.folder / "other.db").execute("CREATE TABLE one (two)").connection.close()
    clinic.variables(DATABASE_URL=f"sqlite:///{clinic.folder}/other.db")

    assert (await clinic.wrong()).endswith("has no tables yet. Run: footnote migrate")


@pytest.mark.parametrize(("version", "said"), [("9999", "newer version of Footnote"), ("0000", "Run: footnote migrate")])
async def test_a_database_of_another_version(clinic: Clinic, version: str, said: str) -> None:
    await clinic.index()
    connection = sqlite3.connect(clinic.folder / ".footnote" / "footnote.db")
    with connection:
        connection.execute("UPDATE footnote_version SET version_num = ?", [version])
    connection.close()

    assert said in await clinic.wrong()


# --- models ---------------------------------------------------------------------------------------------------------


async def test_a_key_that_is_refused_is_told_once(clinic: Clinic, cohere: FakeCohere) -> None:
    await clinic.index()
    cohere.away = Refusal(401, "invalid api token")

    assert await clinic.wrong() == (
        "Cohere's key: Cohere refuses the key in COHERE_API_KEY for models (status 401). Set one that is valid."
    )


@pytest.mark.parametrize("name", ["writer", "condenser", "embedder", "reranker"])
async def test_a_model_that_there_is_not(clinic: Clinic, cohere: FakeCohere, name: str) -> None:
    await clinic.index()
    clinic.variables(**{f"FOOTNOTE_MODELS__COHERE_{name.upper()}": "command-z"})

    _, lines = await clinic.says()

    assert cohere.asked
    assert lines[0].startswith(f"Cohere's {name}: Cohere does not know command-z")
    assert lines[0].endswith("Name another model under [models].")


async def test_a_model_for_something_else(clinic: Clinic, cohere: FakeCohere) -> None:
    await clinic.index()
    clinic.variables(FOOTNOTE_MODELS__COHERE_WRITER="embed-v4.0")

    assert cohere.asked
    assert "embed-v4.0 is no model for chat, but for embed" in await clinic.wrong()


async def test_an_address_that_leads_nowhere(clinic: Clinic, ollama: FakeOpenAI) -> None:
    await clinic.index()
    await ollama.stop()

    _, lines = await clinic.says()

    assert [line.partition(":")[0] for line in lines] == ["OpenAI-compatible writer", "OpenAI-compatible embedder"]
    assert all("OPENAI_BASE_URL" in line for line in lines)


async def test_a_model_that_was_not_pulled(clinic: Clinic, ollama: FakeOpenAI) -> None:
    await clinic.index()
    clinic.variables(FOOTNOTE_MODELS__OPENAI_WRITER="llama4")

    assert ollama.asked
    assert "model 'llama4' not found, try pulling it first" in await clinic.wrong()


async def test_a_dimension_that_the_model_has_not(clinic: Clinic, ollama: FakeOpenAI) -> None:
    await clinic.index()
    clinic.variables(FOOTNOTE_MODELS__DIMENSION="512")

    _, lines = await clinic.says()

    assert ollama.asked
    assert lines[0].endswith("nomic-embed-text gives vectors of 768 numbers, and models.dimension is 512. Set it to 768.")


# --- sources and index ----------------------------------------------------------------------------------------------


async def test_sources_that_find_nothing(clinic: Clinic) -> None:
    await clinic.index()
    clinic.settings('[bases.handbook]\nsources = ["handbook/", "nosuch/"]\n')

    said = await clinic.wrong()

    assert said.startswith("sources of handbook: The source 'nosuch/' of base 'handbook' has nothing to index: ")
    assert said.endswith("Correct it, or take it out.")


async def test_a_base_without_sources(clinic: Clinic) -> None:
    await clinic.index()
    clinic.settings("[bases.handbook]\n")

    assert (await clinic.wrong()).startswith("sources of handbook: The base 'handbook' has no sources. Name them in ")


async def test_nothing_is_indexed_yet(clinic: Clinic) -> None:
    assert await clinic.wrong() == (
        "index of handbook: Nothing of base 'handbook' has been indexed yet. Run: footnote index --base handbook"
    )


async def test_an_index_of_another_embedder(clinic: Clinic, ollama: FakeOpenAI) -> None:
    await clinic.index()
    clinic.variables(FOOTNOTE_MODELS__EMBEDDER="none")

    assert ollama.asked
    assert await clinic.wrong() == (
        "index of handbook: The index of base 'handbook' was made with embedder openai/nomic-embed-text/768, and none is "
        "configured. Run: footnote index --base handbook"
    )
