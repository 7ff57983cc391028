"""The whole system on Cohere's models: what people read and what the trace says, whatever the service does."""

from __future__ import annotations

import asyncio
import re
import shutil
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from bots.terminal.render import as_text
from config.assembly import assemble
from config.checks import checks_of
from config.settings import load
from rag.abstaining import wording
from rag.checking import findings
from rag.errors import FootnoteError, ModelTimeout, ModelUnavailable
from rag.models.breaker import Breaker
from rag.types import Place, Thread
from tests.fakes.cohere.server import CHAT, EMBED, RERANK, FakeCohere, Says, Span
from tests.fakes.model_server import KEY, Refusal, Silence
from tests.fakes.pauses import no_pauses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from pathlib import Path

    from config.assembly import Footnote
    from rag.types import Answer, Run

DOCUMENTS = {
    "leave.md": "# Leave\n\nEmployees get 25 days of annual leave a year. "
    "Requests for annual leave go to the manager two weeks before.\n",
    "travel.md": "# Travel\n\nTravel costs are refunded within 30 days when all receipts are handed in to the office.\n",
    "sick.md": "# Illness\n\nSick leave needs a note from a doctor after three days of illness.\n",
}
THREAD = Thread(Place("slack", "T1", "C1"), "1.1")
LEAVE = "How many days of annual leave do employees get a year?"
TEXT = "Employees get 25 days of annual leave a year."
CITED = Span(0, len(TEXT), TEXT, ("1",))
ANSWER = f"{TEXT[:-1]} [1]."
REMARK = wording("en").by_rule


