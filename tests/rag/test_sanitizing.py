from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rag.sanitizing import Links, sanitized

LINKS = Links(["https://docs.example/a.html#b"], ["ok.example"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [here](https://evil.example/?d=secret) ok", "see here ok"),
        ("[here](https://docs.example/a.html#c)", "[here](https://docs.example/a.html#c)"),
        ("look ![i](https://evil.example/p.png) there", "look there"),
        ("![a][r] t\n\n[r]: https://evil.example", " t\n\n"),
        ("<https://evil.example|click> and <https://evil.example>", "click and `evil.example`"),
        ("<https://www.ok.example/q|click> <https://ok.example>", "[click](https://www.ok.example/q) <https://ok.example>"),
        ("https://ok.example/x. Then https://evil.example/a?b=c, ok", "https://ok.example/x. Then `evil.example/a?b=c`, ok"),
        ("https://ok.example@evil.example/", "`ok.example@evil.example/`"),
        ("https://ok.example.evil.example https://notok.example", "`ok.example.evil.example` `notok.example`"),
        (r"https://evil.example\@ok.example", r"`evil.example\@ok.example`"),
        ("[a](javascript:alert(1)) [b](data:text/html,x) [c](<https://evil.example x>)", "a b c"),
        ("javascript:alert(1)", "`alert(1)`"),
        ("[a][r]\n\n[r]: https://evil.example 'T'\nmore", "a\n\nmore"),
        ("[a][r]\n\n[r]: https://ok.example/x\n", "[a](https://ok.example/x)\n\n"),
        ("<a href='https://evil.example'>hello</a> <img src=x>", "hello "),
        ("<img src=https://evil.example", "< img src=`evil.example`"),
        ("`https://evil.example` stays code", "`https://evil.example` stays code"),
        ("```\nhttps://evil.example\n```", "```\nhttps://evil.example\n```"),
        ("```\nhttps://evil.example", "```\nhttps://evil.example\n```"),
        ('[a\nb](https://evil.example\n"t")', "a\nb"),
        ("www.evil.example", "`www.evil.example`"),
        ("[https://ok.example](https://evil.example)", "https://ok.example"),
        ("[https://evil.example](https://ok.example)", "[evil.example](https://ok.example)"),
        ("见https://evil.example/路径。好", "见`evil.example/路径`。好"),
        ("**https://ok.example/x**", "**https://ok.example/x**"),
        ("[x](https://ok.example/a_(b))", "[x](https://ok.example/a_%28b%29)"),
    ],
)
def test_only_what_is_cited_or_allowed_stays_a_link(text: str, expected: str) -> None:
    assert sanitized(text, LINKS) == expected


HOSTILE = st.lists(
    st.sampled_from(
        [
            "[a]",
            "(",
            ")",
            "[",
            "]",
            "!",
            "<",
            ">",
            "|",
            "`",
            "```\n",
            "\n",
            "\n\n",
            " ",
            "https://evil.example",
            "HTTPS://EVIL.example/x",
            "(https://evil.example)",
            "javascript:alert(1)",
            "www.evil.example",
            "[r]",
            ": ",
            "https://ok.example/y",
            "](https://evil.example)",
            "<a href=",
            "'",
            '"',
            "\\",
            "*",
            "a",
            "字",
            "~~~\n",
            "    ",
        ]
    ),
    max_size=14,
).map("".join)


@given(HOSTILE)
@example("[a]`(https://evil.example)")
@example("<`a href=https://evil.example>a</a>")
@settings(max_examples=500, deadline=None)
def test_no_program_that_reads_markdown_finds_a_link_to_a_strange_host(text: str) -> None:
    html = MarkdownIt("commonmark", {"linkify": False}).render(sanitized(text, LINKS))

    assert not re.search(r"<(?:a|img)\b[^>]*(?:evil|javascript)", html, re.IGNORECASE)


def test_a_bracket_that_goes_leaves_no_fence_behind() -> None:
    assert "https://" not in sanitized("[~~~\nhttps://evil.example](https://evil.example)", LINKS)


@given(HOSTILE)
@settings(max_examples=300, deadline=None)
def test_outside_code_no_address_is_left_that_a_chat_platform_would_make_a_link_of(text: str) -> None:
    prose = re.sub(r"(?s)```.*?```|(`+)[^`\n]+?\1(?!`)", " ", sanitized(text, LINKS))

    assert all(found.lower().startswith("https://ok.example") for found in re.findall(r"(?i)https?://\S+", prose))


@pytest.mark.parametrize(
    "piece", ["[a", "[", "[a](", "![a](", "<a ", "http://", "[a]((", "<http:", "a](b", "http://a.b ", "[a][b]", "[a]: b\n", "(c)"]
)
def test_a_hostile_text_is_read_in_linear_time(piece: str) -> None:
    """Quadratic work on 100,000 characters would run into the limit of the suite."""
    assert sanitized(piece * (100_000 // len(piece)), LINKS) is not None
