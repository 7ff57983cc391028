"""Every error of the SDK as one of ours, whatever body the server sends with it."""

from __future__ import annotations

from http import HTTPStatus
from json import JSONDecodeError
from typing import TYPE_CHECKING, Final

import openai

from rag.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from rag.models.remote import said, wait_of

if TYPE_CHECKING:
    from collections.abc import Mapping

# An event of a stream that is no JSON comes as the decoder raises it.
FAULTS: Final = (openai.OpenAIError, JSONDecodeError)

_PASSING: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS)
_KEY_REFUSED: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_NO_MONEY: Final = "insufficient_quota"


def ours(error: Exception, model: str, *, begun: bool = False) -> ModelError:
    """`begun` says that part of an answer was there already."""
    if isinstance(error, openai.APITimeoutError):
        return ModelTimeout(f"{model} did not {'go on' if begun else 'answer'} in time.")
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, model)
    if isinstance(error, openai.ContentFilterFinishReasonError):
        return ModelRefused(f"{model} refused to answer: its content filter stopped it.")
    return ModelUnavailable(f"{model} {_happened(error, begun=begun)}")


def _happened(error: Exception, *, begun: bool) -> str:
    kind = type(error).__name__
    if begun and isinstance(error, openai.APIConnectionError | JSONDecodeError):
        return f"broke off before its answer was complete ({kind}). Try again."
    if isinstance(error, openai.APIConnectionError):
        return "cannot be reached. See whether its server runs, and OPENAI_BASE_URL is right."
    if isinstance(error, openai.APIError) and not isinstance(error, openai.APIResponseValidationError):
        return f"broke off with an error before its answer was complete{told(error)}. Try again."
    return f"answered with something that cannot be read ({kind}). Try again."


def _of_status(error: openai.APIStatusError, model: str) -> ModelError:
    status, message = error.status_code, told(error)
    if status in _KEY_REFUSED:
        return ModelRefused(f"The server refuses the key in OPENAI_API_KEY for {model} (status {status}). Set one that is valid.")
    if status == HTTPStatus.NOT_FOUND:
        return ModelRefused(
            f"The server does not know {model}{message}. Name another model under [models], or check OPENAI_BASE_URL."
        )
    if error.code == _NO_MONEY:
        return ModelRefused(f"The account of OPENAI_API_KEY has no credit left for {model}{message}. See its billing page.")
    wait = wait_of(headers_of(error))
    if status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        asks = f" It asks to wait {wait:.0f} s." if wait else ""
        return ModelUnavailable(f"{model} answered with status {status}{message}.{asks} Try again.", retry_after=wait)
    return ModelRefused(f"{model} refused the request with status {status}{message}.")


def headers_of(error: openai.APIStatusError) -> Mapping[str, str]:
    return dict(error.response.headers)


def told(error: openai.APIError) -> str:
    """OpenAI and llama.cpp nest a message, vLLM and old Ollama do not, FastAPI has a `detail`."""
    return said(message_of(error))


def message_of(error: openai.APIError) -> str:
    body = error.body
    if isinstance(body, dict):
        body = next((body[name] for name in ("message", "detail", "error") if isinstance(body.get(name), str)), "")
    return body if isinstance(body, str) else ""
