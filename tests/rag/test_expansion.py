from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.expansion import Direction, Expansion, grow, joined_text
from rag.types import Indexed, Match, Passage
from tests.fakes.indexes import MemoryIndex


def document(name: str, lengths: list[int], *, overlap: int = 0, expandable: bool = True) -> list[Passage]:
    """Passages cut from one text of ever different characters, each an exact slice of it."""
    text = "".join(chr(0x4E00 + at) for at in range(sum(lengths) + 1))
    passages, start = [], 0
    for ordinal, length in enumerate(lengths):
        begin = max(0, start - overlap)
        end = start + length
        passages.append(
            Passage(f"{name}#{ordinal}", "b", name, ordinal, text[begin:end], start=begin, end=end, expandable=expandable)
        )
        start = end
    return passages


def hit(passage: Passage, score: float = 1.0) -> Match:
    return Match(passage, score, score / 2, members=(passage.id,))


def index_of(*passages: Passage) -> MemoryIndex:
    return MemoryIndex(*map(Indexed, passages))


async def expand(index: MemoryIndex, matches: Sequence[Match], direction: Direction, size: int) -> list[Match]:
    expansion = Expansion(matches, direction, size)
    await grow(index, expansion)
    return expansion.matches()


async def grown(passages: list[Passage], at: int, direction: Direction, size: int) -> list[str]:
    (match,) = await expand(index_of(*passages), [hit(passages[at])], direction, size)
    return [member.rpartition("#")[2] for member in match.members]


@pytest.mark.parametrize(
    ("direction", "at", "members"),
    [
        ("both", 2, ["1", "2", "3"]),
        ("forward", 2, ["2", "3", "4"]),
        ("backward", 2, ["0", "1", "2"]),
        ("both", 0, ["0", "1", "2"]),  # the document begins here: the other side goes on
        ("both", 4, ["2", "3", "4"]),
        ("forward", 4, ["4"]),
        ("none", 2, ["2"]),
    ],
)
async def test_a_hit_grows_on_the_sides_asked_for_until_size_or_end(direction: Direction, at: int, members: list[str]) -> None:
    assert await grown(document("d", [100] * 5), at, direction, 320) == members


async def test_a_neighbour_too_long_for_one_side_does_not_stop_the_other() -> None:
    assert await grown(document("d", [50, 50, 100, 900, 50]), 2, "both", 320) == ["0", "1", "2"]


async def test_short_passages_are_looked_up_as_far_as_they_fit() -> None:
    assert len(await grown(document("d", [10] * 90), 40, "both", 600)) == 54


async def test_of_both_neighbours_that_of_the_hits_own_section_comes_first() -> None:
    plain = document("d", [100, 100, 100, 100])
    passages = [plain[0], *(each._replace(headings=("Steps",)) for each in plain[1:3]), plain[3]._replace(headings=("Limits",))]

    assert await grown(passages, 2, "both", 250) == ["1", "2"]
    assert await grown(plain, 2, "both", 250) == ["2", "3"]


async def test_a_section_that_begins_within_the_passage_before_is_the_hits_own_too() -> None:
    plain = document("d", [100, 100, 100])
    before = plain[0]._replace(headings=("Costs",), within='[[0,0,"","Costs"],[50,0,"","Steps"]]')
    passages = [before, plain[1]._replace(headings=("Steps",)), plain[2]._replace(headings=("Limits",))]

    assert await grown(passages, 1, "both", 250) == ["0", "1"]


async def test_a_document_may_opt_out() -> None:
    passages = document("d", [100] * 3, expandable=False)
    index = index_of(*passages)
    found = await expand(index, [hit(passages[0]), hit(passages[1], 0.5)], "both", 1000)
    assert [match.members for match in found] == [("d#0",), ("d#1",)]
    assert index.neighbour_calls == []


async def test_hits_that_touch_become_one_with_the_best_score_and_place() -> None:
    passages = document("d", [100] * 6)
    found = await expand(index_of(*passages), [hit(passages[3], 0.9), hit(passages[1], 0.4)], "both", 320)
    assert len(found) == 1
    assert found[0].members == tuple(f"d#{at}" for at in range(5))
    assert (found[0].score, found[0].relevance, found[0].passage.id) == (0.9, 0.45, "d#3")
    assert (found[0].passage.start, found[0].passage.end) == (0, 500)


async def test_few_calls_are_made_for_many_hits() -> None:
    passages = [passage for name in "abcd" for passage in document(name, [400] * 9)]
    index = index_of(*passages)
    await expand(index, [hit(passage) for passage in passages if passage.ordinal in {3, 5}], "both", 1300)
    assert len(index.neighbour_calls) <= 2


