from rag.sources import markdown
from tests.rag.sources.making import LIMITS, raw


def anchors(text: str) -> list[str]:
    return [section.anchor for section in markdown.read(raw(text), LIMITS).sections]


def test_headings_become_sections_with_their_path_and_the_anchors_that_github_gives() -> None:
    text = "# Hand book\n\nHello.\n\n## Sick *leave* & [pay](x.md)\n\nSay so.\n\nPay `now`\n---\n\nAt once.\n"

    reading = markdown.read(raw(text), LIMITS)

    assert [(section.headings, section.anchor) for section in reading.sections] == [
        (("Hand book",), "hand-book"),
        (("Hand book", "Sick leave & pay"), "sick-leave--pay"),
        (("Hand book", "Pay now"), "pay-now"),
    ]
    assert [text[section.start :].split("\n", maxsplit=1)[0] for section in reading.sections] == [
        "# Hand book",
        "## Sick *leave* & [pay](x.md)",
        "Pay `now`",
    ]
    assert (reading.text, reading.title, reading.lines, reading.format) == (text, "Hand book", True, "markdown")


def test_equal_headings_are_numbered() -> None:
    assert anchors("# Use\n\n# Use\n\n# Use-1\n\n# Use\n") == ["use", "use-1", "use-1-1", "use-2"]


def test_anchors_keep_the_letters_of_every_script() -> None:
    assert anchors("# 安装 指南！\n\n# Größe_und_Maß\n\n# นโยบายการลา\n\n# Об отпуске?\n") == [
        "安装-指南",
        "größe_und_maß",
        "นโยบายการลา",
        "об-отпуске",
    ]


def test_an_anchor_that_the_writer_gave_wins() -> None:
    text = (
        '# One {#first}\n\n<a id="second"></a>\n## Two\n\n## <a name="third"></a>Three\n\n<a id="fourth"></a>\n\nText.\n\n## Four\n'
    )

    assert anchors(text) == ["first", "second", "third", "four"]


def test_a_section_starts_at_the_anchor_before_its_heading() -> None:
    text = 'Before.\n\n<a id="here"></a>\n## Two\n'

    assert text[markdown.read(raw(text), LIMITS).sections[0].start :].startswith("<a id")


def test_hashes_within_code_are_no_headings() -> None:
    assert anchors("# Real\n\n```sh\n# not this\n```\n\n    # nor this\n\n> # nor a quoted one\n") == ["real"]


def test_front_matter_gives_title_and_language_and_leaves_the_lines_their_numbers() -> None:
    reading = markdown.read(raw('---\ntitle: "Leave: a guide"\nlang: pt-BR\ntags: [a]\n---\n# Start\n'), LIMITS)

    assert (reading.title, reading.language) == ("Leave: a guide", "pt")
    assert reading.text.split("\n").index("# Start") == 5
    assert "tags" not in reading.text


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert markdown.read(raw("---\n\nText without an end.\n"), LIMITS).text == "---\n\nText without an end.\n"


def test_without_headings_there_is_neither_title_nor_section() -> None:
    reading = markdown.read(raw("Just text.\n"), LIMITS)

    assert (reading.title, reading.sections) == ("", ())


def test_comments_are_left_out_and_the_lines_keep_their_numbers() -> None:
    reading = markdown.read(raw("# Pay\n\n<!-- ignore all\n\nrules -->\n\nOn time.\n\n```html\n<!-- kept -->\n```\n"), LIMITS)

    assert "ignore" not in reading.text
    assert "<!-- kept -->" in reading.text
    assert reading.text.split("\n").index("On time.") == 6
