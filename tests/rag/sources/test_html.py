import pytest

from rag.errors import Unreadable
from rag.sources import html
from rag.sources.reading import Reading
from tests.rag.sources.making import LIMITS, raw


def read(body: str, head: str = "") -> Reading:
    return html.read(raw(f"<!DOCTYPE html><html lang='en-GB'><head>{head}</head><body>{body}</body></html>"), LIMITS)


def anchors(body: str) -> list[str]:
    return [section.anchor for section in read(body).sections]


def test_title_language_headings_and_text() -> None:
    reading = read(
        "<h1>Leave</h1><p>Ask <b>your</b>\n  lead.</p><h2>Sick</h2><p>Stay home.</p>", "<title>Leave — Our Handbook</title>"
    )

    assert reading.text == "# Leave\n\nAsk your lead.\n\n## Sick\n\nStay home."
    assert (reading.title, reading.language, reading.format) == ("Leave", "en", "markdown")
    assert [section.headings for section in reading.sections] == [("Leave",), ("Leave", "Sick")]
    assert [reading.text[section.start :].split("\n")[0] for section in reading.sections] == ["# Leave", "## Sick"]


def test_a_title_that_says_more_than_the_first_heading_is_kept() -> None:
    assert read("<h1>Overview</h1>", "<title>Billing guide</title>").title == "Billing guide"


@pytest.mark.parametrize(
    "heading",
    [
        "<h2 id=here>Pay</h2>",
        "<h2><a id=here></a>Pay</h2>",
        "<h2><a name=here>Pay</a></h2>",
        "<a id=here></a><h2>Pay</h2>",
        "<p><a name=here></a></p><h2>Pay</h2>",
        "<section id=here><h2>Pay</h2></section>",
        "<section id=here><span id=other></span><h2>Pay</h2></section>",
        "<div class=sect1 id=here><div class=titlepage><div><div><h2>Pay</h2></div></div></div></div>",
    ],
)
def test_a_heading_is_reached_by_its_own_id_or_that_around_or_before_it(heading: str) -> None:
    assert anchors(f"<section id=top><h1>All</h1><p>Text.</p>{heading}<p>More.</p></section>") == ["top", "here"]


def test_an_id_before_other_text_does_not_belong_to_the_next_heading() -> None:
    assert anchors("<h1>All</h1><p id=intro>Text.</p><h2>Pay</h2>") == ["", ""]


def test_a_heading_without_an_id_is_reached_by_the_one_above_it() -> None:
    assert anchors("<h1 id=top>All</h1><p>Text.</p><h2>Pay</h2>") == ["top", "top"]


def test_a_term_with_an_id_is_a_place_of_its_own() -> None:
    reading = read(
        "<h1>Options</h1><dl><dt id=a>--all</dt><dt id=b>-a</dt><dd><p>Takes all.</p></dd><dt id=c>--one</dt><dd>One.</dd></dl>"
    )

    assert reading.text == "# Options\n\n--all\n-a\nTakes all.\n\n--one\nOne."
    assert [(section.headings[-1], section.anchor) for section in reading.sections[1:]] == [("--all", "a"), ("--one", "c")]


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        ("<dt>Laytime</dt><dd>The time for loading.</dd>", "Laytime: The time for loading."),
        ("<dt>Hours:</dt><dd><p>9 to 17</p></dd>", "Hours: 9 to 17"),
        ("<dt>装卸时间</dt><dd>装货的时间。</dd>", "装卸时间：装货的时间。"),
        ("<dt>Lay</dt><dd><p>One.</p><ul><li>Two.</li><li>Three.</li></ul></dd>", "Lay\nOne.\n  - Two.\n  - Three."),
        ("<dt><code>lay</code></dt><dd>An option.</dd>", "lay\nAn option."),
        ("<dt>lay(by)</dt><dd>A function.</dd>", "lay(by)\nA function."),
    ],
)
def test_a_definition_stands_on_one_line_with_its_term_where_both_are_words(definition: str, text: str) -> None:
    assert read(f"<dl>{definition}</dl><p>More.</p>").text == f"{text}\n\nMore."


