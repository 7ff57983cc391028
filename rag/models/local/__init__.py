"""Models that come with the package: no key, no network."""

from rag.models.local.embedder import LocalEmbedder

__all__ = ["LocalEmbedder"]
