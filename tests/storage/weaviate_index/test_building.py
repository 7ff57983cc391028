"""What a run does to Weaviate: builds behind an alias, counted before the switch; what a killed run leaves; what goes when."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import weaviate

from rag.errors import IndexMismatch, StoreError
from rag.types import Indexed, Search, Signature, Vector
from storage.weaviate_index import WeaviateIndex, WeaviateSettings
from storage.weaviate_index import choosing as choosing_module
from storage.weaviate_index import states as states_module
from storage.weaviate_index.naming import alias_of
from storage.weaviate_index.writer import WeaviateWriter
from tests.storage.passages import DIMENSION, SIGNATURE, direction, indexed

BASE = "handbook"
NARROW = Signature("another embedder", DIMENSION // 2, "splitting", "lexical")


def narrow(vector: Vector) -> Vector:
    half = np.frombuffer(vector, "<f4")[: DIMENSION // 2]
    return bytes((half / np.linalg.norm(half)).astype("<f4"))


def narrowed(passages: Sequence[Indexed]) -> list[Indexed]:
    return [replace(each, vector=narrow(each.vector)) for each in passages if each.vector]


async def fill(index: WeaviateIndex, *documents: Sequence[Indexed], signature: Signature = SIGNATURE) -> str:
    async with index.write(BASE, signature) as writer:
        await asyncio.gather(*(writer.put(passages[0].passage.document, passages) for passages in documents))
        await writer.publish(switch=True)
        return writer.build


async def found(index: WeaviateIndex, *terms: str) -> list[str]:
    return sorted(each.id for each in await index.search(BASE, Search(terms)))


async def collections(client: weaviate.WeaviateAsyncClient, settings: WeaviateSettings) -> set[str]:
    return {name for name in await client.collections.list_all() if name.startswith(settings.name) and not name.endswith("_States")}


async def target(client: weaviate.WeaviateAsyncClient, settings: WeaviateSettings) -> str:
    alias = await client.alias.get(alias_name=alias_of(settings.name, settings.tenant, BASE))
    assert alias is not None
    return alias.collection


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was live before is asked for by nobody any more."""
    monkeypatch.setattr(states_module, "GRACE_SECONDS", -1.0)
    monkeypatch.setattr(choosing_module, "GRACE_SECONDS", -1.0)


# --- builds ---------------------------------------------------------------------------------------------------------


async def test_an_alias_leads_to_the_live_build_and_is_switched_to_the_next(
    index: WeaviateIndex, client: weaviate.WeaviateAsyncClient, weaviate_settings: WeaviateSettings
) -> None:
    first = await fill(index, indexed("a", "leave"))
    assert await target(client, weaviate_settings) == first == await index.live(BASE)

    second = await fill(index, narrowed(indexed("a", "leave")), signature=NARROW)

    assert await target(client, weaviate_settings) == second == await index.live(BASE)
    assert await collections(client, weaviate_settings) == {first, second}, "the one before is kept, to go back to"


