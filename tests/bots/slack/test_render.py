"""What Slack receives for what an answer says: as a block of Markdown, and in its own mark-up where it takes no blocks (S6, S7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_sdk.web.async_client import AsyncWebClient

from bots.slack.actions import Buttons, opinion_of
from bots.slack.limits import MARKDOWN, SUM, TEXT
from bots.slack.markdown import shown
from bots.slack.mrkdwn import mrkdwn
from bots.slack.render import Shown, ending, forms, growing, messages, notice, plain_messages, short
from rag.types import Answer, Source, SourcePlace
from tests.fakes.slack import FakeSlack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tests.fakes.slack.state import Message

BUTTONS = Buttons("q-1", person=True)


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(limits=False) as slack:
        yield slack


async def posted(slack: FakeSlack, parts: Sequence[Shown]) -> list[Message]:
    """Each of them in #general, by slack_sdk; the fake refuses what Slack refuses."""
    client = AsyncWebClient(slack.workspace.token, base_url=slack.api_url)
    for part in parts:
        more: dict[str, Any] = {"blocks": part.blocks} if part.blocks else {}
        await client.chat_postMessage(
            channel=slack.workspace.general.id, text=part.text, unfurl_links=False, unfurl_media=False, **more
        )
    return slack.workspace.general.messages


