"""Logs without anybody's words: libraries' entries and errors are told by place and kind (O3)."""

from __future__ import annotations

import subprocess
import sys

import pytest

WORD = "quokka"
PROGRAM = """
import logging
from bots.cli.logs import set_up_logs
from config.tables import Logging
from rag.errors import BadQuestion

set_up_logs(Logging(level="debug", format="{format}"))
word = "quo" + "kka"
logging.warning("Skipping SSE event: %s", word)
logging.getLogger("openai").debug("Request options: %s", {{"json_data": word}})
logging.getLogger("httpx").error(word, exc_info=ValueError(word))
try:
    try:
        {{}}[word]
    except KeyError as cause:
        raise BadQuestion(word) from cause
except BadQuestion:
    logging.getLogger("bots.cli").exception("it failed")
logging.getLogger("rag.conversation").debug("run %s", "1f3c")
"""


@pytest.mark.parametrize("written", ["text", "json"])
def test_what_is_logged_holds_nobodys_words(written: str) -> None:
    """In a process of its own: the tests catch logs in theirs."""
    program = PROGRAM.format(format=written)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 - our own

    assert done.stdout == ""
    assert WORD not in done.stderr
    assert done.stderr.count("reported something") == 2  # of a library, nothing below a warning
    assert "root (<string>, line 9) reported something" in done.stderr
    for word in ("httpx", "ValueError", "it failed", "KeyError", "BadQuestion", "run 1f3c"):
        assert word in done.stderr


def test_a_library_that_sets_a_level_for_itself_is_not_heard_below_the_one_that_is_set() -> None:
    """Weaviate's client does so, and would fill the terminal with entries that say nothing while its server is away."""
    program = """
import logging
from bots.cli.logs import set_up_logs
from config.tables import Logging

logging.getLogger("weaviate-client").setLevel(logging.INFO)
for level in ("debug", "warning", "error"):
    set_up_logs(Logging(level=level))
    logging.getLogger("weaviate-client").info("retrying")
logging.getLogger("weaviate-client").warning("retrying")
logging.getLogger("weaviate-client").error("gone")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 - our own

    assert [line.split()[1:3] for line in done.stderr.splitlines()] == [["[error", "]"]]
