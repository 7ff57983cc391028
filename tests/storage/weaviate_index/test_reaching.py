"""A server that is away, comes back, is slow, is old, or is something else: what is read of it, and that nothing hangs."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from weaviate.classes.data import DataObject
from weaviate.collections.classes.batch import BatchObjectReturn, ErrorObject

from rag.errors import BadSetting, StoreError, StoreUnavailable
from rag.types import Search, Stretch
from storage.weaviate_index import WeaviateIndex, WeaviateSettings
from storage.weaviate_index import batches as batches_module
from storage.weaviate_index.address import grpc_host, rest_host
from storage.weaviate_index.batches import Batches
from storage.weaviate_index.calls import Calls
from storage.weaviate_index.server import check_cluster
from tests.databases import free_port
from tests.fakes.gate import Gate, gates
from tests.storage.passages import SIGNATURE, direction, indexed

BASE = "handbook"
SEARCH = Search(("leave",), direction("leave"))


class Behind:
    """An index whose server is behind gates."""

    def __init__(self, index: WeaviateIndex, opened: list[Gate]) -> None:
        self.index = index
        self._gates = opened

    async def shut(self) -> None:
        for gate in self._gates:
            await gate.shut()

    async def open(self) -> None:
        for gate in self._gates:
            await gate.open()

    def hold(self) -> None:
        for gate in self._gates:
            gate.hold()


@asynccontextmanager
async def behind(settings: WeaviateSettings) -> AsyncIterator[Behind]:
    """With one document in it."""
    async with gates(rest_host(settings).port, grpc_host(settings).port) as opened:
        rest, grpc = (f"http://127.0.0.1:{gate.port}" for gate in opened)
        async with WeaviateIndex(replace(settings, url=rest, grpc_url=grpc)) as index:
            async with index.write(BASE, SIGNATURE) as writer:
                await writer.put("a", indexed("a", "annual leave"))
                await writer.publish()
            await index.search(BASE, SEARCH)
            yield Behind(index, opened)


async def everything_asked(index: WeaviateIndex) -> list[Any]:
    """One of each call, all at once."""
    return list(
        await asyncio.gather(
            index.search(BASE, SEARCH),
            index.passages(BASE, ["a#0"]),
            index.neighbours(BASE, [Stretch("a", 0, 3)]),
            index.size(BASE),
            index.signature(BASE),
            return_exceptions=True,
        )
    )


# --- away -----------------------------------------------------------------------------------------------------------


async def test_whoever_asks_while_the_server_is_away_is_told_so_before_long(weaviate_settings: WeaviateSettings) -> None:
    async with behind(
        replace(weaviate_settings, search_seconds=1.0, search_patience=0.3, write_seconds=1.0, write_patience=0.3)
    ) as away:
        await away.shut()
        async with asyncio.timeout(10):  # the client alone takes 63 s
            answers = await everything_asked(away.index)

        assert [type(each) for each in answers] == [StoreUnavailable] * len(answers)
        assert all(each.user_message == StoreError.user_message for each in answers if isinstance(each, StoreError))
        with pytest.raises(StoreUnavailable, match=r"Check that it runs, and WEAVIATE_URL and WEAVIATE_GRPC_URL"):
            async with away.index.write(BASE, SIGNATURE):
                pass


async def test_a_question_is_answered_when_the_server_is_back_in_time(weaviate_settings: WeaviateSettings) -> None:
    async with behind(replace(weaviate_settings, search_patience=30.0)) as away:
        await away.shut()
        asked = asyncio.create_task(everything_asked(away.index))
        await asyncio.sleep(0.3)
        assert not asked.done()
        await away.open()

        candidates, (passage,), neighbours, size, signature = await asked

        assert [each.id for each in candidates] == ["a#0"]
        assert neighbours == [[passage]]
        assert (size, signature) == (1, SIGNATURE)


async def test_an_indexing_run_goes_on_when_the_server_is_back(weaviate_settings: WeaviateSettings) -> None:
    async with behind(replace(weaviate_settings, write_patience=30.0)) as away, away.index.write(BASE, SIGNATURE) as writer:
        await writer.put("b", indexed("b", "sick leave"))
        await away.shut()
        putting = asyncio.create_task(writer.put("c", indexed("c", "parental leave")))
        await asyncio.sleep(0.3)
        assert not putting.done()
        await away.open()
        await putting
        await writer.publish()

        assert {each.id for each in await away.index.search(BASE, SEARCH)} == {"a#0", "b#0", "c#0"}


async def test_a_server_that_takes_a_question_and_says_nothing_is_given_up(weaviate_settings: WeaviateSettings) -> None:
    async with behind(replace(weaviate_settings, search_seconds=1.5, search_patience=0.0)) as away:
        away.hold()
        async with asyncio.timeout(30):
            answers = await everything_asked(away.index)

        assert all(isinstance(each, StoreUnavailable) and "did not answer within 1.5 s" in str(each) for each in answers)


# --- at the start ---------------------------------------------------------------------------------------------------


async def test_a_server_that_is_not_there_is_told_at_the_start() -> None:
    nowhere = WeaviateSettings(f"http://127.0.0.1:{free_port()}", search_patience=0.0)

    with pytest.raises(StoreUnavailable, match=r"^Weaviate at http://127\.0\.0\.1:\d+ cannot be reached\."):
        async with WeaviateIndex(nowhere):
            pass


async def test_a_grpc_address_that_is_wrong_is_told_at_the_start(weaviate_settings: WeaviateSettings) -> None:
    port = free_port()
    wrong = replace(weaviate_settings, grpc_url=f"127.0.0.1:{port}", search_seconds=0.5, search_patience=0.0)

    with pytest.raises(StoreUnavailable, match=rf"answers, and at its gRPC address, 127\.0\.0\.1:{port}, it does not"):
        async with WeaviateIndex(wrong):
            pass


async def test_doctor_tells_what_there_is_and_what_cannot_work(weaviate_settings: WeaviateSettings) -> None:
    assert re.fullmatch(r"Weaviate 1\.\d+\.\S+ at http://\S+, \d+ nodes?", await check_cluster(weaviate_settings))
    with pytest.raises(BadSetting, match=r"weaviate\.replicas \(FOOTNOTE_WEAVIATE__REPLICAS\) is 99, and Weaviate at"):
        await check_cluster(replace(weaviate_settings, replicas=99))


@asynccontextmanager
async def impostor(status: int, body: str) -> AsyncIterator[WeaviateSettings]:
    """Something that answers every request so."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, text=body, content_type="application/json" if body.startswith("{") else "text/html")

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        port = free_port()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield WeaviateSettings(f"http://127.0.0.1:{port}", api_key="not-a-secret", search_patience=0.0)
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (200, '{"version": "1.32.9"}', r"is version 1\.32\.9, and Footnote needs 1\.33 or newer\. Install a newer one\."),
        (200, '{"version": "1.20.0"}', r"is version 1\.20\.0, and"),
        (200, "{}", "is not Weaviate"),
        (200, "<h1>Welcome</h1>", "is not Weaviate"),
        (401, '{"error": "no"}', "WEAVIATE_API_KEY"),
        (404, "<h1>Not here</h1>", "is not Weaviate"),
        (503, '{"error": "starting"}', "status 503"),
    ],
)
async def test_what_cannot_be_used_is_told_at_the_start(status: int, body: str, told: str) -> None:
    async with impostor(status, body) as settings:
        with pytest.raises(StoreError, match=told) as refused:
            async with WeaviateIndex(settings):
                pass
        assert "not-a-secret" not in str(refused.value)