# Input, as a block of Markdown, as text.
TABLE = [
    pytest.param(
        "Run it once. [1]",
        "Run it once. [1]",
        "Run it once. [1]",
        id="plain words",
    ),
    pytest.param(
        "# One\n\n## Two ##\n\n###### Six",
        "# One\n\n## Two ##\n\n###### Six",
        "*One*\n\n*Two*\n\n*Six*",
        id="headings of every depth",
    ),
    pytest.param(
        "**bold** and *slanted* and ~~gone~~ and ***both***",
        "**bold** and *slanted* and ~~gone~~ and ***both***",
        "*bold* and _slanted_ and ~gone~ and _*both*_",
        id="bold, italics, struck out",
    ),
    pytest.param(
        "1. First\n   - inner\n     - innermost\n2. Second",
        "1. First\n   - inner\n     - innermost\n2. Second",
        "1. First\n    ◦ inner\n        ▪ innermost\n2. Second",
        id="nested lists",
    ),
    pytest.param(
        "- one\n\n  more of it\n- two",
        "- one\n\n  more of it\n- two",
        "• one\n   more of it\n• two",
        id="a list with paragraphs",
    ),
    pytest.param(
        "4. four\n5. five",
        "4. four\n5. five",
        "4. four\n5. five",
        id="a list that starts at four",
    ),
    pytest.param(
        "> said **so**\n> twice",
        "> said **so**\n> twice",
        "> said *so*\n> twice",
        id="a quotation",
    ),
    pytest.param(
        "Run:\n\n```sh\nif [ $a < 1 ] && true; then\n```",
        "Run:\n\n```sh\nif [ $a < 1 ] && true; then\n```",
        "Run:\n\n```\nif [ $a &lt; 1 ] &amp;&amp; true; then\n```",
        id="a block of code with its language",
    ),
    pytest.param(
        "1. Run\n   ```sh\n   make\n   ```\n2. Look",
        "1. Run\n   ```sh\n   make\n   ```\n2. Look",
        "1. Run\n```\nmake\n```\n2. Look",
        id="a block of code within a list",
    ),
    pytest.param(
        "| Name | Port |\n|---|---:|\n| **web** | 80 |",
        "| Name | Port |\n|---|---:|\n| **web** | 80 |",
        "```\nName  Port\n────  ────\nweb   80\n```",
        id="a table",
    ),
    pytest.param(
        "| Name | What it is for |\n|---|---|\n| web | serves all the pages of our website to everybody who asks for them |",
        "| Name | What it is for |\n|---|---|\n| web | serves all the pages of our website to everybody who asks for them |",
        "• *web*\n    ◦ What it is for: serves all the pages of our website to everybody who asks for them",
        id="a table wider than a screen",
    ),
    pytest.param(
        "Set `a<b>` and `*x*`, not `` ` ``",
        "Set `a<b>` and `*x*`, not `` ` ``",
        "Set `a&lt;b&gt;` and `*x*`, not `ˋ`",
        id="code in a line",
    ),
    pytest.param(
        "请使用**「回滚」**命令。**注意**事项",
        "请使用\u200a**「回滚」**\u200a命令。\u200a**注意**\u200a事项",
        "请使用 *「回滚」* 命令。 *注意* 事项",
        id="bold beside Chinese",
    ),
    pytest.param(
        "これは**重要**です",
        "これは\u200a**重要**\u200aです",
        "これは *重要* です",
        id="bold beside Japanese",
    ),
    pytest.param(
        "이것은 **중요**합니다",
        "이것은 **중요**\u200a합니다",
        "이것은 *중요* 합니다",
        id="bold beside Korean",
    ),
    pytest.param(
        "See [A (b)](https://a.example/x_(y)) now",
        "See [A (b)](https://a.example/x_%28y%29) now",
        "See <https://a.example/x_%28y%29|A (b)> now",
        id="a link with parentheses",
    ),
    pytest.param(
        "See https://a.example/x_(y), or (https://a.example/z).",
        "See <https://a.example/x_(y)>, or (<https://a.example/z>).",
        "See <https://a.example/x_(y)>, or (<https://a.example/z>).",
        id="an address with parentheses",
    ),
    pytest.param(
        "**https://a.example/x**",
        "**<https://a.example/x>**",
        "*<https://a.example/x>*",
        id="an address in bold",
    ),
    pytest.param(
        "[q](https://a.example/?a=1&b=2) https://a.example/?a=1&b=2",
        "[q](https://a.example/?a=1&b=2) <https://a.example/?a=1&b=2>",
        "<https://a.example/?a=1&amp;b=2|q> <https://a.example/?a=1&amp;b=2>",
        id="an address with an ampersand",
    ),
    pytest.param(
        "<https://a.example/x>",
        "<https://a.example/x>",
        "<https://a.example/x>",
        id="an address in brackets",
    ),
    pytest.param(
        "See ![chart](https://evil.example/?d=secret) here",
        "See chart here",
        "See chart here",
        id="an image",
    ),
    pytest.param(
        "`&amp;` is &amp;lt; and &lt; and AT&T",
        "`&amp;` is &amp;lt; and &lt; and AT&T",
        "`&amp;amp;` is &amp;lt; and &lt; and AT&amp;T",
        id="entities",
    ),
    pytest.param(
        "a<br>b <b>c</b> <script>x</script>",
        "a b &lt;b>c&lt;/b> &lt;script>x&lt;/script>",
        "a b &lt;b&gt;c&lt;/b&gt; &lt;script&gt;x&lt;/script&gt;",
        id="raw HTML",
    ),
    pytest.param(
        "<!channel> <!here> <!everyone> <!subteam^S123456|team>",
        "&lt;!channel> &lt;!here> &lt;!everyone> &lt;!subteam^S123456|team>",
        "&lt;!channel&gt; &lt;!here&gt; &lt;!everyone&gt; &lt;!subteam^S123456|team&gt;",
        id="everybody in angle brackets",
    ),
    pytest.param(
        "@here @channel @everyone, ask ops@here.example or a.@channel",
        "@\u200bhere @\u200bchannel @\u200beveryone, ask ops@here.example or a.@channel",
        "@\u200bhere @\u200bchannel @\u200beveryone, ask ops@here.example or a.@channel",
        id="everybody in plain words",
    ),
    pytest.param(
        "<@U012ABCDEF> <#C012ABCDEF|general> @Ana",
        "&lt;@U012ABCDEF> &lt;#C012ABCDEF|general> @Ana",
        "&lt;@U012ABCDEF&gt; &lt;#C012ABCDEF|general&gt; @Ana",
        id="people and channels",
    ),
    pytest.param(
        "`<!channel>` `<@U012ABCDEF>`\n\n```\n<!here>\n<!DOCTYPE html>\n```",
        "`<\u200b!channel>` `<\u200b@U012ABCDEF>`\n\n```\n<\u200b!here>\n<!DOCTYPE html>\n```",
        "`&lt;\u200b!channel&gt;` `&lt;\u200b@U012ABCDEF&gt;`\n\n```\n&lt;\u200b!here&gt;\n&lt;!DOCTYPE html&gt;\n```",
        id="mentions in code",
    ),
    pytest.param(
        "a\u200bb \ufeffc <\u200b!channel> 👩\u200d💻",
        "a\u200bb c &lt;\u200b!channel> 👩\u200d💻",
        "a\u200bb c &lt;\u200b!channel&gt; 👩\u200d💻",
        id="characters without width",
    ),
    pytest.param(
        "שלום **עולם** \u202eevil\u202c \u200fסוף",
        "שלום **עולם** evil \u200fסוף",
        "שלום *עולם* evil \u200fסוף",
        id="right to left",
    ),
    pytest.param(
        "a\x00b\x07c \ud800 d\r\ne",
        "abc � d\ne",
        "abc � d\ne",
        id="control characters and half characters",
    ),
    pytest.param(
        "it's \"so\" & 'so'",
        "it's \"so\" & 'so'",
        "it's \"so\" &amp; 'so'",
        id="quotation marks and apostrophes",
    ),
    pytest.param(
        "a\n\n---\n\n\\*not bold\\* 2 * 3 * 4",
        "a\n\n---\n\n\\*not bold\\* 2 * 3 * 4",
        "a\n\n———\n\n*not bold* 2 * 3 * 4",
        id="a ruler and an escape",
    ),
]


