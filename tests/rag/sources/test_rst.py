import pytest

from rag.sources import rst
from tests.rag.sources.making import LIMITS, raw

TEXT = """\
==========
 The Guide
==========

.. _first steps:

First steps
===========

See :ref:`the other <other>`, ``code`` and `a site <https://x.y>`_, :pep:`8`.

.. note:: Be kind.

.. code-block:: python
   :linenos:

   # Not a heading
   # ============
   run()

Example::

    $ make

Sub-steps
---------

.. toctree::
   :maxdepth: 2

   hidden

.. a remark
   over two lines

Last words.
"""


def test_headings_take_their_level_from_their_adornment_and_their_anchor_from_docutils_or_a_target() -> None:
    reading = rst.read(raw(TEXT), LIMITS)

    assert [(section.headings, section.anchor) for section in reading.sections] == [
        (("The Guide",), "the-guide"),
        (("The Guide", "First steps"), "first-steps"),
        (("The Guide", "First steps", "Sub-steps"), "sub-steps"),
    ]
    assert reading.title == "The Guide"
    assert reading.text[reading.sections[2].start :].startswith("### Sub-steps")


def test_lines_keep_their_numbers() -> None:
    reading = rst.read(raw(TEXT), LIMITS)

    assert reading.lines
    assert reading.text.count("\n") == TEXT.count("\n")
    for words in ("Be kind.", "run()", "Last words."):
        assert line_of(reading.text, words) == line_of(TEXT, words)


def line_of(text: str, words: str) -> int:
    return text[: text.index(words)].count("\n")


def test_markup_reads_as_text_and_directives_without_text_are_left_out() -> None:
    text = rst.read(raw(TEXT), LIMITS).text

    assert "See the other, `code` and a site, PEP 8." in text
    assert "Note: Be kind." in text
    for left_out in ("toctree", "hidden", "remark", "linenos", "::"):
        assert left_out not in text


def test_code_is_fenced() -> None:
    text = rst.read(raw(TEXT), LIMITS).text

    assert "```python\n\n\n   # Not a heading\n   # ============\n   run()\n```" in text
    assert "Example:\n```\n    $ make\n```" in text


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("What's new?", "what-s-new"), ("2. Größe", "grosze"), ("``os`` --- Files", "os-files"), ("安装", "id1")],
)
def test_identifiers_are_those_of_docutils(heading: str, anchor: str) -> None:
    assert rst.read(raw(f"{heading}\n====================\n\nText.\n"), LIMITS).sections[0].anchor == anchor


def test_code_at_the_very_end_is_closed() -> None:
    assert rst.read(raw("Run::\n\n  make"), LIMITS).text == "Run:\n```\n  make\n```"
