"""Several sections, or pages, in one passage: the footnote leads to the one that its sentence stands in (R31)."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.citing import Support, cite
from rag.sources import markdown
from rag.sources.reading import Raw, ReadLimits
from rag.splitting import SplitSettings, split
from rag.types import Document, Match, Passage
from rag.within import begins_in, places_of, standing_at

LINK = "https://docs.example.com/handbook.html"
HANDBOOK = """# Handbook

## Leave

Annual leave is 25 days for everybody.

## Expenses

| what | most |
|---|---|
| hotel | 120 euros a night |
| meal | 30 euros a day |

Send the form within 30 days.

## 停车

访客可以在二楼免费停车。
"""


def passages_of(text: str, link: str = LINK, settings: SplitSettings | None = None) -> list[Passage]:
    reading = markdown.read(Raw("handbook.md", text.encode()), ReadLimits())
    document = Document("handbook.md", "Handbook", reading.text, "", link, "markdown", reading.sections, lines=True)
    return split(document, "base", settings or SplitSettings())


def paged(*pages: str) -> list[Passage]:
    starts = tuple(sum(map(len, pages[:at])) for at in range(len(pages)))
    return split(Document("a.pdf", "A", "".join(pages), "", "file:///a.pdf", pages=starts), "base", SplitSettings())


def cited(text: str, passages: list[Passage]) -> list[tuple[str, str]]:
    found = asyncio.run(cite(text, [Match(passage, 1.0) for passage in passages], support=Support()))
    return [(place.label, place.link) for source in found.sources for place in source.places]


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("Annual leave is 25 days for everybody [1].", ("Leave", f"{LINK}#leave")),
        ("Everybody has 25 days of annual leave [1].", ("Leave", f"{LINK}#leave")),
        ("| what | most |\n|---|---|\n| hotel | 120 euros a night [1] |", ("Expenses", f"{LINK}#expenses")),
        ("The form must be sent within 30 days [1].", ("Expenses", f"{LINK}#expenses")),
        ("访客可以在二楼免费停车[1]。", ("停车", f"{LINK}#%E5%81%9C%E8%BD%A6")),
    ],
)
def test_a_footnote_leads_to_its_sentences_section_though_one_passage_holds_several(said: str, place: tuple[str, str]) -> None:
    (passage,) = passages_of(HANDBOOK)

    assert cited(said, [passage]) == [place]


def test_two_sections_that_are_cited_are_two_places_of_one_source() -> None:
    found = passages_of(HANDBOOK)

    assert [label for label, _ in cited("Annual leave is 25 days [1]. Send the form within 30 days [1].", found)] == [
        "Leave",
        "Expenses",
    ]


def test_a_sentence_after_the_end_of_a_page_is_on_the_next_one() -> None:
    passages = paged("Leave is asked for in writing.\n\n", "Sick leave needs a note from the third day.\n\n", "Lunch is free.\n")

    assert len(passages) == 1
    assert cited("Sick leave needs a note [1]. Lunch is free [1].", passages) == [
        ("p. 2", "file:///a.pdf#page=2"),
        ("p. 3", "file:///a.pdf#page=3"),
    ]


def test_the_lines_of_sections_are_those_of_the_file() -> None:
    (passage,) = passages_of(HANDBOOK, "https://git.example.com/handbook.md#L{line}")

    lines = HANDBOOK.splitlines()
    shown = {"".join(begin.headings): int(begin.link.rpartition("#L")[2]) for begin in begins_in(passage)}
    assert shown == {"": 1} | {name: lines.index(f"## {name}") + 1 for name in ("Leave", "Expenses", "停车")}


def plain(text: str, link: str, settings: SplitSettings | None = None) -> list[Passage]:
    return split(Document("notes.txt", "Notes", text, "", link, lines=True), "base", settings or SplitSettings())


NOTES = (
    "Notes\n\nThe office is open from nine.\nThe code of the door is 4711, and it\nchanges every month.\n"
    + "Filler.\n" * 20
    + "Ask Ada.\n"
)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("The code of the door is 4711, and it changes every month [1].", 4),
        ("Every month it changes [1].", 5),
        ("Ask Ada [1].", 26),
    ],
)
@pytest.mark.parametrize("link", ["https://git.example.com/notes.txt?at={line}", "https://github.com/a/b/blob/main/notes.txt"])
def test_where_links_lead_to_lines_a_footnote_leads_to_that_of_its_sentence(said: str, line: int, link: str) -> None:
    ((_, found),) = cited(said, plain(NOTES, link))

    assert found == (link.replace("{line}", str(line)) if "{line}" in link else f"{link}#L{line}")


def test_lines_that_are_seen_together_are_one_place() -> None:
    said = "The office is open from nine [1]. The code of the door is 4711, and it changes every month [1]. Ask Ada [1]."

    assert [link[-3:] for _, link in cited(said, plain(NOTES, "https://x.example/notes.txt#L{line}"))] == ["#L3", "L26"]


def test_links_that_lead_to_no_line_stay_as_they_are() -> None:
    assert cited("Ask Ada [1].", plain(NOTES, "https://x.example/notes.txt")) == [("", "https://x.example/notes.txt")]


@given(st.lists(st.sampled_from(["", "Some words of a line.", "long " * 40, "| a | b |"]), max_size=60), st.sampled_from([0, 60]))
@settings(deadline=None)
def test_every_line_of_a_file_is_led_to_in_whichever_passage_it_stands(kinds: list[str], overlap: int) -> None:
    lines = [f"Line{number:03} {text}" if text else "" for number, text in enumerate(kinds, start=1)]
    for passage in plain("\n".join(["Line000", *lines]), "x#{line}", SplitSettings(overlap=overlap)):
        for said in passage.text.split("\n"):
            if said.startswith("Line"):
                assert standing_at(passage, said).link == f"x#{int(said[4:7]) + 1}"


def test_a_passage_of_one_section_notes_nothing() -> None:
    assert [passage.within for passage in passages_of("# Handbook\n\nAll of it is about leave.\n")] == [""]


PARTS = [
    "# A\n\n",
    "## B\n\n",
    "## C d\n\n",
    "### 停车\n\n",
    "Leave is free. ",
    "访客停车。",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "\n\n",
]
TEXTS = st.lists(st.sampled_from([*PARTS, "long " * 90]), max_size=30).map("".join)


@given(TEXTS, st.sampled_from([0, 60]))
@settings(deadline=None)
def test_places_are_stretches_of_the_passage_in_order_and_nothing_is_lost(text: str, overlap: int) -> None:
    for passage in passages_of(f"Text.\n\n{text}", settings=SplitSettings(overlap=overlap)):
        starts = [begin.start for begin in begins_in(passage)]
        places = places_of(passage)
        assert starts == sorted(set(starts))
        assert all(0 <= start < len(passage.text) for start in starts)
        assert "".join("".join(place.text for place in places).split()) == "".join(passage.text.split())
