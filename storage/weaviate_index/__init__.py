"""The passage index in Weaviate, for many passages and several machines."""

from storage.weaviate_index.address import WeaviateSettings
from storage.weaviate_index.index import WeaviateIndex

__all__ = ["WeaviateIndex", "WeaviateSettings"]