@pytest.mark.parametrize("name", ["footnote", "Foot note", "", "Føø", "F" * 41])
async def test_a_name_that_no_collection_can_have_is_refused(name: str) -> None:
    with pytest.raises(BadSetting, match=r"weaviate\.name \(FOOTNOTE_WEAVIATE__NAME\)"):
        async with WeaviateIndex(WeaviateSettings("http://127.0.0.1:1", name=name)):
            pass


# --- rows that are refused ------------------------------------------------------------------------------------------


class Choosy:
    """A collection that refuses each of some rows so many times. The server's answer holds errors by place in the call."""

    def __init__(self, refused: dict[str, int]) -> None:
        self.refused = refused
        self.calls: list[list[str]] = []
        self.data = self

    async def insert_many(self, rows: list[DataObject[Any, Any]]) -> BatchObjectReturn:
        names = [str(each.properties["name"]) for each in rows]
        self.calls.append(names)
        errors = {}
        for at, name in enumerate(names):
            if self.refused.get(name, 0):
                self.refused[name] -= 1
                errors[at] = ErrorObject(message=f"{name}: the queue is full", object_=None)  # type: ignore[arg-type] # not looked at
        return BatchObjectReturn(_all_responses=[], elapsed_seconds=0.0, errors=errors, uuids={}, has_errors=bool(errors))


class Around:
    """What stands around a collection."""

    def __init__(self, collection: Choosy) -> None:
        self._collection = collection
        self.write = Calls("http://weaviate:8080", 5.0, 0.0)

    def surely(self, _: str) -> Choosy:
        return self._collection


def rows(*names: str) -> list[DataObject[Any, Any]]:
    return [DataObject({"name": name}) for name in names]


def batches(collection: Choosy) -> Batches:
    return Batches(Around(collection), "Build")  # type: ignore[arg-type] # as much of a server as is used


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "PAUSE", 0.0)


async def test_rows_that_the_server_refuses_are_sent_again_by_themselves() -> None:
    collection = Choosy({"b": 2, "d": 1})

    await batches(collection).write(rows("a", "b", "c", "d"))

    assert collection.calls == [["a", "b", "c", "d"], ["b", "d"], ["b"]]


async def test_a_row_that_is_refused_every_time_is_told_with_the_servers_reason() -> None:
    with pytest.raises(StoreError, match=r"did not store 1 passages, the first since: b: the queue is full\. What was stored"):
        await batches(Choosy({"b": 99})).write(rows("a", "b"))


async def test_rows_that_are_handed_in_at_once_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "TOGETHER", 3)
    collection = Choosy({})
    writer = batches(collection)

    await asyncio.gather(writer.write(rows("a", "b")), writer.write(rows("c")), writer.write(rows("d")), writer.write([]))
    await writer.write(rows("e"))

    assert collection.calls == [["a", "b", "c"], ["d"], ["e"]]


async def test_everybody_whose_rows_went_along_hears_that_they_were_refused() -> None:
    writer = batches(Choosy({"b": 99}))

    outcomes = await asyncio.gather(writer.write(rows("a")), writer.write(rows("b")), return_exceptions=True)

    assert [type(each) for each in outcomes] == [StoreError, StoreError]