@dataclass
class Talk:
    """A running system, what its model is, and what was shown on the way to the last answer."""

    footnote: Footnote
    server: FakeCohere
    drafts: list[str] = field(default_factory=list)

    async def ask(self, text: str = LEAVE) -> Answer:
        self.drafts.clear()
        return await self.footnote.conversation.reply(THREAD, text, self.drafts.append)

    async def reads(self, text: str = LEAVE) -> str:
        """What stands in the chat at the end."""
        try:
            return as_text(await self.ask(text))
        except FootnoteError as error:
            return error.user_message

    async def run(self) -> Run:
        run = await self.footnote.memory.last_run(THREAD)
        assert run is not None
        return run

    async def notes(self, step: str) -> Mapping[str, Any]:
        """Of the first step by that name: what went wrong stands there."""
        return next(one.notes for one in (await self.run()).steps if one.name == step)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with no_pauses(monkeypatch):
        yield


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where an index is kept for all tests of this file once the first one made it."""
    return tmp_path_factory.mktemp("cohere") / "indexed"


@pytest.fixture
async def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeCohere]:
    async with FakeCohere() as server:
        monkeypatch.setenv("COHERE_API_KEY", KEY)
        monkeypatch.setenv("COHERE_API_URL", server.url)
        (home / "footnote.toml").write_text('[bases.handbook]\nsources = ["handbook/"]\n', encoding="utf-8")
        yield server


@pytest.fixture
async def talk(server: FakeCohere, home: Path, indexed: Path) -> AsyncIterator[Talk]:
    async with talking(server, home, indexed) as talk:
        yield talk


@asynccontextmanager
async def talking(server: FakeCohere, home: Path, indexed: Path) -> AsyncIterator[Talk]:
    known = taken(indexed, home)
    if not known:
        async with assemble(load()) as footnote:
            await footnote.indexer("handbook").run()
        shutil.copytree(home, indexed)
    async with assemble(load()) as footnote:
        await footnote.check()
        server.asked.clear()
        yield Talk(footnote, server)


def taken(indexed: Path, home: Path) -> bool:
    """Whether the index was there to take; else the documents are."""
    if indexed.exists():
        shutil.copytree(indexed, home, dirs_exist_ok=True)
        return True
    (home / "handbook").mkdir()
    for name, text in DOCUMENTS.items():
        (home / "handbook" / name).write_text(text, encoding="utf-8")
    return False


# --- all is well ----------------------------------------------------------------------------------------------------


async def test_a_question_is_answered_by_the_model_with_its_own_citations(talk: Talk) -> None:
    assert await talk.reads() == f"{ANSWER}\n\nSOURCES:\n[1] Leave (file://{talk.footnote.settings.root}/handbook/leave.md#leave)"
    assert [one.path for one in talk.server.asked] == [EMBED, RERANK, CHAT]
    assert (await talk.notes("select"))["relevance"] > 0.5  # the reranker's own score


async def test_a_follow_up_is_condensed_by_the_cheaper_model(talk: Talk) -> None:
    await talk.ask()
    talk.server.script(CHAT, Says("When do requests for annual leave go to the manager?"))

    answer = await talk.ask("And when do requests go to the manager?")

    assert answer.question == "When do requests for annual leave go to the manager?"
    assert [body["model"] for body in talk.server.bodies(CHAT)] == ["command-a-03-2025", "command-r7b-12-2024", "command-a-03-2025"]
    assert (await talk.notes("condense"))["how"] == "rewritten"


async def test_what_the_documents_do_not_hold_is_not_answered(talk: Talk) -> None:
    talk.server.script(CHAT, Says("NO_ANSWER"))

    assert (await talk.reads("How long is the leave of absence of a year?")).startswith(wording("en").unknown)


# --- passing trouble: the answer comes as ever -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "trouble",
    [Refusal(429, headers={"Retry-After": "2"}), Refusal(429), Refusal(500), Refusal(503, plain="<html></html>"), Silence("cut")],
    ids=["429 with Retry-After", "429", "500", "503 by a proxy", "cut"],
)
async def test_trouble_before_the_answer_begins_is_not_noticed(talk: Talk, trouble: Refusal | Silence) -> None:
    talk.server.script(CHAT, trouble)

    assert (await talk.reads()).startswith(f"{ANSWER}\n\nSOURCES:")
    assert not (await talk.run()).error


@pytest.mark.parametrize("fault", ["cut", "malformed", "shapeless", "no end"])
async def test_an_answer_that_breaks_off_is_asked_for_once_more_and_never_shown_twice_or_half(talk: Talk, fault: Any) -> None:
    talk.server.script(CHAT, Says("Employees never get any leave.", fault=fault, after=3), Says(TEXT, (CITED,)))

    assert (await talk.reads()).startswith(f"{ANSWER}\n\nSOURCES:")
    assert all("Employees never get any leave".startswith(draft.rstrip(".")) for draft in talk.drafts)
    assert "broke off" in (await talk.notes("compose"))["broke_off"][0]


async def test_an_answer_that_the_service_gives_up_is_asked_for_once_more(talk: Talk) -> None:
    talk.server.script(CHAT, Says("Employees never", finish="ERROR", error="503 upstream"), Says(TEXT, (CITED,)))

    assert (await talk.reads()).startswith(ANSWER)
    assert "503 upstream" in (await talk.notes("compose"))["broke_off"][0]


@pytest.mark.parametrize("start", [7, 400])
async def test_offsets_that_are_wrong_cite_the_right_words(talk: Talk, start: int) -> None:
    talk.server.script(CHAT, Says(TEXT, (Span(start, start + 99, TEXT, ("1",)),)))

    assert (await talk.reads()).startswith(f"{ANSWER}\n\nSOURCES:")


async def test_a_citation_that_fits_nothing_is_left_out_and_told(talk: Talk) -> None:
    talk.server.script(CHAT, Says(TEXT, (CITED, Span(0, 9, "Nobody at", ("1",)))))

    assert (await talk.reads()).startswith(ANSWER)
    assert (await talk.notes("compose"))["remarks"] == ["1 of 2 native citations fit no stretch of the answer, and were left out"]


async def test_a_citation_that_the_passage_does_not_support_is_dropped(talk: Talk) -> None:
    lie = "Employees get 99 days of annual leave a month."
    talk.server.script(CHAT, Says(f"{TEXT} {lie}", (CITED, Span(46, 46 + len(lie), lie, ("2",)))))

    assert (await talk.reads()).partition("\n\n")[0] == f"{ANSWER} {lie}"
    assert (await talk.notes("cite"))["dropped"]


async def test_an_answer_that_is_cut_off_ends_with_a_whole_sentence(talk: Talk) -> None:
    talk.server.script(CHAT, Says(f"{TEXT} Requests for annual lea", (CITED,), finish="MAX_TOKENS"))

    assert (await talk.reads()).startswith(f"{ANSWER} …")
    assert (await talk.notes("compose"))["finish"] == ["max_tokens"]


async def test_thoughts_are_not_shown(talk: Talk) -> None:
    talk.server.script(CHAT, Says(TEXT, (Span(0, len(TEXT), TEXT, ("1",), content_index=1),), thinking="Hm, 24 or 25?"))

    assert (await talk.reads()).startswith(ANSWER)
    assert not any("Hm" in draft for draft in talk.drafts)


async def test_an_embedder_that_fails_is_done_without(talk: Talk) -> None:
    talk.server.script(EMBED, Refusal(500), Refusal(500))

    assert (await talk.reads()).startswith(ANSWER)
    assert "status 500" in (await talk.notes("search"))["without_embedder"]


@pytest.mark.parametrize("trouble", [Refusal(500), Refusal(401)])
async def test_a_reranker_that_fails_is_done_without(talk: Talk, trouble: Refusal) -> None:
    talk.server.script(RERANK, trouble, trouble)

    assert (await talk.reads()).startswith(ANSWER)
    assert str(trouble.status) in (await talk.notes("rerank"))["skipped"]


async def test_a_condenser_that_fails_is_done_without(talk: Talk) -> None:
    await talk.ask()
    talk.server.script(CHAT, *[Refusal(503)] * 3)

    answer = await talk.ask("And when do requests go to the manager?")

    assert answer.remark == ""
    assert (await talk.notes("condense"))["how"] == "expanded"
    assert "status 503" in (await talk.notes("condense"))["failed"]


# --- trouble that stays: the answer comes from the documents, and says so --------------------------------------------


def by_rule(read: str) -> None:
    assert read.startswith(f"{ANSWER}\n\n{REMARK}\n\nSOURCES:\n[1] Leave (")
    assert "never" not in read


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        ([Refusal(429, "Trial key", {"Retry-After": "60"})], "ModelUnavailable: Cohere's command-a-03-2025 has too many requests"),
        ([Refusal(429)] * 3, "ModelUnavailable: Cohere's command-a-03-2025 has too many requests"),
        ([Refusal(500)] * 3, "ModelUnavailable: Cohere's command-a-03-2025 answered with status 500"),
        ([Refusal(401)], "ModelRefused: Cohere refuses the key in COHERE_API_KEY"),
        ([Refusal(404, "model 'x' not found")], "ModelRefused: Cohere does not know command-a-03-2025"),
        ([Says("Employees never get it.", fault="cut")] * 2, "ModelUnavailable: Cohere's command-a-03-2025 broke off"),
        ([Says("Employees never get", fault="malformed")] * 2, "ModelUnavailable: Cohere's command-a-03-2025 broke off"),
        ([Says("Employees never", finish="TIMEOUT")], "ModelTimeout: Cohere's command-a-03-2025 ran out of its own time"),
    ],
    ids=["429 with Retry-After", "429", "500", "refused key", "unknown model", "cut", "malformed", "time-out"],
)
async def test_an_answer_without_the_model_says_that_it_is_one(talk: Talk, trouble: list[Any], told: str) -> None:
    talk.server.script(CHAT, *trouble)

    by_rule(await talk.reads())
    assert str((await talk.run()).notes["degraded"]).startswith(told)
    assert not (await talk.run()).error


async def test_a_stream_that_stalls_is_given_up_in_time(
    server: FakeCohere, home: Path, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_ANSWERING__CALL_SECONDS", "0.3")
    async with talking(server, home, indexed) as talk:
        server.script(CHAT, Says("Employees never get it.", fault="stall"))

        by_rule(await talk.reads())
        assert str((await talk.run()).notes["degraded"]).startswith("ModelTimeout: ")


async def test_with_the_service_gone_the_talk_goes_on(talk: Talk) -> None:
    await talk.server.stop()

    by_rule(await talk.reads())
    assert "cannot be reached" in (await talk.notes("search"))["without_embedder"]
    assert "cannot be reached" in (await talk.notes("rerank"))["skipped"]
    assert "cannot be reached" in str((await talk.run()).notes["degraded"])

    answer = await talk.ask("And when do requests for it go to the manager?")
    assert "two weeks before" in answer.text
    assert answer.remark == REMARK
    assert (await talk.notes("condense"))["how"] == "expanded"


async def test_whoever_wants_no_answer_without_the_model_gets_an_apology(
    server: FakeCohere, home: Path, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_ANSWERING__DEGRADED", "apologise")
    monkeypatch.setenv("FOOTNOTE_ANSWERING__CALL_SECONDS", "0.3")
    async with talking(server, home, indexed) as talk:
        server.script(CHAT, *[Says("Employees never get it.", fault="cut")] * 2)
        assert await talk.reads() == ModelUnavailable.user_message
        assert (await talk.run()).error.startswith("ModelUnavailable: ")
        server.script(CHAT, Says(LEAVE), Says("Employees never get it.", fault="stall"))  # the first one condenses
        assert await talk.reads() == ModelTimeout.user_message
        assert [turn.role for turn in await talk.footnote.memory.recall(THREAD, 10)] == ["user", "user"]


# --- a service that hangs: it is waited for once ---------------------------------------------------------------------


@pytest.fixture
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every wait of a question for a model ends within a third of a second."""
    monkeypatch.setattr("rag.models.cohere.embedder._QUESTION", (0.3, 1))
    monkeypatch.setenv("FOOTNOTE_ANSWERING__CALL_SECONDS", "0.3")
    monkeypatch.setenv("FOOTNOTE_ANSWERING__CONDENSE_SECONDS", "0.3")
    monkeypatch.setenv("FOOTNOTE_RETRIEVAL__RERANK_SECONDS", "0.3")