async def test_the_build_before_is_removed_by_the_next_run_once_nobody_can_ask_for_it(
    index: WeaviateIndex, client: weaviate.WeaviateAsyncClient, weaviate_settings: WeaviateSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await fill(index, indexed("a", "leave"))
    second = await fill(index, narrowed(indexed("a", "leave")), signature=NARROW)
    await fill(index, narrowed(indexed("b", "pay")), signature=NARROW)
    assert await collections(client, weaviate_settings) == {first, second}

    monkeypatch.setattr(choosing_module, "GRACE_SECONDS", -1.0)
    await fill(index, narrowed(indexed("c", "sick")), signature=NARROW)

    assert await collections(client, weaviate_settings) == {second}
    assert await found(index, "leave", "pay", "sick") == ["a#0", "b#0", "c#0"]


async def test_a_build_that_nobody_goes_on_with_is_removed(
    index: WeaviateIndex, client: weaviate.WeaviateAsyncClient, weaviate_settings: WeaviateSettings
) -> None:
    live = await fill(index, indexed("a", "leave"))
    async with index.write(BASE, NARROW) as begun:
        await begun.put("a", narrowed(indexed("a", "leave")))
    assert await collections(client, weaviate_settings) == {live, begun.build}

    await fill(index, indexed("b", "pay"))

    assert await collections(client, weaviate_settings) == {live}


@pytest.mark.usefixtures("no_grace")
async def test_a_question_embedded_for_the_build_before_is_answered_from_it_while_it_stands(index: WeaviateIndex) -> None:
    await fill(index, indexed("a", "leave"), indexed("b", "pay"))
    await fill(index, narrowed(indexed("a", "leave")), signature=NARROW)

    assert {each.id for each in await index.search(BASE, Search(("leave",), direction("leave")))} == {"a#0", "b#0"}
    assert {each.id for each in await index.search(BASE, Search(("leave",), narrow(direction("leave"))))} == {"a#0"}

    await fill(index, narrowed(indexed("c", "sick")), signature=NARROW)
    with pytest.raises(IndexMismatch, match=r"32 dimensions, the question's has 64"):
        await index.search(BASE, Search(("leave",), direction("leave")))


async def test_searches_find_something_all_the_way_through_a_rebuild_with_another_dimension(index: WeaviateIndex) -> None:
    documents = [indexed(f"d{number}", "all of them", f"only {number}") for number in range(40)]
    await fill(index, *documents)
    over, sizes = asyncio.Event(), set()

    async def search() -> None:
        while not over.is_set():
            sizes.add(len(await index.search(BASE, Search(("all",), direction("all of them"), limit=40))))

    async with asyncio.TaskGroup() as tasks:
        for _ in range(4):
            tasks.create_task(search())
        await fill(index, *(narrowed(passages) for passages in documents), signature=NARROW)
        over.set()

    assert min(sizes) >= 40
    assert (await index.signature(BASE)) == NARROW


async def test_what_one_process_publishes_another_one_finds_at_its_next_search(
    index: WeaviateIndex, weaviate_settings: WeaviateSettings
) -> None:
    await fill(index, indexed("a", "leave"))
    async with WeaviateIndex(weaviate_settings) as other:
        assert await found(other, "leave", "pay") == ["a#0"]
        await fill(index, indexed("b", "pay"))
        assert await found(other, "leave", "pay") == ["a#0", "b#0"]
        await fill(index, narrowed(indexed("c", "pay")), signature=NARROW)
        assert await found(other, "leave", "pay") == ["c#0"]
        await index.drop(BASE)
        assert await found(other, "leave", "pay") == []


@pytest.mark.parametrize("replaced", [True, False])
async def test_a_run_that_begins_between_a_search_and_its_look_at_the_state_is_not_seen(
    index: WeaviateIndex, weaviate_settings: WeaviateSettings, monkeypatch: pytest.MonkeyPatch, *, replaced: bool
) -> None:
    """The search thinks that all there is can be found: by the rows of the next state it knows better."""
    await fill(index, indexed("a", "leave before"), indexed("b", "leave too"))
    async with WeaviateIndex(weaviate_settings) as other:
        assert await found(other, "leave") == ["a#0", "b#0"]
        known = await other._states.known(BASE, seconds=60)
        looks: list[str] = []

        async def looked_before_the_run_began(base: str) -> object:  # noqa: ARG001 - in place of a method
            looks.append("")
            return known

        async with index.write(BASE, SIGNATURE) as writer:
            await writer.put("a" if replaced else "c", indexed("a" if replaced else "c", "leave after", "leave more"))
            monkeypatch.setattr(other._states, "read", looked_before_the_run_began)
            candidates = await other.search(BASE, Search(("leave", "before"), direction("leave after")))
            await writer.publish()

    assert sorted(each.id for each in candidates) == ["a#0", "b#0"]
    assert next(each.matched for each in candidates if each.id == "a#0") == {"leave", "before"}
    assert len(looks) == 2


# --- counting -------------------------------------------------------------------------------------------------------


async def test_a_build_that_lacks_passages_is_not_switched_to(index: WeaviateIndex, client: weaviate.WeaviateAsyncClient) -> None:
    await fill(index, indexed("a", "leave"))

    async with index.write(BASE, NARROW) as writer:
        await writer.put("a", narrowed(indexed("a", "leave", "pay")))
        objects = (await client.collections.use(writer.build).query.fetch_objects()).objects
        await client.collections.use(writer.build).data.delete_by_id(objects[0].uuid)
        with pytest.raises(StoreError, match=r"holds 1 passages in Weaviate where 2 were written"):
            await writer.publish(switch=True)

    assert await index.signature(BASE) == SIGNATURE
    assert await found(index, "leave") == ["a#0"]


async def test_writing_the_same_twice_leaves_it_there_once(index: WeaviateIndex, client: weaviate.WeaviateAsyncClient) -> None:
    async with index.write(BASE, SIGNATURE) as writer:
        for _ in range(3):
            await writer.put("a", indexed("a", "leave", "pay"))
        await writer.publish()

    assert await client.collections.use(writer.build).length() == 2
    assert await index.size(BASE) == 2


async def test_a_document_with_vectors_of_another_dimension_is_refused(index: WeaviateIndex) -> None:
    async with index.write(BASE, SIGNATURE) as writer:
        with pytest.raises(IndexMismatch, match=r"32 dimensions cannot be put into the index of base 'handbook'"):
            await writer.put("a", narrowed(indexed("a", "leave")))


# --- interruptions --------------------------------------------------------------------------------------------------


async def test_a_document_that_was_being_replaced_when_the_run_was_killed_is_as_it_was(
    index: WeaviateIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(index, indexed("a", "old one", "old two"), indexed("b", "other"))

    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(WeaviateWriter, "_bury", killed)
    with pytest.raises(KeyboardInterrupt):
        async with index.write(BASE, SIGNATURE) as writer:
            await writer.put("a", indexed("a", "new one", "new two"))
    monkeypatch.undo()

    async with index.write(BASE, SIGNATURE) as writer:
        assert await writer.counts() == {"a": 2, "b": 1}
        await writer.put("b", indexed("b", "other still"))
        await writer.publish()
    assert await found(index, "old", "new", "still") == ["a#0", "a#1", "b#0"]
    assert await found(index, "new") == []


async def test_a_document_whose_end_was_half_done_when_the_run_was_killed_is_as_it_was(
    index: WeaviateIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(index, indexed("a", "old one", "old two"))
    bury = WeaviateWriter._bury

    async def half(self: WeaviateWriter, documents: Sequence[str], spared: Any) -> None:
        kept = (await index.search(BASE, Search(("two",))))[0].id
        rows = (await self._rows.query.fetch_objects()).objects
        await bury(self, documents, {*spared, *(each.uuid for each in rows if each.properties["passage"] == kept)})
        raise KeyboardInterrupt

    monkeypatch.setattr(WeaviateWriter, "_bury", half)
    with pytest.raises(KeyboardInterrupt):
        async with index.write(BASE, SIGNATURE) as writer:
            await writer.put("a", indexed("a", "new one", "new two"))
    monkeypatch.undo()

    async with index.write(BASE, SIGNATURE) as writer:
        assert await writer.counts() == {"a": 2}
        await writer.put("b", indexed("b", "more"))
        await writer.publish()
    assert await found(index, "old") == ["a#0", "a#1"]


async def test_what_was_replaced_leaves_the_server_once_nobody_can_ask_for_it(
    index: WeaviateIndex, client: weaviate.WeaviateAsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = await fill(index, indexed("a", "old one", "old two"), indexed("b", "other"))
    await fill(index, indexed("a", "new one"))
    assert await client.collections.use(build).length() == 4

    monkeypatch.setattr(states_module, "GRACE_SECONDS", -1.0)
    await fill(index, indexed("c", "more"))

    assert await client.collections.use(build).length() == 3
    assert await found(index, "new", "other", "more") == ["a#0", "b#0", "c#0"]
