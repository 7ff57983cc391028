"""What Discord receives for an answer."""

import re

import pytest

from bots.discord.history import own_words
from bots.discord.render import LIMIT, below, growing, messages, quoted, shown, with_more_in_file
from rag.types import Answer, Source, SourcePlace

LINK = "https://docs.example.com/keys"
SOURCES = (
    Source(1, "api", "keys.md", "API keys", (SourcePlace("Rotation", f"{LINK}#rotation"), SourcePlace("p. 7", f"{LINK}#page=7"))),
    Source(2, "api", "notes.md", "snake_case_notes", (SourcePlace("", "file:///srv/notes.md"),)),
)


@pytest.mark.parametrize(
    ("text", "received"),
    [
        ("# One\n### Three\n#### Four ####\n###### Six", "# One\n### Three\n**Four**\n**Six**"),
        ("- a\n  - b\n    1. c", "- a\n  - b\n    1. c"),
        (
            "See https://example.com/a(b)c, or (https://example.com/x).",
            "See <https://example.com/a(b)c>, or (<https://example.com/x>).",
        ),
        ("[the page](https://example.com/a_b)", "[the page](<https://example.com/a_b>)"),
        ("[https://good.example](https://evil.example)", "<https://evil.example>"),
        ('[titled](https://example.com "a title")', "[titled](<https://example.com>)"),
        ("<https://example.com>", "<https://example.com>"),
        ("HTTPS://EVIL.EXAMPLE or HtTp://evil.example.", "<HTTPS://EVIL.EXAMPLE> or <HtTp://evil.example>."),
        ("_https://evil.example_", "_<https://evil.example>_"),
        ("<https://evil.example when", "<<https://evil.example> when"),
        ("\\<https://evil.example\\>", "\\<<https://evil.example>\\>"),
        ("[x](HTTPS://evil.example)", "[x](<HTTPS://evil.example>)"),
        ("join discord.gg/abc, www.discord.gg/x", "join discord.gg\u200b/abc, www.discord.gg\u200b/x"),
        ("Discord.com/invite/abc or steam://run/1", "Discord.com/invite\u200b/abc or steam:\u200b//run/1"),
        ("https://discord.gg/abc <https://discord.gg/abc>", "<https://discord.gg/abc> <https://discord.gg/abc>"),
        ("[us](https://discord.gg/abc)", "[us](<https://discord.gg/abc>)"),
        ("postgres://localhost/x", "postgres://localhost/x"),
        ("[done](<https://example.com>)", "[done](<https://example.com>)"),
        ("Ask @everyone and @here now", "Ask @\u200beveryone and @\u200bhere now"),
        ("<@123> <@&9> <#77> </cmd:1> <a:x:1> <t:1> <:e:1>", None),
        ("a < b and b > c", "a < b and b > c"),
        ("`@everyone` stays in `code`", "`@everyone` stays in `code`"),
        ("```sh\ncurl https://example.com <@1>\n```", "```sh\ncurl https://example.com <@1>\n```"),
        ("above\n\n---\n\nbelow", "above\n\n\n\nbelow"),
        ("**重点**说明", "**重点**说明"),
        ("\u200fמבחן\u200f and a\u200bb", "\u200fמבחן\u200f and a\u200bb"),
        ("&amp;lt; stays", "&amp;lt; stays"),
        ("a | b without a rule", "a | b without a rule"),
        ("```\n| a | b |\n|---|---|\n| 1 | 2 |\n```", "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```"),
    ],
)
def test_markdown_becomes_what_discord_shows(text: str, received: str | None) -> None:
    if received is None:
        received = text.replace("<", "<\u200b")
    assert shown(text) == received


def test_a_table_is_aligned_by_what_its_signs_take_on_the_screen() -> None:
    table = "Before\n\n| 名称 | `Type` |\n|:--|--:|\n| 密钥 | **str** |\n| k | [int](https://x.org) \\| none |\n\nafter"

    assert shown(table) == "Before\n\n```\n名称  Type\n────  ──────────\n密钥  str\nk     int | none\n```\n\nafter"


def test_a_table_that_is_too_wide_for_a_phone_is_a_list() -> None:
    table = f"| Setting | What it does |\n| --- | --- |\n| `k` | {'words ' * 12}|\n| alpha | |\n"

    assert shown(table) == f"- **`k`**\n  - What it does: {('words ' * 12).strip()}\n- **alpha**\n"


