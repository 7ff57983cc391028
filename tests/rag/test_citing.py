from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.citing import Support, cite
from rag.renumbering import part_of
from rag.types import Cited, Match, Passage, SourcePlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag.citing import Citations


def passage(n: int, document: str, text: str, **more: object) -> Passage:
    return Passage(str(n), "base", document, n, text, **({"title": document, "language": "en"} | more))  # type: ignore[arg-type]  # any field


LEAVE = passage(
    1,
    "leave.md",
    "Employees get 25 days of annual leave per year. Requests go to the manager two weeks before.",
    link="https://docs.example/leave.html#annual",
    headings=("Leave", "Annual"),
)
SICK = passage(
    2,
    "leave.md",
    "Sick leave needs a doctor's note after three days.",
    link="https://docs.example/leave.html#sick",
    headings=("Leave", "Sick"),
)
TRAVEL = passage(
    3,
    "travel.pdf",
    "Travel costs are refunded within 30 days when receipts are handed in.",
    link="https://docs.example/travel.pdf#page=3",
    page=3,
)
GIVEN = [Match(one, 1.0) for one in (LEAVE, SICK, TRAVEL)]


@dataclass
class FakeSimilarity:
    """Says how alike a claim and a passage are from a script; remembers what it was asked."""

    alike: dict[str, float] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, claims: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        self.asked.extend(claims)
        return [[self.alike.get(text, 0.0) for text in passages] for _ in claims]


def cited(
    text: str,
    native: Sequence[Cited] = (),
    *,
    support: Support | None = None,
    given: Sequence[Match] = GIVEN,
    hosts: Sequence[str] = (),
) -> Citations:
    return asyncio.run(cite(text, given, native, support=support or Support(), hosts=hosts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Employees get 25 days of leave [1].", "Employees get 25 days of leave [1]."),
        ("Employees get 25 days of leave [1] .", "Employees get 25 days of leave [1]."),
        ("Employees get 25 days of leave. [1]", "Employees get 25 days of leave. [1]"),
        ("Employees get 25 days of leave[1].", "Employees get 25 days of leave [1]."),
        ("Employees get 25 days of leave [1][1], [1].", "Employees get 25 days of leave [1]."),
        ("Employees get 25 days of leave [1] [9].", "Employees get 25 days of leave [1]."),
        ("Employees get 25 days of leave [9] per year [1].", "Employees get 25 days of leave per year [1]."),
        ("Employees get 25 days of leave【1】.", "Employees get 25 days of leave [1]."),
        ("Employees get 25 days of leave [[1]](https://evil.example).", "Employees get 25 days of leave [1]."),
        ("Employees get 25 days of leave (source 1).", "Employees get 25 days of leave [1]."),
        ("Employees get 25 days of leave ([9]) per year [1].", "Employees get 25 days of leave per year [1]."),
        ("[1] Employees get 25 days of leave.", "[1] Employees get 25 days of leave."),
        (
            "Costs are refunded within 30 days [3]. You get 25 days of leave [1].",
            "Costs are refunded within 30 days [1]. You get 25 days of leave [2].",
        ),
        (
            "Annual leave is 25 days [1] and sick leave needs a note [2].",
            "Annual leave is 25 days [1] and sick leave needs a note [1].",
        ),
        ("Employees get 25 days of leave [1](see below).", "Employees get 25 days of leave [1] (see below)."),
        ("Leave is 25 days [1]:\n\n```\nx = days[2]\n```", "Leave is 25 days [1]:\n\n```\nx = days[2]\n```"),
        ("- Annual leave: 25 days [1]\n- Sick leave: a note [2]", "- Annual leave: 25 days [1]\n- Sick leave: a note [1]"),
        ("| leave | 25 days [1] |\n|---|---|", "| leave | 25 days [1] |\n|---|---|"),
    ],
)
def test_marks_are_renumbered_in_order_of_first_use_by_document(text: str, expected: str) -> None:
    assert cited(text).text == expected


