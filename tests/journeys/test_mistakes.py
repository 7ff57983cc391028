"""What goes wrong is said in one sentence, which tells how to mend it, and never as a traceback."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.journeys.terminal import WITHOUT_MODELS, Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.terminal import Said

TWO_BASES = '[bases.handbook]\nsources = ["handbook/"]\n[bases.api]\nsources = ["api/"]\n'


@pytest.fixture
def empty(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, WITHOUT_MODELS)


def one_sentence(said: Said, status: int = 1) -> str:
    assert said.status == status, said.err
    assert said.err.startswith("footnote: ")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    return said.err.removeprefix("footnote: ").rstrip("\n")


def test_nothing_is_indexed_yet(empty: Terminal) -> None:
    for arguments in (["ask", "Who?"], ["chat"]):
        assert one_sentence(empty.run(*arguments)) == "Nothing has been indexed yet. Run: footnote index PATH"


def test_there_are_no_sources_yet(empty: Terminal) -> None:
    assert one_sentence(empty.run("index")) == "The base 'default' has no sources. Name files or folders: footnote index PATH."


def test_a_path_that_is_not_there_is_named_and_nothing_is_begun(empty: Terminal) -> None:
    write(empty.folder, "", 2)

    said = one_sentence(empty.run("index", "handbook", "nosuch"))

    assert said == f"There is no file or folder {empty.folder}/nosuch. Check how it is written, and give one that exists."
    assert "no sources" in one_sentence(empty.run("index"))


def test_paths_that_match_nothing_are_named_and_not_remembered(empty: Terminal) -> None:
    (empty.folder / "hollow").mkdir()

    said = one_sentence(empty.run("index", "hollow", "*.md"))

    assert said.startswith("There is nothing to index in base 'default': ")
    assert "hollow: there is no file of a known format in it" in said
    assert "*.md: no file matches it" in said
    assert "no sources" in one_sentence(empty.run("index"))


def test_a_base_that_does_not_exist(docs: Terminal) -> None:
    said = one_sentence(docs.run("index", "--base", "handbuch"))

    assert said == "There is no knowledge base 'handbuch'; there are: default."


def test_a_setting_that_is_wrong_names_itself(empty: Terminal) -> None:
    said = one_sentence(empty.run("sources", FOOTNOTE_RETRIEVAL__K="many"))

    assert said.startswith("retrieval.k (FOOTNOTE_RETRIEVAL__K) is 'many': ")


def test_a_settings_file_that_is_missing(empty: Terminal) -> None:
    said = one_sentence(empty.run("sources", FOOTNOTE_CONFIG="elsewhere.toml"))

    assert said == "FOOTNOTE_CONFIG names elsewhere.toml, and there is no such file."


def test_a_home_that_cannot_be_made(empty: Terminal) -> None:
    (empty.folder / "file").write_text("", encoding="utf-8")

    assert "file/home" in one_sentence(empty.run("sources", FOOTNOTE_HOME="file/home"))


def test_a_database_that_is_none(empty: Terminal) -> None:
    (empty.folder / "torn.db").write_bytes(b"this is no database, and never was one" * 100)

    assert "torn.db" in one_sentence(empty.run("sources", DATABASE_URL=f"sqlite:///{empty.folder}/torn.db"))


def test_a_run_that_there_is_not(docs: Terminal) -> None:
    assert one_sentence(docs.run("trace", "0000")) == "There is no run '0000'."


@pytest.mark.parametrize("said", [b"", b"\n \n\r\n"])
def test_no_question(docs: Terminal, said: bytes) -> None:
    assert one_sentence(docs.run("ask", said=said)) == 'There is no question. Ask one: footnote ask "How do I …?"'


def test_a_talk_without_a_word_is_no_mistake(docs: Terminal) -> None:
    said = docs.run("chat", said="\n\n")

    assert (said.status, said.out, said.err) == (0, "", "")


@pytest.mark.parametrize("arguments", [["--nonsense"], ["ask", "--nonsense"], ["nosuch"], ["trace", "a", "b"]])
def test_wrong_use_ends_with_two(empty: Terminal, arguments: list[str]) -> None:
    said = empty.run(*arguments)

    assert said.status == 2
    assert "Usage: footnote" in said.err
    assert "Traceback" not in said.err


def test_help_names_every_command(empty: Terminal) -> None:
    said = empty.run("--help")

    assert said.status == 0
    for command in ("index", "ask", "chat", "sources", "trace", "forget", "migrate", "eval", "calibrate"):
        assert command in said.out
    assert not (empty.folder / ".footnote").exists()


def test_where_one_base_fails_the_others_are_indexed_all_the_same(empty: Terminal) -> None:
    write(empty.folder, TWO_BASES, 6)
    assert empty.run("index").status == 0
    for path in (empty.folder / "handbook").iterdir():
        path.unlink()
    (empty.folder / "api" / "new.md").write_text("# New\n\nThe new page.\n", encoding="utf-8")

    said = empty.run("index")

    assert one_sentence(said).startswith("No document of base 'handbook' was found where its sources say")
    assert "api: 1 added" in said.out
    assert "handbook: 6 documents" in empty.run("sources").out
    assert "nothing changed" not in empty.run("index", "--base", "handbook", "--allow-removals").out


def test_paths_are_not_taken_beside_a_settings_file_with_bases(empty: Terminal) -> None:
    write(empty.folder, TWO_BASES, 1)

    assert "footnote.toml names the sources" in one_sentence(empty.run("index", "handbook"))


def test_a_run_that_is_refused_leaves_the_sources_as_they_were(empty: Terminal) -> None:
    write(empty.folder, "", 6)
    assert empty.run("index", "handbook").status == 0

    refused = empty.run("index", "api")

    assert "Of base 'default', 6 of 6 documents are gone" in one_sentence(refused)
    assert empty.run("index").out.startswith("default: nothing changed; 6 documents")


def test_what_would_change_is_shown_and_not_done(empty: Terminal) -> None:
    write(empty.folder, "", 2)

    said = empty.run("index", "handbook", "--dry-run")

    assert said.out.splitlines() == [
        "read    handbook/page0.md",
        "read    handbook/page1.md",
        "default: 2 to read, 0 to remove, 0 unchanged. Nothing was changed.",
    ]
    assert "no sources" in one_sentence(empty.run("index"))


def test_what_cannot_be_read_is_named_and_the_rest_is_indexed(empty: Terminal) -> None:
    write(empty.folder, "", 2)
    (empty.folder / "handbook" / "broken.pdf").write_bytes(b"%PDF-1.7 broken")

    said = empty.run("index", "handbook")

    assert said.status == 0
    assert said.err.startswith("not indexed: handbook/broken.pdf: ")
    assert said.out.startswith("default: 2 added, 1 could not be read; 2 documents, 2 passages; ")
    assert "not indexed: handbook/broken.pdf: " in empty.run("sources", "--documents").out


def test_the_counts_of_a_run_are_those_of_the_sources_and_what_is_tried_again_is_told_so(empty: Terminal) -> None:
    write(empty.folder, "", 2)
    (empty.folder / "handbook" / "broken.md").touch()
    (empty.folder / "handbook" / "led-out.md").symlink_to("/etc/hostname")

    said = [empty.run("index", "handbook").out, empty.run("index").out]
    told = empty.run("sources").out
    preview = empty.run("index", "--dry-run").out.splitlines()

    assert [re.findall(r"\d+ could not be read|\d documents", line) for line in said] == [
        ["2 could not be read", "2 documents"]
    ] * 2
    assert re.findall(r"\d+ could not be read|\d documents", told) == ["2 documents", "2 could not be read"]
    assert sorted(re.findall(r"not indexed: handbook/([\w-]+)", told)) == ["broken", "led-out"]
    assert preview[0] == "retry   handbook/broken.md: it is empty"
    assert preview[1].startswith("cannot  handbook/led-out.md: it is a link that leads out of ")


def write(folder: Path, settings: str, pages: int) -> None:
    for base in ("handbook", "api"):
        (folder / base).mkdir()
        for number in range(pages):
            text = f"# Page {number} of {base}\n\nThe {base} says that room {number} is {base}-blue.\n"
            (folder / base / f"page{number}.md").write_text(text, encoding="utf-8")
    if settings:
        (folder / "footnote.toml").write_text(settings, encoding="utf-8")


OBEYED = "\x1b[31mred\x1b]0;owned\x07\x9b2J"


@pytest.mark.parametrize("command", ["eval", "calibrate"])
def test_labelled_questions_that_are_not_there_are_named(empty: Terminal, command: str) -> None:
    said = one_sentence(empty.run(command, "nosuch"))

    assert re.fullmatch(r"nosuch(/corpus\.jsonl)?: it cannot be read \(No such file or directory\)", said)


def test_a_wrong_link_is_told_in_one_sentence(empty: Terminal) -> None:
    write(empty.folder, '[bases.a]\nsources = [{path = "handbook", link = "https://h.example/{pfad}"}]', 1)

    said = one_sentence(empty.run("index"))

    assert said.endswith("is 'https://h.example/{pfad}': {pfad} is not known in a link; {path} and {line} are.")


def test_nothing_that_a_terminal_obeys_comes_out_of_names_titles_and_reasons(empty: Terminal) -> None:
    folder = empty.folder / "handbook"
    folder.mkdir()
    (folder / f"good {OBEYED}.md").write_text(f"# Pier {OBEYED}\n\nThe lamp costs 12 crowns.")
    (folder / f"bad {OBEYED}.md").write_bytes(b"")

    indexed = empty.run("index", "handbook")
    (folder / f"good {OBEYED}.md").write_text(f"# Pier {OBEYED}\n\nThe lamp costs 13 crowns.")
    said = [
        indexed,
        empty.run("index", "--dry-run"),
        empty.run("sources", "--documents"),
        empty.run("ask", "What does the lamp cost?", "--trace", "--full"),
        empty.run("index", f"no {OBEYED}"),
        empty.run("doctor"),
    ]

    assert ["bad red.md: it is empty" in one.err for one in said[:1]] == [True]
    assert "bad red.md: it is empty" in said[2].out
    assert [one for one in said if any(sign in one.out + one.err for sign in OBEYED if not sign.isprintable())] == []