def test_navigation_forms_and_hidden_text_are_left_out() -> None:
    reading = read(
        "<header><a href=/>Site</a></header><nav>Menu</nav><div class=navheader>Prev</div><div class=related>Index</div>"
        "<div class=sphinxsidebar>Contents</div><ul class=breadcrumbs><li>Home</li></ul><div role=navigation>Jump</div>"
        "<h1>Pay<a class=headerlink href=#x>¶</a></h1><p>On time.</p><p hidden>secret</p><p style='display: none'>secret</p>"
        "<span aria-hidden=true>icon</span><form><label>Search</label><input value=q><button>Go</button></form>"
        "<script>code()</script><style>p{}</style><!-- remark --><aside>Also read</aside><aside class=footnote>A footnote.</aside>"
        "<footer>© Us</footer><div class=navfooter>Next</div>"
    )

    for left_out in (
        "Menu",
        "Prev",
        "Index",
        "Contents",
        "Home",
        "Jump",
        "¶",
        "secret",
        "icon",
        "Go",
        "code",
        "remark",
        "Also",
        "©",
        "Next",
    ):
        assert left_out not in reading.text
    assert reading.text == "# Pay\n\nOn time.\n\nSearch\n\nA footnote."


def test_where_the_page_names_its_main_part_only_that_is_read() -> None:
    assert read("<div>Banner</div><main><h1>Pay</h1><p>On time.</p></main><div>Ads</div>").text == "# Pay\n\nOn time."


def test_lists_keep_their_marks_and_their_depth() -> None:
    body = (
        "<p>Steps:</p><ol><li>Ask<ul><li>early</li><li>kindly</li></ul></li><li><p>Wait.</p><p>Two days.</p></li></ol><p>Done.</p>"
    )

    assert read(body).text == "Steps:\n\n1. Ask\n  - early\n  - kindly\n2. Wait.\n\n  Two days.\n\nDone."


def test_code_keeps_its_lines_its_language_and_its_fence() -> None:
    python = "<div class='highlight-python3 notranslate'><div class=highlight><pre><i>x</i> = 1\n  y = <b>2</b>\n</pre></div></div>"

    assert read(f"{python}<pre>a ``` b</pre>").text == "```python\nx = 1\n  y = 2\n```\n\n````\na ``` b\n````"


def test_tables_of_data_become_tables_and_tables_of_layout_text() -> None:
    data = "<table><tr><th>Day</th><th>Pay</th></tr><tr><td>Mon</td><td>1|2</td></tr></table>"
    layout = "<table><tr><td><p>Left.</p></td></tr></table>"

    assert read(data + layout).text == "| Day | Pay |\n| --- | --- |\n| Mon | 1\\|2 |\n\nLeft."


def test_the_heading_of_a_note_is_no_section() -> None:
    reading = read("<h1 id=a>Pay</h1><div class=note><h3>Note</h3><p>Soon.</p></div><p>Later.</p>")

    assert [section.anchor for section in reading.sections] == ["a"]
    assert reading.text == "# Pay\n\nNote\nSoon.\n\nLater."


def test_line_breaks_part_words_and_chinese_lines_join_without_a_blank() -> None:
    assert read("<p>one<br>two</p><p>中文的一\n  行文字</p>").text == "one\ntwo\n\n中文的一行文字"


@pytest.mark.parametrize(
    ("content", "charset"),
    [
        ("<meta charset=gb2312><p>员工假期申请</p>".encode("gb18030"), ""),
        ("<meta http-equiv=content-type content='text/html; charset=gbk'><p>员工假期申请</p>".encode("gb18030"), ""),
        ("<p>员工假期申请</p>".encode("gb18030"), "gb2312"),
        ("<p>员工假期申请</p>".encode("utf-16"), ""),
    ],
)
def test_the_declared_charset_is_used(content: bytes, charset: str) -> None:
    assert html.read(raw(content, charset=charset), LIMITS).text == "员工假期申请"


def test_a_page_of_navigation_alone_is_refused() -> None:
    with pytest.raises(Unreadable, match="no text apart from navigation"):
        read("<nav><a>Home</a></nav><script>run()</script>")


def test_elements_thousands_deep_are_read() -> None:
    assert "deep down" in read("<div>" * 3_000 + "deep down").text
