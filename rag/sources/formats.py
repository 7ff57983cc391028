"""Which reader reads which files. Readers are named, not imported: only a worker process loads them."""

from __future__ import annotations

from pathlib import PurePosixPath

_NAMES = {
    "rag.sources.markdown:read": ".md .markdown .mdown .mkd .mdx .qmd",
    "rag.sources.rst:read": ".rst .rest",
    "rag.sources.html:read": ".html .htm .xhtml .xht",
    "rag.sources.plain:read": ".txt .text .adoc .asciidoc .org .textile .wiki",
    "rag.sources.tables:read_csv": ".csv .tsv",
    "rag.sources.pdf:read": ".pdf",
    "rag.sources.docx:read": ".docx .docm",
    "rag.sources.pptx:read": ".pptx .pptm",
    "rag.sources.xlsx:read": ".xlsx .xlsm",
    "rag.sources.epub:read": ".epub",
}
_READERS = {extension: reader for reader, extensions in _NAMES.items() for extension in extensions.split()}
_ANYTHING_ELSE = "rag.sources.plain:read"


def is_known(name: str) -> bool:
    return _extension(name) in _READERS


def reader_of(name: str) -> str:
    """What is not known is tried as text, which refuses what is none."""
    return _READERS.get(_extension(name), _ANYTHING_ELSE)


def _extension(name: str) -> str:
    return PurePosixPath(name).suffix.lower()
