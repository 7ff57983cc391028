"""What things are called in Weaviate: an alias for each base, a collection for each of its builds, one for their states."""

from __future__ import annotations

import hashlib
import re
import uuid

_NAMESPACE = uuid.UUID("5f1d7a0e-6a53-4b3e-9a51-6a0f0e6d8f0b")
NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,39}")  # of an installation: what its aliases and collections begin with


def alias_of(name: str, tenant: str, base: str) -> str:
    """Unique for any base and tenant: their plain letters, and a digest, since letters' case does not tell collections apart."""
    letters = re.sub(r"[^a-z0-9]+", "_", base.lower()).strip("_")[:40]
    digest = hashlib.sha256(f"{tenant}\0{base}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return "_".join(part for part in (name, letters, digest) if part)


def new_build(alias: str) -> str:
    return f"{alias}_{uuid.uuid4().hex[:12]}"


def is_build_of(alias: str, collection: str) -> bool:
    return re.fullmatch(f"{re.escape(alias)}_[0-9a-f]{{12}}", collection) is not None


def states_of(name: str) -> str:
    return f"{name}_States"


def key(*parts: object) -> uuid.UUID:
    """The same for the same parts: writing a thing twice leaves it there once."""
    return uuid.uuid5(_NAMESPACE, "\0".join(map(str, parts)))
