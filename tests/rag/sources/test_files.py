import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from rag.errors import Unreadable
from rag.sources.files import FileSource
from rag.sources.readers import Readers
from rag.sources.reading import ReadLimits
from rag.types import Listing

pytestmark = pytest.mark.asyncio(loop_scope="module")  # the process is started once


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def readers() -> AsyncIterator[Readers]:
    async with Readers() as readers:
        yield readers


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """docs/ with two documents, api/ with pages, and what belongs to no source."""
    folder = tmp_path / "root"
    for name in (
        "docs/guide.md",
        "docs/deep/notes.TXT",
        "docs/picture.png",
        "docs/.hidden.md",
        "docs/.git/config.md",
        "docs/node_modules/x.md",
        "api/index.html",
        "api/v2/calls.html",
        "api/v2/calls.log",
        "top.md",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# About {name}\n\nText.\n")
    return folder


async def ids(source: FileSource) -> list[str]:
    return [listing.id for listing in (await source.list())[0]]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["docs"], ["docs/guide.md", "docs/deep/notes.TXT"]),
        (["./docs/"], ["docs/guide.md", "docs/deep/notes.TXT"]),
        (["."], ["top.md", "api/index.html", "api/v2/calls.html", "docs/guide.md", "docs/deep/notes.TXT"]),
        (["api/**/*.html"], ["api/index.html", "api/v2/calls.html"]),
        (["**/*.html"], ["api/index.html", "api/v2/calls.html"]),
        (["api/*.html"], ["api/index.html"]),
        (["api/v?/calls.*"], ["api/v2/calls.html"]),
        (["api/**/*.log"], ["api/v2/calls.log"]),
        (["[at]*/*.html"], ["api/index.html"]),
        (["**"], ["top.md", "api/index.html", "api/v2/calls.html", "docs/guide.md", "docs/deep/notes.TXT"]),
        (["top.md", "docs/guide.md", "docs", "top.md"], ["top.md", "docs/guide.md", "docs/deep/notes.TXT"]),
        (["docs/picture.png"], ["docs/picture.png"]),
        (["docs/.hidden.md"], ["docs/.hidden.md"]),
    ],
)
async def test_patterns_name_files_folders_and_globs(
    root: Path, readers: Readers, patterns: list[str], expected: list[str]
) -> None:
    source = FileSource(root, patterns, readers=readers)

    assert await ids(source) == expected
    assert (await source.list())[1] == []


async def test_absolute_patterns_may_lie_elsewhere(root: Path, tmp_path: Path, readers: Readers) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("# Elsewhere")
    source = FileSource(root, ["top.md", str(other / "x.md"), str(root / "docs/guide.md"), f"{other}/*.md"], readers=readers)

    assert await ids(source) == ["top.md", f"{other}/x.md", "docs/guide.md"]
    assert (await source.read(Listing(f"{other}/x.md", ""))).text == "# Elsewhere"


async def test_what_matches_nothing_is_a_problem_that_names_the_pattern(root: Path, readers: Readers) -> None:
    (root / "empty").mkdir()
    listings, problems = await FileSource(root, ["gone.md", "empty", "docs/*.pdf", "top.md"], readers=readers).list()

    assert [listing.id for listing in listings] == ["top.md"]
    assert [(problem.document, problem.reason) for problem in problems] == [
        ("gone.md", "there is no such file or folder"),
        ("empty", "there is no file of a known format in it"),
        ("docs/*.pdf", "no file matches it"),
    ]


async def test_a_pattern_does_not_leave_the_root(root: Path, readers: Readers) -> None:
    (root.parent / "secret.md").write_text("secret")
    (root / "way").symlink_to(root.parent)
    listings, problems = await FileSource(root, ["../secret.md", "docs/../../secret.md", "way", "way/*.md"], readers=readers).list()

    assert listings == []
    assert len(problems) == 4
    assert all("leads out of" in problem.reason for problem in problems)


async def test_links_out_of_the_folder_that_is_named_are_problems_and_links_within_it_are_followed_once(
    root: Path, readers: Readers
) -> None:
    (root.parent / "secret.md").write_text("secret")
    (root / "docs/a-link.md").symlink_to(root.parent / "secret.md")
    (root / "docs/a-copy.md").symlink_to(root / "docs/guide.md")
    (root / "docs/loop").symlink_to(root / "docs")
    (root / "docs/more").symlink_to(root / "api")
    (root / "docs/style.css").symlink_to(root.parent / "secret.md")
    (root / "docs/torn.md").symlink_to(root / "nowhere.md")

    listings, problems = await FileSource(root, ["docs"], readers=readers).list()

    assert sorted(listing.id for listing in listings) == ["docs/deep/notes.TXT", "docs/guide.md"]
    assert {(problem.document, "leads out" in problem.reason) for problem in problems} == {
        ("docs/a-link.md", True),
        ("docs/more", True),
        ("docs/torn.md", True),
    }


