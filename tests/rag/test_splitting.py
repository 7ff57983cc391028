import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import BadSetting
from rag.sources import markdown
from rag.sources.reading import Raw, ReadLimits
from rag.splitting import SplitSettings, split
from rag.types import Document, Passage, Section

SETTINGS = SplitSettings()
SENTENCE = "Leave is asked for two weeks ahead, in writing. "
CHINESE = "员工每年有二十天带薪假期。申请请提前两周提交！病假从第一天起算？是的。"


def document(text: str, **fields: object) -> Document:
    return Document("guide.md", "Guide", text, "", **fields)  # type: ignore[arg-type]  # a shorthand for tests


def markdown_document(text: str, link: str = "") -> Document:
    reading = markdown.read(Raw("guide.md", text.encode()), ReadLimits())
    return Document("guide.md", "Guide", reading.text, "", link, "markdown", reading.sections, lines=True)


def texts(passages: list[Passage]) -> list[str]:
    return [passage.text for passage in passages]


@pytest.mark.parametrize("text", ["", "  \n\t\n ", "\u3000\n"])
def test_a_blank_document_has_no_passages(text: str) -> None:
    assert split(document(text), "base", SETTINGS) == []


def test_a_passage_carries_its_document_and_its_place() -> None:
    found = split(document("Short text.", language="en", link="https://x.y/guide", expandable=False), "handbook", SETTINGS)

    assert found == [
        Passage(
            "guide.md#0",
            "handbook",
            "guide.md",
            0,
            "Short text.",
            title="Guide",
            link="https://x.y/guide",
            end=11,
            language="en",
            expandable=False,
        )
    ]


def test_a_document_somewhat_longer_than_a_passage_stays_whole() -> None:
    text = (SENTENCE * 24).strip()

    assert texts(split(document(text), "base", SETTINGS)) == [text]
    assert len(split(document(text), "base", SplitSettings(whole=1))) == 2


def test_long_text_is_cut_at_the_ends_of_sentences() -> None:
    found = split(document(SENTENCE * 100), "base", SETTINGS)

    assert all(passage.text.startswith("Leave") and passage.text.endswith("writing.") for passage in found)
    assert all(400 <= len(passage.text) <= 800 for passage in found)


def test_wrapped_lines_are_not_mistaken_for_sentences() -> None:
    words = (SENTENCE * 100).split()
    lines = "\n".join(" ".join(words[at : at + 10]) for at in range(0, len(words), 10))

    assert all(passage.text.endswith("writing.") for passage in split(document(lines), "base", SETTINGS))


def test_a_long_list_is_cut_between_its_items() -> None:
    items = [f"- {number}. Ask first. Then wait for two weeks, or for the answer.\n  And write it down." for number in range(40)]

    found = split(document("Rules:\n" + "\n".join(items), format="markdown"), "base", SETTINGS)

    assert all(passage.text.startswith(("Rules", "- ")) and passage.text.endswith("down.") for passage in found)


def test_chinese_is_cut_at_the_ends_of_sentences() -> None:
    found = split(document(CHINESE * 100), "base", SETTINGS)

    assert all(passage.text[-1] in "。！？" for passage in found)
    assert max(len(passage.text) for passage in found) <= 800


def test_a_passage_does_not_go_on_under_another_heading() -> None:
    found = split(markdown_document(f"# One\n\n{SENTENCE * 10}\n\n# Two\n\n{SENTENCE * 10}"), "base", SETTINGS)

    assert [(passage.headings, passage.anchor, passage.text.split("\n")[0]) for passage in found] == [
        (("One",), "one", "# One"),
        (("Two",), "two", "# Two"),
    ]


def test_tiny_sections_under_one_heading_share_a_passage() -> None:
    text = f"# All\n\n{SENTENCE * 14}\n\n" + "".join(f"## Rule {number}\n\nBe kind.\n\n" for number in range(10))

    found = split(markdown_document(text), "base", SETTINGS)

    assert [passage.anchor for passage in found] == ["all", "rule-0"]


def test_a_heading_stays_with_its_text_and_a_bare_one_gives_way_to_the_one_below() -> None:
    found = split(markdown_document(f"# Leave\n\n## Sick leave\n\n{SENTENCE * 30}"), "base", SETTINGS)

    assert found[0].text.startswith(f"# Leave\n\n## Sick leave\n\n{SENTENCE}")
    assert found[0].headings == ("Leave", "Sick leave")
    assert found[0].anchor == "sick-leave"


def test_a_heading_that_is_the_title_is_not_said_twice() -> None:
    found = split(markdown_document(f"# Guide\n\n## Pay\n\n{SENTENCE * 20}"), "base", SETTINGS)

    assert found[-1].headings == ("Pay",)
    assert found[-1].embedded.count("Guide") == 1