def test_passages_of_one_document_share_an_entry_that_names_each_place() -> None:
    sources = cited("Sick leave needs a doctor's note [2]. Employees get 25 days [1]. Travel costs are refunded [3].").sources

    assert [(source.n, source.document) for source in sources] == [(1, "leave.md"), (2, "travel.pdf")]
    assert sources[0].places == (
        SourcePlace("Leave › Sick", "https://docs.example/leave.html#sick"),
        SourcePlace("Leave › Annual", "https://docs.example/leave.html#annual"),
    )
    assert sources[1].places == (SourcePlace("p. 3", "https://docs.example/travel.pdf#page=3"),)


def test_the_top_of_a_document_is_named_by_its_title_behind_another_place() -> None:
    top = Match(SICK._replace(id="top", headings=(), anchor="", link="https://docs.example/leave.html"), 1.0)

    places = (
        cited("Employees get 25 days [1]. Sick leave needs a doctor's note [2].", given=[Match(LEAVE, 1.0), top]).sources[0].places
    )

    assert [place.label for place in places] == ["Leave › Annual", LEAVE.title]


def test_of_passages_that_were_joined_the_footnote_leads_to_the_one_the_sentence_stands_in() -> None:
    whole = LEAVE._replace(text=f"{LEAVE.text}\n{SICK.text}")
    joined = Match(whole, 1.0, members=(LEAVE.id, SICK.id), parts=(LEAVE, SICK))

    found = [
        cited(f"{text} [1].", given=[joined]).sources[0].link
        for text in ("Sick leave needs a doctor's note", "Employees get 25 days")
    ]

    assert found == [SICK.link, LEAVE.link]


def test_another_document_with_the_same_text_beside_a_sentence_is_no_source_of_it() -> None:
    """Two documents of one form: what follows the sentence is the same in both, the sentence is not."""
    joined = LEAVE._replace(text=f"{LEAVE.text}\n{SICK.text}")
    copy = passage(9, "leave-2024.md", SICK.text)
    match = Match(joined, 1.0, members=(LEAVE.id, SICK.id), parts=(LEAVE, SICK), copies=(copy,))

    assert [source.document for source in cited("Employees get 25 days [1].", given=[match]).sources] == ["leave.md"]
    assert len(cited("Sick leave needs a doctor's note [1].", given=[match]).sources) == 2


def test_of_joined_passages_that_share_one_place_it_is_still_the_one_said_whose_copies_count() -> None:
    there = LEAVE._replace(id="2", text=SICK.text)
    copy = passage(9, "leave-2024.md", SICK.text)
    match = Match(LEAVE._replace(text=f"{LEAVE.text}\n{SICK.text}"), 1.0, parts=(LEAVE, there), copies=(copy,))

    assert len(cited("After three days of sick leave a doctor's note is needed [1].", given=[match]).sources) == 2
    assert len(cited("Of annual leave employees get 25 days [1].", given=[match]).sources) == 1


@pytest.mark.parametrize(
    ("said", "found", "there"),
    [
        ("After three days, a doctor's note", LEAVE, SICK),
        ("The manager hears of annual leave two weeks before", SICK, LEAVE),
        ("Leave", TRAVEL, LEAVE),
        ("Leave", SICK, SICK),
        ("", SICK, SICK),
        ("", passage(4, "leave.md", ""), LEAVE),
    ],
)
def test_a_footnote_leads_to_the_part_that_holds_most_of_the_words_or_else_to_what_was_found(
    said: str, found: Passage, there: Passage
) -> None:
    assert part_of(Match(found._replace(text="joined"), 1.0, parts=(LEAVE, SICK, TRAVEL)), said) == there


def test_a_range_and_a_list_of_numbers_are_judged_one_by_one() -> None:
    found = cited("Sick leave needs a doctor's note after three days [1-3].")

    assert found.text == "Sick leave needs a doctor's note after three days [1]."
    assert [judged.n for judged in found.kept] == [2]
    assert [judged.n for judged in found.dropped] == [1, 3]