async def test_a_file_swapped_for_a_link_after_listing_is_not_read(root: Path, readers: Readers) -> None:
    (root.parent / "secret.md").write_text("secret")
    source = FileSource(root, ["top.md"], readers=readers)
    listings, _ = await source.list()
    (root / "top.md").unlink()
    (root / "top.md").symlink_to(root.parent / "secret.md")

    with pytest.raises(Unreadable, match="leads out"):
        await source.read(listings[0])


async def test_an_id_that_leads_out_is_not_read(root: Path, readers: Readers) -> None:
    (root.parent / "secret.md").write_text("secret")
    source = FileSource(root, ["."], readers=readers)

    for document in ("../secret.md", str(root.parent / "secret.md"), "/etc/hostname"):
        with pytest.raises(Unreadable):
            await source.read(Listing(document, ""))


async def test_the_stamp_changes_with_the_file_and_stays_without(root: Path, readers: Readers) -> None:
    source = FileSource(root, ["top.md"], readers=readers)
    (first,), _ = await source.list()
    (again,), _ = await source.list()
    (root / "top.md").write_text("# Other\n")
    (changed,), _ = await source.list()

    assert first == again
    assert first.stamp != changed.stamp


async def test_another_link_changes_stamp_and_digest(root: Path, readers: Readers) -> None:
    sources = [FileSource(root, ["top.md"], link=link, readers=readers) for link in ("", "https://x.y/{path}")]
    listings = [(await source.list())[0][0] for source in sources]
    documents = [await source.read(listing) for source, listing in zip(sources, listings, strict=True)]

    assert listings[0].stamp != listings[1].stamp
    assert documents[0].digest != documents[1].digest


async def test_a_document_is_read_whole(root: Path, readers: Readers) -> None:
    (root / "pt.html").write_text("<html lang=pt><title>Férias</title><h1 id=f>Férias</h1><p>Sim.</p></html>")
    source = FileSource(root, ["top.md", "pt.html"], link="https://x.y/blob/{path}#L{line}", readers=readers)

    markdown, html = [await source.read(listing) for listing in (await source.list())[0]]

    assert (markdown.id, markdown.title, markdown.format, markdown.lines) == ("top.md", "About top.md", "markdown", True)
    assert markdown.link == "https://x.y/blob/top.md#L{line}"
    assert (html.title, html.language, html.sections[0].anchor, html.link) == ("Férias", "pt", "f", "https://x.y/blob/pt.html#L1")


async def test_a_source_may_keep_its_documents_from_being_expanded(root: Path, readers: Readers) -> None:
    sources = [FileSource(root, ["top.md"], readers=readers), FileSource(root, ["top.md"], readers=readers, expandable=False)]

    expandable, fixed = [await source.read(Listing("top.md", "")) for source in sources]

    assert (expandable.expandable, fixed.expandable) == (True, False)
    assert expandable.digest != fixed.digest


async def test_without_title_the_name_of_the_file_is_the_title(root: Path, readers: Readers) -> None:
    (root / "docs/plain.txt").write_text("Just words.")
    source = FileSource(root, ["docs/plain.txt"], readers=readers)

    assert (await source.read((await source.list())[0][0])).title == "plain.txt"


async def test_links_are_quoted_and_lead_to_the_file_where_there_is_no_template(root: Path, readers: Readers) -> None:
    name = "docs/ä b#c?{line}.md"
    (root / name).write_text("Text.")

    plain = await FileSource(root, [name], readers=readers).read(Listing(name, ""))
    linked = await FileSource(root, [name], link="https://x.y/{path}", readers=readers).read(Listing(name, ""))

    assert plain.link == f"{root.as_uri()}/docs/%C3%A4%20b%23c%3F%7Bline%7D.md"
    assert linked.link == "https://x.y/docs/%C3%A4%20b%23c%3F%7Bline%7D.md"


async def test_names_that_are_no_utf8_are_listed_and_read(root: Path, readers: Readers) -> None:
    path = root / "docs" / os.fsdecode(b"caf\xe9.md")
    try:
        path.write_text("Coffee.")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    source = FileSource(root, ["docs/caf*"], readers=readers)
    listings, _ = await source.list()

    assert [listing.id for listing in listings] == ["docs/caf\\xe9.md"]
    assert (await source.read(listings[0])).text == "Coffee."


async def test_every_failure_to_read_is_unreadable_and_names_the_document(root: Path, readers: Readers) -> None:
    (root / "empty.md").write_text("")
    (root / "big.txt").write_text("x" * 2_000)
    (root / "docs/picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    source = FileSource(root, ["."], limits=ReadLimits(file_bytes=1_000), readers=readers)

    for document in ("empty.md", "big.txt", "docs/picture.png", "gone.md", "docs"):
        with pytest.raises(Unreadable) as caught:
            await source.read(Listing(document, ""))
        assert caught.value.document == document


async def test_what_is_no_file_is_a_problem(root: Path, readers: Readers) -> None:
    os.mkfifo(root / "pipe.md")
    listings, problems = await FileSource(root, ["pipe.md"], readers=readers).list()

    assert listings == []
    assert [problem.reason for problem in problems] == ["it is not a file"]
