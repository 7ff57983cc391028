"""Where a Weaviate server is, as people write it."""

import pytest

from rag.errors import BadSetting
from storage.weaviate_index.address import WeaviateSettings, grpc_host, rest_host


@pytest.mark.parametrize(
    ("url", "grpc", "rest_shown", "grpc_shown"),
    [
        ("http://localhost:8080", "", "http://localhost:8080", "http://localhost:50051"),
        ("localhost:8080", "localhost:50052", "http://localhost:8080", "http://localhost:50052"),
        ("http://weaviate:8080/", "grpc://weaviate:50051", "http://weaviate:8080", "http://weaviate:50051"),
        ("https://w.example.com", "", "https://w.example.com:443", "https://w.example.com:443"),
        ("https://w.example.com", "grpc.example.com", "https://w.example.com:443", "https://grpc.example.com:443"),
        ("https://w.example.com", "http://inside:50051", "https://w.example.com:443", "http://inside:50051"),
        ("a1.c0.gcp.weaviate.cloud", "", "https://a1.c0.gcp.weaviate.cloud:443", "https://grpc-a1.c0.gcp.weaviate.cloud:443"),
        ("http://[::1]:8080", "", "http://[::1]:8080", "http://[::1]:50051"),
        (" http://weaviate ", "weaviate", "http://weaviate:80", "http://weaviate:50051"),
    ],
)
def test_an_address_is_read_as_people_write_it(url: str, grpc: str, rest_shown: str, grpc_shown: str) -> None:
    settings = WeaviateSettings(url, grpc)

    assert (rest_host(settings).shown, grpc_host(settings).shown) == (rest_shown, grpc_shown)


@pytest.mark.parametrize(
    "wrong",
    [
        "http://",
        "ftp://host",
        "http://host:port",
        "http://host:99999",
        "http://host/v1",
        "http://key@host",
        "http://host?x=1",
        "a b",
    ],
)
def test_what_is_no_address_is_refused_by_the_name_of_its_variable(wrong: str) -> None:
    with pytest.raises(BadSetting, match=r"^WEAVIATE_URL is not the address of a server\. Write it like http://localhost:8080"):
        rest_host(WeaviateSettings(wrong))
    with pytest.raises(BadSetting, match=r"^WEAVIATE_GRPC_URL is not"):
        grpc_host(WeaviateSettings("http://localhost:8080", wrong))


def test_an_address_with_a_key_in_it_is_not_repeated() -> None:
    with pytest.raises(BadSetting) as refused:
        rest_host(WeaviateSettings("https://secret@host"))

    assert "secret" not in str(refused.value)
    assert "secret" not in repr(WeaviateSettings("http://host", api_key="secret"))
