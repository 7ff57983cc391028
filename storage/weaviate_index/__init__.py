"""The passage index in Weaviate, for many passages and several machines."""

import warnings

with warnings.catch_warnings():  # importing its client makes Python show the warnings of every library to whoever runs this
    import weaviate as _client  # noqa: F401

from storage.weaviate_index.address import WeaviateSettings
from storage.weaviate_index.index import WeaviateIndex

__all__ = ["WeaviateIndex", "WeaviateSettings"]