@pytest.mark.parametrize(("text", "markdown", "text_only"), TABLE)
async def test_what_an_answer_says_reaches_slack_so(slack: FakeSlack, text: str, markdown: str, text_only: str) -> None:
    assert shown(text) == markdown
    assert mrkdwn(text) == text_only
    seen = [*await posted(slack, [part for form in forms(Answer(text)) for part in form])]
    assert slack.refused == []
    assert slack.workspace.pings(seen) == set()
    assert "**" not in slack.workspace.shown(seen[0])


# --- long answers ---------------------------------------------------------------------------------------------------

PARAGRAPH = "Every service has a runbook, and every runbook has an owner who keeps it up to date. [1]\n\n"
FENCE = "```python\n" + "\n".join(f"print({n})  # & more" for n in range(2000)) + "\n```"


def fences_are_whole(text: str) -> bool:
    return sum(line.startswith("```") for line in text.splitlines()) % 2 == 0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PARAGRAPH * 460, id="40,000 characters of prose"),
        pytest.param(f"Run:\n\n{FENCE}\n\nDone.", id="a block of code longer than a message"),
        pytest.param("<" * 40_000, id="nothing but what has to be escaped"),
        pytest.param("x" * 40_000, id="one word"),
        pytest.param("很" * 40_000, id="no spaces"),
        pytest.param("| a | b |\n|---|---|\n" + "| 1 | `2` |\n" * 3000, id="a table longer than a message"),
        pytest.param("".join(f"- item {n} <b>\n  ```sh\n  ls\n  ```\n" for n in range(900)), id="a list with blocks of code"),
    ],
)
async def test_a_long_answer_takes_several_messages_within_the_limits(slack: FakeSlack, text: str) -> None:
    answer = Answer(text, (source(),))

    parts = messages(answer, BUTTONS)
    seen = await posted(slack, [*parts, *plain_messages(answer)])

    assert len(parts) > 1
    assert slack.refused == []
    assert slack.workspace.pings(seen) == set()
    for part in parts:
        texts = [block["text"] for block in part.blocks if block["type"] == "markdown"]
        assert all(len(each) <= MARKDOWN and fences_are_whole(each) for each in texts)
        assert sum(map(len, texts)) <= SUM
    assert all(len(part.text) <= TEXT and fences_are_whole(part.text) for part in plain_messages(answer))
    assert [bool(part.blocks[-1]["type"] == "actions") for part in parts] == [False] * (len(parts) - 1) + [True]