@pytest.mark.usefixtures("_hurried")
async def test_fifty_who_ask_while_the_service_hangs_wait_once_and_are_answered(
    server: FakeCohere, home: Path, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.models.breaker.Breaker", partial(Breaker, clock=lambda: 0.0))  # left alone for as long as this takes
    async with talking(server, home, indexed) as talk:

        async def asked_by_fifty(question: str) -> list[Answer]:
            threads = [Thread(THREAD.place, f"2.{number}") for number in range(50)]
            return await asyncio.gather(*(talk.footnote.conversation.reply(thread, question) for thread in threads))

        server.away = Silence("stall")
        first = await asked_by_fifty(LEAVE)
        then = await asked_by_fifty(f"{LEAVE} Again?")

        assert {answer.text for answer in (*first, *then)} == {ANSWER}
        assert {answer.remark for answer in (*first, *then)} == {REMARK}
        assert not [one for one in server.asked if "Again?" in str(one.body)]


@pytest.mark.usefixtures("_hurried")
async def test_a_service_that_hung_is_left_alone_as_the_trace_tells_and_let_in_again(
    server: FakeCohere, home: Path, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = 0.0
    monkeypatch.setattr("rag.models.breaker.Breaker", partial(Breaker, clock=lambda: time.monotonic() + ahead))
    async with talking(server, home, indexed) as talk:
        server.away = Silence("stall")
        for _ in range(4):
            by_rule(await talk.reads())
        left_alone = re.compile(r"Cohere's \S+ is left alone for \d+ s more, since it kept failing: .*\.$")
        assert left_alone.match((await talk.notes("search"))["without_embedder"])
        assert left_alone.match((await talk.notes("rerank"))["skipped"])
        assert left_alone.search(str((await talk.run()).notes["degraded"]))

        server.away = None
        by_rule(await talk.reads())
        ahead = 30.0
        assert (await talk.reads()).startswith(f"{ANSWER}\n\nSOURCES:")
        assert (await talk.notes("select"))["relevance"] > 0.5  # the reranker is back, too


@pytest.mark.usefixtures("_hurried")
async def test_the_doctor_asks_the_service_itself_whatever_a_running_bot_holds_of_it(
    server: FakeCohere, home: Path, indexed: Path
) -> None:
    async with talking(server, home, indexed) as talk:
        server.away = Refusal(503)
        for _ in range(4):
            by_rule(await talk.reads())

        checks = [check for check in checks_of(talk.footnote.settings) if check.name.startswith("Cohere")]
        (found,) = [each async for each in findings(checks)]
        assert (found.name, found.is_problem) == ("Cohere's key", True)
        assert "status 503" in found.text
        server.away = None
        assert [each.is_problem async for each in findings(checks)] == [False] * 5
