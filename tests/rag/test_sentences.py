from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.sentences import segments, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Smith came, e.g. at 3 p.m. yesterday. He left.", ["Dr. Smith came, e.g. at 3 p.m. yesterday.", "He left."]),
        ("Das gilt z. B. ab dem 3. Oktober. Sonst nicht.", ["Das gilt z. B. ab dem 3. Oktober.", "Sonst nicht."]),
        ("It needs Python 3.11. Older ones fail.", ["It needs Python 3.11.", "Older ones fail."]),
        ("It was built in 1995. The tower is new.", ["It was built in 1995.", "The tower is new."]),
        ("See https://a.example/b.html?c=d.e. Then go on.", ["See https://a.example/b.html?c=d.e.", "Then go on."]),
        ("She said no. Then she left. See no. 5 there.", ["She said no.", "Then she left.", "See no. 5 there."]),
        ("他来了。你呢？好！", ["他来了。", "你呢？", "好！"]),
        ("「はい。」と言った。次。", ["「はい。」と言った。", "次。"]),
        ("¿Qué es? Es esto. El Sr. Pérez lo sabe.", ["¿Qué es?", "Es esto.", "El Sr. Pérez lo sabe."]),
        ("Это г. Москва. Он здесь и т. д. Она тут.", ["Это г. Москва.", "Он здесь и т. д. Она тут."]),
        ('"Really?" He nodded (at last). Fine.', ['"Really?"', "He nodded (at last).", "Fine."]),
        ("ما هذا؟ هذا كتاب.", ["ما هذا؟", "هذا كتاب."]),
        ("यह है। वह था।", ["यह है।", "वह था।"]),
        ("Call `a. B` first. Then rest.", ["Call `a. B` first.", "Then rest."]),
        ("A wrapped\nline goes on. And ends.", ["A wrapped\nline goes on.", "And ends."]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_a_text_is_cut_where_its_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_headings_items_rows_and_code_are_kept_apart_and_whole() -> None:
    text = "# Leave. Days\nYou get 25. More later.\n\n- one item. with two\n- two\n1. First. Go\n\n"
    text += "| a. B | c |\n|---|---|\n\n```py\nx. Y\n\nz\n```\nEnd."

    found = [(segment.kind, text[segment.start : segment.end]) for segment in segments(text)]

    assert found == [
        ("heading", "# Leave. Days"),
        ("prose", "You get 25."),
        ("prose", "More later."),
        ("item", "- one item. with two"),
        ("item", "- two"),
        ("item", "1. First."),
        ("item", "Go"),
        ("row", "| a. B | c |"),
        ("row", "|---|---|"),
        ("code", "```py\nx. Y\n\nz\n```"),
        ("prose", "End."),
    ]


def test_a_number_at_the_start_of_a_wrapped_line_begins_no_list() -> None:
    assert [segment.kind for segment in segments("The team grew to\n24. Nobody knew.")] == ["prose", "prose"]


def test_a_title_on_a_line_of_its_own_is_no_part_of_the_sentence_below() -> None:
    assert sentences("History of the League\nThe rival league was founded in 1960 and was very successful in all its years.")[
        0
    ] == ("History of the League")


@pytest.mark.parametrize(
    "term",
    [
        "awaitable asyncio.gather(*aws, return_exceptions=False)",
        "max_connections (integer)",
        "row_factory",
        "--with-assertions",
        "int PyList_Size(PyObject *list) -> int",
    ],
)
def test_a_name_alone_on_its_line_is_no_part_of_its_description(term: str) -> None:
    text = f"It ends here.\n{term}\nSays what it does for everybody who asks for it. More."

    assert [(segment.kind, text[segment.start : segment.end]) for segment in segments(text)] == [
        ("prose", "It ends here."),
        ("term", term),
        ("prose", "Says what it does for everybody who asks for it."),
        ("prose", "More."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "He called gather()\nand went home.",
        "The list is read by\nrow_factory\nand nothing else.",
        "The new run() function was added in spring. It returns an object. (Contributed by Ann in issue 1.)\nExamples follow.",
    ],
)
def test_a_line_within_a_sentence_is_no_term(text: str) -> None:
    assert {segment.kind for segment in segments(text)} == {"prose"}


def test_a_line_that_ends_long_before_the_margin_ends_a_sentence() -> None:
    long = "The lines of this paragraph reach the margin of the page, as those of a wrapped text do"

    assert sentences(f"{long}\n{long.lower()}\nand end\nTable 3.5\nThe next {long.lower()}.") == [
        f"{long}\n{long.lower()}\nand end",
        "Table 3.5",
        f"The next {long.lower()}.",
    ]


def test_a_numbered_title_is_not_the_beginning_of_its_text() -> None:
    text = "2. Rules for vans\nThis chapter was written by the transport department. It applies to all drivers.\n\n"
    listed = "1. Open the door of the van\nwhich stands in the yard and whose key is kept at the gate.\n2. Drive.\n"

    assert [(text[part.start : part.end], part.kind) for part in segments(text)] == [
        ("2. Rules for vans", "title"),
        ("This chapter was written by the transport department.", "prose"),
        ("It applies to all drivers.", "prose"),
    ]
    assert [part.kind for part in segments(listed)] == ["item", "item"]


def test_records_on_lines_of_their_own_are_sentences_of_their_own() -> None:
    assert sentences("Line: L77; To: Hanau\nLine: L78; To: Ulm") == ["Line: L77; To: Hanau", "Line: L78; To: Ulm"]


def test_a_colon_at_the_end_of_a_line_ends_what_it_leads_in_with() -> None:
    assert sentences("例如，按如下所示：\n$ journalctl -b\n操作") == ["例如，按如下所示：", "$ journalctl -b\n操作"]


def test_sentences_of_one_paragraph_share_a_block_and_others_do_not() -> None:
    assert [segment.block for segment in segments("One. Two.\n\nThree.")] == [0, 0, 1]


@given(st.text(alphabet=st.sampled_from("aB1 .!?。」\n-|#`~*>\t…"), max_size=200) | st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_every_character_that_is_not_blank_stands_in_exactly_one_sentence(text: str) -> None:
    spans = sentence_spans(text)

    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        ".",
        ". ",
        "a\n",
        '."',
        "`",
        "- a\n",
        "```\n",
        " ",
        "a.b. ",
        "*",
        "|\n",
        "。」",
        "f(\n",
        "f(a)\nB",
        "x\nf(a)\nB\n",
        "a:\n",
        "((",
    ],
)
def test_a_hostile_text_is_read_in_linear_time(piece: str) -> None:
    """Quadratic work on 100,000 characters would run into the limit of the suite."""
    assert sentence_spans(piece * (100_000 // len(piece))) is not None


def test_a_further_paragraph_of_an_item_belongs_to_the_list_and_so_does_what_is_numbered_behind_it() -> None:
    text = "1. Open it:\n\n   ```sh\n   open\n   ```\n\n   Whatever is wrong stands there.\n2. Close it.\n\nThis does not."

    assert [(part.kind, text[part.start : part.start + 4]) for part in segments(text)] == [
        ("item", "1. O"),
        ("code", "```s"),
        ("item", "What"),
        ("item", "2. C"),
        ("prose", "This"),
    ]


def test_a_short_line_that_ends_with_a_joining_word_goes_on_in_the_next_one() -> None:
    long = (
        "Most often the bot is not in the channel, or no process is running that could have taken the question. What else it may be"
    )
    text = f"{long}\nstands in the tables for Slack and\n[Discord](discord.md)."

    assert [text[start:end].rpartition("\n")[2] for start, end in sentence_spans(text)][-1] == "[Discord](discord.md)."
    assert len(sentence_spans(text)) == 2