def test_a_number_that_the_passage_lacks_is_not_supported() -> None:
    found = cited("Employees get 26 days of annual leave per year [1]. Travel costs are refunded within 30 days [3].")

    assert found.text == "Employees get 26 days of annual leave per year. Travel costs are refunded within 30 days [1]."
    assert [(judged.n, judged.reason) for judged in found.dropped] == [(1, "the passage lacks the number 26")]


def test_a_number_in_another_spelling_is_the_same_number() -> None:
    match = Match(passage(1, "a.md", "The fund has 10,000 euros and grows by 3.5 percent."), 1.0)

    assert cited("The fund has 10.000 euros and grows by 3,5 percent [1].", given=[match]).sources


def test_a_sentence_whose_mark_was_dropped_stays_while_another_citation_is_left() -> None:
    found = cited("The moon is made of cheese [3]. Employees get 25 days of leave [1].")

    assert found.text == "The moon is made of cheese. Employees get 25 days of leave [1]."
    assert not found.abstained


@pytest.mark.parametrize(
    "text", ["The moon is made of cheese [1].", "The moon is made of cheese.", "Employees [9].", "", "[1]", "SOURCES: leave.md"]
)
def test_without_a_verified_citation_the_answer_abstains(text: str) -> None:
    found = cited(text)

    assert found.abstained
    assert found.sources == ()
    assert "[" not in found.text


def test_an_answer_without_marks_gets_those_that_are_clearly_supported() -> None:
    found = cited(
        "Employees get 25 days of annual leave per year. Requests go to the manager two weeks before. The moon is made of cheese. "
        "Travel costs are refunded."
    )

    assert found.text == (
        "Employees get 25 days of annual leave per year. Requests go to the manager two weeks before [1]. The moon is "
        "made of cheese. "
        "Travel costs are refunded [2]."
    )
    assert found.attached


def test_an_answer_whose_marks_were_all_refused_gets_no_others() -> None:
    assert cited("Travel costs are refunded within 30 days [1].").abstained


def test_a_document_named_in_the_models_own_list_need_not_be_supported_that_clearly() -> None:
    text = "Colleagues here enjoy 25 days off for recreation and leave each year."

    assert cited(text).abstained
    assert cited(f"{text}\n\nSources: [1]").text == f"{text[:-1]} [1]."


def test_the_models_own_list_in_the_middle_goes_and_the_text_after_it_stays() -> None:
    text = "Employees get 25 days of leave [1].\n\nSOURCES: leave.md, travel.pdf\n\nTravel costs are refunded within 30 days [3]."

    assert cited(text).text == "Employees get 25 days of leave [1].\n\nTravel costs are refunded within 30 days [2]."


def test_an_answer_in_chinese_with_its_own_list_is_cited_by_meaning() -> None:
    similarity = FakeSimilarity({LEAVE.text: 0.8})

    found = cited("员工每年有25天假期[1]。\n\n**来源：**\n- leave.md\n", support=Support(similarity))

    assert found.text == "员工每年有25天假期[1]。"
    assert found.kept[0].cosine == pytest.approx(0.8)


def test_meaning_does_not_make_up_for_a_wrong_number() -> None:
    similarity = FakeSimilarity({LEAVE.text: 0.8})

    assert cited("员工每年有26天假期[1]。", support=Support(similarity)).abstained


def test_meaning_is_not_asked_for_where_the_words_suffice() -> None:
    similarity = FakeSimilarity()

    cited("Employees get 25 days of annual leave [1].", support=Support(similarity))

    assert similarity.asked == []


def test_a_meaning_below_the_floor_does_not_support() -> None:
    assert cited("Holidays last five weeks [1].", support=Support(FakeSimilarity({LEAVE.text: 0.3}))).abstained


def test_a_lead_in_is_supported_by_what_it_introduces() -> None:
    assert cited("This is what applies [1]:\n\n- 25 days of annual leave\n- requests to the manager\n").text.startswith(
        "This is what applies [1]:"
    )