async def test_nothing_of_a_long_answer_is_lost(slack: FakeSlack) -> None:
    words = [f"word{n}" for n in range(6000)]
    answer = Answer(" ".join(words))

    for form in forms(answer):
        slack.workspace.general.messages.clear()
        seen = " ".join(slack.workspace.shown(message) for message in await posted(slack, form))
        assert seen.split() == words


# --- sources and buttons --------------------------------------------------------------------------------------------


def source(n: int = 1, title: str = "Runbook", *places: tuple[str, str]) -> Source:
    found = places or (("Rollback", "https://docs.example.com/runbook#rollback"),)
    return Source(n, "default", title, title, tuple(SourcePlace(label, link) for label, link in found))


async def test_the_sources_stand_below_each_with_its_link_and_the_buttons_end_it(slack: FakeSlack) -> None:
    sources = (
        source(),
        source(2, "Handbook", ("p. 3", "https://docs.example.com/h.pdf#page=3"), ("p. 9", "https://docs.example.com/h.pdf#page=9")),
    )

    [message] = await posted(slack, messages(Answer("Run it. [1] Then wait. [2]", sources), BUTTONS))

    assert slack.workspace.shown(message).splitlines() == [
        "Run it. [1] Then wait. [2]",
        "SOURCES:",
        "[1] Runbook — Rollback <https://docs.example.com/runbook#rollback>",
        "[2] Handbook — p. 3 <https://docs.example.com/h.pdf#page=3>; p. 9 <https://docs.example.com/h.pdf#page=9>",
        "[👍] [👎]",
        "[Ask a person]",
    ]
    assert "SOURCES" in message.text


@pytest.mark.parametrize(
    ("title", "seen"),
    [
        ("A <b> & `c` | d", "A ‹b› & 'c' ¦ d"),
        ("Ping <!channel> @here <@U012ABCDEF>", "Ping ‹!channel› @\u200bhere ‹@U012ABCDEF›"),
        ("[1] two\nlines, with ] and *", "(1) two lines, with ) and ∗"),
        ("https://evil.example/x", "evil.example/x"),
    ],
)
async def test_a_title_cannot_break_the_sources(slack: FakeSlack, title: str, seen: str) -> None:
    answer = Answer("So. [1]", (source(1, title, ("", "https://docs.example.com/x")),))

    posts = await posted(slack, [part for form in forms(answer) for part in form])

    for message in posts:
        assert f"[1] {seen} <https://docs.example.com/x>" in slack.workspace.shown(message)
    assert slack.workspace.pings(posts) == set()


@pytest.mark.parametrize("link", ["", "file:///etc/passwd", "javascript:alert(1)", "https://x.example/" + "a" * 3000])
async def test_a_source_without_a_link_that_can_be_clicked_is_named(slack: FakeSlack, link: str) -> None:
    [message] = await posted(slack, messages(Answer("So. [1]", (source(1, "Notes", ("", link)),))))

    assert slack.workspace.shown(message) == "So. [1]\nSOURCES:\n[1] Notes"


async def test_many_sources_with_many_places_stay_within_the_limits(slack: FakeSlack) -> None:
    places = [(f"Section {n} of many & more", f"https://docs.example.com/{'x' * 300}#{n}") for n in range(40)]
    answer = Answer("So. [1]", tuple(source(n, f"Document {n}", *places) for n in range(1, 60)))

    await posted(slack, [part for form in forms(answer, BUTTONS) for part in form])

    assert slack.refused == []


async def test_an_answer_that_abstains_has_no_sources_but_the_nearest_documents(slack: FakeSlack) -> None:
    answer = Answer("Dazu steht nichts in den Dokumenten.", abstained=True, suggestions=(source(),), language="de")

    [message] = await posted(slack, messages(answer, BUTTONS))

    assert slack.workspace.shown(message).splitlines()[1:3] == [
        "Vielleicht hilft ein Blick in:",
        "• Runbook — Rollback <https://docs.example.com/runbook#rollback>",
    ]
    assert "SOURCES" not in message.text


