"""No error of the SDK or of its transport leaves the adapter."""

from __future__ import annotations

from json import JSONDecodeError
from typing import TYPE_CHECKING

import cohere.errors
import httpx
import pytest
from cohere.core.api_error import ApiError
from cohere.core.parse_error import ParsingError

from rag.errors import ModelError
from rag.models.cohere.failures import FAULTS, ours

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUEST = httpx.Request("POST", "http://localhost")


def classes(root: type[Exception]) -> Iterator[type[Exception]]:
    yield root
    for one in root.__subclasses__():
        yield from classes(one)


def raised(kind: type[Exception]) -> Exception:
    if issubclass(kind, httpx.HTTPStatusError):
        return kind("status", request=REQUEST, response=httpx.Response(500, request=REQUEST))
    if kind is ParsingError:
        return ParsingError(status_code=200)
    if kind is ApiError:
        return ApiError(status_code=418, body="teapot")
    if issubclass(kind, ApiError):
        return kind(body={"message": "no"})
    if issubclass(kind, httpx.StreamError) and kind is not httpx.StreamError:
        made: Exception = kind.__new__(kind)  # each has a message of its own
        return made
    return kind("it broke")


ALL = sorted(
    {
        *classes(ApiError),
        *classes(ParsingError),
        *classes(httpx.HTTPError),
        *classes(httpx.StreamError),
        *classes(httpx.InvalidURL),
        *(getattr(cohere.errors, name) for name in dir(cohere.errors) if name.endswith("Error")),
    },
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", ALL)
def test_every_error_becomes_one_of_ours(kind: type[Exception]) -> None:
    error = raised(kind)

    assert isinstance(error, FAULTS)
    assert isinstance(ours(error, "command"), ModelError)
    assert str(ours(error, "command")).endswith(".")


def test_there_are_as_many_as_the_notes_of_the_service_list() -> None:
    assert len([kind for kind in ALL if issubclass(kind, ApiError)]) >= 13


def test_a_body_that_is_no_json_is_caught() -> None:
    assert isinstance(ours(JSONDecodeError("x", "y", 0), "command"), ModelError)


@pytest.mark.parametrize("status", range(400, 600))
def test_every_status_becomes_one_of_ours(status: int) -> None:
    assert isinstance(ours(ApiError(status_code=status, body={"message": "no"}), "command"), ModelError)


def test_what_a_server_repeats_of_the_request_is_not_told() -> None:
    body = {"message": "invalid request: bad value, 'input': 'How much does Ann earn?'"}

    assert "Ann" not in str(ours(ApiError(status_code=422, body=body), "command"))
