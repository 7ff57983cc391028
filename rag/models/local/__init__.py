"""Models that come with the package: no key, no network."""

from rag.models.local.embedder import LocalEmbedder
from rag.models.local.reranker import LocalReranker

__all__ = ["LocalEmbedder", "LocalReranker"]