def test_a_table_that_fits_is_not_cut() -> None:
    table = "| Day | Pay |\n| --- | --- |\n" + "\n".join(f"| {day} | {day * 3} |" for day in range(40))
    found = split(markdown_document(f"{SENTENCE * 12}\n\n{table}\n\n{SENTENCE * 12}"), "base", SETTINGS)

    assert sum(table in passage.text for passage in found) == 1


def test_each_part_of_a_cut_table_has_the_header_row() -> None:
    header = "| Day | Pay |\n| --- | --- |\n"
    rows = [f"| {day} | {day * 3} euros are paid |" for day in range(200)]
    found = split(markdown_document(f"# Pay\n\n{header}{chr(10).join(rows)}\n\nThat is all."), "base", SETTINGS)

    assert len(found) > 5
    assert all(header in passage.text for passage in found if "euros" in passage.text)
    assert [row for passage in found for row in re.findall(r"\| \d+ \|.*", passage.text)] == rows
    assert max(len(passage.text) for passage in found) <= 800


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_each_part_of_cut_code_is_fenced_and_none_is_empty(fence: str) -> None:
    code = "\n".join(f"    step({number})  # and a remark" for number in range(150))
    found = split(markdown_document(f"# Code\n\nRun:\n\n{fence}python\n{code}\n{fence}\n\nThen wait."), "base", SETTINGS)

    assert len(found) > 4
    for passage in found:
        if "step(" in passage.text:
            assert passage.text.count(fence) == 2
            assert f"{fence}python\n    step(" in passage.text
    assert "\n".join(line for passage in found for line in passage.text.split("\n") if "step(" in line) == code
    assert max(len(passage.text) for passage in found) <= 800


def test_code_that_is_never_closed_is_kept() -> None:
    code = "\n".join(f"step({number})" for number in range(300))
    found = split(markdown_document(f"```\n{code}"), "base", SETTINGS)

    assert sum(passage.text.count("step(") for passage in found) == 300
    assert all(passage.text.count("```") == 2 for passage in found[:-1])


def test_an_introduction_stays_with_its_code() -> None:
    text = f"{SENTENCE * 8}\n\nRun this:\n\n```\n{'make all' * 40}\n```\n\n{SENTENCE * 8}"

    assert any("Run this:\n\n```" in passage.text for passage in split(markdown_document(text), "base", SETTINGS))


def test_overlap_repeats_whole_sentences_and_stays_within_the_size() -> None:
    for text, ends in ((SENTENCE * 100, "."), (CHINESE * 100, "。！？")):
        found = split(document(text), "base", SplitSettings(overlap=100))

        for before, passage in pairwise(found):
            assert 0 < before.end - passage.start <= 101
            assert text[: passage.start].rstrip()[-1] in ends
        assert max(len(passage.text) for passage in found) <= 800


def test_overlap_does_not_lengthen_a_passage_beyond_its_size() -> None:
    paragraphs = "\n\n".join((SENTENCE * 16).strip() for _ in range(4))  # each nearly as long as a passage may be

    assert max(len(passage.text) for passage in split(document(paragraphs), "base", SplitSettings(overlap=200))) <= 800


def test_overlap_does_not_reach_over_a_heading() -> None:
    found = split(markdown_document(f"# One\n\n{SENTENCE * 10}\n\n# Two\n\n{SENTENCE * 10}"), "base", SplitSettings(overlap=100))

    assert found[1].text.startswith("# Two")


def test_pages_count_from_one_and_lead_the_link() -> None:
    text = "\n\n".join((SENTENCE * 12).strip() for _ in range(4))
    starts = [found.start() for found in re.finditer(r"(?:\A|(?<=\n\n))Leave", text)]
    found = split(document(text, pages=tuple(starts), link="https://x.y/a.pdf"), "base", SETTINGS)

    assert [(passage.page, passage.link) for passage in found] == [
        (page, f"https://x.y/a.pdf#page={page}") for page in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("https://x.y/guide.html", "https://x.y/guide.html#sick-leave"),
        ("https://x.y/#/guide", "https://x.y/#/guide"),
        ("https://x.y/guide#L{line}", "https://x.y/guide#L5"),
        ("", ""),
    ],
)
def test_the_link_leads_to_the_heading_or_the_line(link: str, expected: str) -> None:
    found = split(markdown_document(f"# Leave\n\n{SENTENCE * 12}\n\n## Sick leave\n\n{SENTENCE * 12}", link), "base", SETTINGS)

    assert found[1].link == expected