async def test_a_joined_passage_has_the_terms_of_all_its_members() -> None:
    passages = [passage._replace(terms=f"t{passage.ordinal} all") for passage in document("d", [100] * 3)]
    (match,) = await expand(index_of(*passages), [hit(passages[1])], "both", 320)
    assert set(match.passage.terms.split()) == {"t0", "t1", "t2", "all"}
    unknown = [passages[0], passages[1], passages[2]._replace(terms="")]
    (match,) = await expand(index_of(*unknown), [hit(passages[1])], "both", 320)
    assert not match.passage.terms


def test_overlap_is_not_repeated_in_the_joined_text() -> None:
    passages = document("d", [100] * 3, overlap=20)
    assert joined_text(passages) == "".join(chr(0x4E00 + at) for at in range(300))


def test_paragraphs_that_a_cut_parted_stay_two() -> None:
    text = "Line: L77; To: Hanau\n\nLine: L78; To: Oldenburg\nat noon"
    cuts = [(0, 20), (22, 46), (47, 54)]
    passages = [Passage(f"d#{at}", "b", "d", at, text[start:end], start=start, end=end) for at, (start, end) in enumerate(cuts)]
    assert joined_text(passages) == text


def test_passages_that_are_no_exact_slices_are_set_on_lines() -> None:
    first = Passage("d#0", "b", "d", 0, "a,b\n1,2", start=0, end=7)
    second = Passage("d#1", "b", "d", 1, "a,b\n3,4", start=8, end=11)
    assert joined_text([first, second]) == "a,b\n1,2\na,b\n3,4"


LENGTHS = st.lists(st.integers(1, 300), min_size=1, max_size=12)
DIRECTIONS = st.sampled_from(["forward", "backward", "both", "none"])


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Passage], list[Match]]:
    passages = [
        passage
        for name in ("x", "y")
        for passage in document(name, draw(LENGTHS), overlap=draw(st.integers(0, 1)), expandable=draw(st.booleans()) or name == "x")
    ]
    chosen = draw(st.lists(st.sampled_from(passages), min_size=1, max_size=6, unique_by=lambda passage: passage.id))
    return passages, [hit(passage, draw(st.floats(0, 1))) for passage in chosen]


@given(situations(), DIRECTIONS, st.integers(0, 900))
@settings(max_examples=150, deadline=None)
async def test_no_hit_is_lost_and_none_is_doubled(
    situation: tuple[list[Passage], list[Match]], direction: Direction, size: int
) -> None:
    passages, hits = situation
    found = await expand(index_of(*passages), hits, direction, size)
    members = [member for match in found for member in match.members]
    assert {match.passage.id for match in hits} <= set(members)
    assert len(members) == len(set(members))


@given(situations(), DIRECTIONS, st.integers(0, 900))
@settings(max_examples=150, deadline=None)
async def test_the_result_is_sorted_and_a_run_has_the_best_score_of_its_hits(
    situation: tuple[list[Passage], list[Match]], direction: Direction, size: int
) -> None:
    passages, hits = situation
    found = await expand(index_of(*passages), hits, direction, size)
    assert all(before.score >= after.score for before, after in pairwise(found))
    for match in found:
        assert match.score == max(one.score for one in hits if one.passage.id in match.members)


@given(situations(), st.sampled_from(["forward", "backward", "both"]), st.integers(0, 900))
@settings(max_examples=150, deadline=None)
async def test_each_side_stops_by_itself_and_runs_never_touch(
    situation: tuple[list[Passage], list[Match]], direction: Direction, size: int
) -> None:
    passages, hits = situation
    by_id = {passage.id: passage for passage in passages}
    found = await expand(index_of(*passages), hits, direction, size)
    spans = sorted(
        (by_id[match.members[0]].document, by_id[match.members[0]].ordinal, by_id[match.members[-1]].ordinal) for match in found
    )
    for (name, _, last), (other, first, _) in pairwise(spans):
        assert name != other or first > last + 1 or not by_id[f"{name}#0"].expandable
    for match in found:
        members = [by_id[member] for member in match.members]
        assert [member.ordinal for member in members] == list(range(members[0].ordinal, members[-1].ordinal + 1))
        if sum(one.passage.id in match.members for one in hits) == 1 and len(members) > 1:
            assert sum(len(member.text) for member in members) <= size


@given(LENGTHS, st.integers(0, 12), st.integers(1, 900))
@settings(max_examples=100, deadline=None)
async def test_a_side_ends_at_the_documents_end_or_where_the_next_one_does_not_fit(lengths: list[int], at: int, size: int) -> None:
    passages = document("d", lengths)
    at = min(at, len(passages) - 1)
    (match,) = await expand(index_of(*passages), [hit(passages[at])], "both", size)
    taken = [passages[int(member.rpartition("#")[2])] for member in match.members]
    room = size - sum(len(passage.text) + 1 for passage in taken) + 1
    for beside in (taken[0].ordinal - 1, taken[-1].ordinal + 1):
        if 0 <= beside < len(passages):
            assert len(passages[beside].text) >= room
