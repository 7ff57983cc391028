"""Every error of the SDK and of the transport under it, as one of ours."""

from __future__ import annotations

from http import HTTPStatus
from json import JSONDecodeError
from typing import Final

import httpx
from cohere.core.api_error import ApiError
from cohere.core.parse_error import ParsingError

from rag.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from rag.models.remote import said, wait_of

# Timeouts and transport errors come as httpx raises them, a body that is no JSON as its decoder does.
FAULTS: Final = (ApiError, ParsingError, httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, JSONDecodeError)

_INVALID_TOKEN: Final = 498
_CLIENT_CLOSED: Final = 499
_KEY_REFUSED: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, _INVALID_TOKEN)
_PASSING: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS, _CLIENT_CLOSED)


def ours(error: Exception, model: str) -> ModelError:
    name = f"Cohere's {model}"
    if isinstance(error, ApiError) and (error.status_code or 0) >= HTTPStatus.BAD_REQUEST:
        return _of_status(error, int(error.status_code or 0), model)
    if isinstance(error, httpx.TimeoutException):
        return ModelTimeout(f"{name} did not answer in time ({type(error).__name__}).")
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return ModelRefused("The address in COHERE_API_URL is none. Set it to https://api.cohere.com, or take it out.")
    return ModelUnavailable(f"{name} {_happened(error)}")


def _happened(error: Exception) -> str:
    kind = type(error).__name__
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.StreamError):
        return f"broke off before its answer was complete ({kind}). Try again."
    if isinstance(error, httpx.TransportError):
        return f"cannot be reached ({kind}). See whether the network is there, and COHERE_API_URL right."
    return f"answered with something that cannot be read ({kind}). Try again."


def _of_status(error: ApiError, status: int, model: str) -> ModelError:
    told = said(error.body.get("message") if isinstance(error.body, dict) else error.body)
    name = f"Cohere's {model}"
    if status in _KEY_REFUSED:
        return ModelRefused(f"Cohere refuses the key in COHERE_API_KEY for {model} (status {status}). Set one that is valid.")
    if status == HTTPStatus.NOT_FOUND:
        return ModelRefused(f"Cohere does not know {model}{told}. Name another model under [models].")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = wait_of(error.headers)
        asks = f" It asks to wait {wait:.0f} s." if wait else ""
        return ModelUnavailable(f"{name} has too many requests of this key{told}.{asks} Try again.", retry_after=wait)
    if status == HTTPStatus.NOT_IMPLEMENTED:
        return ModelRefused(f"{name} cannot do this{told}. Name another model under [models].")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _PASSING:
        return ModelUnavailable(f"{name} answered with status {status}{told}. Try again.", retry_after=wait_of(error.headers))
    return ModelRefused(f"{name} refused the request with status {status}{told}.")
