"""Where a Weaviate server is, and how this program uses it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from rag.errors import BadSetting

GRPC_PORT = 50051
_MANAGED = (".weaviate.cloud", ".weaviate.network")


@dataclass(frozen=True, slots=True)
class WeaviateSettings:
    """`replicas`, `shards` and `quantization` hold for collections that are made from now on; 0 shards: as the server decides.

    A call may take `search_seconds` or `write_seconds`; while the server cannot be reached it is made again, for
    `search_patience` or `write_patience` seconds altogether.
    """

    url: str
    grpc_url: str = ""
    api_key: str = field(default="", repr=False)
    name: str = "Footnote"
    tenant: str = ""
    replicas: int = 1
    shards: int = 0
    quantization: Literal["none", "rq", "bq", "sq", "pq"] = "none"
    search_seconds: float = 5.0
    search_patience: float = 20.0
    write_seconds: float = 60.0
    write_patience: float = 300.0


@dataclass(frozen=True, slots=True)
class Host:
    name: str
    port: int
    secure: bool

    @property
    def shown(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return f"{'https' if self.secure else 'http'}://{name}:{self.port}"


def rest_host(settings: WeaviateSettings) -> Host:
    """Raises BadSetting, as `grpc_host` does."""
    return _parsed("WEAVIATE_URL", settings.url, "http://localhost:8080")


def grpc_host(settings: WeaviateSettings) -> Host:
    """Where WEAVIATE_GRPC_URL says; else where a managed cluster or a server of one's own has it."""
    rest = rest_host(settings)
    if settings.grpc_url:
        return _parsed("WEAVIATE_GRPC_URL", settings.grpc_url, "localhost:50051", secure=rest.secure)
    if rest.name.endswith(_MANAGED):
        return Host(f"grpc-{rest.name}", 443, secure=True)
    return Host(rest.name, 443 if rest.secure else GRPC_PORT, rest.secure)


def _parsed(variable: str, url: str, example: str, *, secure: bool | None = None) -> Host:
    """`secure` is taken where the address has no scheme."""
    scheme, found, rest = url.strip().partition("://")
    try:
        parts = urlsplit(f"//{rest if found else scheme}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    known = {"http": False, "grpc": False, "https": True, "grpcs": True}
    misplaced = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if not parts.hostname or misplaced or (found and scheme.lower() not in known) or not re.fullmatch(r"[\w.:-]+", parts.hostname):
        raise BadSetting(f"{variable} is not the address of a server. Write it like {example}, and keys into WEAVIATE_API_KEY.")
    if found:
        secure = known[scheme.lower()]
    elif secure is None:
        secure = parts.hostname.endswith(_MANAGED)
    default = GRPC_PORT if variable == "WEAVIATE_GRPC_URL" and not secure else 443 if secure else 80
    return Host(parts.hostname, port or default, secure)
