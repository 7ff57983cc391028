"""`footnote ask`: one question, its JSON, its trace, and its exit status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.journeys.terminal import Said, Terminal

QUESTION = "How large a share of the documents may a run remove?"
KEYS = {"remark", "answer", "abstained", "sources", "standalone_question", "passages", "run"}


@pytest.fixture(scope="module")
def objects(docs: Terminal) -> Said:
    """A question that is answered, one that is not, one that is too long, one without words in any language."""
    questions = [QUESTION, "Who won the football world cup in 1998?", "x" * 40_000, "؟؟؟"]
    return docs.run("ask", "--json", said="\n".join(["", *questions, "  "]))


def test_each_question_gets_one_json_object_on_one_line(objects: Said) -> None:
    assert [set(each) for each in objects.objects] == [KEYS, KEYS, {"error"}, KEYS]


def test_an_answer_as_json_says_what_it_rests_on(objects: Said) -> None:
    answer = objects.objects[0]

    assert (answer["abstained"], answer["standalone_question"]) == (False, QUESTION)
    assert "SOURCES" not in str(answer["answer"])
    sources, passages = answer["sources"], answer["passages"]
    assert isinstance(sources, list)
    assert isinstance(passages, list)
    assert [source["n"] for source in sources] == list(range(1, len(sources) + 1))
    assert {int(n) for n in re.findall(r"\[(\d+)\]", str(answer["answer"]))} == {source["n"] for source in sources}
    assert all(source.keys() == {"n", "title", "link", "place", "places"} for source in sources)
    assert all(re.search(r"/docs/\w+\.md#[\w-]+$", source["link"]) and source["place"] for source in sources)
    assert "max_removed" in str(answer["answer"])
    assert {"document", "text", "score", "relevance", "bm25", "cosine"} <= passages[0].keys()
    assert all(isinstance(value, float) for name, value in passages[0].items() if name not in {"document", "text"})


def test_an_abstention_as_json_has_no_sources(objects: Said) -> None:
    answer = objects.objects[1]

    assert (answer["abstained"], answer["sources"]) == (True, [])
    assert answer["answer"] == "The documents don't say anything about this."


def test_a_question_that_fails_does_not_keep_the_others_from_being_asked(objects: Said) -> None:
    assert objects.status == 1
    assert objects.err == "footnote: The question has 40000 characters, more than 4000 (question_characters).\n"
    assert "40000" in str(objects.objects[2]["error"])


def test_the_trace_follows_the_answer(docs: Terminal) -> None:
    said = docs.run("ask", QUESTION, "--trace")

    assert said.status == 0
    answer, _, trace = said.out.partition("\nrun ")
    assert re.search(r"SOURCES:\n(\[\d\] .+ — .+ \(file://.+#.+\)(\n|$))+", answer)
    assert re.search(r"(?m)^passage +what became of it", trace)
    assert "(--full shows them)" in trace  # the passages that were found and not used
    run = trace.split()[0]

    again = docs.run("trace", run[:8], "--full")
    assert again.out.startswith(f"run {run}")
    assert "(--full shows them)" not in again.out
    assert again.out.count("not among the first") > trace.count("not among the first")


def test_the_trace_of_an_object_goes_to_standard_error(docs: Terminal) -> None:
    said = docs.run("ask", QUESTION, "--json", "--trace")

    (answer,) = said.objects
    assert said.err.startswith(f"run {answer['run']}")


def test_a_question_that_is_abstained_from_offers_the_nearest_documents(docs: Terminal) -> None:
    said = docs.run("ask", "¿Quién ganó el mundial de fútbol de 1998?", FOOTNOTE_RETRIEVAL__THRESHOLD="0.99")

    lines = said.out.splitlines()
    assert lines[:3] == ["Los documentos no dicen nada sobre esto.", "", "Puedes consultar:"]
    assert all(re.fullmatch(r"- .+ \(file://.+\)", line) for line in lines[3:])
    assert lines[3:]
    assert said.status == 0


ODD = [
    b"\xef\xbb\xbfHow large a share of the documents may a run remove?\r",  # a mark at the beginning, an end of Windows'
    b"How large a share of the documents\0 may a run remove?",
    b"How large a share of the \xff\xfe documents may a run remove? \xed\xa0\x80",  # no UTF-8
    "﷽ ﷺ 👩‍👩‍👧‍👦 \u202e\u2066 Ａ share of documents that a run may remove? \u0301\u0301".encode(),
]


def test_odd_bytes_are_questions_too(docs: Terminal) -> None:
    said = docs.run("ask", "--json", said=b"\n".join(ODD))

    assert (said.status, said.err) == (0, "")
    asked = [str(each["standalone_question"]) for each in said.objects]
    assert len(asked) == len(ODD)
    assert asked[0] == asked[1] == QUESTION
    assert "\ufffd" in asked[2]


def test_a_terminal_that_knows_ascii_alone_still_shows_the_answer(docs: Terminal) -> None:
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    said = docs.run("ask", said="¿Cómo se usa PostgreSQL en lugar de SQLite?", **plain)

    assert (said.status, said.err) == (0, "")
    assert "operations.md#how-to-use-postgresql-instead-of-sqlite" in said.out
    assert said.out.isascii()
