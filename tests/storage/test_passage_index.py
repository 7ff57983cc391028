"""What every PassageIndex does, whatever it is made of (M6)."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.ports import AtHand, PassageIndex, Work
from rag.types import Candidate, Indexed, Passage, Search, Signature, Stretch
from storage.local_index import LocalIndex
from storage.weaviate_index import WeaviateIndex
from tests.storage.passages import SIGNATURE, bm25, cosines, direction, indexed, passage, ranked, without_vectors

BASE = "handbook"
IMPLEMENTATIONS: dict[str, Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[PassageIndex]]] = {
    "local": lambda request: LocalIndex(request.getfixturevalue("tmp_path")),
    "local, in a thread": lambda request: LocalIndex(request.getfixturevalue("tmp_path"), at_once=0),
    "weaviate": lambda request: WeaviateIndex(request.getfixturevalue("weaviate_settings")),
}


@pytest_asyncio.fixture(params=IMPLEMENTATIONS)
async def index(request: pytest.FixtureRequest) -> AsyncIterator[PassageIndex]:
    async with IMPLEMENTATIONS[request.param](request) as opened:
        yield opened


async def fill(index: PassageIndex, *documents: Sequence[Indexed], base: str = BASE, signature: Signature = SIGNATURE) -> None:
    async with index.write(base, signature) as writer:
        for passages in documents:
            await writer.put(passages[0].passage.document, passages)
        await writer.publish(switch=True)


async def found(index: PassageIndex, *terms: str, base: str = BASE) -> list[str]:
    candidates = [each for each in await index.search(base, Search(terms)) if each.lexical_rank]
    return [each.id for each in sorted(candidates, key=lambda each: each.lexical_rank)]


def some_documents(many: int, seed: int = 1) -> list[list[Indexed]]:
    """Documents of one to five passages over a small vocabulary, frequent words and rare ones."""
    chance = random.Random(seed)
    words = [f"w{number}" for number in range(120)]
    weights = [1 / (number + 1) for number in range(120)]

    def text() -> str:
        return " ".join(chance.choices(words, weights, k=chance.randint(3, 40)))

    return [indexed(f"d{number:03}", *(text() for _ in range(chance.randint(1, 5)))) for number in range(many)]


def everything(documents: Sequence[Sequence[Indexed]]) -> list[Indexed]:
    return [each for passages in documents for each in passages]


# --- searching ------------------------------------------------------------------------------------------------------


async def test_a_base_that_was_never_indexed_finds_nothing(index: PassageIndex) -> None:
    assert await index.search(BASE, Search(("leave",), direction(1))) == []
    assert await index.passages(BASE, ["a#0"]) == []
    assert await index.neighbours(BASE, [Stretch("a", 0, 5)]) == [[]]
    assert await index.signature(BASE) is None
    assert await index.size(BASE) == 0
    assert await index.languages(BASE) == ()
    assert await index.live(BASE) == ""


async def test_both_lists_are_ranked_by_the_exact_scores(index: PassageIndex) -> None:
    documents = some_documents(80)
    await fill(index, *documents)
    terms, vector = ("w1", "w5", "w30", "w77"), direction("a question")
    wanted_bm25, wanted_cosine = bm25(everything(documents), terms), cosines(everything(documents), vector)

    candidates = await index.search(BASE, Search(terms, vector, limit=20))

    by_terms = sorted((each for each in candidates if each.lexical_rank), key=lambda each: each.lexical_rank)
    by_vector = sorted((each for each in candidates if each.dense_rank), key=lambda each: each.dense_rank)
    assert [each.lexical_rank for each in by_terms] == [each.dense_rank for each in by_vector] == list(range(1, 21))
    assert [wanted_bm25[each.id] for each in by_terms] == pytest.approx(sorted(wanted_bm25.values(), reverse=True)[:20], rel=1e-4)
    assert [each.id for each in by_vector] == sorted(wanted_cosine, key=lambda name: -wanted_cosine[name])[:20]


async def test_every_candidate_has_both_raw_scores_whichever_list_it_comes_from(index: PassageIndex) -> None:
    documents = some_documents(80)
    await fill(index, *documents)
    terms, vector = ("w2", "w9", "w40"), direction("another question")

    candidates = await index.search(BASE, Search(terms, vector, limit=15))

    assert any(not each.lexical_rank for each in candidates)
    assert any(not each.dense_rank for each in candidates)
    assert len({each.id for each in candidates}) == len(candidates)
    wanted = bm25(everything(documents), terms), cosines(everything(documents), vector)
    assert [each.bm25 for each in candidates] == pytest.approx([wanted[0][each.id] for each in candidates], rel=1e-4)
    assert [each.cosine for each in candidates] == pytest.approx([wanted[1][each.id] for each in candidates], abs=1e-5)


async def test_of_a_base_that_both_lists_hold_whole_every_candidate_has_its_own_scores(index: PassageIndex) -> None:
    """Each passage holds the term, so that the lexical list names all, in an order of its own."""
    texts = [" ".join(["leave"] * (1 + number % 4) + [f"w{number}"] * (number * 3)) for number in range(8)]
    documents = [indexed(f"d{number}", text) for number, text in enumerate(texts)]
    await fill(index, *documents)
    vector = direction(texts[5])

    candidates = await index.search(BASE, Search(("leave",), vector, limit=40))

    wanted = bm25(everything(documents), ("leave",)), cosines(everything(documents), vector)
    found = sorted(candidates, key=lambda each: each.lexical_rank)
    assert [each.id for each in found] != sorted(each.id for each in found)
    assert [each.bm25 for each in candidates] == pytest.approx([wanted[0][each.id] for each in candidates], rel=1e-4)
    assert [each.cosine for each in candidates] == pytest.approx([wanted[1][each.id] for each in candidates], abs=1e-5)


async def test_a_list_holds_only_what_really_matched(index: PassageIndex) -> None:
    await fill(index, indexed("a", "annual leave", "sick leave", "parking"))

    by_terms = await index.search(BASE, Search(("leave",)))
    by_vector = await index.search(BASE, Search(("nowhere",), direction("parking"), limit=2))

    assert {each.id for each in by_terms} == {"a#0", "a#1"}
    assert all(each.dense_rank == 0 for each in by_terms)
    assert [each.lexical_rank for each in by_vector] == [0, 0]
    assert next(each.id for each in by_vector if each.dense_rank == 1) == "a#2"


async def test_nothing_is_found_by_unknown_terms_or_by_none(index: PassageIndex) -> None:
    await fill(index, indexed("a", "annual leave"))

    assert await index.search(BASE, Search(("holiday",))) == []
    assert await index.search(BASE, Search(())) == []
    assert await index.search(BASE, Search(("", "leav", "LEAVE"))) == []


async def test_unknown_terms_count_nothing(index: PassageIndex) -> None:
    await fill(index, indexed("a", "annual leave", "sick leave"), indexed("b", "parking at home"))

    assert await index.search(BASE, Search(("leave", "nowhere", "sick"))) == await index.search(BASE, Search(("leave", "sick")))


async def test_a_term_that_stands_twice_weighs_twice(index: PassageIndex) -> None:
    documents = some_documents(30)
    await fill(index, *documents)
    terms = ("w3", "w20", "w20", "w20", "w8", "w8")

    candidates = await index.search(BASE, Search(terms, limit=10))

    wanted = bm25(everything(documents), terms)
    assert {each.id: each.bm25 for each in candidates} == pytest.approx({each.id: wanted[each.id] for each in candidates}, rel=1e-4)
    assert [wanted[name] for name in await found(index, *terms)] == pytest.approx(
        [wanted[name] for name in ranked(wanted, 50)], rel=1e-4
    )


async def test_matched_are_the_distinct_terms_that_stand_in_the_passage(index: PassageIndex) -> None:
    documents = some_documents(60)
    await fill(index, *documents)
    terms = ("w1", "w1", "w4", "w25", "unknown")

    candidates = await index.search(BASE, Search(terms, direction(3), limit=10))

    held = {each.passage.id: set(each.passage.terms.split()) for each in everything(documents)}
    assert {each.id: each.matched for each in candidates} == {each.id: set(terms) & held[each.id] for each in candidates}


async def test_terms_in_any_script_are_found_whole(index: PassageIndex) -> None:
    await fill(index, indexed("zh", "年假 假申 申请", "病假 请假"), indexed("th", "ลา พักร้อน"), indexed("ru", "отпуск ежегодный"))

    assert await found(index, "年假") == ["zh#0"]
    assert set(await found(index, "请假", "申请")) == {"zh#0", "zh#1"}
    assert await found(index, "พักร้อน") == ["th#0"]
    assert await found(index, "отпуск") == ["ru#0"]


async def test_passages_without_vectors_are_found_by_their_terms_alone(index: PassageIndex) -> None:
    await fill(index, indexed("a", "annual leave"), without_vectors(indexed("b", "sick leave")))

    candidates = {each.id: each for each in await index.search(BASE, Search(("leave",), direction("sick leave")))}

    assert candidates["a#0"].dense_rank == 1
    assert (candidates["b#0"].dense_rank, candidates["b#0"].cosine) == (0, 0.0)
    assert candidates["b#0"].lexical_rank


async def test_a_base_without_any_vector_is_searched_by_terms(index: PassageIndex) -> None:
    await fill(index, without_vectors(indexed("a", "annual leave", "parking")))

    candidates = await index.search(BASE, Search(("leave",), direction(1)))

    assert [(each.id, each.lexical_rank, each.dense_rank) for each in candidates] == [("a#0", 1, 0)]


async def test_an_index_made_without_an_embedder_is_searched_by_terms(index: PassageIndex) -> None:
    await fill(index, without_vectors(indexed("a", "annual leave", "parking")), signature=Signature("", 0, "splitting", "lexical"))

    assert [each.id for each in await index.search(BASE, Search(("leave",)))] == ["a#0"]


async def test_a_limit_bounds_each_list(index: PassageIndex) -> None:
    await fill(index, *some_documents(40))

    candidates = await index.search(BASE, Search(("w0",), direction(1), limit=3))

    assert sorted(each.lexical_rank for each in candidates if each.lexical_rank) == [1, 2, 3]
    assert sorted(each.dense_rank for each in candidates if each.dense_rank) == [1, 2, 3]


async def test_equal_passages_come_in_the_same_order_every_time(index: PassageIndex) -> None:
    await fill(index, *(indexed(f"d{number:02}", "the same words") for number in range(30)))
    search = Search(("same",), direction("the same words"), limit=7)

    first = await index.search(BASE, search)

    assert len({each.bm25 for each in first}) == len({each.cosine for each in first}) == 1
    assert all([await index.search(BASE, search) == first for _ in range(5)])


async def test_many_searches_at_once_find_what_each_would_alone(index: PassageIndex) -> None:
    await fill(index, *some_documents(60))
    searches = [Search((f"w{number}", f"w{number * 3}"), direction(number)) for number in range(24)]
    alone = [await index.search(BASE, search) for search in searches]

    assert await asyncio.gather(*(index.search(BASE, search) for search in searches)) == alone


Given: TypeAlias = tuple[list[Candidate], list[Passage], list[list[Passage]]]


def around(each: Passage) -> Stretch:
    return Stretch(each.document, each.ordinal - 1, each.ordinal + 1)


class Told:
    """Work that tells what it was given. It cannot be done in another process, which is not worth it for one that asks."""

    def done(self, candidates: Sequence[Candidate], at_hand: AtHand) -> Given:
        found = list(at_hand.passages([each.id for each in candidates]))
        return list(candidates), found, [list(each) for each in at_hand.neighbours(list(map(around, found)))]

    def lighter(self) -> Work[Given]:
        raise NotImplementedError

    def order(self) -> tuple[str, Any]:
        raise NotImplementedError

    def packed(self, done: Given) -> object:
        raise NotImplementedError

    def unpacked(self, packed: Any) -> Given:
        raise NotImplementedError


async def test_work_beside_the_passages_gets_what_is_found_and_may_read_it(index: PassageIndex) -> None:
    await fill(index, *some_documents(12))
    search = Search(("w1", "w2"), direction(3), limit=4)
    candidates = await index.search(BASE, search)

    told = await index.beside(BASE, search, Told())

    found = await index.passages(BASE, [each.id for each in candidates])
    assert told is None or told == (candidates, found, await index.neighbours(BASE, list(map(around, found))))
    assert candidates


async def test_there_is_no_work_beside_passages_that_are_not_there(index: PassageIndex) -> None:
    assert await index.beside("nowhere", Search(("w1",)), Told()) is None


# --- passages -------------------------------------------------------------------------------------------------------


async def test_passages_come_back_as_they_were_put_in_the_order_asked(index: PassageIndex) -> None:
    full = Passage(
        "id 1", BASE, "a/b c.md", 0, "text\n\twith “quotes”", "Title", "https://x/#y", ("One", "Ünï"), "an-anchor", 7, 12, 30, 60,
        "de", "text quotes", "d1g35t", expandable=False, within='[[5, 8, "https://x/#ü", "Zwei"]]',
    )  # fmt: skip
    bare = Passage("id 2", BASE, "a/b c.md", 1, "")
    await fill(index, [Indexed(full, direction(1)), Indexed(bare)])

    assert await index.passages(BASE, ["id 2", "id 1"]) == [bare, full]


async def test_an_id_that_is_gone_is_left_out(index: PassageIndex) -> None:
    await fill(index, indexed("a", "one", "two"))

    assert [each.id for each in await index.passages(BASE, ["a#1", "gone", "a#0"])] == ["a#1", "a#0"]
    assert await index.passages(BASE, []) == []


async def test_neighbours_are_a_stretch_of_one_document_in_order(index: PassageIndex) -> None:
    await fill(index, indexed("a", *(f"word{number}" for number in range(12))), indexed("b", "one", "two"))

    wanted = [Stretch("a", 9, 11), Stretch("b", -2, 90), Stretch("a", 12, 20), Stretch("c", 0, 3), Stretch("a", 0, 0)]
    found = await index.neighbours(BASE, wanted)
    assert [[each.id for each in of] for of in found] == [["a#9", "a#10", "a#11"], ["b#0", "b#1"], [], [], ["a#0"]]
    assert await index.neighbours(BASE, []) == []


async def test_what_is_wanted_of_a_stretch_is_among_what_is_given(index: PassageIndex) -> None:
    held = indexed("a", "one", "two", "a much longer text", "three", "four", "five")
    await fill(index, held)
    room = len(held[4].passage.text) + len(held[5].passage.text) + 1

    (found,) = await index.neighbours(BASE, [Stretch("a", 0, 5, ((1, room), (3, room)))])

    assert {"a#0", "a#4", "a#5"} <= {each.id for each in found}  # the rest may be left out
    assert [each.ordinal for each in found] == sorted(each.ordinal for each in found)


async def test_size_and_languages_are_those_of_what_can_be_found(index: PassageIndex) -> None:
    await fill(
        index,
        indexed("a", "one", "two", "three", language="pt"),
        indexed("b", "uno", language="es"),
        indexed("c", "x", language=""),
    )
    await fill(index, indexed("d", "dos", language="es"), indexed("e", "tres", "cuatro", language="es"))

    assert await index.size(BASE) == 8
    assert await index.languages(BASE) == ("es", "pt")


async def test_text_that_no_encoding_takes_is_stored_well_formed(index: PassageIndex) -> None:
    odd = passage("a\udcff.md", 0, "nul\0l \ud800broken")._replace(text="nul\0 and \udfff", headings=("\0", "\ud800"))
    await fill(index, [Indexed(odd, direction(1))])

    (candidate,) = await index.search(BASE, Search(("nu\0ll",)))
    (back,) = await index.passages(BASE, [candidate.id])

    assert (back.text, back.headings) == ("nul and \ufffd", ("", "\ufffd"))
    assert await index.neighbours(BASE, [Stretch("a\udcff.md", 0, 0)]) == [[back]]
    assert await found(index, "\ud800broken") == [candidate.id]


@given(
    texts=st.lists(st.text(max_size=30), min_size=1, max_size=4),
    terms=st.lists(st.text(st.characters(exclude_categories=["Cs", "Zs"], exclude_characters="\0"), min_size=1), max_size=6),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_text_and_any_terms_are_taken(index: PassageIndex, texts: list[str], terms: list[str]) -> None:
    await index.drop(BASE)
    held = [passage("a", number, " ".join(terms))._replace(text=text, title=text) for number, text in enumerate(texts)]
    await fill(index, [Indexed(each, direction(each.id)) for each in held])

    assert len(await index.passages(BASE, [each.id for each in held])) == len(texts)
    assert all([len(await found(index, term)) == len(texts) for term in terms])


# --- writing --------------------------------------------------------------------------------------------------------


async def test_what_is_written_is_seen_from_the_next_publish_on(index: PassageIndex) -> None:
    async with index.write(BASE, SIGNATURE) as writer:
        await writer.put("a", indexed("a", "leave"))
        assert await found(index, "leave") == []
        await writer.publish()
        assert await found(index, "leave") == ["a#0"]
        await writer.put("b", indexed("b", "leave"))
        assert await found(index, "leave") == ["a#0"]
        await writer.publish()
        assert await found(index, "leave") == ["a#0", "b#0"]


async def test_a_document_is_replaced_whole(index: PassageIndex) -> None:
    await fill(index, indexed("a", "old one", "old two", "old three"), indexed("b", "other"))
    await fill(index, indexed("a", "new one", "new two"))

    assert await found(index, "old") == []
    assert set(await found(index, "new")) == {"a#0", "a#1"}
    (passages,) = await index.neighbours(BASE, [Stretch("a", 0, 9)])
    assert [each.terms for each in passages] == ["new one", "new two"]
    assert await index.size(BASE) == 3


async def test_what_is_replaced_during_a_run_is_read_as_it_was_until_the_publish(index: PassageIndex) -> None:
    await fill(index, indexed("a", "old one", "old two"), indexed("b", "old three"))
    before = await index.passages(BASE, ["a#0", "a#1", "b#0"])

    async with index.write(BASE, SIGNATURE) as writer:
        await writer.put("a", indexed("a", "new one"))
        await writer.remove(["b"])

        assert set(await found(index, "old")) == {"a#0", "a#1", "b#0"}
        assert await index.passages(BASE, ["a#0", "a#1", "b#0"]) == before
        assert await index.neighbours(BASE, [Stretch("a", 0, 9)]) == [before[:2]]
        assert await index.size(BASE) == 3
        await writer.publish()

    assert await found(index, "old") == []
    assert [each.terms for each in await index.passages(BASE, ["a#0"])] == ["new one"]


async def test_two_documents_that_swap_contents_are_both_updated(index: PassageIndex) -> None:
    first, second = "annual leave", "sick pay"
    await fill(index, indexed("a", first), indexed("b", second))
    await fill(index, indexed("a", second), indexed("b", first))

    assert await found(index, "leave") == ["b#0"]
    assert await found(index, "pay") == ["a#0"]
    nearest = {each.dense_rank: each.id for each in await index.search(BASE, Search((), direction(first)))}
    assert nearest[1] == "b#0"


async def test_removed_documents_are_found_no_more(index: PassageIndex) -> None:
    await fill(index, indexed("a", "leave"), indexed("b", "leave"), indexed("c", "leave"))

    async with index.write(BASE, SIGNATURE) as writer:
        await writer.remove(["a", "c", "never there"])
        await writer.publish()

    assert await found(index, "leave") == ["b#0"]
    assert {each.id for each in await index.search(BASE, Search((), direction(1)))} == {"b#0"}


async def test_a_base_can_become_empty_and_be_filled_again(index: PassageIndex) -> None:
    await fill(index, indexed("a", "leave"))
    async with index.write(BASE, SIGNATURE) as writer:
        await writer.remove(["a"])
        await writer.publish()

    assert await index.search(BASE, Search(("leave",), direction(1))) == []
    assert (await index.size(BASE), await index.signature(BASE)) == (0, SIGNATURE)
    await fill(index, indexed("a", "leave"))
    assert await found(index, "leave") == ["a#0"]


async def test_counts_are_those_of_what_was_written_so_far(index: PassageIndex) -> None:
    await fill(index, indexed("a", "one", "two"), indexed("b", "three"))

    async with index.write(BASE, SIGNATURE) as writer:
        await writer.put("a", indexed("a", "one", "two", "three"))
        await writer.put("c", indexed("c", "four"))
        await writer.remove(["b"])
        assert await writer.counts() == {"a": 3, "c": 1}


async def test_a_run_that_was_left_unpublished_is_taken_up_again(index: PassageIndex) -> None:
    await fill(index, indexed("a", "one"))
    async with index.write(BASE, SIGNATURE) as first:
        await first.put("b", indexed("b", "two"))

    async with index.write(BASE, SIGNATURE) as second:
        assert await second.counts() == {"a": 1, "b": 1}
        assert (second.build, second.live, second.rebuilding) == (first.build, first.live, False)
        assert await found(index, "two") == []
        await second.publish()

    assert await found(index, "two") == ["b#0"]


async def test_vectors_are_those_already_known_by_digest(index: PassageIndex) -> None:
    known = indexed("a", "one", "two")
    await fill(index, known, without_vectors(indexed("b", "three")))
    digests = [each.passage.digest for each in known]

    async with index.write(BASE, SIGNATURE) as writer:
        vectors = await writer.vectors([*digests, indexed("b", "three")[0].passage.digest, "unknown"])
        assert vectors == {each.passage.digest: each.vector for each in known}
        assert await writer.vectors([]) == {}


async def test_a_renamed_document_keeps_its_vectors_whichever_way_round_it_is_written(index: PassageIndex) -> None:
    (known,) = indexed("old name", "one")
    await fill(index, [known], indexed("other", "two"))

    async with index.write(BASE, SIGNATURE) as writer:
        await writer.remove(["old name"])
        assert await writer.vectors([known.passage.digest]) == {known.passage.digest: known.vector}


async def test_bases_know_nothing_of_each_other(index: PassageIndex) -> None:
    names = ["handbook", "Handbook", "../handbook", "hand/book", "ハンドブック", " ", ".", "x" * 300]
    for name in names:
        await fill(index, indexed(name, "leave"), base=name)

    assert [await found(index, "leave", base=name) for name in names] == [[f"{name}#0"] for name in names]
    await index.drop("Handbook")
    assert await found(index, "leave", base="Handbook") == []
    assert await found(index, "leave", base="handbook") == ["handbook#0"]


async def test_a_dropped_base_is_as_one_never_indexed(index: PassageIndex) -> None:
    await fill(index, indexed("a", "leave"))
    await index.drop(BASE)
    await index.drop("never there")

    assert await found(index, "leave") == []
    assert await index.signature(BASE) is None
    async with index.write(BASE, SIGNATURE) as writer:
        assert (await writer.counts(), writer.live, writer.rebuilding) == ({}, "", False)


# --- rebuilding -----------------------------------------------------------------------------------------------------

OTHER_SPLITTER = replace(SIGNATURE, splitting="another")
OTHER_EMBEDDER = replace(SIGNATURE, embedder="another")


async def test_another_signature_is_built_beside_and_switched_to_at_once(index: PassageIndex) -> None:
    await fill(index, indexed("a", "old leave"), indexed("b", "old pay"))

    async with index.write(BASE, OTHER_EMBEDDER) as writer:
        assert writer.rebuilding
        assert writer.build != writer.live
        assert await writer.counts() == {}
        await writer.put("a", indexed("a", "new leave"))
        await writer.publish()
        assert await found(index, "old") == ["a#0", "b#0"]
        assert await index.signature(BASE) == SIGNATURE
        assert await index.live(BASE) == writer.live
        await writer.publish(switch=True)
        assert (writer.build, writer.rebuilding) == (writer.live, False)
        assert await index.live(BASE) == writer.build

    assert await found(index, "old") == []
    assert await found(index, "new") == ["a#0"]
    assert await index.signature(BASE) == OTHER_EMBEDDER
    assert await index.size(BASE) == 1


async def test_a_build_beside_is_taken_up_again_while_its_signature_is_equal(index: PassageIndex) -> None:
    await fill(index, indexed("a", "old"))
    async with index.write(BASE, OTHER_EMBEDDER) as first:
        await first.put("a", indexed("a", "new"))

    async with index.write(BASE, OTHER_EMBEDDER) as second:
        assert (second.build, second.live, second.rebuilding) == (first.build, first.live, True)
        assert await second.counts() == {"a": 1}

    async with index.write(BASE, replace(SIGNATURE, embedder="a third")) as third:
        assert third.build not in (first.build, first.live)
        assert await third.counts() == {}


async def test_going_back_to_the_live_signature_goes_on_with_the_live_build(index: PassageIndex) -> None:
    await fill(index, indexed("a", "old"))
    async with index.write(BASE, OTHER_EMBEDDER) as beside:
        await beside.put("a", indexed("a", "new"))

    async with index.write(BASE, SIGNATURE) as writer:
        assert (writer.rebuilding, writer.build) == (False, beside.live)
        assert await writer.counts() == {"a": 1}


async def test_after_a_switch_the_run_can_go_on(index: PassageIndex) -> None:
    await fill(index, indexed("a", "old"))
    async with index.write(BASE, OTHER_EMBEDDER) as writer:
        await writer.put("a", indexed("a", "new"))
        await writer.publish(switch=True)
        await writer.put("b", indexed("b", "more"))
        await writer.publish()

    assert await found(index, "new", "more") == ["a#0", "b#0"]


async def test_another_splitter_takes_over_the_vectors_and_another_embedder_none(index: PassageIndex) -> None:
    (known,) = indexed("a", "one")
    await fill(index, [known])

    async with index.write(BASE, OTHER_SPLITTER) as writer:
        assert await writer.vectors([known.passage.digest, "unknown"]) == {known.passage.digest: known.vector}
    async with index.write(BASE, OTHER_EMBEDDER) as writer:
        assert await writer.vectors([known.passage.digest]) == {}


async def test_searches_during_a_run_see_one_state_or_the_next_and_nothing_between(index: PassageIndex) -> None:
    """Every document of a state carries its number; a search that saw two states would find two numbers."""

    async def search() -> set[str]:
        candidates = await index.search(BASE, Search(("all",), limit=100))
        held = await index.passages(BASE, [each.id for each in candidates])
        assert len(held) == len(candidates) == 20
        return {each.terms for each in held}

    async def rewrite() -> None:
        for state in range(1, 9):
            async with index.write(BASE, SIGNATURE) as writer:
                for document in range(20):
                    await writer.put(f"d{document}", numbered(document, state))
                await writer.publish()

    def numbered(document: int, state: int) -> list[Indexed]:
        (each,) = indexed(f"d{document}", f"all state{state}")
        return [replace(each, passage=each.passage._replace(id=f"{document}.{state}"))]

    await fill(index, *(numbered(document, 0) for document in range(20)))
    rewriting = asyncio.create_task(rewrite())
    states = [await search()]
    while not rewriting.done():
        states.append(await search())
    await rewriting

    assert all(len(each) == 1 for each in states)
    assert await search() == {"all state8"}