def test_native_citations_become_marks() -> None:
    text = "Employees get 25 days of annual leave. Travel costs are refunded with receipts."

    found = cited(text, [Cited(14, 38, (1,)), Cited(39, 79, (3,))])

    assert found.text == "Employees get 25 days of annual leave [1]. Travel costs are refunded with receipts [2]."


def test_links_and_images_to_strange_hosts_go_and_those_to_cited_sources_stay() -> None:
    text = (
        "Employees get [25 days](https://docs.example/leave.html#annual) of leave [1]. See [this](https://evil.example/?q=1) ![x](https://evil.example/p)"
        " https://docs.example/travel.pdf https://ok.example/a"
    )

    assert cited(text, hosts=["ok.example"]).text == (
        "Employees get [25 days](https://docs.example/leave.html#annual) of leave [1]. See this `docs.example/travel.pdf` https://ok.example/a"
    )


def test_the_same_text_in_another_document_is_a_source_too() -> None:
    copy = passage(9, "old/leave.md", LEAVE.text)

    found = cited(
        "Employees get 25 days of annual leave [1].", given=[Match(LEAVE, 1.0, copies=(copy, passage(8, "leave.md", LEAVE.text)))]
    )

    assert found.text == "Employees get 25 days of annual leave [1][2]."
    assert [source.document for source in found.sources] == ["leave.md", "old/leave.md"]


def test_the_notes_for_the_trace_are_json_values() -> None:
    notes = cited("Employees get 25 days of annual leave [1][3][9].").notes()

    assert notes["kept"] == [{"n": 1, "document": "leave.md", "sentence": "Employees get 25 days of annual leave.", "lexical": 1.0}]
    assert [(one["n"], one["reason"]) for one in notes["dropped"]] == [  # type: ignore[attr-defined]  # a list of mappings
        (0, "[9] was not given"),
        (3, "the passage lacks the number 25"),
    ]


PIECES = st.sampled_from(
    [
        "[1]",
        "[2, 3]",
        "[9]",
        "【3】",
        "[1-3]",
        "[[2]](https://evil.example)",
        "(source 1)",
        "Employees get 25 days of annual leave",
        ". ",
        "\n",
        "\n\n",
        " ",
        "`",
        "```\n",
        "Sources:\n",
        "- leave.md\n",
        "travel costs are refunded",
        "sick leave needs a note",
        "来源：",
        "，",
        "[",
        "]",
        "(",
        ")",
        "![x](https://evil.example)",
        "# ",
        "| ",
        "[1",
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_whatever_a_model_writes_every_mark_that_is_shown_was_verified_and_is_numbered_in_order(text: str) -> None:
    found = cited(text)

    prose = re.sub(r"(?s)```.*?```|(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", " ", found.text)
    shown = [int(n) for n in re.findall(r"\[(\d+)\]", prose)]
    first_uses = list(dict.fromkeys(shown))
    assert first_uses == list(range(1, len(found.sources) + 1))
    assert {source.document for source in found.sources} <= {judged.document for judged in found.kept}
    assert found.abstained == (not shown)
    assert not re.search(r"[【［]\d", prose)


@pytest.mark.parametrize(
    "piece", ["[1]", "a [1]. ", "[[1]](", "25 days [1]. ", "字[1]", "- [1] a\n", "[1](x", "[1-3] a", "leave (see [9]) "]
)
def test_a_hostile_answer_is_cited_in_linear_time(piece: str) -> None:
    """Quadratic work on 50,000 characters would run into the limit of the suite."""
    assert cited(piece * (50_000 // len(piece))) is not None


def test_marks_in_an_endless_sentence_are_judged_by_what_stands_near_them() -> None:
    text = (
        "and so on " * 500
        + "employees get 25 days of annual leave [1] "
        + "and so on " * 500
        + "travel costs are refunded within 30 days [1] then"
    )

    found = cited(text)

    assert len(found.kept) == 1
    assert "annual leave [1] and" in found.text
    assert "within 30 days then" in found.text