def test_the_footer_links_each_place_without_preview_and_names_what_has_no_address() -> None:
    assert below(Answer("x [1] [2]", SOURCES)) == (
        f"-# SOURCES:\n-# [1] [API keys — Rotation](<{LINK}#rotation>); [p. 7](<{LINK}#page=7>)\n-# [2] snake\\_case\\_notes"
    )


def test_an_address_in_a_title_leads_nowhere() -> None:
    source = Source(1, "api", "a.md", "https://good.example", (SourcePlace("", "https://docs.example.com/a"),))

    assert below(Answer("x [1]", (source,))).endswith("-# [1] [good.example](<https://docs.example.com/a>)")


def test_an_abstention_has_no_footer_but_what_is_near() -> None:
    assert below(Answer("The documents don't say.", abstained=True)) == ""
    near = below(Answer("The documents don't say.", abstained=True, suggestions=SOURCES[:1], language="en"))

    assert "SOURCES" not in near
    assert near.split("\n")[1] == f"-# - [API keys — Rotation](<{LINK}#rotation>); [p. 7](<{LINK}#page=7>)"


def test_a_long_answer_is_several_messages_each_within_the_limit() -> None:
    answer = Answer("\n\n".join(f"Paragraph {number}. {'字' * 700} [1]" for number in range(20)), SOURCES)
    sent = messages(answer)

    assert all(0 < len(message) <= 2000 for message in sent)
    assert sent[-1].endswith("snake\\_case\\_notes")
    assert "".join(sent).count("字") == 14_000


def test_a_growing_answer_never_leaves_code_open() -> None:
    assert growing("Run:\n```sh\nmake dem") == ["Run:\n```sh\nmake dem\n```"]


def test_a_remark_stands_below_the_text_in_small_letters_and_is_no_history() -> None:
    answer = Answer("Five days [1].", SOURCES[1:], remark="The documents' own words.")
    abstained = Answer("Not in the documents.", abstained=True, suggestions=SOURCES[1:], language="en", remark="A remark.")

    assert messages(answer) == ["Five days [1].\n\n-# The documents' own words.\n\n-# SOURCES:\n-# [2] snake\\_case\\_notes"]
    assert own_words(messages(answer)[0]) == "Five days [1]."
    assert own_words(messages(abstained)[0]) == "Not in the documents."


@pytest.mark.parametrize(
    ("question", "shown_as"),
    [
        ("how?", "> how?\n"),
        ("two\nlines and  blanks", "> two lines and blanks\n"),
        ("@everyone look at https://evil.example", "> @\u200beveryone look at https:\u200b//evil.example\n"),
        ("x" * 6000, f"> {'x' * 299}…\n"),
    ],
)
def test_a_question_is_repeated_above_its_answer_on_one_line_that_calls_nobody(question: str, shown_as: str) -> None:
    assert quoted(question) == shown_as


@pytest.mark.parametrize(
    "question",
    [
        "<https://evil.example when?",
        "\\<https://evil.example\\> when?",
        "HTTPS://EVIL.EXAMPLE HtTp://evil.example",
        "steam://run/1 discord://x git+ssh://evil.example",
        "[click](<https://evil.example>) [click](https://evil.example)",
        "`https://evil.example` `` https://evil.example",
        "https://evil.example/a>b https://x.example)",
        f"`{'x' * 270} https://evil.example/a/page `",
        "_https://evil.example_ www_www.evil.example",
        "<mailto:a@evil.example> <tel:+1> <+15551234567>",
        "www.evil.example discord.gg/abc Discord.com/invite/abc discord.gift/x",
    ],
)
def test_no_address_in_a_question_that_is_repeated_can_be_clicked_or_has_a_preview(question: str) -> None:
    received = quoted(question)

    assert received.replace("\u200b", "").rstrip("…\n") in f"> {question}"
    assert "://" not in received
    assert "www." not in received
    assert not re.search(r"<[\w+]", received)
    assert not any(f"{host}/" in received.lower() for host in ("discord.gg", "discord.com/invite", "discord.gift"))


def test_a_very_long_answer_has_room_for_the_question_above_it() -> None:
    answer = Answer("word " * 5_000, SOURCES)

    assert with_more_in_file(answer, quoted("x" * 6000)).startswith("> xxx")
    assert len(with_more_in_file(answer, quoted("x" * 6000))) <= LIMIT