def test_a_passage_that_begins_with_a_few_words_of_another_section_leads_to_its_own() -> None:
    found = split(
        markdown_document(f"Before all.\n\n## Sick leave\n\n{SENTENCE * 15}\n\n## Pay\n\n{SENTENCE * 15}"), "base", SETTINGS
    )

    assert found[0].text.startswith("Before all.")
    assert found[0].anchor == "sick-leave"


def test_an_anchor_in_another_script_is_quoted() -> None:
    assert (
        split(markdown_document("# 安装\n\nSo.", "https://x.y/g"), "base", SETTINGS)[0].link == "https://x.y/g#%E5%AE%89%E8%A3%85"
    )


@pytest.mark.parametrize(("host", "fragment"), [("github.com", "#L3"), ("gitlab.example.org", "#L3"), ("example.org", "")])
def test_plain_text_is_reached_by_its_line_where_the_host_shows_lines(host: str, fragment: str) -> None:
    text = f"First.\n\n{SENTENCE * 16}\n\n{SENTENCE * 16}"
    found = split(document(f"\n\n{text[8:]}", link=f"https://{host}/blob/notes.txt", lines=True), "base", SETTINGS)

    assert [(passage.line, passage.link) for passage in found][:1] == [(3, f"https://{host}/blob/notes.txt{fragment}")]


def test_lines_are_those_of_the_file() -> None:
    text = "\n\n".join(f"{number} {SENTENCE * 10}" for number in range(30))
    found = split(document(text, lines=True), "base", SETTINGS)

    assert all(text.split("\n")[passage.line - 1].startswith(passage.text[:20]) for passage in found)


def test_sizes_in_tokens() -> None:
    chinese, english = document(CHINESE * 50), document(SENTENCE * 100)
    tokens = SplitSettings(100, 200, "tokens")

    assert max(len(passage.text) for passage in split(chinese, "base", tokens)) <= 200
    assert 400 < max(len(passage.text) for passage in split(english, "base", tokens)) < 900


@pytest.mark.parametrize(
    "line", ["word " * 200_000, "a" * 1_000_000, "句子。" * 300_000, "x\n" * 300_000, "# h\n" * 100_000, "| a " * 200_000]
)
def test_a_megabyte_is_cut_into_bounded_passages(line: str) -> None:
    found = split(document(line, format="markdown"), "base", SETTINGS)

    assert max(len(passage.text) for passage in found) <= 800
    assert sum(len(passage.text) for passage in found) > 0.5 * len(line)


def test_settings_that_cannot_work_are_refused() -> None:
    for wrong in ({"size_min": 900}, {"size_min": 0}, {"overlap": 500}, {"overlap": -1}):
        with pytest.raises(BadSetting, match="indexing"):
            SplitSettings(**wrong)  # type: ignore[arg-type]  # each is a number


def test_the_signature_changes_with_every_setting() -> None:
    others = (
        SplitSettings(300),
        SplitSettings(size_max=900),
        SplitSettings(unit="tokens"),
        SplitSettings(overlap=1),
        SplitSettings(whole=1),
    )

    assert len({SETTINGS.signature, *(other.signature for other in others)}) == 6


WORDS = st.sampled_from(
    ["word", "Sentence end. ", "句子。", "\n", "\n\n", " ", "\t", "```", "~~~", "# ", "| a | b |\n", "| --- | --- |\n", "- ", "1. "]
)
TEXTS = st.lists(WORDS | st.text(max_size=30), max_size=200).map("".join)
SIZES = st.tuples(st.integers(1, 60), st.integers(0, 100), st.integers(0, 30)).map(
    lambda sizes: SplitSettings(sizes[0], sizes[0] + sizes[1], overlap=min(sizes[2], (sizes[0] + sizes[1]) // 2))
)


@settings(max_examples=150, deadline=None)
@given(TEXTS, SIZES, st.lists(st.integers(0, 1000), max_size=8), st.sampled_from(["markdown", "text"]))
def test_whatever_the_text_nothing_is_lost_offsets_are_exact_and_sizes_bounded(
    text: str, sizes: SplitSettings, cuts: list[int], kind: str
) -> None:
    starts = sorted({cut for cut in cuts if cut < len(text)})
    sections = tuple(Section(start, (f"h{start}",) * (1 + start % 3)) for start in starts)
    found = split(document(text, format=kind, sections=sections), "base", sizes)

    covered = {offset for passage in found for offset in range(passage.start, passage.end)}
    assert [character for offset, character in enumerate(text) if offset not in covered and not character.isspace()] == []
    for ordinal, passage in enumerate(found):
        assert passage.ordinal == ordinal
        assert text[passage.start : passage.end] in passage.text
        assert passage.text.strip()
        assert len(passage.text) <= max(sizes.size_max, sizes.whole * sizes.size_max if len(found) == 1 else 0)