async def test_a_remark_stands_below_the_text(slack: FakeSlack) -> None:
    [message] = await posted(slack, messages(Answer("So.", remark="I may be missing earlier messages.")))

    assert slack.workspace.shown(message) == "So.\nI may be missing earlier messages."


def test_a_button_carries_the_questions_id_and_what_was_thought_of_the_answer() -> None:
    element = Buttons("q-1").blocks[0]["elements"][0]

    assert opinion_of(element["positive_button"]["value"]) == ("q-1", True)
    assert opinion_of(element["negative_button"]["value"]) == ("q-1", False)
    assert [opinion_of(value) for value in ("", "good", "good ", "fine q-1")] == [None] * 4


@pytest.mark.parametrize(
    ("buttons", "seen"),
    [
        (Buttons(), []),
        (Buttons("q"), ["👍", "👎"]),
        (Buttons("q", feedback=False), []),
        (Buttons("q", feedback=False, share=True, person=True), ["Share with everyone", "Ask a person"]),
    ],
)
async def test_only_the_wanted_buttons_are_there(slack: FakeSlack, buttons: Buttons, seen: list[str]) -> None:
    [message] = await posted(slack, messages(Answer("So."), buttons))

    assert message.buttons == seen


async def test_an_apology_is_one_message(slack: FakeSlack) -> None:
    [message] = await posted(slack, [notice("I cannot reach <my documents> & more. @here")])

    assert slack.workspace.shown(message) == "I cannot reach <my documents> & more. @\u200bhere"
    assert message.pings == ()


# --- streams --------------------------------------------------------------------------------------------------------

INLINE = [
    "a",
    "word ",
    "。",
    "太字",
    "**「重要」**",
    "**bold**",
    "*it*",
    "`code <x>`",
    "[1]",
    " [2]",
    "[x](https://a.b/c_d)",
    "(",
    ")",
]
TRAPS = [
    "! ",
    "https://a.b/c ",
    "<",
    "> ",
    "<!channel>",
    "@here ",
    "@ana ",
    "&lt;",
    "me@here.com ",
    "<https://x.y> ",
    "<br>",
    "5 * 3 ",
]
BLOCKS = [
    "\n",
    "\n\n",
    "\n- ",
    "\n1. ",
    "\n```py\nx = '<a>' # `\n<!here>\n```\n",
    "\n# ",
    "\n> ",
    "\n| a | **b** |\n|---|---|\n| 1 | `2` |\n",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*INLINE, *TRAPS, *BLOCKS]), max_size=12).map("".join))
def test_a_draft_is_the_beginning_of_every_later_one(text: str) -> None:
    drafts = [growing(text[:length]) for length in range(len(text) + 1)]

    assert all(later.startswith(earlier) for earlier, later in zip(drafts, [*drafts[1:], shown(text)], strict=True))


def test_a_draft_is_shown_as_soon_as_nothing_can_change_it() -> None:
    assert [growing(draft) for draft in ("Run **th", "Run **this** now, see", "Run `a", "a <!chan", "See [the", "a [1] b [2")] == [
        "Run",
        "Run **this** now, see",
        "Run",
        "a",
        "See",
        "a [1] b",
    ]


async def test_what_ends_a_stream_fits_below_its_text(slack: FakeSlack) -> None:
    client = AsyncWebClient(slack.workspace.token, base_url=slack.api_url)
    asked = slack.workspace.person("Ana").writes("How?")
    answer = Answer(PARAGRAPH * 100, (source(),))
    stream = await client.chat_startStream(channel=asked.channel.id, thread_ts=asked.ts, markdown_text=growing(answer.text))

    await client.chat_stopStream(channel=asked.channel.id, ts=stream["ts"], blocks=ending(answer, BUTTONS))

    assert asked.replies[0].shown.endswith("[👍] [👎]\n[Ask a person]")


def test_the_short_text_beside_a_stream_names_the_sources() -> None:
    answer = Answer("Run **it**. [1]", (source(),))

    assert short(answer) == "Run *it*. [1]\n\nSOURCES: Runbook"
    assert len(short(replace(answer, text="word " * 5000))) <= 3000
