import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from rag.errors import Unreadable
from rag.sources.readers import Readers
from rag.sources.reading import ReadLimits, digest_of
from tests.rag.sources.making import LIMITS, epub, paragraph, pdf
from tests.rag.sources.making import docx as make_docx

HOSTILE = {f".{name}": f"tests.rag.sources.hostile:{name}" for name in ("hang", "crash", "devour", "panic", "chatter", "modules")}


pytestmark = pytest.mark.asyncio(loop_scope="module")  # the processes are started once


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def readers() -> AsyncIterator[Readers]:
    async with Readers(2, others=HOSTILE) as readers:
        yield readers


@pytest.fixture
def real_path(tmp_path: Path) -> Path:
    return tmp_path.resolve()


async def reason(readers: Readers, content: bytes, extension: str, limits: ReadLimits = LIMITS) -> str:
    with pytest.raises(Unreadable) as caught:
        await readers.read_bytes("a file", content, limits, extension=extension)
    assert caught.value.document == "a file"
    return caught.value.reason


@pytest.mark.parametrize(
    ("extension", "content"),
    [
        (".md", b"# Pay\n\nOn time."),
        (".rst", b"Pay\n===\n\nOn time."),
        (".html", b"<h1>Pay</h1><p>On time."),
        (".txt", b"Pay: On time."),
        (".log", b"Pay: On time."),
        (".csv", b"what,when\nPay,On time.\n"),
        (".pdf", pdf([["Pay", "On time."]])),
        (".docx", make_docx(paragraph("Pay") + paragraph("On time."))),
        (".epub", epub({"a.xhtml": "<h1>Pay</h1><p>On time.</p>"})),
    ],
)
async def test_every_format_is_read_in_a_process_of_its_own(readers: Readers, extension: str, content: bytes) -> None:
    reading = await readers.read_bytes("a file", content, LIMITS, extension=extension)

    assert "Pay" in reading.text
    assert "On time." in reading.text
    assert reading.digest == digest_of(content)


async def test_a_reader_that_hangs_is_ended_and_the_rest_goes_on(readers: Readers) -> None:
    hanging = asyncio.create_task(reason(readers, b"x", ".hang", ReadLimits(seconds=0.5)))
    others = [readers.read_bytes("b", b"text", LIMITS, extension=".txt") for _ in range(5)]

    assert [reading.text for reading in await asyncio.gather(*others)] == ["text"] * 5
    assert await hanging == "its reader took longer than 0.5 s"
    assert (await readers.read_bytes("c", b"text", LIMITS, extension=".txt")).text == "text"


async def test_a_reader_that_kills_its_process_costs_one_document(readers: Readers) -> None:
    assert "SIGSEGV" in await reason(readers, b"x", ".crash")
    assert (await readers.read_bytes("c", b"text", LIMITS, extension=".txt")).text == "text"


async def test_a_native_panic_is_a_damaged_document(readers: Readers) -> None:
    assert await reason(readers, b"x", ".panic") == "it is damaged, or not what its name says (PanicException: index out of range)"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
async def test_memory_is_bounded(readers: Readers) -> None:
    assert "more than 1,000 MB of memory" in await reason(readers, b"x", ".devour", ReadLimits(memory_bytes=1_000_000_000))


async def test_what_a_parser_prints_does_not_get_between(readers: Readers) -> None:
    assert (await readers.read_bytes("a", b"text", LIMITS, extension=".chatter")).text == "text"


async def test_the_process_imports_little_of_the_product_and_gives_way_to_others(readers: Readers) -> None:
    reading = await readers.read_bytes("a", b"text", LIMITS, extension=".modules")

    for module in reading.text.split("\n"):
        assert module.split(".")[0] == "rag"
        assert module in {"rag", "rag.errors", "rag.types", "rag.text"} or module.startswith(("rag.sources", "rag.worker"))
    assert int(reading.title) >= 10


@pytest.mark.parametrize(
    ("content", "extension", "expected"),
    [
        (b"", ".md", "it is empty"),
        (b" \n\t ", ".txt", "it is empty"),
        (b"<html><script>x</script></html>", ".html", "no text"),
        (pdf([[], []]), ".pdf", "probably a scan"),
        ("\ufffd\ufffd\ufffd word".encode(), ".txt", "cannot be turned into characters"),
        (b"(cid:12)(cid:3)(cid:88) word", ".txt", "cannot be turned into characters"),
        ("\ue012\ue013\ue014 a".encode(), ".txt", "cannot be turned into characters"),
        (bytes(range(256)) * 9, ".txt", "binary"),
        (b"\x89PNG\r\n\x1a\n" + bytes(99), ".md", "binary"),
    ],
)
async def test_what_holds_no_text_says_so(readers: Readers, content: bytes, extension: str, expected: str) -> None:
    assert expected in await reason(readers, content, extension)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [(ReadLimits(file_bytes=10), "larger than 10 bytes"), (ReadLimits(characters=10), "more than 10 characters")],
)
async def test_sizes_are_bounded(readers: Readers, limits: ReadLimits, expected: str) -> None:
    assert expected in await reason(readers, b"a text of some length", ".txt", limits)


async def test_odd_characters_come_through_or_are_replaced(readers: Readers) -> None:
    text = "\ufdfa\u202e\U0001f600 word" + "\u0301" * 50

    assert (await readers.read_bytes("a", text.encode(), LIMITS, extension=".txt")).text == text
    assert (
        await readers.read_bytes("a", b"<p>a&#xD800;b&#0;c and more", LIMITS, extension=".html")
    ).text == "a\ufffdb\ufffdc and more"
    assert (await readers.read_bytes("a", b"na\0me " * 3 + b"x" * 900, LIMITS, extension=".txt")).text.startswith("name ")


@pytest.mark.parametrize("extension", [".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".html", ".rst", ".csv"])
async def test_noise_is_refused_in_a_sentence_or_read_as_text(readers: Readers, extension: str) -> None:
    noise = bytes((number * number * 31 + number) % 256 for number in range(5_000))

    assert await reason(readers, noise, extension)


async def test_a_file_is_read_only_below_its_roots(readers: Readers, real_path: Path) -> None:
    inside, outside = real_path / "in", real_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (inside / "link.txt").symlink_to(outside / "secret.txt")
    os.mkfifo(inside / "pipe.txt")
    (inside / "real.txt").write_text("real")
    root = str(inside)

    assert (await readers.read_file("real.txt", f"{root}/real.txt", [root], LIMITS)).text == "real"
    for path, expected in (
        (f"{root}/link.txt", "leads out"),
        (f"{root}/../out/secret.txt", "leads out"),
        (f"{root}/pipe.txt", "not a file"),
        (f"{root}/gone.txt", "not there any more"),
        (f"{root}", "not a file"),
    ):
        with pytest.raises(Unreadable, match=expected):
            await readers.read_file("a", path, [root], LIMITS)


async def test_a_closed_pool_refuses_in_a_sentence() -> None:
    async with Readers() as readers:
        pass

    assert "closed" in await reason(readers, b"x", ".txt")
